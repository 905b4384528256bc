"""Use cases of transfer orders: create, check, read and list them."""

from collections.abc import Mapping, Sequence

from shared.kernel import references
from shared.kernel.db.items import Item, Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Problem, ServiceError
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, InvalidBody
from shared.warehouse.catalog.drafts import more_problems
from shared.warehouse.catalog.lines import ensure_no_problems
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.picking.allocation import allocate_rest
from shared.warehouse.transfer_orders import repository, rules, views
from shared.warehouse.transfer_orders.models import (
    StoredTransferOrder,
    TransferOrderDraft,
)
from shared.warehouse.transfer_orders.order_picking import create_picking_for
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import WarehouseParameters
from shared.warehouse.work.models import Operator
from shared.warehouse.work.operators import read_operator
from shared.warehouse.work.sources import source_of


def create_transfer_order(
    tx: Transaction,
    draft: Checked[TransferOrderDraft],
    *,
    by_client: bool,
    import_id: int | None = None,
) -> CreatedRecord[StoredTransferOrder]:
    """Create a transfer order and raise transfer.created, or return the one with its reference.

    A draft with `release` is also released for picking. `by_client`: the caller is an
    integration client. `import_id` is the import that it comes from.

    Raises:
        RuleBlocked: The draft is valid, but rules forbid it.
        ServiceError: transfer_orders_disabled, the company has fewer than two warehouses.
    """
    if isinstance(draft, InvalidBody) or not draft.release:
        created, _ = _create(tx, draft, by_client=by_client, import_id=import_id)
        return created
    # One transaction may not hold all allocations: it makes the first ones with the order.
    created, lacks_stock = run_transaction(
        tx.store,
        lambda inner_tx: _create(inner_tx, draft, by_client=by_client, import_id=import_id),
        caller=tx.caller,
        request_name=tx.request_name,
    )
    if lacks_stock:
        allocate_rest(tx, created.record.entity.picking_id or 0)
    return created


def _create(
    tx: Transaction, draft: Checked[TransferOrderDraft], *, by_client: bool, import_id: int | None
) -> tuple[CreatedRecord[StoredTransferOrder], bool]:
    """Create an order; also return whether it is released and a line lacks stock so far."""
    wanted = transfer_order_keys(draft)
    if draft.release and tx.request_name is not None:
        wanted.append(repository.request_key(tx.request_name))
    lines = 0 if isinstance(draft, InvalidBody) else len(draft.lines)
    _, picker, _, _ = run_all(
        lambda: tx.fence(TRANSFER_ORDERS.kind, wanted),
        lambda: _read_picker(tx, draft),
        lambda: tx.reserve_ids(TRANSFER_ORDERS.kind, 1) if lines else None,
        lambda: tx.reserve_ids(repository.LINE_SEQUENCE, lines) if lines else None,
    )
    found = tx.store.get_many(wanted)
    if not isinstance(draft, InvalidBody):
        of_request = _created_by_request(tx, found)
        existing = of_request or repository.REFERENCES.holder(found, draft.external_ref)
        if existing:
            record = TRANSFER_ORDERS.get(tx.store, existing)
            if of_request:
                return CreatedRecord(record, new=True), True
            differing = rules.differences(draft, record.entity)
            return CreatedRecord(record, new=False, differing=differing), False
    known = _codes(draft).known(tx, found)
    _ensure_two_warehouses(tx.store, draft, known)
    draft = lines_in_base_units(draft, found)
    draft = ensure_no_problems(draft, rules.examine(draft, known, picker, by_client=by_client))
    number = tx.next_id(TRANSFER_ORDERS.kind)
    line_ids = [tx.next_id(repository.LINE_SEQUENCE) for _ in draft.lines]
    order = rules.new_order(number, line_ids, draft, known, tx.now, source_of(tx, import_id))
    lacks_stock = False
    if draft.release:
        order, lacks_stock = create_picking_for(tx, order, picker)
        repository.put_request(tx, order)
    record = TRANSFER_ORDERS.insert(tx, number, order)
    repository.REFERENCES.put(tx, draft.external_ref, number)
    references.register_references(
        tx,
        TRANSFER_ORDERS.kind,
        number,
        {
            "product": (line.product_id for line in order.lines),
            "warehouse": (warehouse.id for warehouse in known.warehouses.values()),
        },
    )
    raise_record_event(tx, "transfer.created", views.TRANSFER_ORDER_EVENTS, record)
    references.record_use(tx, found.values())
    return CreatedRecord(record, new=True), lacks_stock


def examine_transfer_order(
    tx: Transaction, draft: Checked[TransferOrderDraft]
) -> tuple[int | None, list[Problem]]:
    """Return the problems of a draft other than those of its fields; nothing is written.

    The first value is the id of the order that already has the reference of the draft, or None.
    """
    found = tx.store.get_many(transfer_order_keys(draft))
    known = _codes(draft).known(tx, found)
    counted = lines_in_base_units(draft, found)
    findings = rules.examine(counted, known, _read_picker(tx, draft), by_client=False)
    existing = repository.REFERENCES.holder(found, draft.external_ref)
    return existing, [*more_problems(counted, draft), *findings.all]


def transfer_order_differences(
    store: Store, drafts: Mapping[int, TransferOrderDraft]
) -> Mapping[int, Sequence[str]]:
    """Return the fields in which drafts differ from the orders with their ids."""
    records = TRANSFER_ORDERS.get_many(store, drafts)
    return {one.id: rules.differences(drafts[one.id], one.entity) for one in records}


get_transfer_order = TRANSFER_ORDERS.get
list_transfer_orders = list_of(TRANSFER_ORDERS)


def transfer_order_keys(draft: Checked[TransferOrderDraft]) -> list[Key]:
    """Return the keys of all items that `create_transfer_order` reads for a draft."""
    keys = _codes(draft).keys
    return [*keys, *repository.REFERENCES.keys(draft.external_ref)]


LINE_SEQUENCE = repository.LINE_SEQUENCE


def _codes(draft: Checked[TransferOrderDraft]) -> NamedCodes:
    return NamedCodes(
        products=(line.item_code for line in draft.lines or ()),
        warehouses=(draft.from_warehouse, draft.to_warehouse),
    )


def _created_by_request(tx: Transaction, found: Mapping[Key, Item]) -> int | None:
    """Return the id of the order that an earlier attempt of the request has created, if any."""
    key = None if tx.request_name is None else repository.request_key(tx.request_name)
    return references.existing_id(found, key)


def _read_picker(tx: Transaction, draft: Checked[TransferOrderDraft]) -> Operator | None:
    """Return the user whom a draft names, or the calling user when it is released without one."""
    return read_operator(tx, draft.picker_id) if draft.picker_id or draft.release else None


def _ensure_two_warehouses(
    store: Store, draft: Checked[TransferOrderDraft], known: MasterData
) -> None:
    """Raise transfer_orders_disabled when the company has fewer than two warehouses.

    They are counted only when the order itself does not name two of them. Reads never count them:
    it costs a round trip, and old orders stay readable after a warehouse was deleted.
    """
    if rules.names_two_warehouses(draft, known):
        return
    if warehouses.list_warehouses(store, WarehouseParameters(per_page=1)).total < 2:  # noqa: PLR2004 - the two
        raise ServiceError(
            "Transfer orders need at least two warehouses; create another warehouse first.",
            "transfer_orders_disabled",
        )
