"""Use cases of warehouses and positions. `bulk` creates many positions at once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice

from shared.kernel.db.items import Item, Key
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem
from shared.kernel.metadata import merge, merge_problems
from shared.kernel.references import (
    drop_code,
    give_up_code,
    is_former,
    is_registered,
    present_aliases,
    put_code,
    rename_alias,
    undo_retirement,
)
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.master_data.uses import code_refusal, retire, retire_unused
from shared.warehouse.warehouses import repository, rules, views
from shared.warehouse.warehouses.models import (
    KnownPosition,
    KnownWarehouse,
    Position,
    PositionChange,
    PositionCreate,
    PositionParameters,
    StoredPosition,
    StoredWarehouse,
    Warehouse,
    WarehouseChange,
    WarehouseCreate,
    WarehouseDetail,
    WarehouseParameters,
    WarehouseReference,
)
from shared.warehouse.warehouses.repository import (
    POSITIONS,
    WAREHOUSES,
    WarehouseAliases,
    existing_warehouses,
)

type RenameStock[E] = Callable[[Transaction, E, E], None]
"""Commits the new code of a warehouse or position to its stock rows and levels; takes it before and
after. `stock.renames` passes it, because warehouses cannot import stock, which imports them."""

_IN_DETAIL = 2000
"""Maximum number of positions in the detail of a warehouse; they fit into one response."""


# Warehouses


def create_warehouse(tx: Transaction, draft: Checked[WarehouseCreate]) -> Record[WarehouseDetail]:
    """Create a warehouse."""
    draft = ensure_valid(draft, _code_problems(tx.store, draft.whs_code))
    record = WAREHOUSES.create(tx, StoredWarehouse.values_of(draft))
    put_code(tx, repository.warehouse_alias(record.entity))
    return views.warehouse_detail(record)


def change_warehouse(
    tx: Transaction,
    number: int,
    change: Checked[WarehouseChange],
    rename_stock: RenameStock[StoredWarehouse],
) -> Record[WarehouseDetail]:
    """Change the fields sent.

    Raises:
        Conflict: The code would change while the warehouse has positions or is on open documents
            or counts.
    """
    record, positions = _read_warehouse(tx.store, number)
    before = record.entity
    renamed = "whs_code" in change.model_fields_set and change.whs_code != before.whs_code
    found = _code_problems(tx.store, change.whs_code, number) if renamed else []
    change = ensure_valid(change, [*found, *merge_problems(before.metadata, change)])
    values = merge(StoredWarehouse.values_of(change), before.metadata)
    after = before.model_copy(update=values)
    if renamed:
        mark = _retire_warehouse(tx, before, "cannot change its code")
        rename_stock(tx, before, after)
        give_up_code(tx, warehouse_key(before.whs_code), mark, new=warehouse_key(after.whs_code))
        put_code(tx, repository.warehouse_alias(after))
    elif after.name != before.name:
        rename_alias(tx, repository.warehouse_alias(after))
    return views.warehouse_detail(WAREHOUSES.update(tx, record, values), positions)


def delete_warehouse(tx: Transaction, number: int) -> Record[WarehouseDetail]:
    """Delete a warehouse; the map of it is `layout`'s, whose `delete_warehouse` callers use.

    Raises:
        Conflict: It has positions or is on open documents or counts.
    """
    record = WAREHOUSES.get(tx.store, number)
    mark = _retire_warehouse(tx, record.entity, "cannot be deleted")
    drop_code(tx, warehouse_key(record.entity.whs_code), mark)
    WAREHOUSES.remove(tx, record)
    return views.warehouse_detail(record)


def _retire_warehouse(tx: Transaction, warehouse: StoredWarehouse, what: str) -> str:
    alias = warehouse_key(warehouse.whs_code)
    mark = retire(tx, alias)
    positions, is_on_document = run_all(
        lambda: repository.position_count(tx.store, warehouse.id),
        lambda: is_registered(tx.store, "warehouse", warehouse.id),
    )
    reason = None
    if positions:
        reason = f"has {positions} position{'' if positions == 1 else 's'}"
    elif is_on_document:
        reason = "is on open documents or counts"
    if reason:
        undo_retirement(tx, alias, mark)
        raise Conflict(f"Warehouse {warehouse.whs_code} {reason} and {what}.")
    return mark


def _code_problems(store: Store, code: str | None, number: int | None = None) -> list[Problem]:
    """Return a problem if a warehouse cannot get a code; `number` is its id if it exists.

    `code` is None if the field is invalid.
    """
    if code is None:
        return []
    refusal = code_refusal(
        store,
        warehouse_key(code),
        lambda owner: WAREHOUSES.get(store, owner).entity.whs_code,
        noun="warehouse",
        number=number,
    )
    return [Problem("whs_code", refusal)] if refusal else []


def get_warehouse(store: Store, number: int) -> Record[WarehouseDetail]:
    """Return a warehouse with its first 2000 positions."""
    return views.warehouse_detail(*_read_warehouse(store, number))


stored_warehouse = WAREHOUSES.get
"""Returns a warehouse as stored, without its positions."""


def keep_warehouse(tx: Transaction, record: Record[StoredWarehouse]) -> None:
    """Write an unchanged warehouse, so that the transaction fails if it is deleted meanwhile."""
    WAREHOUSES.replace(tx, record, record.entity)


def _read_warehouse(
    store: Store, number: int
) -> tuple[Record[StoredWarehouse], Page[StoredPosition]]:
    positions, record = run_all(
        lambda: repository.first_positions(store, number, _IN_DETAIL),
        lambda: WAREHOUSES.get(store, number),
    )
    return record, positions


def list_warehouses(store: Store, parameters: WarehouseParameters) -> Page[Warehouse]:
    """Return a page of warehouses."""
    store = store.repeatable()  # the counts were read together with the warehouses
    page = repository.list_warehouses(store, parameters)
    records = shown_warehouses(store, page.records)
    return Page(records, page.total, page.page, page.per_page, page.next_mark)


def shown_warehouses(
    store: Store, records: Sequence[Record[StoredWarehouse]]
) -> list[Record[Warehouse]]:
    """Return warehouses as the list shows them."""
    positions = repository.position_counts(store, (found.id for found in records))
    return [views.warehouse(found, positions[found.id]) for found in records]


def positions_of_zone(
    store: Store, warehouse: KnownWarehouse, zone_id: int, most: int
) -> list[str] | None:
    """Return the codes of the positions of a warehouse that are in a zone, in order.

    None if the warehouse has more than `most` positions: no index has the zone, so all are read.
    """
    pages = id_pages(store, POSITIONS, "whs_code", warehouse.whs_code)
    ids = list(islice(chain.from_iterable(pages), most + 1))
    if len(ids) > most:
        return None
    found = (record.entity for record in POSITIONS.get_many(store, ids))
    return sorted(one.bin_code for one in found if one.zone_id == zone_id)


# Positions


def create_position(tx: Transaction, draft: Checked[PositionCreate]) -> Record[Position]:
    """Create a position."""
    # If the warehouse is deleted or renamed before the commit, the fence causes a retry.
    tx.fence(POSITIONS.kind)
    aliases = repository.read_warehouse_aliases(tx.store)
    warehouse, found = rules.warehouse_of(draft, existing_warehouses(aliases))
    code = draft.bin_code
    if warehouse and code:
        found += bin_code_problems(tx.store, warehouse.whs_code, code)
    draft = ensure_valid(draft, found)
    assert warehouse is not None  # noqa: S101 - a valid draft names one
    known_warehouses(tx, [warehouse.whs_code], aliases)
    place = {"warehouse_id": warehouse.id, "whs_code": warehouse.whs_code}
    record = POSITIONS.create(tx, {**place, **rules.position_values(draft)})
    put_code(tx, repository.position_alias(record.entity))
    return views.position(record, views.reference(warehouse))


def change_position(
    tx: Transaction,
    number: int,
    change: Checked[PositionChange],
    rename_stock: RenameStock[StoredPosition],
) -> Record[Position]:
    """Change the fields sent; a position stays in its warehouse.

    Raises:
        Conflict: The code would change while stock, an open document or a pick face refers to it.
    """
    record, aliases = _read_position(tx.store, number)
    before = record.entity
    code = change.bin_code or before.bin_code
    renamed = code != before.bin_code
    found = rules.warehouse_problems(before, change)
    if renamed:
        found += bin_code_problems(tx.store, before.whs_code, code, number)
    change = ensure_valid(change, found)
    values = rules.position_values(change)
    after = before.model_copy(update=values)
    if renamed:
        mark = _retire_position(tx, before, "cannot change its code")
        rename_stock(tx, before, after)
        keys = [position_key(one.whs_code, one.bin_code) for one in (before, after)]
        give_up_code(tx, keys[0], mark, new=keys[1])
        put_code(tx, repository.position_alias(after))
    elif rules.alias_values(after) != rules.alias_values(before):
        repository.update_position_alias(tx, after)
    return views.position(POSITIONS.update(tx, record, values), _reference_of(aliases, after))


def delete_position(tx: Transaction, number: int) -> Record[Position]:
    """Delete a position.

    Raises:
        Conflict: Stock, an open document or a pick face names it.
    """
    record, aliases = _read_position(tx.store, number)
    position = record.entity
    mark = _retire_position(tx, position, "cannot be deleted")
    drop_code(tx, position_key(position.whs_code, position.bin_code), mark)
    POSITIONS.remove(tx, record)
    return views.position(record, _reference_of(aliases, position))


def _retire_position(tx: Transaction, position: StoredPosition, what: str) -> str:
    return retire_unused(
        tx,
        position_key(position.whs_code, position.bin_code),
        facet="position",
        number=position.id,
        refusal=f"Position {position.bin_code} is {{use}} and {what}.",
    )


def bin_code_problems(
    store: Store, whs_code: str, bin_code: str, number: int | None = None
) -> list[Problem]:
    """Return a problem if a position cannot get a code; `number` is its id if it exists."""
    refusal = code_refusal(
        store,
        position_key(whs_code, bin_code),
        lambda owner: POSITIONS.get(store, owner).entity.bin_code,
        noun=f"position of {whs_code}",
        number=number,
    )
    return [Problem("bin_code", refusal)] if refusal else []


def get_position(store: Store, number: int) -> Record[Position]:
    """Return a position."""
    record, aliases = _read_position(store, number)
    return views.position(record, _reference_of(aliases, record.entity))


def list_positions(store: Store, parameters: PositionParameters) -> Page[Position]:
    """Return a page of positions."""
    code = parameters.warehouse
    page, aliases = run_all(
        lambda: repository.list_positions(store, parameters),
        lambda: (
            store.get_many([warehouse_key(code)])
            if code
            else repository.read_warehouse_aliases(store)
        ),
    )
    records = _shown_positions(page.records, aliases)
    return Page(records, page.total, page.page, page.per_page, page.next_mark)


def shown_positions(
    store: Store, records: Sequence[Record[StoredPosition]]
) -> list[Record[Position]]:
    """Return positions as the list shows them."""
    return _shown_positions(records, repository.read_warehouse_aliases(store))


def _shown_positions(
    records: Sequence[Record[StoredPosition]], aliases: WarehouseAliases
) -> list[Record[Position]]:
    return [views.position(found, _reference_of(aliases, found.entity)) for found in records]


def _read_position(store: Store, number: int) -> tuple[Record[StoredPosition], WarehouseAliases]:
    return run_all(
        lambda: POSITIONS.get(store, number), lambda: repository.read_warehouse_aliases(store)
    )


def _reference_of(aliases: WarehouseAliases, position: StoredPosition) -> WarehouseReference | None:
    alias = aliases.get(warehouse_key(position.whs_code))
    return views.reference(repository.known_warehouse(alias)) if alias else None


# Lookups by code for other packages


warehouse_key = repository.warehouse_key
"""Returns the key of the item that `known_warehouses` needs."""


def known_warehouses(
    tx: Transaction, codes: Iterable[str], found: Mapping[Key, Item]
) -> dict[str, KnownWarehouse]:
    """Return the warehouses with these codes; see `references.present_aliases`."""
    aliases = present_aliases(tx, {code: warehouse_key(code) for code in codes}, found)
    return {code: repository.known_warehouse(alias) for code, alias in aliases.items()}


def find_warehouse(store: Store, code: str) -> KnownWarehouse | None:
    """Return the warehouse with this code, if there is one."""
    alias = store.get(warehouse_key(code))
    return repository.known_warehouse(alias) if alias and not is_former(alias) else None


def present_code(store: Store, number: int) -> str | None:
    """Return the code that a warehouse has now; None if it was deleted."""
    found = WAREHOUSES.get_many(store, [number])
    return found[0].entity.whs_code if found else None


def all_warehouses(store: Store) -> dict[int, KnownWarehouse]:
    """Return the codes and names of all warehouses, by id."""
    return {
        known.id: known for known in existing_warehouses(repository.read_warehouse_aliases(store))
    }


def warehouse_ids(store: Store) -> dict[str, int]:
    """Return the ids of all warehouses by code, also by those that they had before."""
    aliases = repository.read_warehouse_aliases(store)
    return {alias[SORT_KEY]: int(alias["id"]) for alias in aliases.values()}


position_key = repository.position_key
"""Returns the key of the item that `known_positions` needs."""


def known_positions(
    tx: Transaction, pairs: Iterable[tuple[str, str]], found: Mapping[Key, Item]
) -> dict[tuple[str, str], KnownPosition]:
    """Return the positions with these pairs of codes, of the warehouse and their own.

    See `references.present_aliases`.
    """
    aliases = present_aliases(tx, {pair: position_key(*pair) for pair in pairs}, found)
    return {pair: repository.known_position(alias) for pair, alias in aliases.items()}


def find_positions(
    store: Store, whs_code: str, bin_codes: Iterable[str]
) -> dict[str, KnownPosition]:
    """Return the positions of a warehouse with these codes, by code."""
    keys = {code: position_key(whs_code, code) for code in bin_codes}
    return _known_positions(keys, store.get_many(keys.values()))


def find_positions_eventually(
    store: Store, whs_code: str, bin_codes: Iterable[str]
) -> dict[str, KnownPosition]:
    """Return what `find_positions` returned some milliseconds ago, for half its read units."""
    keys = {code: position_key(whs_code, code) for code in bin_codes}
    return _known_positions(keys, store.get_eventually(keys.values()))


def positions_named(store: Store, whs_code: str, bin_codes: Iterable[str]) -> list[StoredPosition]:
    """Return the positions of a warehouse with these codes, with all that is stored of them."""
    found = find_positions_eventually(store, whs_code, bin_codes)
    return stored_positions(store, [position.id for position in found.values()])


def _known_positions(
    keys: Mapping[str, Key], found: Mapping[Key, Item]
) -> dict[str, KnownPosition]:
    return {
        code: repository.known_position(found[key])
        for code, key in keys.items()
        if key in found and not is_former(found[key])
    }


sequenced_positions = repository.sequenced_positions
last_in_sequence = repository.last_in_sequence


stored_position = POSITIONS.get
"""Returns a position as stored."""


def stored_positions(
    store: Store, numbers: Iterable[int], *, also: Iterable[Key] = ()
) -> list[StoredPosition]:
    """Return positions by their ids, in the same order; the items `also` are read with them."""
    return [record.entity for record in POSITIONS.get_many(store, numbers, also=also)]
