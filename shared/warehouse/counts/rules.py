"""Decisions about counts on plain data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from shared.kernel.clock import Instant, milliseconds_of
from shared.kernel.errors import Conflict, Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked, given_fields, invalid_fields, of_valid_fields
from shared.warehouse.approvals.need import ApprovalNeed, ApprovedResource
from shared.warehouse.catalog.lines import GoodsLine, examine_goods
from shared.warehouse.counts.models import (
    CLOCK_TOLERANCE_MS,
    MAX_IN_WAREHOUSE,
    MAX_LINES,
    MAX_POSITIONS,
    MAX_ROWS,
    SCOPES,
    CountDraft,
    CountSums,
    GoodsCount,
    StoredCount,
    StoredCountLine,
    count_code,
)
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.stock.adjustment_models import AdjustmentFields
from shared.warehouse.stock.models import RowKey, ShelfStatus, StockRow
from shared.warehouse.work.models import Operator

type ProductNames = tuple[str | None, str | None]
"""Code and name of a product; None for an empty position."""

SHELF_STATUSES: tuple[ShelfStatus, ...] = ("available", "quarantine", "damaged", "blocked")
"""The inventory statuses of stock that is counted; operations count what is staged or on its
way."""
_GOODS_FIELDS = ("item_code", "batch", "serials", "qty", "unit", "inventory_status")
_NAMED = 20
"""Lines that a refusal names."""


# What is counted


def draft_problems(draft: Checked[CountDraft], known: MasterData) -> Iterator[Problem]:
    """Yield the problems of a new count that field validation does not find."""
    given = given_fields(draft, SCOPES)
    if len(given) != 1:
        message = f"give exactly one of {', '.join(SCOPES)}"
        yield from (Problem(name, message) for name in given or SCOPES[:1])
    yield from known.warehouse_problems("warehouse_code", draft.warehouse_code)
    whs_code = draft.warehouse_code
    if whs_code is not None and whs_code in known.warehouses:
        for at, bin_code in enumerate(draft.positions or ()):
            if bin_code and (whs_code, bin_code) not in known.positions:
                message = f"warehouse {whs_code} has no position {bin_code}"
                yield Problem(f"positions.{at}", message)
    for at, code in enumerate(draft.item_codes or ()):
        product = known.products.get(code)
        if code and product is None:
            yield Problem(f"item_codes.{at}", f"no product has the code {code}")
        elif product and not product.in_stock:
            yield Problem(f"item_codes.{at}", f"product {code} is not kept in stock")


def zone_problem(warehouse: str, zone_id: int, positions: Sequence[str] | None) -> Problem | None:
    """Return the problem of the positions of a zone; None of them if the warehouse has too many."""
    advice = "name positions"
    if positions is None:
        message = f"warehouse {warehouse} has more than {MAX_IN_WAREHOUSE} positions: {advice}"
    elif len(positions) > MAX_POSITIONS:
        message = (
            f"zone {zone_id} has {len(positions)} positions, {MAX_POSITIONS} allowed: {advice}"
        )
    else:
        return None
    return Problem("zone_id", message)


def history_problem(field: str) -> Problem:
    """Return the problem of a field that names more stock rows than a request examines."""
    message = (
        f"names more than {MAX_ROWS} rows of stock with those that are empty now, such as sold"
        " serials; name fewer products, or count positions or goods one by one"
    )
    return Problem(field, message)


def is_counted(row: StockRow, warehouse_id: int) -> bool:
    """Return whether a count of a warehouse has a line for a row."""
    return (
        row.qty > 0
        and row.warehouse_id == warehouse_id
        and row.bin_code is not None
        and row.inventory_status in SHELF_STATUSES
    )


def line_of_stock(number: int, line_num: int, row: StockRow) -> StoredCountLine:
    """Return a line for stock that is there."""
    return StoredCountLine(
        count_id=number,
        line_num=line_num,
        bin_code=row.bin_code or "",
        product_id=row.product_id,
        item_code=row.item_code,
        product_name=row.product_name,
        batch_num=row.batch_num,
        serial_number=row.serial_number,
        inventory_status=_shelf_status(row),
        expected_qty=row.qty,
    )


def _shelf_status(row: StockRow | RowKey) -> ShelfStatus:
    status = row.inventory_status
    assert status in SHELF_STATUSES  # noqa: S101 - other rows have no line
    return status


def stock_of(line: StoredCountLine, warehouse_id: int) -> RowKey | None:
    """Return the key of the stock of a line; None for an empty position."""
    if line.product_id is None:
        return None
    return RowKey(
        line.product_id,
        warehouse_id,
        line.bin_code,
        line.inventory_status or "available",
        line.batch_num,
        line.serial_number,
    )


def stock_text(line: StoredCountLine) -> str:
    """Return what a line counts, for messages."""
    if line.item_code is None:
        return f"position {line.bin_code}"
    lot = f" batch {line.batch_num}" if line.batch_num else ""
    serial = f" serial {line.serial_number}" if line.serial_number else ""
    return f"{line.item_code}{lot}{serial} at {line.bin_code}"


def ensure_free(taken: Iterable[tuple[StoredCountLine, int]]) -> None:
    """Raise Conflict if there are lines whose stock is in other counts, given with their ids."""
    problems = [
        Problem("", f"{stock_text(line)} is in {count_code(other)}") for line, other in taken
    ]
    if problems:
        message = f"A stock is in one open count at most: {problems[0].message}."
        raise Conflict(message, problems=shortened(problems))


# Counting


def goods_problems(
    body: Checked[GoodsCount], known: MasterData, whs_code: str
) -> Iterator[Problem]:
    """Yield the problems of what was counted that field validation does not find."""
    bin_code = body.bin_code
    if bin_code is not None and (whs_code, bin_code) not in known.positions:
        yield Problem("bin_code", f"warehouse {whs_code} has no position {bin_code}")
    if body.empty:
        for name in given_fields(body, _GOODS_FIELDS):
            yield Problem(name, "is not allowed with empty")
        return
    yield from of_valid_fields(body, _required_problems(body))
    product = known.products.get(body.item_code or "")
    if body.item_code is not None and product is None:
        yield Problem("item_code", f"no product has the code {body.item_code}")
    if product is None:
        return
    if not product.in_stock:
        yield Problem("item_code", f"product {product.item_code} is not kept in stock")
    goods = GoodsLine("", product.item_code, None, {"batch": body.batch}, ("serials", body.serials))
    yield from of_valid_fields(body, examine_goods(goods, product))
    serials = len(body.serials or ())
    if serials and body.qty is not None and body.qty not in {0, serials}:
        message = f"must be {serials}, the number of serials, or 0; {plain(body.qty)} given"
        yield Problem("qty", message)


def time_problems(body: Checked[GoodsCount], count: StoredCount, now: Instant) -> list[Problem]:
    """Return the problem of when something was counted, if it cannot have been then."""
    at, tolerance = body.counted_at, CLOCK_TOLERANCE_MS
    if at is None:
        return []
    if milliseconds_of(at) > milliseconds_of(now) + tolerance:
        return [Problem("counted_at", f"{at} is in the future; it is {now}")]
    if milliseconds_of(at) < milliseconds_of(count.created_at) - tolerance:
        message = f"{at} is before the creation of {count_code(count.id)} at {count.created_at}"
        return [Problem("counted_at", message)]
    return []


def changed_since(at: Instant | None, row: StockRow | None) -> bool:
    """Return whether stock has changed since it was counted; `at` is None for now.

    Nobody knows then what the books had when it was counted.
    """
    return at is not None and row is not None and row.updated_at >= at


def contradicts_later(line: StoredCountLine, qty: Decimal, at: Instant | None) -> bool:
    """Return whether a line has another quantity that was counted later; `at` is None for now."""
    later = at is not None and line.counted_at is not None and line.counted_at > at
    return later and line.counted_qty != qty


def late_problem(row: StockRow) -> Problem:
    """Return the problem of goods whose stock has changed after they were counted."""
    message = (
        f"the stock has changed at {row.updated_at}, after it was counted: count it again, and give"
        " the time"
    )
    return Problem("counted_at", message)


def later_problem(line: StoredCountLine) -> Problem:
    """Return the problem of goods of which a line has another quantity, counted later."""
    message = (
        f"line {line.line_num} has another quantity, counted later, at {line.counted_at}: count it"
        " again, and give the time"
    )
    return Problem("counted_at", message)


def _required_problems(body: Checked[GoodsCount]) -> Iterator[Problem]:
    if body.item_code is None:
        yield Problem("item_code", "is required, unless empty is true")
    # Goods whose unit is invalid have no quantity.
    has_quantity = (
        body.qty is not None or body.serials or invalid_fields(body) & {"unit", "serials"}
    )
    if not has_quantity:
        yield Problem("qty", "is required, unless serials are given or empty is true")


def goods_keys(body: GoodsCount, product_id: int, warehouse_id: int) -> list[list[RowKey]]:
    """Return the stocks that counted goods may be: those of each serial, in order of preference."""
    statuses = (body.inventory_status,) if body.inventory_status else SHELF_STATUSES
    serials: Sequence[str | None] = body.serials or (None,)
    return [
        [
            RowKey(product_id, warehouse_id, body.bin_code, status, body.batch, serial)
            for status in statuses
        ]
        for serial in serials
    ]


def counted_part(body: GoodsCount) -> Decimal:
    """Return the counted quantity of each serial, or of goods without serials."""
    if body.serials:
        return ZERO if body.qty == 0 else Decimal(1)
    return body.qty or ZERO


def line_of_goods(
    number: int, line_num: int, stock: RowKey, names: ProductNames
) -> StoredCountLine:
    """Return a line for stock that nobody expected."""
    return StoredCountLine(
        count_id=number,
        line_num=line_num,
        bin_code=stock.bin_code or "",
        product_id=stock.product_id,
        item_code=names[0],
        product_name=names[1],
        batch_num=stock.batch_num,
        serial_number=stock.serial_number,
        inventory_status=_shelf_status(stock),
    )


def counted(
    line: StoredCountLine, qty: Decimal, there: Decimal, operator: Operator | None, at: Instant
) -> StoredCountLine:
    """Return a line after `qty` was counted, when the books had the quantity `there`."""
    return line.model_copy(
        update={
            "status": "counted",
            "expected_qty": there,
            "counted_qty": qty,
            "counted_by": operator,
            "counted_at": at,
            "movement_id": None,
        }
    )


def to_recount(line: StoredCountLine) -> StoredCountLine:
    """Return a line that is to be counted again."""
    return line.model_copy(
        update={"status": "recount", "counted_qty": None, "counted_by": None, "counted_at": None}
    )


def full_problem(count: StoredCount) -> Problem:
    """Return the problem of goods that would need one more line than a count can have."""
    message = f"{count_code(count.id)} has {MAX_LINES} lines, the most; count it in another count"
    return Problem("bin_code", message)


def sums_of(line: StoredCountLine) -> CountSums:
    """Return what a line adds to the sums of its count."""
    if line.status != "counted":
        return CountSums()
    return CountSums(1, int(bool(line.difference)), line.counted_qty or ZERO)


def uncounted_problems(lines: Iterable[StoredCountLine]) -> list[Problem]:
    """Return a problem of each line that is not counted."""
    return [
        Problem(f"lines.{line.line_num}", f"{stock_text(line)} is not counted")
        for line in lines
        if line.status != "counted"
    ]


def shortened(problems: Sequence[Problem]) -> list[Problem]:
    """Return the first problems, as many as a response names."""
    return list(problems[:_NAMED])


# Posting


def posting_order(lines: Iterable[StoredCountLine]) -> list[int]:
    """Return the numbers of the lines to be posted, in their order.

    What is missing comes first: a serial that was found elsewhere leaves its former position.
    """
    due = [line for line in lines if line.is_due]
    return [line.line_num for line in sorted(due, key=lambda one: (one.difference or ZERO) > 0)]


def adjustment_of(line: StoredCountLine, count: StoredCount) -> AdjustmentFields:
    """Return the adjustment of the difference of a line, in whatever is there now.

    Only movements change a stock, so the stock is what was there when the line was counted and what
    has moved since; a movement is no difference.
    """
    difference = line.difference or ZERO
    return AdjustmentFields(
        item_code=line.item_code,
        warehouse=count.whs_code,
        bin_code=line.bin_code,
        batch=line.batch_num,
        serial=line.serial_number,
        inventory_status=line.inventory_status,
        reason=f"Count {count_code(count.id)}",
        increase=max(difference, ZERO) or None,
        decrease=max(-difference, ZERO) or None,
    )


def contradicts(line: StoredCountLine, there: Decimal | None) -> bool:
    """Return whether what moved since a line was counted contradicts what was counted.

    `there` is the stock now; None if its product or position is gone.
    """
    if there is None:
        return True
    difference = line.difference or ZERO
    return there + difference < 0 or (line.serial_number is not None and there + difference > 1)


def approval_need(
    count: StoredCount, lines: Iterable[StoredCountLine], limit: Decimal
) -> ApprovalNeed | None:
    """Return why posting needs an approval: a line differs by more than `limit` units."""
    above = [line for line in lines if line.is_due and abs(line.difference or ZERO) > limit]
    if not above:
        return None
    first = above[0]
    total = f" {len(above)} lines need it." if len(above) > 1 else ""
    message = (
        f"lines.{first.line_num}: {plain(abs(first.difference or ZERO))} of {stock_text(first)}"
        f" would be adjusted; more than {plain(limit)} needs the approval of a user with"
        f" approvals.grant.{total}"
    )
    figures = [
        figure
        for line in above
        for figure in (Decimal(line.line_num), line.expected_qty, line.counted_qty or ZERO)
    ]
    resource = ApprovedResource(object="count", id=count.id)
    return ApprovalNeed("adjustment", message, resource, figures)


def line_problems(
    count: StoredCount, wanted: Sequence[int | None], known: Mapping[int, object]
) -> Iterator[Problem]:
    """Yield a problem for each number that no line has."""
    for at, line_num in enumerate(wanted):
        if line_num is not None and line_num not in known:
            yield Problem(f"lines.{at}", f"{count_code(count.id)} has no line {line_num}")
