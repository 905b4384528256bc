"""Creation of many positions at once, by naming mask.

Each step creates some of the positions in its own transaction and does not change existing
positions. A client completes an interrupted request by sending it again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shared.kernel.db.actions import Cost
from shared.kernel.db.facets import searchable
from shared.kernel.db.items import Item, Key
from shared.kernel.db.records import Record
from shared.kernel.db.search import count_search_items
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.steps import commit_in_steps, fitting_items
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem
from shared.kernel.references import is_former, present_aliases, put_code
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.warehouses import repository, rules, service, views
from shared.warehouse.warehouses.models import (
    KnownWarehouse,
    Position,
    PositionBulk,
    StoredPosition,
)
from shared.warehouse.warehouses.repository import POSITIONS, existing_warehouses
from shared.warehouse.warehouses.rules import NamedPosition

_ACTIONS_PER_POSITION, _BYTES_PER_POSITION = 2, 5_000
"""A position and its alias, without its entries of the search index; names and labels are short."""


def create_positions(
    tx: Transaction, draft: Checked[PositionBulk]
) -> tuple[KnownWarehouse, list[Record[Position]]]:
    """Create the positions that a naming mask names and that do not exist yet.

    Returns the warehouse and all positions that the mask names, in naming order.
    """
    named, wrong = rules.named_positions(draft)
    known = existing_warehouses(repository.read_warehouse_aliases(tx.store))
    warehouse, unknown = rules.warehouse_of(draft, known)
    problems = [*unknown, *wrong]
    missing: list[NamedPosition] = []
    # Codes that are too long may not fit into a key.
    if warehouse and not any(problem.field == "naming_mask" for problem in wrong):
        keys = _alias_keys(warehouse, named)
        existing = present_aliases(tx, keys, tx.store.get_many(keys.values()))
        missing = [name for name in named if name.bin_code not in existing]
        problems += _code_problems(tx.store, warehouse, missing)
    draft = ensure_valid(draft, problems)
    assert warehouse is not None  # noqa: S101 - a valid draft names one
    commit_in_steps(tx, missing, lambda left: _create_step(tx, warehouse, draft, left))
    return warehouse, _read(tx.store, warehouse, named)


def _cost(name: NamedPosition) -> Cost:
    entries = count_search_items(searchable(name.bin_code))
    return Cost(_ACTIONS_PER_POSITION + entries, _BYTES_PER_POSITION)


def _create_step(
    tx: Transaction, warehouse: KnownWarehouse, draft: PositionBulk, left: Sequence[NamedPosition]
) -> int:
    """Add as many missing positions as fit; return how many of `left` are done."""
    names = fitting_items(tx, left, _cost)
    tx.fence(POSITIONS.kind)  # before the warehouse is read
    warehouse_key = service.warehouse_key(warehouse.whs_code)
    keys = _alias_keys(warehouse, names)
    found = tx.store.get_many([warehouse_key, *keys.values()])
    _ensure_unchanged(tx, warehouse, found)
    existing = present_aliases(tx, keys, found)
    missing = [name for name in names if name.bin_code not in existing]
    if missing:
        ensure_valid(draft, _code_problems(tx.store, warehouse, missing))
        first = allocate_ids(tx.store, POSITIONS.kind, len(missing))
        for number, name in enumerate(missing, first):
            position = _position(tx, number, warehouse, draft, name)
            put_code(tx, repository.position_alias(position))
            POSITIONS.insert(tx, number, position)
    return len(names)


def _code_problems(
    store: Store, warehouse: KnownWarehouse, missing: Iterable[NamedPosition]
) -> Iterator[Problem]:
    """Yield a problem for each position that cannot get the code that a mask gives it."""
    for name in missing:
        for problem in service.bin_code_problems(store, warehouse.whs_code, name.bin_code):
            message = f"produces the bin code {name.bin_code}, which {problem.message}"
            yield Problem("naming_mask", message)


def _ensure_unchanged(
    tx: Transaction, warehouse: KnownWarehouse, found: Mapping[Key, Item]
) -> None:
    """Raise Conflict if the warehouse was deleted or renamed after the request began."""
    code = warehouse.whs_code
    known = service.known_warehouses(tx, [code], found).get(code)
    if known is None or known.id != warehouse.id:
        raise Conflict(f"Warehouse {code} was deleted or renamed while its positions were created.")


def _position(
    tx: Transaction,
    number: int,
    warehouse: KnownWarehouse,
    draft: PositionBulk,
    name: NamedPosition,
) -> StoredPosition:
    values: dict[str, Any] = {**rules.common_values(draft), **name.labels}
    return StoredPosition(
        id=number,
        warehouse_id=warehouse.id,
        whs_code=warehouse.whs_code,
        bin_code=name.bin_code,
        pick_sequence=name.pick_sequence,
        created_at=tx.now,
        updated_at=tx.now,
        **values,
    )


def _alias_keys(warehouse: KnownWarehouse, names: Iterable[NamedPosition]) -> dict[str, Key]:
    """Return the keys of the aliases of positions, by bin code."""
    return {
        name.bin_code: service.position_key(warehouse.whs_code, name.bin_code) for name in names
    }


def _read(
    store: Store, warehouse: KnownWarehouse, named: Sequence[NamedPosition]
) -> list[Record[Position]]:
    keys = _alias_keys(warehouse, named).values()
    found = store.get_many(keys)
    present = [found[key] for key in keys if key in found and not is_former(found[key])]
    records = POSITIONS.get_many(store, (int(alias["id"]) for alias in present))
    return [views.position(record, views.reference(warehouse)) for record in records]
