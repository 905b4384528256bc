"""The items of transfer orders. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import SHARES, Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import Facets, flag_text
from shared.kernel.db.indexes import Partition
from shared.kernel.db.items import Key, alias_key, item_at
from shared.kernel.db.search import BEGINNINGS, SEARCH, SEARCH_INDEX, marked_text
from shared.kernel.db.table import EXPIRY
from shared.kernel.db.transaction import Transaction
from shared.kernel.references import ExternalReferences
from shared.warehouse.stock.level_book import add_shares
from shared.warehouse.stock.models import SHARES_SINCE
from shared.warehouse.transfer_orders.level_shares import order_shares
from shared.warehouse.transfer_orders.models import StoredTransferOrder, order_code
from shared.warehouse.transfer_orders.progress_rules import has_discrepancy

LINE_SEQUENCE = "transfer_order_line"
"""Sequence of the ids of the lines of all orders."""
_REQUEST_SECONDS = 86_400
"""Seconds during which a request may be repeated under its Idempotency-Key."""


def _facets(order: StoredTransferOrder) -> Facets:
    return {
        "status": order.status,
        "external_ref": order.external_ref,
        "from_warehouse": order.origin.code,
        "to_warehouse": order.destination.code,
        "has_discrepancy": flag_text(has_discrepancy(order)),
        "created_at": order.created_at,
        "updated_at": order.updated_at,
        SEARCH: marked_text(order_code(order.id), order.external_ref),
    }


REFERENCES = ExternalReferences("transfer_order_ref")

TRANSFER_ORDERS = Collection(
    kind="transfer_order",
    noun="Transfer order",
    listed_as="transfer_order",
    model=StoredTransferOrder,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "from_warehouse": Partition({"created_at": 4}, own_totals=SHARDS),
        "to_warehouse": Partition({"created_at": 5}, own_totals=SHARDS),
    },
    lookups={"external_ref": REFERENCES.keys},
    volatile=frozenset({SEARCH}),
    searched=frozenset({"created_at"}),
    search_entries=BEGINNINGS,
    since={SHARES: SHARES_SINCE, SEARCH: 4, SEARCH_INDEX: 4},
    add_shares=add_shares(order_shares),
)


def request_key(request: str) -> Key:
    """Return the key of the alias that leads from a request to the order it has created."""
    return alias_key("transfer_order_request", request)


def put_request(tx: Transaction, order: StoredTransferOrder) -> None:
    """Add the alias from the request to the order, for as long as it may be repeated."""
    if tx.request_name is None:
        return
    expiry = tx.now_ms // 1000 + _REQUEST_SECONDS
    tx.put(item_at(request_key(tx.request_name), id=order.id, **{EXPIRY: expiry}))
