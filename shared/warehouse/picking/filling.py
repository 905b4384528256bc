"""Which goods lines of pickings accept, and in which order lines are filled."""

from dataclasses import dataclass

from shared.kernel.validation import Checked
from shared.warehouse.picking.models import Allocation, Pick, PickDraft, StoredPickingLine
from shared.warehouse.stock.models import StockRow


@dataclass(frozen=True, slots=True)
class WantedGoods:
    """The goods that a line accepts, whatever their serials.

    They are of one of these batches, have this expiry date, and do not expire before `first_day`;
    empty and None for any.
    """

    batches: frozenset[str]
    expiry_date: str | None
    first_day: str | None

    def admits(self, batch: str | None, expiry_date: str | None) -> bool:
        """Return whether goods of a batch and an expiry date, None without one, are accepted."""
        if self.batches and batch not in self.batches:
            return False
        if self.expiry_date is not None and expiry_date != self.expiry_date:
            return False
        return self.first_day is None or expiry_date is None or expiry_date >= self.first_day

    def overlaps(self, other: "WantedGoods") -> bool:
        """Return whether lines with these demands may take goods from each other."""
        return not self.batches or not other.batches or bool(self.batches & other.batches)


def wanted_goods(line: StoredPickingLine, first_day: str | None) -> WantedGoods:
    """Return the goods that a line accepts, which do not expire before `first_day`."""
    return WantedGoods(required_batches(line), line.expiry_date, first_day)


def may_be_allocated(line: StoredPickingLine, wanted: WantedGoods, row: StockRow) -> bool:
    """Return whether a stock row has what the document of a line requires."""
    is_named = not line.serials or row.serial_number in line.serials
    return is_named and wanted.admits(row.batch_num, row.expiry_date)


def requires_lot(line: StoredPickingLine) -> bool:
    """Return whether the document of a line requires a batch or an expiry date."""
    return bool(required_batches(line)) or line.expiry_date is not None


def missing_serials(line: StoredPickingLine) -> list[str]:
    """Return the serials that the document requires and that are neither picked nor allocated."""
    parts: list[Allocation | Pick] = [*line.picks, *line.allocations]
    there = {part.serial for part in parts}
    return [serial for serial in line.serials if serial not in there]


def required_batches(line: StoredPickingLine) -> frozenset[str]:
    """Return the batches of which the document requires one; empty when it names none."""
    return frozenset([line.batch_num] if line.batch_num else line.batches)


def accepts_batch(line: StoredPickingLine, batch: str | None) -> bool:
    """Return whether goods of a batch, None without one, are what the document requires."""
    required = required_batches(line)
    return not required or batch in required


def filling_rank(line: StoredPickingLine, draft: Checked[PickDraft]) -> int:
    """Return the rank of a line among those that picked goods fill; the lower are filled first.

    0 for a line that requires the batch, the expiry date or a serial of the goods, 1 for one that
    requires nothing, 2 for the others.
    """
    if line.serials:
        return 0 if {*line.serials} & {*(draft.serials or ())} else 2
    required = required_batches(line)
    if line.expiry_date and not required:
        # A serial at the same position may have another date.
        return 2 if draft.serials else 0
    return 0 if draft.batch in required else 2 if required else 1
