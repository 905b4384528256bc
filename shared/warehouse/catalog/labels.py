"""What the label of a product shows. Only reading: nothing here renders or imports what does."""

from collections.abc import Sequence

from shared.kernel.db.store import Store
from shared.warehouse.catalog.models import StoredProduct
from shared.warehouse.catalog.service import get_product, get_products
from shared.warehouse.gs1.numbers import gtin_14, gtin_problem
from shared.warehouse.labels.models import CodeLabelContent


def product_label(store: Store, number: int) -> CodeLabelContent:
    """Return the content of the label of a product."""
    return _content_of(get_product(store, number).entity)


def product_labels(store: Store, numbers: Sequence[int]) -> dict[int, CodeLabelContent]:
    """Return the contents of the labels of those of the products that exist."""
    return {record.id: _content_of(record.entity) for record in get_products(store, numbers)}


def _content_of(product: StoredProduct) -> CodeLabelContent:
    return CodeLabelContent(product.item_code, [product.name], _gtin_of(product))


def _gtin_of(product: StoredProduct) -> str | None:
    """Return the GTIN of one unit of a product, of 14 digits, if there is one."""
    packaged = product.packaging.gtins if product.packaging else ()
    gtins = [one.gtin for one in packaged if one.units == 1 and one.unit is None]
    if product.barcode and gtin_problem(product.barcode) is None:
        gtins.append(product.barcode)
    return gtin_14(gtins[0]) if gtins else None
