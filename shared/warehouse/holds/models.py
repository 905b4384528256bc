"""Models of holds: request bodies, stored holds and responses."""

import operator
from typing import Annotated, Literal, TypedDict

from pydantic import Field

from shared.kernel.fields import (
    WHOLE_NUMBER,
    Code,
    Input,
    LineReference,
    Moment,
    Number,
    Reference,
    Stored,
    Timestamp,
    exactly_one_of,
)
from shared.kernel.list_parameters import OneOf, PeriodParameters, Text
from shared.warehouse.catalog.models import CountedLine, UnitGoods

MAX_LINES = 100
MAX_DAYS = 31
"""Days for which goods are held at most, from the request on."""
MAX_SECONDS = MAX_DAYS * 86_400


def hold_code(number: int) -> str:
    """Return the code of a hold that people see."""
    return f"HD-{number}"


type HoldStage = Literal["active", "used", "released"]
"""The stored status."""
type HoldStatus = Literal["active", "used", "released", "expired"]
"""An active hold counts as expired from `expires_at` on."""


class HoldLineDraft(UnitGoods):
    """Goods to be held."""

    external_ref: LineReference | None = None


class HoldExpiry(Input):
    """Until when goods are held: one of both fields."""

    model_config = exactly_one_of("expires_at", "ttl_seconds")

    expires_at: Moment | None = None
    ttl_seconds: Annotated[int, Field(ge=1, le=MAX_SECONDS), WHOLE_NUMBER] | None = None


class HoldDraft(HoldExpiry):
    """A new hold."""

    warehouse_code: Code
    external_ref: Reference | None = None
    partner_code: Code | None = None
    lines: Annotated[list[HoldLineDraft], Field(min_length=1, max_length=MAX_LINES)]


class StoredHoldLine(CountedLine):
    """A line as stored."""

    product_id: int
    item_code: str
    external_ref: str | None = Field(default=None, exclude_if=operator.not_)


class StoredHold(Stored):
    """A hold as stored. `stage` stays active when it expires: see `rules.status_at`."""

    id: int
    stage: HoldStage
    external_ref: str | None = Field(default=None, exclude_if=operator.not_)
    warehouse_id: int
    whs_code: str
    partner_code: str | None = None
    lines: list[StoredHoldLine]
    expires_at: Timestamp
    exit_document_id: int | None = None
    created_at: Timestamp
    updated_at: Timestamp


class HoldLine(TypedDict):
    """Goods that are held."""

    item_code: str
    qty: Number
    external_ref: str | None


class Hold(Stored):
    """A hold in a list."""

    object: Literal["hold"] = "hold"
    id: int
    code: str
    status: HoldStatus
    external_ref: str | None
    warehouse_code: str
    partner_code: str | None
    lines: list[HoldLine]
    expires_at: Timestamp
    exit_document_id: int | None
    created_at: Timestamp
    updated_at: Timestamp = Field(
        description="Time of the last change of the hold; that it expires is no change."
    )


class HoldDetail(Hold):
    """One hold, with the actions that its status admits."""

    actions: list[str]


class HoldParameters(PeriodParameters):
    """Query parameters of the list of holds."""

    sort: Literal[
        "created_at", "-created_at", "updated_at", "-updated_at", "expires_at", "-expires_at"
    ] = "-created_at"
    status: OneOf[HoldStatus] | None = None
    external_ref: Text | None = None
    warehouse: Text | None = None
    item_code: Text | None = Field(
        default=None, description="Holds with a line of this product, by its code at the creation."
    )
