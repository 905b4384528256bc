"""Many rows of one collection, written as the service stages them, without the requests."""

from collections.abc import Callable

from pydantic import BaseModel

from shared.catalog.models import Product
from shared.catalog.repository import PRODUCTS
from shared.clock import instant, now_ms
from shared.db.collection import Collection
from shared.db.counters import SHARDS, shard_key
from shared.db.items import to_attributes
from shared.db.store import Store
from shared.db.table import PARTITION_KEY, SORT_KEY
from shared.db.transaction import Transaction
from shared.documents.models import Document, DocumentLine, Status
from shared.documents.repository import ENTRIES
from tests.bench.flat_table import FlatTable

PER_PARTNER = 20
"""Documents of one partner, however many documents there are."""
_STATUSES: tuple[Status, ...] = ("open", "open", "assigned", "completed")
_AGE_MS = 30 * 24 * 3_600_000


class Rows:
    """Entities numbered from 1, one second apart, the last one long enough ago to be settled."""

    def __init__(self) -> None:
        self._began = now_ms() - _AGE_MS

    def moment(self, number: int) -> str:
        """When a row was written."""
        return instant(self._began + number * 1000)

    def product(self, number: int) -> Product:
        """A product."""
        code = f"ITEM-{number:07d}"
        moment = self.moment(number)
        return Product(
            id=number,
            item_code=code,
            sku=code,
            name=f"Hexagon bolt M{number % 97} zinc-plated",
            barcode=f"40063{number:08d}",
            type="fastener" if number % 2 else "tool",
            sales_unit="piece",
            created_at=moment,
            updated_at=moment,
        )

    def entry(self, number: int) -> Document:
        """An entry document of three lines."""
        moment = self.moment(number)
        return Document(
            id=number,
            type="purchase_order",
            external_ref=f"PO-{number:07d}",
            source="api" if number % 5 else "import",
            status=_STATUSES[number % len(_STATUSES)],
            card_code=f"P-{number // PER_PARTNER:06d}",
            card_name="Ferretería Central S.A.",
            doc_date=moment[:10],
            whs_code="W1",
            created_at=moment,
            updated_at=moment,
            lines=[_line(position, number) for position in range(1, 4)],
        )


def _line(position: int, number: int) -> DocumentLine:
    return DocumentLine.model_validate(
        {
            "line_num": position,
            "product_id": number % 500 + position,
            "item_code": f"ITEM-{number % 500 + position:07d}",
            "qty": 12,
            "open_qty": 12,
            "done_qty": 0,
            "status": "open",
        }
    )


def products(store: Store, rows: Rows, count: int) -> FlatTable:
    """Make a table with `count` products."""
    return _filled(store, PRODUCTS, rows.product, count)


def entries(store: Store, rows: Rows, count: int) -> FlatTable:
    """Make a table with `count` entry documents."""
    return _filled(store, ENTRIES, rows.entry, count)


def _filled[E: BaseModel](
    store: Store, collection: Collection[E], make: Callable[[int], E], count: int
) -> FlatTable:
    table = FlatTable(store.table)
    shards: list[dict[str, int]] = [{} for _ in range(SHARDS)]
    touched = 0
    for number in range(1, count + 1):
        tx = Transaction(store)
        collection.insert(tx, number, make(number))
        for action in tx._actions:
            table.put(action.request["Put"]["Item"])
        change = tx._counters[collection.kind]
        totals = shards[change.shard]
        for name, difference in {**change.changes, "version": 1}.items():
            totals[name] = totals.get(name, 0) + difference
        touched = tx.now_ms
    for number, totals in enumerate(shards):
        partition, sort = shard_key(collection.kind, number)
        # As if written an hour ago: what is derived from the indexes may then be kept.
        settled = {"touched": touched - 3_600_000}
        table.put(to_attributes({PARTITION_KEY: partition, SORT_KEY: sort, **totals, **settled}))
    return table
