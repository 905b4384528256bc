"""Storage of products and product categories. Keys and indexes: see docs/internals/storage.md."""

from collections.abc import Iterable, Iterator, Mapping

from shared.kernel import references
from shared.kernel.db.alias_entries import alias_entries, bring_alias_up_to_date
from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import SEPARATOR, Facets, fold, id_text, searchable
from shared.kernel.db.indexes import Lookup
from shared.kernel.db.items import Item, Key, alias_key, item_at, key_of
from shared.kernel.db.lists.entity_pages import id_pages
from shared.kernel.db.lists.listing import read_page
from shared.kernel.db.lists.page import Page
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.db.transaction import Transaction
from shared.warehouse.catalog.models import (
    Category,
    KnownProduct,
    Product,
    ProductParameters,
    StoredProduct,
)
from shared.warehouse.gs1.numbers import gtin_14


def search_text(item_code: str, name: str | None) -> str:
    """Return the text of a product that is searched: its code and its name."""
    return searchable(f"{item_code}{SEPARATOR}{name}")


def _product_facets(product: Product) -> Facets:
    return {
        "id": id_text(product.id),
        "item_code": product.item_code,
        "name": fold(product.name),
        "barcode": product.barcode,
        "type": product.type,
        "search": search_text(product.item_code, product.name),
        "created_at": product.created_at,
        "updated_at": product.updated_at,
    }


PRODUCTS = Collection(
    kind="product",
    noun="Product",
    listed_as="product",
    model=StoredProduct,
    facets=_product_facets,
    sorts={"id": 1, "updated_at": 2, "item_code": 3, "name": 4, "created_at": 5},
    lookups={"barcode": Lookup(6), "type": Lookup(7, often_shared=True)},
    volatile=frozenset({"name", "search"}),
    searched=frozenset({"item_code", "name", "created_at"}),
    search_alias=lambda product: code_key(product.item_code),
)


def _category_facets(category: Category) -> Facets:
    return {
        "name": fold(category.name),
        "search": searchable(category.name),
        "updated_at": category.updated_at,
    }


CATEGORIES = Collection(
    kind="category",
    noun="Product category",
    listed_as="product_category",
    model=Category,
    facets=_category_facets,
    sorts={"name": 1, "updated_at": 2},
    volatile=frozenset({"name", "search"}),
    searched=frozenset({"name"}),
)


def list_products(store: Store, parameters: ProductParameters) -> Page[StoredProduct]:
    """Return a page of products. `item_code` and `sku` filter the same field."""
    codes = {code for code in (parameters.item_code, parameters.sku) if code}
    query = parameters.list_query(
        equal=parameters.filters(sku=None, gtin=None)
        | {"item_code": next(iter(codes)) if len(codes) == 1 else (SEPARATOR if codes else None)},
        search=parameters.search,
    )
    return read_page(store, PRODUCTS, query)


def code_key(code: str) -> Key:
    """Return the key of the alias of the product with this code."""
    return alias_key("item_code", code)


def known_product(alias: Item) -> KnownProduct:
    """Return the product that an alias item describes."""
    return KnownProduct(
        id=int(alias["id"]),
        item_code=alias[PARTITION_KEY].removeprefix("item_code#"),
        name=alias["name"],
        by_batch=alias["by_batch"],
        by_serial=alias["by_serial"],
        in_stock=alias["in_stock"],
    )


def find_product(store: Store, code: str) -> KnownProduct | None:
    """Return the product with the code, or None."""
    alias = store.get(code_key(code))
    return known_product(alias) if alias and not references.is_former(alias) else None


def number_of(store: Store, code: str) -> int | None:
    """Return the id of the product with the code, or None."""
    product = find_product(store, code)
    return product.id if product else None


def alias_of(product: StoredProduct) -> Item:
    """Return the alias of a product; few have units of measure."""
    packaging = product.packaging
    units = {one.unit: one.qty for one in packaging.units} if packaging else {}
    return item_at(
        code_key(product.item_code),
        id=product.id,
        name=product.name,
        by_batch=product.man_btch_num,
        by_serial=product.man_ser_num,
        in_stock=product.inventory_item,
        units=units or None,
    )


def replace_units(tx: Transaction, record: Record[StoredProduct], after: StoredProduct) -> None:
    """Write the units of measure of a changed product into its alias if they differ."""
    alias = alias_of(after)
    if alias == alias_of(record.entity):
        bring_alias_up_to_date(tx, PRODUCTS, record)
        return
    entries = search_entries(tx, after)
    references.rename_alias(tx, alias, {**entries, "units": alias["units"]})


def put_alias(
    tx: Transaction, product: StoredProduct, *, new: bool, mark: str | None = None
) -> None:
    """Add the alias of a product.

    If `new`, the code must be free. Otherwise the alias must be retired under `mark`.
    """
    item = {**alias_of(product), **search_entries(tx, product)}
    if new:
        references.put_code(tx, item)
        return
    stored = tx.store.get(code_key(product.item_code)) or {}
    item[references.UNUSED] = stored.get(references.UNUSED)
    tx.put(item, condition="retired_by = :mark", values={":mark": mark})


def search_entries(tx: Transaction, product: StoredProduct) -> Item:
    """Return the search entries in the alias of a product."""
    record = Record(product.id, 0, product, schema=tx.store.version.written)
    return alias_entries(PRODUCTS, record)


# GTINs


def gtin_key(gtin: str) -> Key:
    """Return the key of the alias of the product with this GTIN, in whichever form."""
    return alias_key("gtin", gtin_14(gtin))


def ids_by_barcode(store: Store, barcodes: Iterable[str]) -> list[int]:
    """Return the ids of the products with one of the barcodes, from their index, which can lag."""
    return [
        number
        for barcode in barcodes
        for numbers in id_pages(store, PRODUCTS, "barcode", barcode)
        for number in numbers
    ]


def gtin_aliases(product: StoredProduct) -> Iterator[Item]:
    """Yield the aliases of a product by its GTINs."""
    for one in product.packaging.gtins if product.packaging else ():
        yield item_at(
            gtin_key(one.gtin), id=product.id, item_code=product.item_code, units=one.units
        )


def replace_gtin_aliases(
    tx: Transaction, before: StoredProduct, after: StoredProduct | None
) -> None:
    """Write the aliases by GTIN that differ, and free the GTINs that the product gives up.

    `after` is None if the product is deleted. The commit raises StaleRead when another product has
    got one of the GTINs. A product may take its own again: the previous release may have rewritten
    it without its packaging, and left the aliases.
    """
    old = _by_key(gtin_aliases(before))
    new = _by_key(gtin_aliases(after)) if after else {}
    names, values = {"#id": "id"}, {":id": before.id}
    for key, item in new.items():
        if item != old.get(key):
            tx.put(
                item,
                condition=f"attribute_not_exists({PARTITION_KEY}) OR #id = :id",
                names=names,
                values=values,
            )
    for key in old.keys() - new.keys():
        tx.delete(key)


def _by_key(aliases: Iterable[Item]) -> Mapping[Key, Item]:
    return {key_of(item): item for item in aliases}
