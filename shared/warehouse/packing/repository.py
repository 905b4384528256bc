"""Items of packing orders and handling units. Keys and indexes: see docs/internals/storage.md."""

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import facets_of
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.items import Key, alias_key, item_at
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit

SSCC_SEQUENCE = "sscc"
"""Sequence of the serial references of all SSCCs, whatever their prefix."""


PACKING_ORDERS = Collection(
    kind="packing_order",
    noun="Packing order",
    listed_as="packing_order",
    model=StoredPackingOrder,
    facets=facets_of(
        "status", "exit_document_id", "created_at", "updated_at", warehouse="whs_code"
    ),
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "warehouse": Partition({"created_at": 4}, own_totals=SHARDS),
    },
    lookups={"exit_document_id": Lookup(5)},
)

UNITS = Collection(
    kind="handling_unit",
    noun="Handling unit",
    listed_as="handling_unit",
    model=StoredUnit,
    facets=facets_of(
        "status", "sscc", "packing_order_id", "tracking_number", "created_at", "updated_at"
    ),
    sorts={"created_at": 1, "updated_at": 2},
    partitions={"status": Partition({"created_at": 3})},
    lookups={
        "sscc": lambda sscc: [sscc_key(sscc)],
        "packing_order_id": Lookup(4),
        "tracking_number": Lookup(5),
    },
)


def sscc_key(sscc: str) -> Key:
    """Return the key of the alias that makes an SSCC unique. It stays when its unit is deleted."""
    return alias_key("sscc", sscc)


def put_sscc(tx: Transaction, unit: StoredUnit) -> None:
    """Add the alias of the SSCC of a unit, if any.

    The commit raises Conflict when it was used before: the serial references of the prefix are used
    up, or another prefix begins like this one.
    """
    if unit.sscc is None:
        return

    def used() -> Exception:
        message = (
            f"The SSCC {unit.sscc} was used before. Repeat the request; if that does not help,"
            " the company's prefix is used up: set another sscc_extension_digit."
        )
        return Conflict(message)

    item = item_at(sscc_key(unit.sscc), id=unit.id)
    tx.insert(item, on_condition_failed=used)


def _passed_key(number: int) -> Key:
    """Return the key of the item with the version of a packing order that passed a validation."""
    return f"rfid_passed#{number}", "VERSION"


def put_passed(tx: Transaction, record: Record[StoredPackingOrder]) -> None:
    """Record that this version of a packing order has passed a validation."""
    tx.put(item_at(_passed_key(record.id), id=record.id, passed=record.version))


def has_passed(store: Store, record: Record[StoredPackingOrder]) -> bool:
    """Return whether a packing order has passed a validation since its last change."""
    item = store.get(_passed_key(record.id))
    return item is not None and item["passed"] == record.version
