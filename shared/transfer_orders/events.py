"""What is told of transfer orders."""

from shared.db.collection import Record
from shared.db.transaction import Transaction
from shared.events.kinds import EventKind
from shared.events.outbox import Event, raise_event
from shared.transfer_orders import views
from shared.transfer_orders.models import StoredTransferOrder


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
