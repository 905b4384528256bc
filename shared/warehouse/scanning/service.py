"""Read the goods of a work, in at most three round trips after its own."""

from collections.abc import Iterable

from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.models import StoredProduct
from shared.warehouse.scanning.models import MAX_GOODS, WorkGoods, WorkPosition, WorkProduct
from shared.warehouse.warehouses import service as warehouses


def goods_of(
    store: Store,
    product_ids: Iterable[int | None],
    whs_code: str | None = None,
    bin_codes: Iterable[str | None] = (),
) -> WorkGoods:
    """Return products and positions by their ids and codes, each once; None names nothing."""
    numbers = [*dict.fromkeys(number for number in product_ids if number is not None)]
    codes = [*dict.fromkeys(code for code in bin_codes if code is not None)]
    products, positions = run_all(
        lambda: catalog.get_products(store, numbers[:MAX_GOODS]),
        lambda: warehouses.positions_named(store, whs_code, codes) if whs_code else [],
    )
    return WorkGoods(
        whs_code=whs_code,
        products=[_product(record.entity) for record in products],
        positions=[
            WorkPosition(bin_code=one.bin_code, pick_sequence=one.pick_sequence)
            for one in positions
        ],
    )


def _product(product: StoredProduct) -> WorkProduct:
    packaging = product.packaging
    return WorkProduct(
        id=product.id,
        item_code=product.item_code,
        name=product.name,
        barcode=product.barcode,
        man_btch_num=product.man_btch_num,
        man_ser_num=product.man_ser_num,
        gtins=packaging.gtins if packaging else [],
    )
