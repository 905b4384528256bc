"""Undo received goods of a return: they leave the stock again."""

from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked, ensure_valid, problems_of
from shared.warehouse.catalog.gtins import line_gtins_resolved
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.returns import arrival_rules
from shared.warehouse.returns.actions import ACTIONS
from shared.warehouse.returns.dispositions import quarantined, row_key
from shared.warehouse.returns.models import ReturnArrival, StoredReturn
from shared.warehouse.returns.repository import RETURNS
from shared.warehouse.returns.service import save_taking_less
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import MovementCause, StockRefused
from shared.warehouse.stock.posting import StockPosting, fence_master_data


def undo_arrival(
    tx: Transaction, number: int, arrival: Checked[ReturnArrival]
) -> Record[StoredReturn]:
    """Take received goods of a return out of the stock, until its receiving is finished.

    Without any goods, the return is expected again.

    Raises:
        Conflict: Some of the goods are no longer in quarantine where they were received.
    """
    with line_gtins_resolved(tx.store, arrival) as named:
        record, _ = run_all(lambda: RETURNS.get(tx.store, number), lambda: fence_master_data(tx))
        one = record.entity
        ACTIONS.ensure(one, "undo")
        codes = NamedCodes.of_lines(one.whs_code, named.lines)
        found = tx.store.get_many(codes.keys)
        known = codes.known(tx, found)
        counted = lines_in_base_units(named, found)
        problems = list(arrival_rules.undo_problems(counted, one, known))
        refused = [*problems_of(counted), *problems]
        lines = {
            at: line
            for at, line in arrival_rules.lines_without_problems(counted.lines, refused)
            if (one.whs_code, line.bin_code) in known.positions
        }
        after, parts, more = arrival_rules.without_arrival(one, lines, known)
        ensure_valid(counted, [*problems, *more])
    posting = StockPosting(tx, cause=MovementCause(type="return", id=number))
    keys = {part: row_key(one, part, part.bin_code, "quarantine") for part in parts}
    posting.load(targets=list(keys.values()), movements=len(parts))
    for part, key in keys.items():
        row = quarantined(posting, part, key)
        try:
            posting.changes.move("receipt_undone", part.qty, source=row)
        except StockRefused as refused:
            places = stock.places_text(tx.store, row)
            message = f"The goods are no longer in quarantine: {refused}; in stock: {places}."
            raise posting.conflict(message) from refused
    posting.post()
    return save_taking_less(tx, record, after)
