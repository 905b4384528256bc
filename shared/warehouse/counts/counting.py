"""Count lines: several people at once, each line an item of its own."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain

from shared.kernel import references
from shared.kernel.clock import Instant
from shared.kernel.db import steps
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import run_steps
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked, ensure_valid, problems_of
from shared.warehouse.catalog.unit_quantities import in_base_units
from shared.warehouse.counts import repository, rules
from shared.warehouse.counts.actions import ACTIONS
from shared.warehouse.counts.creating import listed
from shared.warehouse.counts.models import (
    MAX_LINES,
    MAX_ROWS,
    CountSums,
    GoodsCount,
    StoredCount,
    StoredCountLine,
    count_code,
)
from shared.warehouse.counts.repository import COUNT_LINES, COUNTS
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import RowKey
from shared.warehouse.warehouses.models import KnownPosition
from shared.warehouse.work.operators import read_operator

_ACTIONS_PER_LINE = 3
"""The line, the check of its stock, and the item that says which count its stock is in."""
_OTHER_ACTIONS = 3
"""The count, its sums, and its entry in the register of open work."""


@dataclass(frozen=True, slots=True)
class CountedStock:
    """A count, and the lines of it that a request has counted."""

    record: Record[StoredCount]
    lines: list[StoredCountLine]


@dataclass(frozen=True, slots=True)
class _Counted:
    """What was counted: a stock, or None for an empty position, its place, and the quantity.

    `at` is when it was counted; None for now. `line` is its line before, where it was read.
    """

    position: KnownPosition
    stock: RowKey | None
    place: Key
    names: rules.ProductNames
    qty: Decimal
    at: Instant | None
    line: StoredCountLine | None = None


def count_goods(tx: Transaction, number: int, body: Checked[GoodsCount]) -> CountedStock:
    """Count goods, or that a position is empty; the last count of a line is the one that counts.

    The difference is what was counted more than the books had when this was committed. A line whose
    stock has changed after it was counted is to be counted again; so is one of which a later count
    came first, with another quantity. All lines of a request have the same `counted_at`, by which a
    repeat knows those that are done.

    Raises:
        Conflict: A stock is in another open count.
        StaleState: The count is finished.
    """
    done = dict[Key, StoredCountLine]()
    left: list[_Counted] | None = None
    request_began = tx.now

    def committed(lines: Mapping[Key, StoredCountLine], rest: list[_Counted]) -> None:
        nonlocal left
        done.update(lines)
        left = rest

    def begin() -> None:
        nonlocal request_began
        request_began = tx.progress.decode() if tx.progress else tx.now

    def step() -> CountedStock | None:
        # The cache keeps the count for `listed`, and the user for `_count`.
        run_all(
            lambda: tx.fence(COUNTS.kind),
            lambda: COUNTS.get(tx.store, number),
            lambda: read_operator(tx),
        )
        record = listed(tx, number)
        if record is None:
            return None
        before, counted = list[_Counted](), left
        if counted is None:
            found = _found(tx, record, body)
            begin()  # only now: the progress is there with the claim of the request
            places = {
                one.place for one in found if tx.progress and _is_done(one, one.at or request_began)
            }
            before = [one for one in found if one.place in places]
            counted = [one for one in found if one.place not in places]
        part, rest = counted[: _most_lines()], counted[_most_lines() :]
        if tx.progress:  # what is left was counted when the request began
            part = [replace(one, at=one.at or request_began) for one in part]
        changed, lines = _count(tx, record, part, request_began)
        lines |= {one.place: one.line for one in before if one.line}
        if not rest:
            return CountedStock(changed, [*done.values(), *lines.values()])
        tx.record_progress(request_began.encode())
        tx.after_step(lambda: committed(lines, rest))
        return None

    return run_steps(tx, step)


def _is_done(one: _Counted, at: Instant) -> bool:
    """Return whether the line has what was counted already, by the same request."""
    line = one.line
    return line is not None and (line.counted_at, line.counted_qty) == (at, one.qty)


def _most_lines() -> int:
    """Return how many lines a transaction can count."""
    return max(1, (steps.STEP_ACTIONS - _OTHER_ACTIONS) // _ACTIONS_PER_LINE)


def _known(
    tx: Transaction, count: StoredCount, bodies: Sequence[Checked[GoodsCount]]
) -> tuple[MasterData, list[Checked[GoodsCount]]]:
    """Return the master data that goods name, and the goods in base units."""
    codes = NamedCodes(
        products=(body.item_code for body in bodies),
        warehouses=[count.whs_code],
        positions=((count.whs_code, body.bin_code) for body in bodies),
    )
    found = tx.store.get_many(codes.keys)
    return codes.known(tx, found), [in_base_units(body, found) for body in bodies]


def _found(
    tx: Transaction, record: Record[StoredCount], body: Checked[GoodsCount]
) -> list[_Counted]:
    """Return what a request has counted."""
    count = record.entity
    known, [base] = _known(tx, count, [body])
    problems = [
        *rules.goods_problems(base, known, count.whs_code),
        *rules.time_problems(base, count, tx.now),
    ]
    valid = ensure_valid(base, problems)
    ACTIONS.ensure(count, "lines")
    if valid.empty:
        return _empty(tx, count, known.positions[count.whs_code, valid.bin_code], valid.counted_at)
    return _goods(tx, count, valid, known)


def count_rows(
    tx: Transaction, number: int, bodies: Sequence[Checked[GoodsCount]], *, adds: bool = True
) -> list[list[Problem]]:
    """Count the leading goods for which one transaction has room; return the problems of each.

    Goods with problems are left out; so are those whose stock has changed since they were counted,
    by default since the creation of the count, and those of a line with another quantity that was
    counted later. None are counted as long as the count does not have
    all its lines: then some lines are added. Unless it `adds` something, all goods are examined,
    and what depends on the stock is not found.

    Raises:
        NotFound: There is no such count.
        Conflict: What has no line yet has come into another count; this one is cancelled.
        StaleState: It is finished.
    """
    if adds:
        tx.fence(COUNTS.kind)
    record = COUNTS.get(tx.store, number)
    count = record.entity
    ACTIONS.ensure(count, "lines")
    if adds and listed(tx, number) is None:
        return []
    some = bodies[: _most_lines()] if adds else bodies
    known, base = _known(tx, count, some)
    problems = [
        [
            *problems_of(one),
            *rules.goods_problems(one, known, count.whs_code),
            *rules.time_problems(one, count, tx.now),
        ]
        for one in base
    ]
    if not adds:
        return problems
    valid = {at: ensure_valid(one) for at, one in enumerate(base) if not problems[at]}
    _read_ahead(tx, count, list(valid.values()), known)
    part, lines, filled = dict[Key, _Counted](), count.lines, set[Key]()
    for at, body in valid.items():
        found = {one.place: one for one in _goods(tx, count, body, known)}
        empty = repository.empty_key(count.warehouse_id, body.bin_code)
        places = repository.find_places(tx.store, number, [*found, empty])
        more = len(found.keys() - places.own.keys())
        fills = more > 0 and empty not in filled and _is_unused(tx, number, places.own.get(empty))
        more -= fills
        if refused := _refusal(tx, count, found, places, body.counted_at):
            problems[at].append(refused)
        elif more and lines + more > MAX_LINES:
            problems[at].append(rules.full_problem(count))
        elif found.keys() & part.keys():
            problems = problems[:at]  # the last count of a stock is the one that counts
            break
        else:
            part |= found
            lines += more
            filled |= {empty} if fills else set()
    if part:
        _count(tx, record, list(part.values()), tx.now)
    return problems


def _is_unused(tx: Transaction, number: int, line_num: int | None) -> bool:
    """Return whether a line is that of an empty position, which goods that are found there take."""
    found = repository.read_lines(tx.store, number, [line_num] if line_num else ())
    return any(record.entity.product_id is None for record in found)


def _refusal(
    tx: Transaction,
    count: StoredCount,
    found: Mapping[Key, _Counted],
    places: repository.Places,
    counted_at: Instant | None,
) -> Problem | None:
    """Return why the goods of a row cannot be counted, if so.

    They are in another count, have changed since they were counted, or their line has another
    quantity, counted later.
    """
    if taken := next((places.others[one] for one in found if one in places.others), None):
        return Problem("", f"the stock is in {count_code(taken)}")
    rows = stock.rows_of_keys(tx.store, [one.stock for one in found.values() if one.stock])
    since = counted_at or count.created_at
    if changed := next((row for row in rows.values() if rules.changed_since(since, row)), None):
        return rules.late_problem(changed)
    records = repository.read_lines(
        tx.store, count.id, [places.own[one] for one in found if one in places.own]
    )
    lines = {record.entity.line_num: record.entity for record in records}
    return next(
        (
            rules.later_problem(line)
            for place, one in found.items()
            if (line := lines.get(places.own.get(place, 0)))
            and rules.contradicts_later(line, one.qty, one.at)
        ),
        None,
    )


def _read_ahead(
    tx: Transaction, count: StoredCount, bodies: Sequence[GoodsCount], known: MasterData
) -> None:
    """Read what `_goods` reads of several goods, and their lines, into the cache."""
    keys = [
        key
        for body in bodies
        for several in rules.goods_keys(
            body, known.products[body.item_code or ""].id, count.warehouse_id
        )
        for key in several
    ]
    empty = (repository.empty_key(count.warehouse_id, body.bin_code) for body in bodies)
    places = [*empty, *map(repository.place_key, keys)]
    found, _ = run_all(
        lambda: repository.find_places(tx.store, count.id, places),
        lambda: stock.quantities_of(tx.store, keys),
    )
    repository.read_lines(tx.store, count.id, sorted(set(found.own.values())))


def _goods(
    tx: Transaction, count: StoredCount, body: GoodsCount, known: MasterData
) -> list[_Counted]:
    product = known.products[body.item_code or ""]
    possible = rules.goods_keys(body, product.id, count.warehouse_id)
    keys = [key for several in possible for key in several]
    places = [
        repository.empty_key(count.warehouse_id, body.bin_code),  # for `_count`
        *map(repository.place_key, keys),
    ]
    own, there = run_all(
        lambda: repository.find_places(tx.store, count.id, places).own,
        lambda: stock.quantities_of(tx.store, keys),
    )
    chosen = (
        next(
            chain(
                (key for key in several if repository.place_key(key) in own),
                (key for key in several if there[key]),
                several,
            )
        )
        for several in possible
    )
    position, qty = known.positions[count.whs_code, body.bin_code], rules.counted_part(body)
    return [
        _Counted(
            position, key, repository.place_key(key), (product.item_code, product.name), qty,
            body.counted_at,
        )
        for key in chosen
    ]  # fmt: skip


def _empty(
    tx: Transaction, count: StoredCount, position: KnownPosition, at: Instant | None
) -> list[_Counted]:
    """Return that nothing is at a position: of its lines, and of stock that has no line.

    In a count of products, only of its lines: other products may be there.
    """
    bin_code = position.bin_code
    line_nums, ids = run_all(
        lambda: repository.lines_at(tx.store, count.id, count.warehouse_id, bin_code),
        lambda: (
            []
            if count.by_products
            else stock.ids_at_position(tx.store, count.warehouse_id, bin_code, MAX_ROWS)
        ),
    )
    if len(ids) > MAX_ROWS:
        raise ValidationFailed([rules.history_problem("bin_code")])
    records = repository.read_lines(tx.store, count.id, line_nums)
    rows = stock.rows_by_id(tx.store, ids).values()
    found = {
        (place := repository.place_key(key)): _Counted(
            position, key, place, (line.item_code, line.product_name), ZERO, at, line
        )
        for line in (record.entity for record in records)
        if (key := rules.stock_of(line, count.warehouse_id))
    }
    for row in rows:
        if row.bin_code == bin_code and rules.is_counted(row, count.warehouse_id):
            place = repository.place_key(row.key)
            found.setdefault(
                place,
                _Counted(position, row.key, place, (row.item_code, row.product_name), ZERO, at),
            )
    if found:
        # Nothing is counted if a later step would be refused. What has a line is in this count.
        new = [one for one in found.values() if one.line is None]
        places = repository.find_places(tx.store, count.id, [one.place for one in new])
        _ensure_free(count, new, places)
        unused = sum(record.entity.product_id is None for record in records)
        _ensure_room(count, count.lines + max(0, len(new) - unused))
        return list(found.values())
    place = repository.empty_key(count.warehouse_id, bin_code)
    if not line_nums:
        why = "counts products" if count.by_products else "no stock is there"
        message = f"{count_code(count.id)} has no line at {bin_code}, and {why}"
        raise ValidationFailed([Problem("bin_code", message)])
    return [_Counted(position, None, place, (None, None), ZERO, at)]


def _count(
    tx: Transaction, record: Record[StoredCount], part: Sequence[_Counted], now: Instant
) -> tuple[Record[StoredCount], dict[Key, StoredCountLine]]:
    """Write the lines of what was counted; return the count, and the lines by their places."""
    count, lines = record.entity, dict[Key, StoredCountLine]()
    empty = {
        one.position.id: repository.empty_key(count.warehouse_id, one.position.bin_code)
        for one in part
    }
    keys = [one.stock for one in part if one.stock]
    places, rows, operator = run_all(
        lambda: repository.find_places(
            tx.store, count.id, [*empty.values(), *(one.place for one in part)]
        ),
        lambda: stock.rows_of_keys(tx.store, keys),
        lambda: read_operator(tx),
    )
    _ensure_free(count, part, places)
    former = {
        one.entity.line_num: one
        for one in repository.read_lines(tx.store, count.id, sorted(set(places.own.values())))
    }
    spare = {
        position: unused
        for position, key in empty.items()
        if (unused := former.get(places.own.get(key, 0))) and unused.entity.product_id is None
    }
    number_of_lines, sums, named = count.lines, CountSums(), defaultdict[str, set[int]](set)
    for one in part:
        before = former.get(places.own.get(one.place, 0))
        if before is None:
            before = spare.pop(one.position.id, None)
        if before is None:
            number_of_lines += 1
        line_num = before.entity.line_num if before else number_of_lines
        line = before.entity if before else None
        row = rows.get(one.stock) if one.stock else None
        if one.stock and (line is None or line.product_id is None):
            # A row has the names of now, also when `part` was found before an earlier step.
            names = (row.item_code, row.product_name) if row else one.names
            line = rules.line_of_goods(count.id, line_num, one.stock, names)
            repository.take_place(tx, one.place, count.id, line_num)
            named["product"].add(one.stock.product_id)
            named["position"].add(one.position.id)
        assert line is not None  # noqa: S101 - an empty position has a line
        if rules.changed_since(one.at, row) or rules.contradicts_later(line, one.qty, one.at):
            after = rules.to_recount(line)
        else:
            qty_there = row.qty if row and row.key == one.stock else ZERO
            after = rules.counted(line, one.qty, qty_there, operator, one.at or now)
        if before:
            COUNT_LINES.replace(tx, before, after)
            sums -= rules.sums_of(before.entity)
        else:
            COUNT_LINES.insert(tx, repository.line_id(count.id, line_num), after)
        sums += rules.sums_of(after)
        lines[one.place] = after
    _ensure_room(count, number_of_lines)
    if named:
        references.add_references(tx, COUNTS.kind, count.id, named)
        tx.count(COUNTS.kind, {})  # the fence is checked with a counter
    stock.keep_rows(tx, keys)
    repository.add_to_sums(tx, count.id, sums)
    if count.status == "open" or number_of_lines > count.lines:
        record = COUNTS.save(tx, record, count, status="counting", lines=number_of_lines)
    return record, lines


def _ensure_free(
    count: StoredCount, counted: Iterable[_Counted], places: repository.Places
) -> None:
    """Raise Conflict if something of what was counted is in another count."""
    rules.ensure_free(
        (rules.line_of_goods(count.id, 0, one.stock, one.names), places.others[one.place])
        for one in counted
        if one.stock and one.place in places.others
    )


def _ensure_room(count: StoredCount, lines: int) -> None:
    """Raise ValidationFailed if a count would get so many lines, more than it may have."""
    if lines > max(count.lines, MAX_LINES):
        raise ValidationFailed([rules.full_problem(count)])
