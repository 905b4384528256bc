"""The kinds of events."""

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
"""Kinds for subscriptions."""

EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
"""All kinds for subscriptions, in the order of the documentation."""

TEST_EVENT: Literal["webhook.test"] = "webhook.test"
"""Kind of the event that tests one subscription; it cannot be subscribed to."""
AnyEventKind = Literal[EventKind, "webhook.test"]
"""Kind of any event that is delivered."""
