"""Many positions at once, by naming mask.

More than one transaction holds, so they are made in steps, each a transaction of its own
that makes what is missing and leaves alone what exists. Whatever ends a request half way,
sending it again completes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shared.kernel.db.collection import Record
from shared.kernel.db.items import Item
from shared.kernel.db.references import ensure_not_retired
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import MAX_ACTIONS, Transaction, allocate_ids
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.warehouses import repository, rules, service
from shared.warehouse.warehouses.models import (
    KnownWarehouse,
    Position,
    PositionBulk,
    StoredPosition,
)
from shared.warehouse.warehouses.repository import POSITIONS, known_in
from shared.warehouse.warehouses.rules import NamedPosition

_STEP = (MAX_ACTIONS - 1) // 2
"""Positions per transaction: each is an item and its alias, and all share one counter."""


def create_positions(
    tx: Transaction, draft: Checked[PositionBulk]
) -> tuple[KnownWarehouse, list[Record[Position]]]:
    """Create the positions that a naming mask names and that do not exist yet.

    Returns:
        The warehouse and all positions that the mask names, in naming order.

    Raises:
        ValidationFailed: The draft is invalid, the warehouse is unknown, or the mask and its
            labels do not fit together.
    """
    named, wrong = rules.named_positions(draft)
    known = known_in(repository.read_register(tx.store))
    warehouse, unknown = rules.warehouse_of(draft, known)
    found = [*unknown, *wrong]
    draft = ensure_valid(draft, found)
    if warehouse is None:
        raise ValidationFailed(found)
    for at in range(0, len(named), _STEP):
        step = _Step(warehouse, draft, named[at : at + _STEP])
        run_transaction(tx.store, step.make_missing, caller=tx.caller)
    return warehouse, _read(tx.store, warehouse, named)


@dataclass(frozen=True, slots=True)
class _Step:
    warehouse: KnownWarehouse
    draft: PositionBulk
    named: Sequence[NamedPosition]

    def make_missing(self, tx: Transaction) -> None:
        aliases = _aliases(tx.store, self.warehouse, self.named)
        ensure_not_retired(tx, aliases.values())
        missing = [position for position in self.named if position.bin_code not in aliases]
        if not missing:
            return
        self._bind_to_warehouse(tx)
        first = allocate_ids(tx.store, POSITIONS.kind, len(missing))
        for number, name in enumerate(missing, first):
            position = self._position(tx, number, name)
            repository.insert_position_alias(tx, position)
            POSITIONS.insert(tx, number, position)

    def _bind_to_warehouse(self, tx: Transaction) -> None:
        """If the warehouse goes before the commit, the step is decided again, and refused."""
        tx.fence(POSITIONS.kind)
        code = self.warehouse.whs_code
        found = tx.store.get_many([service.warehouse_key(code)])
        known = service.known_warehouses(tx, [code], found).get(code)
        if known is None or known.id != self.warehouse.id:
            message = f"Warehouse {code} was deleted or got another code meanwhile."
            raise Conflict(message)

    def _position(self, tx: Transaction, number: int, name: NamedPosition) -> StoredPosition:
        values: dict[str, Any] = {**rules.common_values(self.draft), **name.labels}
        return StoredPosition(
            id=number,
            warehouse_id=self.warehouse.id,
            whs_code=self.warehouse.whs_code,
            bin_code=name.bin_code,
            pick_sequence=name.pick_sequence,
            created_at=tx.now,
            updated_at=tx.now,
            **values,
        )


def _aliases(
    store: Store, warehouse: KnownWarehouse, named: Sequence[NamedPosition]
) -> dict[str, Item]:
    """Aliases of the positions that exist, by bin code."""
    keys = {
        name.bin_code: service.position_key(warehouse.whs_code, name.bin_code) for name in named
    }
    found = store.get_many(keys.values())
    return {code: found[key] for code, key in keys.items() if key in found}


def _read(
    store: Store, warehouse: KnownWarehouse, named: Sequence[NamedPosition]
) -> list[Record[Position]]:
    aliases = _aliases(store, warehouse, named)
    records = POSITIONS.get_many(store, (int(alias["id"]) for alias in aliases.values()))
    return [service.shown(record, service.reference(warehouse)) for record in records]
