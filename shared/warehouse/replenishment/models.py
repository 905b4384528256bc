"""Models of replenishment: parameters, the body and the responses."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from shared.kernel.fields import (
    MAX_ID,
    ZERO,
    Code,
    Identifier,
    Input,
    Number,
    Parameters,
    Stored,
    distinct,
    exactly_one_of,
)
from shared.kernel.list_parameters import Integer, Text
from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.transfers.models import TransferLine

MAX_PICK_FACES = 100
"""Most pick faces that a page examines, and that a request names."""
MAX_EXAMINED = 1_000
"""Most pick faces that one request replenishes with `all`."""

SELECTIONS = ("pick_face_ids", "all")
"""The fields of a request that say which pick faces are replenished, of which one is given."""


@dataclass(frozen=True, slots=True)
class Need:
    """A pick face with less than its minimum.

    `qty` is what pickings have not allocated there, `needed` what lacks to the maximum, without
    what the waiting transfer `transfer_id` brings. `lines` bring what there is of it, as far as it
    fits. `is_seen` is false if goods lie there that an index does not show yet.
    """

    face: PickFace
    qty: Decimal
    needed: Decimal
    transfer_id: int | None
    lines: list[TransferLine]
    is_seen: bool = True

    @property
    def left(self) -> Decimal:
        """What is needed and neither brought by the lines nor by the waiting transfer."""
        return self.needed - sum((line.qty for line in self.lines), ZERO)


class ReplenishmentParameters(Parameters):
    """Query parameters of the list of pick faces below their minimum."""

    warehouse: Text
    after: Annotated[Integer, Field(ge=0, le=MAX_ID)] = 0
    per_page: Annotated[
        Integer, Field(ge=1), AfterValidator(lambda number: min(number, MAX_PICK_FACES))
    ] = MAX_PICK_FACES


class ReplenishmentProposal(Stored):
    """Stock that can be moved to a pick face."""

    from_bin_code: str
    batch_num: str | None
    qty: Number


class Replenishment(Stored):
    """A pick face with less than its minimum, and the stock that can fill it."""

    pick_face: int
    item_code: str
    bin_code: str
    qty: Number
    minimum: Number
    maximum: Number | None
    needed: Number
    transfer_id: int | None
    proposals: list[ReplenishmentProposal]


class ReplenishmentLinks(Stored):
    """The address of the next page."""

    next: str | None


class ReplenishmentMeta(Stored):
    """Which pick faces a page has examined."""

    after: int
    last: int


class ReplenishmentFrame(Stored):
    """What stands beside the pick faces of a page."""

    links: ReplenishmentLinks
    meta: ReplenishmentMeta


class ReplenishmentDraft(Input):
    """The pick faces of a warehouse to be replenished: some, or with `all` those below minimum."""

    model_config = exactly_one_of(*SELECTIONS)

    warehouse_code: Code
    pick_face_ids: (
        Annotated[
            list[Identifier],
            Field(min_length=1, max_length=MAX_PICK_FACES),
            distinct(MAX_PICK_FACES),
        ]
        | None
    ) = None
    all: bool | None = None
    after: Annotated[int, Field(ge=0, le=MAX_ID)] | None = Field(
        default=None, description="With `all`: continues after this pick face."
    )


class CreatedReplenishment(Stored):
    """A transfer that was created for a pick face."""

    transfer_id: int
    pick_face: int
    item_code: str
    bin_code: str
    qty: Number


class UnfilledPickFace(Stored):
    """What a pick face needs and no stock can fill now."""

    pick_face: int
    item_code: str
    bin_code: str
    needed: Number


class CreatedReplenishments(Stored):
    """What a request has done; `next_after` is null once all pick faces were examined."""

    warehouse_code: str
    created: list[CreatedReplenishment]
    unfilled: list[UnfilledPickFace]
    next_after: int | None


class ReplenishmentProgress(Stored):
    """What the steps of a request have done so far.

    `last` is the pick face that was examined last, `examined` their number.
    """

    last: int
    examined: int = 0
    created: list[CreatedReplenishment] = Field(default_factory=list)
    unfilled: list[UnfilledPickFace] = Field(default_factory=list)
