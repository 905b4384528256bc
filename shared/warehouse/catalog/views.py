"""Conversion of products to the responses of the interface."""

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.catalog.models import Packaging, Product, StoredProduct


def product(record: Record[StoredProduct]) -> Product:
    """Return a product as the interface shows it, without its packaging."""
    return Product.from_stored(record.entity)


PRODUCT_EVENTS = EventResource("product", "/products/{record.id}", product)


def packaging(stored: StoredProduct) -> Packaging:
    """Return the packaging of a product; an empty one if it has none."""
    return stored.packaging or Packaging()
