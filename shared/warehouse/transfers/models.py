"""Models of transfers: request bodies, stored records and responses."""

from operator import not_
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.kernel.fields import (
    Code,
    Identifier,
    Input,
    Note,
    Number,
    Reason,
    Stored,
    Timestamp,
    Word,
    normalized,
    whole_number,
)
from shared.kernel.list_parameters import OneOf, PeriodParameters, Text
from shared.warehouse.catalog.models import UnitGoods
from shared.warehouse.stock.models import ShelfStatus
from shared.warehouse.work.models import Operator

type TransferStatus = Literal["pending", "error", "transferred"]


class TransferLine(Stored):
    """Goods that a transfer moves from one position to another."""

    product_id: int
    item_code: str
    qty: Number
    batch_num: str | None = None
    serials: list[str] = Field(default_factory=list)
    from_bin: str | None = None
    to_bin: str | None = None
    inventory_status: ShelfStatus = "available"


class StoredTransfer(Stored):
    """A transfer as stored.

    `sap_status`, `doc_entry` and `message` are the answer of the ERP. With the status error,
    `message` is the reason why nothing was moved. `pick_face_id` is the id of the pick face that it
    replenishes, if it was created for that.
    """

    id: int
    status: TransferStatus
    sap_status: str | None = None
    from_whs_code: str | None = None
    to_whs_code: str | None = None
    doc_entry: int | str | None = None
    message: str | None = None
    reason: str | None = None
    comments: str | None = None
    user_id: int | None = None
    operator: Operator | None = None
    pick_face_id: int | None = Field(default=None, exclude_if=not_)
    created_at: Timestamp
    updated_at: Timestamp
    lines: list[TransferLine] = Field(default_factory=list)


class Transfer(Stored):
    """A transfer in a list; `wms_status` is its status."""

    id: int
    status: TransferStatus
    wms_status: TransferStatus
    sap_status: str | None
    from_whs_code: str | None
    to_whs_code: str | None
    doc_entry: int | str | None
    message: str | None
    reason: str | None
    user_id: int | None
    operator: Operator | None
    created_at: Timestamp
    updated_at: Timestamp


class TransferDetail(Transfer):
    """A transfer with its lines."""

    lines: list[TransferLine]
    actions: list[str]


class TransferParameters(PeriodParameters):
    """Parameters of the list of transfers; the warehouses are codes."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: OneOf[TransferStatus] | None = None
    from_warehouse: Text | None = None
    to_warehouse: Text | None = None


MAX_LINES = 11
MAX_SERIALS = 30
"""Maximum number of lines of a transfer and of serials of a line.

`rules` limits them together.
"""

_LONGEST_ENTRY = 100
_LARGEST_ENTRY = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""


def _entry(value: Any) -> int | str:
    value = whole_number(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_ENTRY:
        return value
    if isinstance(value, str):
        text = normalized(value.strip())
        if text.isprintable() and 0 < len(text) <= _LONGEST_ENTRY:
            return text
    message = f"must be a whole number or a text of 1 to {_LONGEST_ENTRY} characters"
    raise PydanticCustomError("doc_entry", message)


type DocEntry = Annotated[
    int | str,
    BeforeValidator(_entry),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": _LARGEST_ENTRY},
                {"type": "string", "minLength": 1, "maxLength": _LONGEST_ENTRY},
            ]
        }
    ),
]
"""Number of a document in the ERP, as the ERP writes it."""


class TransferMove(UnitGoods):
    """Goods to move from one position to another."""

    from_bin: Code
    to_bin: Code
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None
    inventory_status: ShelfStatus | None = Field(
        default=None, description="Inventory status of the goods, which keep it; default available."
    )


class TransferDraft(Input):
    """A new transfer between positions of one warehouse or of two."""

    from_warehouse: Code
    to_warehouse: Code
    reason: Reason | None = None
    comments: Note | None = None
    operator_id: Identifier | None = None
    execute: bool | None = Field(
        default=None,
        description="Whether to move the goods at once; default true. false leaves it pending.",
    )
    lines: Annotated[list[TransferMove], Field(min_length=1, max_length=MAX_LINES)]


class ErpAnswer(Input):
    """The answer of the ERP to a transfer; replaces an earlier answer."""

    sap_status: Word
    doc_entry: DocEntry | None = None
    message: Note | None = None
