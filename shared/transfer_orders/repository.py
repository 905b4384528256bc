"""The items of transfer orders. Keys and indexes: see docs/storage.md."""

from shared.db.collection import Collection
from shared.db.facets import Facets
from shared.db.items import Key
from shared.db.listing import Page, read_page
from shared.db.references import alias_key
from shared.db.store import Store
from shared.db.table import PARTITION_KEY, SORT_KEY
from shared.db.transaction import Transaction
from shared.transfer_orders.models import StoredTransferOrder, TransferOrderParameters


def _facets(order: StoredTransferOrder) -> Facets:
    return {
        "status": order.status,
        "external_ref": order.external_ref,
        "from_warehouse": order.origin.code,
        "to_warehouse": order.destination.code,
        "created_at": order.created_at,
        "updated_at": order.updated_at,
    }


TRANSFER_ORDERS = Collection(
    kind="transfer_order",
    noun="Transfer order",
    model=StoredTransferOrder,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={"status": {"created_at": 3, "updated_at": 4}},
    finders={"external_ref": 5, "from_warehouse": 6, "to_warehouse": 7},
)


def reference_key(external_ref: str) -> Key:
    """Key of the alias that makes a reference unique."""
    return alias_key("transfer_order_ref", external_ref)


def put_reference(tx: Transaction, order: StoredTransferOrder) -> None:
    """Stage the alias, if there is a reference; overtaken when another order got it first."""
    if order.external_ref is None:
        return
    partition, sort = reference_key(order.external_ref)
    tx.insert({PARTITION_KEY: partition, SORT_KEY: sort, "id": order.id})


def list_transfer_orders(
    store: Store, parameters: TransferOrderParameters, timezone: str
) -> Page[StoredTransferOrder]:
    """Read a page of transfer orders; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={
            "status": parameters.status,
            "from_warehouse": parameters.from_warehouse,
            "to_warehouse": parameters.to_warehouse,
            "external_ref": parameters.external_ref,
        },
        between=parameters.created(timezone),
    )
    return read_page(store, TRANSFER_ORDERS, query)
