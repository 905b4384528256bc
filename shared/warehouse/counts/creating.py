"""Create counts, and their lines in steps.

The count is stored with the list of what has no line yet. Each step takes the first of it; whoever
uses a count that has such a list does the rest first, so that nothing is lost when a request ends
between two steps.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Protocol

from shared.kernel import references
from shared.kernel.db import steps
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.records import Record
from shared.kernel.db.steps import run_steps
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed
from shared.kernel.validation import Checked, InvalidBody, ensure_valid
from shared.warehouse.counts import repository, rules
from shared.warehouse.counts.models import (
    MAX_IN_WAREHOUSE,
    MAX_LINES,
    MAX_ROWS,
    SCOPES,
    CountDraft,
    CountSums,
    CountWithSums,
    StoredCount,
    StoredCountLine,
)
from shared.warehouse.counts.repository import COUNT_LINES, COUNTS
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import StockRow
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownWarehouse
from shared.warehouse.work.operators import operator_problems, read_operator

_ACTIONS_PER_LINE = 2
"""The line, and the item that says which count its stock is in."""

type _Seed = tuple[Key, int | str, StoredCountLine]
"""A line to be: the key of its place, its entry in `to_list`, and the line without a number."""


class _ReadIds(Protocol):
    """Reads ids of stock rows; more than `most` of them are not all."""

    def __call__(self, *, most: int) -> list[int]: ...


def create_count(tx: Transaction, draft: Checked[CountDraft]) -> CountWithSums:
    """Create a count with a line for each stock that is there, and each empty position.

    Raises:
        Conflict: A stock is in another count that has not ended.
    """
    begun = int(tx.progress) if tx.progress else None

    def step() -> CountWithSums | None:
        if begun is None:
            record = _add_lines(tx, _new_count(tx, draft), None)
        else:
            record = COUNTS.get(tx.store, begun)
            if record.entity.to_list:
                record = _add_lines(tx, record.entity, record)
        if not record.entity.to_list:
            return CountWithSums(record, CountSums())
        tx.record_progress(str(record.id).encode())
        tx.after_step(lambda: begin(record.id))
        return None

    def begin(number: int) -> None:
        nonlocal begun
        begun = number

    return run_steps(tx, step)


def listed(tx: Transaction, number: int) -> Record[StoredCount] | None:
    """Return a count that has all its lines; else add some of them, and return None.

    Raises:
        Conflict: What has no line yet has come into another count; this one is cancelled.
    """
    record = COUNTS.get(tx.store, number)
    if not record.entity.to_list:
        return record
    _add_lines(tx, record.entity, record)
    return None


def _new_count(tx: Transaction, draft: Checked[CountDraft]) -> StoredCount:
    """Return the count that a draft describes, without lines, and register what it names."""
    tx.fence(COUNTS.kind)
    whs_code, positions = draft.warehouse_code, draft.positions
    codes = NamedCodes(
        products=draft.item_codes or (),
        warehouses=[whs_code],
        positions=((whs_code, bin_code) for bin_code in positions or ()),
    )
    found, assigned, _ = run_all(
        lambda: tx.store.get_many(codes.keys),
        lambda: read_operator(tx, draft.assigned_to) if draft.assigned_to else None,
        lambda: None if isinstance(draft, InvalidBody) else tx.reserve_ids(COUNTS.kind, 1),
    )
    known = codes.known(tx, found)
    problems = [
        *rules.draft_problems(draft, known),
        *operator_problems("assigned_to", draft.assigned_to, assigned),
    ]
    valid = ensure_valid(draft, problems)
    warehouse = known.warehouses[valid.warehouse_code]
    seeds = _seeds(tx.store, valid, warehouse, known)
    _ensure_free(tx.store, None, seeds)
    number = tx.next_id(COUNTS.kind)
    to_list = [entry for _, entry, _ in seeds]
    rows = _rows(tx.store, to_list)
    named = {
        "warehouse": [warehouse.id],
        "product": [row.product_id for row in rows],
        "position": [
            *(row.position_id for row in rows if row.position_id is not None),
            *(position.id for position in known.positions.values()),
        ],
    }
    references.register_references(tx, COUNTS.kind, number, named)
    return StoredCount(
        id=number,
        status="open",
        warehouse_id=warehouse.id,
        whs_code=warehouse.whs_code,
        blind=valid.blind is not False,
        by_products=valid.item_codes is not None,
        assigned_to=assigned,
        due_at=valid.due_at,
        comments=valid.comments,
        to_list=to_list,
        created_at=tx.now,
        updated_at=tx.now,
    )


def _rows(store: Store, to_list: Iterable[int | str]) -> list[StockRow]:
    """Return the stock rows among what is to have lines."""
    return list(stock.rows_by_id(store, (one for one in to_list if isinstance(one, int))).values())


def _seeds(
    store: Store, draft: CountDraft, warehouse: KnownWarehouse, known: MasterData
) -> list[_Seed]:
    """Return what is to be counted, in an order that all counts share.

    Two requests for the same stock thus never keep parts of it from each other.
    """
    field = next(name for name in SCOPES if getattr(draft, name) is not None)
    reads: list[_ReadIds]
    if field == "item_codes":
        products = [known.products[code].id for code in draft.item_codes or ()]
        reads = [partial(stock.ids_of_product, store, warehouse.id, one) for one in products]
    else:
        bins = _positions(store, draft, warehouse)
        reads = [partial(stock.ids_at_position, store, warehouse.id, one) for one in bins]
    rows = stock.rows_by_id(store, _read_ids(field, reads)).values()
    seeds = list(_seeds_of(rows, warehouse.id))
    full = {line.bin_code for _, _, line in seeds}
    empty = [bin_code for bin_code in draft.positions or () if bin_code not in full]
    seeds = sorted([*seeds, *(_seed_of_position(warehouse.id, one) for one in empty)], key=_place)
    if not seeds:
        raise ValidationFailed(
            [Problem(field, f"names no stock in warehouse {warehouse.whs_code}")]
        )
    if len(seeds) > MAX_LINES:
        message = f"names {len(seeds)} stocks and empty positions; a count has at most {MAX_LINES}"
        raise ValidationFailed([Problem(field, message)])
    return seeds


def _positions(store: Store, draft: CountDraft, warehouse: KnownWarehouse) -> Sequence[str]:
    if draft.zone_id is None:
        return draft.positions or ()
    found = warehouses.positions_of_zone(store, warehouse, draft.zone_id, MAX_IN_WAREHOUSE)
    if problem := rules.zone_problem(warehouse.whs_code, draft.zone_id, found):
        raise ValidationFailed([problem])
    return found or ()


def _read_ids(field: str, reads: list[_ReadIds]) -> list[int]:
    """Return the ids of stock rows that `reads` find, also of empty ones."""
    left = MAX_ROWS

    def read(one: _ReadIds) -> list[int]:
        nonlocal left
        found = one(most=left) if left >= 0 else []
        left -= len(found)
        return found

    pages = map_concurrently(read, reads)
    # `left` may be too high: threads change it at the same time.
    if sum(map(len, pages)) > MAX_ROWS:
        raise ValidationFailed([rules.history_problem(field)])
    return list(chain.from_iterable(pages))


def _place(seed: _Seed) -> Key:
    return seed[0]


def _seeds_of(rows: Iterable[StockRow], warehouse_id: int) -> Iterator[_Seed]:
    for row in rows:
        if rules.is_counted(row, warehouse_id):
            yield repository.place_key(row.key), row.id, rules.line_of_stock(0, 0, row)


def _seed_of_position(warehouse_id: int, bin_code: str) -> _Seed:
    line = StoredCountLine(count_id=0, line_num=0, bin_code=bin_code)
    return repository.empty_key(warehouse_id, bin_code), bin_code, line


def _ensure_free(store: Store, number: int | None, seeds: Sequence[_Seed]) -> set[Key]:
    """Return the places that have a line already; raise Conflict if some are in other counts."""
    places = repository.find_places(store, number, map(_place, seeds))
    rules.ensure_free((line, places.others[key]) for key, _, line in seeds if key in places.others)
    return set(places.own)


def _add_lines(
    tx: Transaction, count: StoredCount, record: Record[StoredCount] | None
) -> Record[StoredCount]:
    """Add the first lines of what has none yet; `record` is the stored count, None of a new one."""
    own = repository.SUM_SHARDS + 1 if record is None else 0  # also the register
    most = max(1, (steps.STEP_ACTIONS - own) // _ACTIONS_PER_LINE)
    part, rest = count.to_list[:most], count.to_list[most:]
    seeds = list(_seeds_of(_rows(tx.store, part), count.warehouse_id))
    seeds += [_seed_of_position(count.warehouse_id, one) for one in part if isinstance(one, str)]
    try:
        known = _ensure_free(tx.store, count.id, seeds)
    except Conflict:
        if record:
            cancel(tx, record)
            tx.commit_step()
        raise
    lines = count.lines
    for key, _, line in sorted(seeds, key=_place):
        if key not in known:
            lines += 1
            numbered = line.model_copy(update={"count_id": count.id, "line_num": lines})
            COUNT_LINES.insert(tx, repository.line_id(count.id, lines), numbered)
            repository.take_place(tx, key, count.id, lines)
    changed = count.model_copy(update={"lines": lines, "to_list": rest})
    if record:
        return COUNTS.save(tx, record, changed)
    repository.insert_sums(tx, count.id)
    return COUNTS.insert(tx, count.id, changed)


def cancel(tx: Transaction, record: Record[StoredCount]) -> Record[StoredCount]:
    """End a count whose differences are not posted; its stock can be in another one."""
    if record.entity.status != "counted":
        repository.close(tx, record.id)
    references.release_references(tx, COUNTS.kind, record.id)
    return COUNTS.save(tx, record, record.entity, status="cancelled", to_list=[])
