"""What callers send about pickings."""

from typing import Annotated

from pydantic import Field

from shared.fields import Code, Identifier, Input, Line, Note, Quantity, SmallInteger
from shared.work.models import ShortageReason

MAX_SERIALS = 25
"""Serials that one call may name: what moves with them must fit into one transaction."""
MAX_DOCUMENTS = 20
"""Documents that one picking may serve, for the same reason."""

type _DocumentIds = Annotated[list[Identifier], Field(min_length=1, max_length=MAX_DOCUMENTS)]


class PickingDraft(Input):
    """A new picking, for one exit document or for several of one warehouse."""

    document_id: Identifier | None = None
    document_ids: _DocumentIds | None = None
    allocate: bool | None = Field(default=None, description="true unless it says otherwise.")
    operator_id: Identifier | None = None
    priority: SmallInteger | None = Field(
        default=None, description="The lower goes first; that of the documents unless given."
    )
    carrier_code: Code | None = Field(default=None, description="Who will take the goods.")
    concept: Line | None = None
    comments: Note | None = None


class PickDraft(Input):
    """What was picked in one go."""

    item_code: Code
    qty: Quantity
    bin_code: Code
    batch: Code | None = None
    serials: Annotated[list[Code], Field(max_length=MAX_SERIALS)] | None = None


class PickingEnd(Input):
    """The end of a picking; a shortage needs its reason."""

    shortage_reason: ShortageReason | None = None
    comments: Note | None = None
