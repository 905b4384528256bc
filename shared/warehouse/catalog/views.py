"""Conversion of products to the responses of the interface."""

from shared.warehouse.catalog.models import Packaging, Product, StoredProduct

_FIELDS = tuple(Product.model_fields)


def product(stored: StoredProduct) -> Product:
    """Return a product as the interface shows it, without its packaging."""
    return Product.model_construct(**{name: getattr(stored, name) for name in _FIELDS})


def packaging(stored: StoredProduct) -> Packaging:
    """Return the packaging of a product; an empty one if it has none."""
    return stored.packaging or Packaging()
