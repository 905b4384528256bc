"""What callers send about receipts."""

from collections.abc import Sized
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from shared.fields import Code, Day, Identifier, Input, Line, Note, Quantity
from shared.stock.models import ShelfStatus

MAX_SERIALS = 25
"""Serials that one call may name: what it writes of them must fit into one transaction."""


def _few(value: Any) -> Any:
    if isinstance(value, Sized) and len(value) > MAX_SERIALS:
        raise PydanticCustomError(
            "serials", f"must have at most {MAX_SERIALS} entries; send more in several calls"
        )
    return value


type _Serials = Annotated[list[Code], Field(max_length=MAX_SERIALS), BeforeValidator(_few)]


class ReceiptDraft(Input):
    """A new receipt, for an entry document."""

    document_id: Identifier
    operator_id: Identifier | None = None
    concept: Line | None = None
    comments: Note | None = None


class ReceiptLineDraft(Input):
    """What was received in one go."""

    item_code: Code
    qty: Quantity
    bin_code: Code | None = Field(
        default=None, description="Where it was put; the destination on the document unless given."
    )
    batch: Code | None = None
    serials: _Serials | None = None
    expiry_date: Day | None = Field(
        default=None,
        description="That of the document's line unless given, if the line names the same batch.",
    )
    inventory_status: ShelfStatus | None = Field(
        default=None, description="available unless given."
    )
    approve: bool | None = Field(
        default=None,
        description="A user with approvals.grant approves that more arrived than may.",
    )
