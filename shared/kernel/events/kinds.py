"""The kinds of events."""

from collections.abc import Mapping
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

EVENTS: Mapping[AnyEventKind, Mapping[str, str]] = {
    "receipt.created": {"receipt": "a receipt is created"},
    "receipt.completed": {"receipt": "a receipt is finalized"},
    "picking.created": {
        "picking": "a picking is created, also by an import or for a transfer order"
    },
    "picking.completed": {
        "picking": "a picking is finalized, that of a transfer order again after a pick was undone"
    },
    "transfer.created": {
        "transfer": "a transfer is created",
        "transfer_order": "a transfer order is created",
    },
    "transfer.completed": {
        "transfer": "the goods of a transfer have been moved. A transfer that is executed at once"
        " raises `transfer.created`, too",
        "transfer_order": "a transfer order is closed",
    },
    "transfer.dispatched": {
        "transfer_order": "the goods of a transfer order have left the source warehouse"
    },
    "transfer.received": {"transfer_order": "the receiving of a transfer order is finished"},
    "shipment.dispatched": {
        "exit_document": "goods of an exit document are dispatched. Its attributes also have"
        " `shipped`, the quantities of its lines that left; `rest`, whether others stay open; and"
        " `units`, the [handling units](packing.md#dispatch) in which goods left"
    },
    "return.received": {"return": "the receiving of a return has ended"},
    "return.dispositioned": {"return": "the last goods of a return have a disposition"},
    "packing_order.transitioned": {
        "packing_order": "the status of a packing order changes. Its attributes also have `from`"
        " and `to`, the statuses before and after"
    },
    "rfid_validation.completed": {
        "rfid_validation": "the tags of a reader [were compared](rfid.md) with goods. The"
        " attributes say whether they passed; the differences are in the detail only"
    },
    "product.created": {"product": "a product is created, also by an import"},
    "product.updated": {
        "product": "the values of a product or its [packaging](packaging.md) change, also by an"
        " import. Values that it has already raise no event"
    },
    "stock.updated": {
        "stock_level": "a quantity of the level of a product in a warehouse has changed, also"
        " damaged or blocked stock, which the level counts and does not show. Each request raises"
        " one event per product and warehouse, with the state after it. An import with"
        " `auto_allocate` raises them for each document, like single requests"
    },
    "layout.published": {"layout": "a map of a warehouse is published; `attributes` is its header"},
    "wave.planned": {"wave": "a wave is planned"},
    "wave.released": {
        "wave": "a wave is released. Its status is `in_progress` if a picking was started before,"
        " `picked` if all had ended, else `released`"
    },
    "wave.completed": {"wave": "a wave is completed"},
    "wave.cancelled": {"wave": "a wave is cancelled"},
    "webhook.test": {
        "webhook": "a client calls `POST /webhooks/{id}/test`; only this subscription receives it."
        " Its `attributes` have neither `created_by` nor the fields that name who set something:"
        " receivers do not learn who subscribed"
    },
}
"""Kind → `object` of the resource that its events are about → when the event occurs."""
