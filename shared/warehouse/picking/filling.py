"""Which goods lines of pickings accept, and in which order lines are filled."""

from shared.kernel.validation import Checked
from shared.warehouse.picking.models import Allocation, Pick, PickDraft, StoredPickingLine
from shared.warehouse.stock.models import StockRow


def may_be_allocated(line: StoredPickingLine, row: StockRow) -> bool:
    """Return whether a stock row has the batch and the serial that the document requires."""
    is_named = not line.serials or row.serial_number in line.serials
    return is_named and accepts_batch(line, row.batch_num)


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

    0 for a line that requires the batch or a serial of the goods, 1 for one that requires nothing,
    2 for the others.
    """
    if line.serials:
        return 0 if {*line.serials} & {*(draft.serials or ())} else 2
    required = required_batches(line)
    return 0 if draft.batch in required else 2 if required else 1
