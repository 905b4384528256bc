"""The lines of a request or of a file: what they name, and every problem of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from shared.integration.reconciliations.models import ReconciliationDraft, ReconciliationLine
from shared.integration.reconciliations.rules import SentLine, StockKey
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked, invalid_fields, problems_of
from shared.warehouse.catalog.drafts import own_lines
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes

type _Line = Checked[ReconciliationLine]


@dataclass(frozen=True, slots=True)
class NamedStock:
    """The stock that lines name, and all problems of the body.

    `warehouse_id` is that of the only warehouse that is compared; None for all.
    """

    lines: list[SentLine]
    problems: list[Problem]
    warehouse_id: int | None
    item_codes: Mapping[int, str]


def named_stock(tx: Transaction, body: Checked[ReconciliationDraft]) -> NamedStock:
    """Return what the lines of a body name, with quantities in base units.

    What lines name twice is not reported.
    """
    sent: list[_Line] = own_lines(body)
    common = body.warehouse_code
    codes = NamedCodes(
        products=(line.item_code for line in sent),
        warehouses=[common, *(line.warehouse_code for line in sent)],
    )
    found = tx.store.get_many(codes.keys)
    known = codes.known(tx, found)
    counted = lines_in_base_units(body, found)
    problems = [*problems_of(counted), *known.warehouse_problems("warehouse_code", common)]
    if not sent and not body.complete and "lines" not in invalid_fields(body):
        problems.append(Problem("lines", "must have at least 1 entry, unless complete is true"))
    lines: list[SentLine] = []
    needs_own = common is None and "warehouse_code" not in invalid_fields(body)
    own: list[_Line] = own_lines(counted)
    for at, line in enumerate(own):
        path = f"lines.{at}"
        found_problems = list(_problems(line, known, common, needs_own=needs_own))
        problems += [Problem(f"{path}.{one.field}", one.message) for one in found_problems]
        product = known.products.get(line.item_code or "")
        warehouse = known.warehouses.get(line.warehouse_code or common or "")
        is_valid = not (found_problems or problems_of(line))
        if product and warehouse and is_valid and line.qty is not None:
            key = StockKey(product.id, warehouse.id, line.batch)
            lines.append(SentLine(path, key, line.qty))
    warehouse = known.warehouses.get(common or "")
    names = {one.id: one.item_code for one in known.products.values()}
    return NamedStock(lines, problems, warehouse.id if warehouse else None, names)


def _problems(
    line: _Line, known: MasterData, common: str | None, *, needs_own: bool
) -> Iterator[Problem]:
    """Yield the problems of what a line names; those of its form are known already."""
    code, whs_code = line.item_code, line.warehouse_code
    product = known.products.get(code or "")
    if code and product is None:
        yield Problem("item_code", f"no product has the code {code}")
    if product and line.batch and not product.by_batch:
        yield Problem("batch", f"product {code} is not managed by batch")
    if whs_code is None:
        if needs_own and "warehouse_code" not in invalid_fields(line):
            yield Problem("warehouse_code", "is required: the request names no warehouse")
    elif common is not None and whs_code != common:
        yield Problem("warehouse_code", f"only warehouse {common} is compared")
    else:
        yield from known.warehouse_problems("warehouse_code", whs_code)
