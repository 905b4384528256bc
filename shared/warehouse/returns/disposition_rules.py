"""Rules of dispositions, as pure functions: which received goods they take, and what they change.

A disposition takes goods of the return that have none so far, in the order of its lines.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.kernel.validation import Checked
from shared.warehouse.catalog.lines import numbered, parts_of
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.returns.arrival_rules import goods_problems, lines_without_problems
from shared.warehouse.returns.models import (
    Disposition,
    DispositionDraft,
    DispositionsDraft,
    Part,
    ReturnedStock,
    StoredReturn,
    StoredReturnLine,
    return_code,
)

_MAX_LINE_ACTIONS = MAX_PLANNED_ACTIONS - 14
"""Actions for the lines of one request. The other 14 are for the return, its event and register
entry, the counters of the collections, and the stored response."""
_PROVIDER_ACTIONS = 6
"""The exit document, its reference, register entry and counter; the picking and its event."""
_ACTIONS_PER_LINE = 4
"""The level, the total, the event, and the stock count of the target position."""
_ACTIONS_PER_ROW = 5
"""Goods at one position: two rows, the alias of a new row, a movement, and the stock count of the
position that they leave."""
_ACTIONS_PER_SERIAL = 2
"""A serial: its row and a movement. Its position also takes one for its stock count."""
_MOVING: frozenset[Disposition] = frozenset({"restock", "return_to_provider"})

COUNTERS: Mapping[Disposition, str] = {
    "restock": "restocked_qty",
    "quarantine": "quarantined_qty",
    "scrap": "scrapped_qty",
    "lost": "lost_qty",
    "return_to_provider": "returned_to_provider_qty",
}
"""Action → field of a line that counts it."""


def examine(
    draft: Checked[DispositionsDraft], one: StoredReturn, known: MasterData
) -> Iterator[Problem]:
    """Yield every problem of dispositions that can be found without reading the stock."""
    lines: Sequence[Checked[DispositionDraft]] = draft.lines or ()
    yield from goods_problems(lines, one, known)
    for path, line in numbered(lines):
        if line.action is not None and line.action not in _MOVING and line.bin_code is not None:
            message = f"is not allowed with {line.action}: the goods stay where they are"
            yield Problem(f"{path}.bin_code", message)
        else:
            yield from known.placing_problems(f"{path}.bin_code", one.whs_code, line.bin_code)


def valid_lines(
    draft: Checked[DispositionsDraft], found: Iterable[Problem]
) -> dict[int, DispositionDraft]:
    """Return the lines of a body whose goods and action have no problem, by index.

    `found` are the problems of the body. One of the position does not matter.
    """
    names = ("item_code", "qty", "action", "batch", "serials")
    return {
        at: DispositionDraft.model_construct(**{name: getattr(line, name) for name in names})
        for at, line in lines_without_problems(draft.lines, found)
    }


def take_goods(
    one: StoredReturn, drafts: Mapping[int, DispositionDraft]
) -> tuple[StoredReturn, list[Part], list[Problem]]:
    """Return the return after dispositions, the goods that they take, and problems.

    `drafts` are the dispositions by the index of their line. There is a problem for each of more
    goods than have arrived and have none so far.
    """
    lines = list(one.lines)
    parts: list[Part] = []
    problems: list[Problem] = []
    for at, draft in drafts.items():
        for number, (serial, wanted) in enumerate(parts_of(draft.qty, draft.serials)):
            left = wanted
            for index, line in enumerate(lines):
                if line.item_code != draft.item_code or not left:
                    continue
                lines[index], taken = _take(line, draft, serial, left)
                parts += [
                    Part(
                        at=at,
                        product_id=line.product_id,
                        position_id=goods.position_id,
                        bin_code=goods.bin_code,
                        batch_num=goods.batch_num,
                        serial=serial,
                        qty=qty,
                    )
                    for goods, qty in taken
                ]
                left -= sum((qty for _, qty in taken), ZERO)
            if left:
                problems.append(_missing(one, at, draft, (number, serial), wanted - left))
    parts = _joined(parts)
    if not problems:
        problems += _size_problems(drafts, parts)
    return one.model_copy(update={"lines": lines}), parts, problems


def _joined(parts: Iterable[Part]) -> list[Part]:
    """Return parts with those of one place together, which lines of the return have apart."""
    found: dict[Part, Decimal] = {}
    for part in parts:
        place = replace(part, qty=ZERO)
        found[place] = found.get(place, ZERO) + part.qty
    return [replace(place, qty=qty) for place, qty in found.items()]


def _take(
    line: StoredReturnLine, draft: DispositionDraft, serial: str | None, qty: Decimal
) -> tuple[StoredReturnLine, list[tuple[ReturnedStock, Decimal]]]:
    """Return a line with the disposition of up to `qty` of its goods, and the goods taken."""
    goods: list[ReturnedStock] = []
    taken: list[tuple[ReturnedStock, Decimal]] = []
    left = qty
    for one in line.goods:
        fits = one.batch_num == draft.batch and (serial is None or serial in one.open_serials)
        part = min(left, one.open_qty) if fits else ZERO
        left -= part
        if part:
            taken.append((one, part))
            serials = [each for each in one.open_serials if each != serial]
            update = {"open_qty": one.open_qty - part, "open_serials": serials}
            one = one.model_copy(update=update)  # noqa: PLW2901 - the goods after it
        goods.append(one)
    counter = COUNTERS[draft.action]
    done: Decimal = getattr(line, counter)
    return line.model_copy(update={"goods": goods, counter: done + qty - left}), taken


def _missing(
    one: StoredReturn,
    at: int,
    draft: DispositionDraft,
    which: tuple[int, str | None],
    there: Decimal,
) -> Problem:
    number, serial = which
    code = return_code(one.id)
    if serial is not None:
        message = f"serial {serial} of {draft.item_code} has no goods of {code} to decide on"
        return Problem(f"lines.{at}.serials.{number}", message)
    batch = f", batch {draft.batch}" if draft.batch else ""
    message = (
        f"{plain(draft.qty)} given, {plain(there)} of {draft.item_code}{batch} received with {code}"
        " without a disposition"
    )
    return Problem(f"lines.{at}.qty", message)


def _size_problems(
    drafts: Mapping[int, DispositionDraft], parts: Sequence[Part]
) -> Iterator[Problem]:
    actions = sum(_actions(draft, at, parts) for at, draft in drafts.items())
    is_for_provider = any(draft.action == "return_to_provider" for draft in drafts.values())
    if actions + _PROVIDER_ACTIONS * is_for_provider > _MAX_LINE_ACTIONS:
        serials = sum(len(draft.serials or ()) for draft in drafts.values())
        message = (
            f"{len(drafts)} lines with {serials} serials take goods from {len(parts)} places, more"
            " than fits into one request; send the rest in further requests"
        )
        yield Problem("lines", message)


def _actions(draft: DispositionDraft, at: int, parts: Sequence[Part]) -> int:
    """Return how many actions a line of a body takes at most."""
    if draft.action == "quarantine":
        return 0
    own = [part for part in parts if part.at == at]
    named = sum(part.serial is not None for part in own)
    places = len({part.position_id for part in own}) if named else 0
    batches = 1 if draft.batch else 0
    rows = _ACTIONS_PER_ROW * (len(own) - named)
    return _ACTIONS_PER_LINE + _ACTIONS_PER_SERIAL * named + places + rows + batches


def decided(one: StoredReturn, now: str) -> StoredReturn:
    """Return the return after dispositions; it is dispositioned once all its goods have one."""
    if any(line.open_qty for line in one.lines):
        return one
    return one.model_copy(update={"status": "dispositioned", "dispositioned_at": now})
