"""Models of pick faces."""

from dataclasses import dataclass
from typing import Literal

from shared.kernel.fields import Code, Input, Measure, Number, Stored, Timestamp
from shared.kernel.list_parameters import IdParameter, KeyedParameters, Text


class PickFaceDraft(Input):
    """A product and the position that it is picked from.

    `minimum` and `maximum` are quantities for replenishment. If the pick face exists, only the
    quantities that are sent change; null removes a quantity.
    """

    item_code: Code
    warehouse_code: Code
    bin_code: Code
    minimum: Measure | None = None
    maximum: Measure | None = None


class PickFace(Stored):
    """A pick face."""

    id: int
    product_id: int
    item_code: str
    warehouse_id: int
    whs_code: str
    position_id: int
    bin_code: str
    minimum: Number | None = None
    maximum: Number | None = None
    created_at: Timestamp
    updated_at: Timestamp


@dataclass(frozen=True, slots=True)
class KnownPickFace:
    """What an index shows of a pick face."""

    id: int
    product_id: int
    item_code: str
    bin_code: str


class PickFaceParameters(KeyedParameters):
    """Parameters of the list of pick faces."""

    sort: Literal["id", "-id", "updated_at", "-updated_at"] = "id"
    product_id: IdParameter | None = None
    item_code: Text | None = None
    warehouse: Text | None = None
    bin_code: Text | None = None
