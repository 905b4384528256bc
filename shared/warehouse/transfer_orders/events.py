"""What is told of transfer orders."""

from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.events.kinds import EventKind
from shared.kernel.events.outbox import Event, raise_event
from shared.warehouse.transfer_orders import views
from shared.warehouse.transfer_orders.models import StoredTransferOrder


def raise_order_event(
    tx: Transaction, kind: EventKind, record: Record[StoredTransferOrder]
) -> None:
    """Stage an event of an order, `kind` such as transfer.created."""
    raise_event(
        tx,
        Event(
            type=kind,
            object="transfer_order",
            id=record.id,
            version=record.version,
            href=f"/transfer-orders/{record.id}",
            attributes=views.in_list(record).model_dump(),
            status=record.entity.status,
        ),
    )
