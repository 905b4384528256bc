"""Rules of the goods of returns that arrive, as pure functions: which may, and for which lines."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import (
    GoodsLine,
    LineProblems,
    differing_dates,
    examine_goods,
    numbered,
    parts_of,
    repeated_serials,
)
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.returns.limits import NamedGoods, Origin, limit_problems
from shared.warehouse.returns.models import (
    DispositionDraft,
    Part,
    ReturnArrival,
    ReturnedStock,
    ReturnGoodsDraft,
    StoredReturn,
    StoredReturnLine,
    return_code,
)
from shared.warehouse.returns.rules import named_goods

_MAX_LINE_ACTIONS = MAX_PLANNED_ACTIONS - 12
"""Actions for the lines of an arrival. The other 12 are for the return, what returns have taken of
its exit document, the counters of the collections, and the stored response."""
_ACTIONS_PER_LINE = 4
"""The level, the total, the event, and the stock count of the position."""
_ACTIONS_PER_ROW = 3
"""Goods without serial, or one serial: a row, its alias, and a movement. Goods of a batch also take
one action per batch."""


def is_limited(one: StoredReturn, arrival: Checked[ReturnArrival]) -> bool:
    """Return whether an arrival has goods that the return has not reserved by its announcement.

    These are more than announced, and those of a batch or with serials. Goods counted in a unit may
    be more.
    """
    left: dict[str, Decimal] = {}
    for each in one.lines:
        if not each.wrong_item:
            more = each.qty - each.received_qty
            left[each.item_code] = left.get(each.item_code, ZERO) + more
    lines: Sequence[Checked[ReturnGoodsDraft]] = arrival.lines or ()
    for line in lines:
        code = line.item_code
        if code is None or code not in left:
            continue
        left[code] -= line.qty or ZERO
        if left[code] < 0 or line.batch is not None or line.serials or line.unit is not None:
            return True
    return False


def examine_arrival(
    arrival: Checked[ReturnArrival], one: StoredReturn, known: MasterData, origin: Origin | None
) -> LineProblems:
    """Return every problem of an arrival that can be found without reading the stock.

    `origin` is the exit document if it is needed.
    """
    lines: Sequence[Checked[ReturnGoodsDraft]] = arrival.lines or ()
    invalid = list(goods_problems(lines, one, known))
    for path, line in numbered(lines):
        invalid += known.placing_problems(f"{path}.bin_code", one.whs_code, line.bin_code)
    invalid += differing_dates(numbered(lines))
    invalid += size_problems(lines)
    blocked = list(_repeated_serials(one, _goods(arrival, one, known)))
    if origin:
        blocked += limit_problems(origin, limited_goods(arrival, one, known), one)
    return LineProblems(invalid, blocked)


def limited_goods(
    arrival: Checked[ReturnArrival], one: StoredReturn, known: MasterData
) -> list[NamedGoods]:
    """Return the goods of an arrival that the exit document of the return limits."""
    wrong = {line.product_id for line in one.lines if line.wrong_item}
    return [goods for goods in _goods(arrival, one, known) if goods.product_id not in wrong]


def _goods(
    arrival: Checked[ReturnArrival], one: StoredReturn, known: MasterData
) -> list[NamedGoods]:
    """Return the goods of an arrival of products that are on the return."""
    announced = {line.product_id for line in one.lines}
    named = named_goods(numbered(arrival.lines), known.products)
    return [goods for goods in named if goods.product_id in announced]


def _repeated_serials(one: StoredReturn, named: Sequence[NamedGoods]) -> Iterator[Problem]:
    """Yield a problem for each serial that the return has received already, wherever it is now."""
    received = {
        (line.product_id, serial)
        for line in one.lines
        for goods in line.goods
        for serial in goods.serials
    }
    for goods in named:
        for at, serial in enumerate(goods.serials):
            if (goods.product_id, serial) in received:
                message = (
                    f"serial {serial} of {goods.item_code} was received with"
                    f" {return_code(one.id)} already"
                )
                yield Problem(f"{goods.path}.serials.{at}", message)


def goods_problems(
    lines: Sequence[Checked[ReturnGoodsDraft] | Checked[DispositionDraft]],
    one: StoredReturn,
    known: MasterData,
) -> Iterator[Problem]:
    """Yield the problems of the products, batches and serials of goods of a return."""
    seen: dict[tuple[str, str], str] = {}
    for at, line in enumerate(lines):
        path, code = f"lines.{at}", line.item_code
        if code is None:
            continue
        if all(each.item_code != code for each in one.lines):
            yield Problem(f"{path}.item_code", f"{code} is not on {return_code(one.id)}")
        elif code not in known.products:
            yield Problem(f"{path}.item_code", f"no product has the code {code}")
        else:
            yield from examine_goods(GoodsLine.of(path, line), known.products[code])
        yield from repeated_serials(path, code, line.serials, seen)


def lines_without_problems(
    lines: Sequence[Any] | None, found: Iterable[Problem]
) -> list[tuple[int, Any]]:
    """Return the lines of a body without problems, except of positions, with their indexes.

    There is none if the body has too many lines: `found` lacks the problems of each then.
    """
    paths = [problem.field.split(".") for problem in found]
    if ["lines"] in paths:
        return []
    invalid = {int(path[1]) for path in paths if path[1:] and path[2:] != ["bin_code"]}
    return [(at, line) for at, line in enumerate(lines or ()) if at not in invalid]


def size_problems(lines: Sequence[Checked[ReturnGoodsDraft]]) -> Iterator[Problem]:
    """Yield a problem if the goods of a body do not fit into one transaction."""
    serials = sum(len(line.serials or ()) for line in lines)
    rows = sum(len(line.serials or ()) or 1 for line in lines)
    batches = {(line.item_code, line.batch) for line in lines if line.batch is not None}
    actions = _ACTIONS_PER_LINE * len(lines) + _ACTIONS_PER_ROW * rows + len(batches)
    if actions > _MAX_LINE_ACTIONS:
        message = (
            f"{len(lines)} lines with {serials} serials and {len(batches)} batches do not fit into"
            " one request; send at most 8 lines without serials, or one line with 20 serials, and"
            " the rest in further requests"
        )
        yield Problem("lines", message)


def with_arrival(one: StoredReturn, arrival: ReturnArrival, known: MasterData) -> StoredReturn:
    """Return the return after goods arrived.

    They count for the line that announced their serial, else for the lines of their batch, then
    for those of any batch, up to the announced quantity; the rest for the first of these lines.
    """
    lines = list(one.lines)
    for draft in arrival.lines:
        position = known.positions[one.whs_code, draft.bin_code]
        for serial, qty in parts_of(draft.qty, draft.serials):
            for at, part in _spread(lines, draft, serial, qty):
                goods = ReturnedStock(
                    position_id=position.id,
                    bin_code=position.bin_code,
                    batch_num=draft.batch,
                    qty=part,
                    open_qty=part,
                    serials=[serial] if serial is not None else [],
                    open_serials=[serial] if serial is not None else [],
                )
                received = _with_goods(lines[at].goods, goods)
                lines[at] = lines[at].model_copy(update={"goods": received})
    return one.model_copy(update={"status": "receiving", "lines": lines})


# Undo of arrivals


def undo_problems(
    arrival: Checked[ReturnArrival], one: StoredReturn, known: MasterData
) -> Iterator[Problem]:
    """Yield every problem of the products and positions of goods to take back out of the stock."""
    lines: Sequence[Checked[ReturnGoodsDraft]] = arrival.lines or ()
    yield from goods_problems(lines, one, known)
    for path, line in numbered(lines):
        if line.bin_code and (one.whs_code, line.bin_code) not in known.positions:
            message = f"warehouse {one.whs_code} has no position {line.bin_code}"
            yield Problem(f"{path}.bin_code", message)
    yield from size_problems(lines)


def without_arrival(
    one: StoredReturn, drafts: Mapping[int, ReturnGoodsDraft], known: MasterData
) -> tuple[StoredReturn, list[Part], list[Problem]]:
    """Return the return without goods, these goods, and a problem for each of more than arrived.

    `drafts` are the goods by the index of their line. A return without any goods is expected again.
    """
    lines = list(one.lines)
    undone: list[Part] = []
    problems: list[Problem] = []
    for at, draft in drafts.items():
        position = known.positions[one.whs_code, draft.bin_code]
        for number, (serial, qty) in enumerate(parts_of(draft.qty, draft.serials)):
            left = qty
            # What is above the announced quantity goes first, then what came for the last line.
            for limit in (True, False):
                for index in reversed(range(len(lines))):
                    line = lines[index]
                    if line.item_code != draft.item_code:
                        continue
                    above = max(ZERO, line.received_qty - line.qty)
                    most = min(left, above) if limit and serial is None else left
                    lines[index], taken = _taken_back(
                        line, (position.id, draft.batch), serial, most
                    )
                    left -= taken
            if left < qty:
                undone.append(
                    Part(
                        at=at,
                        product_id=known.products[draft.item_code].id,
                        position_id=position.id,
                        bin_code=position.bin_code,
                        batch_num=draft.batch,
                        serial=serial,
                        qty=qty - left,
                    )
                )
            if left:
                problems.append(_not_received(one, at, draft, (number, serial), qty - left))
    update: dict[str, object] = {"lines": lines}
    if not any(line.goods for line in lines):
        update |= {"status": "expected", "operator": None}
    return one.model_copy(update=update), undone, problems


def _taken_back(
    line: StoredReturnLine, place: tuple[int, str | None], serial: str | None, qty: Decimal
) -> tuple[StoredReturnLine, Decimal]:
    """Return a line without up to `qty` of its goods of a position and batch, and how much."""
    goods: list[ReturnedStock] = []
    taken = ZERO
    for one in line.goods:
        fits = (one.position_id, one.batch_num) == place and (
            serial is None or serial in one.serials
        )
        part = min(qty - taken, one.qty) if fits else ZERO
        taken += part
        if one.qty > part:
            rest = [each for each in one.serials if each != serial]
            quantities = {"qty": one.qty - part, "open_qty": one.open_qty - part}
            serials = {"serials": rest, "open_serials": rest} if part else {}
            goods.append(one.model_copy(update={**quantities, **serials}))
    return line.model_copy(update={"goods": goods}), taken


def _not_received(
    one: StoredReturn,
    at: int,
    draft: ReturnGoodsDraft,
    which: tuple[int, str | None],
    there: Decimal,
) -> Problem:
    number, serial = which
    place = f"received at {draft.bin_code} with {return_code(one.id)}"
    if serial is not None:
        message = f"serial {serial} of {draft.item_code} was not {place}"
        return Problem(f"lines.{at}.serials.{number}", message)
    batch = f", batch {draft.batch}" if draft.batch else ""
    message = f"{plain(draft.qty)} to undo, {plain(there)} of {draft.item_code}{batch} {place}"
    return Problem(f"lines.{at}.qty", message)


def _spread(
    lines: Sequence[StoredReturnLine], draft: ReturnGoodsDraft, serial: str | None, qty: Decimal
) -> Iterator[tuple[int, Decimal]]:
    """Yield the lines that goods count for, by index, and the quantity of each."""
    candidates = [at for at, line in enumerate(lines) if line.item_code == draft.item_code]

    def order(at: int) -> tuple[bool, bool, bool]:
        line = lines[at]
        is_named = serial is not None and serial in line.serials
        return not is_named, line.batch_num != draft.batch, line.batch_num is not None

    candidates.sort(key=order)
    more = dict.fromkeys(candidates, ZERO)
    left = qty
    for at in candidates:
        part = min(left, max(ZERO, lines[at].qty - lines[at].received_qty))
        more[at] += part
        left -= part
    more[candidates[0]] += left
    yield from ((at, part) for at, part in more.items() if part)


def _with_goods(there: Sequence[ReturnedStock], goods: ReturnedStock) -> list[ReturnedStock]:
    """Return received goods with more; those at one position and of one batch are one entry."""

    def place(one: ReturnedStock) -> tuple[int, str | None]:
        return one.position_id, one.batch_num

    same = next((one for one in there if place(one) == place(goods)), None)
    if same is None:
        return [*there, goods]
    joined = same.model_copy(
        update={
            "qty": same.qty + goods.qty,
            "open_qty": same.open_qty + goods.open_qty,
            "serials": [*same.serials, *goods.serials],
            "open_serials": [*same.open_serials, *goods.open_serials],
        }
    )
    return [joined if one is same else one for one in there]
