"""Use cases of handling units: create, fill, empty, close, reopen, delete, read and list them.

Every change of a unit also writes its packing order, which knows what is packed of each line: so
two packers never pack the same goods, and a unit never changes after its order was completed.
"""

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, InvalidBody, ensure_valid, of_valid_fields
from shared.warehouse.catalog.gtins import goods_resolved
from shared.warehouse.gs1.sscc import sscc
from shared.warehouse.packing import contents_rules, repository, rules
from shared.warehouse.packing.actions import ACTIONS
from shared.warehouse.packing.expiry import ensure_may_leave
from shared.warehouse.packing.models import (
    ContentsDraft,
    StoredPackingOrder,
    StoredUnit,
    UnitClosing,
    UnitDraft,
)
from shared.warehouse.packing.reading import UnitInOrder
from shared.warehouse.packing.repository import PACKING_ORDERS, SSCC_SEQUENCE, UNITS
from shared.warehouse.packing.service import change_order
from shared.warehouse.settings.values import settings_of
from shared.warehouse.work.operators import read_operator

type _Unit = Record[StoredUnit]
type _Order = Record[StoredPackingOrder]


def create_unit(tx: Transaction, number: int, checked: Checked[UnitDraft]) -> UnitInOrder:
    """Create an empty handling unit of the packing order with the id `number`.

    Raises:
        Conflict: The order has as many units as it may have.
        StaleState: The unit in which it stands is closed.
    """
    settings = settings_of(tx.company)
    prefix, is_valid = settings.gs1_company_prefix, not isinstance(checked, InvalidBody)
    _, _, record = run_all(
        lambda: tx.reserve_ids(UNITS.kind, 1) if is_valid else None,
        lambda: tx.reserve_ids(SSCC_SEQUENCE, 1) if is_valid and prefix else None,
        lambda: PACKING_ORDERS.get(tx.store, number),
    )
    order = record.entity
    problems = rules.parent_problems(order, checked.parent_id)
    draft = ensure_valid(checked, of_valid_fields(checked, problems))
    ACTIONS.ensure(order, "handling-units")
    rules.ensure_parent_open(order, draft.parent_id)
    code = None
    if prefix:
        code = sscc(int(settings.sscc_extension_digit), prefix, tx.next_id(SSCC_SEQUENCE))
    unit = StoredUnit(
        id=tx.next_id(UNITS.kind),
        sscc=code,
        status="open",
        packing_order_id=order.id,
        exit_document_id=order.exit_document_id,
        shipping=order.shipping,
        whs_code=order.whs_code,
        created_at=tx.now,
        updated_at=tx.now,
        **draft.model_dump(),
    )
    after = rules.with_entry(order, rules.entry_for(unit))
    change_order(tx, record, after)
    repository.put_sscc(tx, unit)
    return UnitInOrder(UNITS.insert(tx, unit.id, unit), after)


def put_in(tx: Transaction, number: int, checked: Checked[ContentsDraft]) -> UnitInOrder:
    """Put goods into an open unit; the first goods make its packing order `in_progress`.

    Raises:
        RuleBlocked: More than is staged and not packed yet, or more than a unit may hold, or goods
            that may not leave because of their expiry date.
    """
    with goods_resolved(tx.store, [checked]) as [named]:
        unit, record, draft = _read_for_goods(tx, number, "contents", named)
        goods = contents_rules.goods_to_pack(record.entity, unit.entity, draft)
        line = contents_rules.line_of(record.entity, goods)
        ensure_may_leave(tx, record.entity, line, goods, draft)
        order, after = contents_rules.changed_by(record.entity, unit.entity, goods, 1)
        update = {"status": "in_progress", "operator": order.operator or read_operator(tx)}
        return _change(tx, unit, after, record, order.model_copy(update=update))


def take_out(tx: Transaction, number: int, checked: Checked[ContentsDraft]) -> UnitInOrder:
    """Take goods out of an open unit; they are to be packed again.

    Raises:
        RuleBlocked: More than is in the unit.
    """
    with goods_resolved(tx.store, [checked]) as [named]:
        unit, record, draft = _read_for_goods(tx, number, "remove", named)
        goods = contents_rules.goods_to_remove(unit.entity, draft)
        order, after = contents_rules.changed_by(record.entity, unit.entity, goods, -1)
        return _change(tx, unit, after, record, order)


def close_unit(tx: Transaction, number: int, checked: Checked[UnitClosing]) -> UnitInOrder:
    """Close an open unit with its weight and tracking number.

    Raises:
        Conflict: A unit in it is open.
    """
    unit, record = _read(tx, number)
    closing = ensure_valid(checked)
    rules.ensure_admitted(record.entity, unit.entity, "close")
    inside = rules.units_inside(record.entity, number)
    update = {"status": "closed", "inside": inside, **closing.model_dump()}
    after = unit.entity.model_copy(update=update)
    return _change(tx, unit, after, record, record.entity)


def reopen_unit(tx: Transaction, number: int) -> UnitInOrder:
    """Reopen a closed unit; its weight is unknown again.

    Raises:
        StaleState: The unit in which it stands is closed.
    """
    unit, record = _read(tx, number)
    rules.ensure_admitted(record.entity, unit.entity, "reopen")
    update = {"status": "open", "weight_kg": None, "inside": None}
    after = unit.entity.model_copy(update=update)
    return _change(tx, unit, after, record, record.entity)


def delete_unit(tx: Transaction, number: int) -> UnitInOrder:
    """Delete an empty unit; return its last state.

    Raises:
        Conflict: Something is in it.
        StaleState: The unit in which it stands is closed.
    """
    unit, record = _read(tx, number)
    rules.ensure_packing(record.entity)
    rules.ensure_parent_open(record.entity, unit.entity.parent_id)
    rules.ensure_empty(record.entity, unit.entity)
    after = contents_rules.without_units(record.entity, [unit.entity])
    change_order(tx, record, after)
    UNITS.remove(tx, unit)
    return UnitInOrder(unit, after)


def get_unit(store: Store, number: int) -> UnitInOrder:
    """Read a unit and its packing order."""
    unit = UNITS.get(store, number)
    return UnitInOrder(unit, PACKING_ORDERS.get(store, unit.entity.packing_order_id).entity)


list_units = list_of(UNITS)


def _read(tx: Transaction, number: int) -> tuple[_Unit, _Order]:
    """Read a unit and its packing order."""
    unit = UNITS.get(tx.store, number)
    order = PACKING_ORDERS.get(tx.store, unit.entity.packing_order_id)
    if not rules.has_unit(order.entity, number):
        raise StaleRead  # it was deleted after it was read
    return unit, order


def _read_for_goods(
    tx: Transaction, number: int, action: str, checked: Checked[ContentsDraft]
) -> tuple[_Unit, _Order, ContentsDraft]:
    """Read a unit that admits `action`, and its packing order; return them and the valid draft."""
    unit, record = _read(tx, number)
    draft = ensure_valid(checked, contents_rules.goods_problems(record.entity, checked))
    rules.ensure_admitted(record.entity, unit.entity, action)
    return unit, record, draft


def _change(
    tx: Transaction, unit: _Unit, after: StoredUnit, record: _Order, order: StoredPackingOrder
) -> UnitInOrder:
    """Replace a unit, and its packing order with the entry of the unit."""
    order = rules.with_entry(order, rules.entry_for(after))
    change_order(tx, record, order)
    return UnitInOrder(UNITS.save(tx, unit, after), order)
