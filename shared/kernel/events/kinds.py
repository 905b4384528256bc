"""The kinds of events: what a change can tell, and a subscription can ask for."""

from typing import Literal, get_args

EventKind = Literal[
    "receipt.created",
    "receipt.completed",
    "picking.created",
    "picking.completed",
    "transfer.created",
    "transfer.completed",
    "transfer.dispatched",
    "transfer.received",
    "shipment.dispatched",
    "return.received",
    "return.dispositioned",
    "packing_order.transitioned",
    "rfid_validation.completed",
    "product.created",
    "product.updated",
    "stock.updated",
    "layout.published",
    "wave.planned",
    "wave.released",
    "wave.completed",
    "wave.cancelled",
]
"""What can be subscribed to. Returns, packing orders and RFID validations raise nothing yet."""

EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
"""All of them, in the order in which they are documented."""

TEST_EVENT: Literal["webhook.test"] = "webhook.test"
"""With which a subscription is tried out; nobody subscribes to it."""
AnyEventKind = Literal[EventKind, "webhook.test"]
