"""The lists of products and of product categories."""

from shared.warehouse.catalog.models import Category, StoredProduct
from shared.warehouse.catalog.repository import CATEGORIES, PRODUCTS
from shared.warehouse.gs1.numbers import check_digit
from tests.lists import spec

_NAMES = ("Hexagon bolt", "Árbol de levas", "arandela", "Ñandú gasket", "ZINC plate")
_WRONG = ("", spec.TOO_LONG)


def product_code(number: int) -> str:
    """Return the code of product n."""
    # The order of codes differs from that of ids.
    return f"ITEM-{number * 7919 % 10**7:07d}"


def _product(number: int, times: spec.Times) -> StoredProduct:
    return StoredProduct(
        **times.of(number),
        item_code=product_code(number),
        sku=product_code(number),
        name=f"{_NAMES[number % 5]} M{number % 47}",
        barcode=spec.unless(number, 5, _barcode(number)),
        type=spec.unless(number, 4, "fastener" if number % 2 else "tool"),
        image_url=spec.unless(number, 2, f"https://img.example/{number}.png"),
        man_btch_num=number % 7 == 0,
        man_ser_num=number % 11 == 0,
        sales_unit=spec.unless(number, 3, "piece"),
        purchase_unit=spec.unless(number, 6, "box"),
        inventory_item=number % 13 != 0,
        min_remaining_days=spec.unless(number, 3, number % 30),
        metadata={"erp_id": str(number)},
    )


def _barcode(number: int) -> str:
    digits = f"40063{number // 2:07d}"
    return digits + check_digit(digits)


PRODUCT_LIST = spec.Listed(
    path="/products",
    collection=PRODUCTS,
    make=_product,
    fields=spec.fields("""
        integer: id min_remaining_days?
        string: item_code sku name barcode? type? image_url? sales_unit? purchase_unit?
        string: metadata.erp_id
        object: metadata
        boolean: man_btch_num man_ser_num inventory_item
        date-time: created_at?! updated_at?!
    """),
    filters={
        "item_code": spec.equal("item_code", product_code),
        "sku": spec.equal("sku", product_code),
        "barcode": spec.equal("barcode", lambda number: _barcode(number | 1), _WRONG),
        "gtin": spec.Filter(
            lambda count: (_barcode(max(1, count // 2) | 1), _barcode(count | 1), "4012345000016"),
            lambda row, part: row["barcode"] == part,
            ("", "4006381333932"),
            selective=True,
        ),
        "type": spec.among("type", ["tool", "fastener", "glue"], wrong=_WRONG, narrow=False),
        "search": spec.contains_text(
            "item_code",
            "name",
            values=["m4", "ARBOL", "nandu", "item-00", "M1 plate item", "?"],
            code=lambda number: product_code(number)[5:],
        ),
    },
    sorts=spec.sorted_by("id item_code name created_at updated_at"),
    default_sort="id",
)


def _category(number: int, times: spec.Times) -> Category:
    return Category(
        **times.of(number),
        name=f"{_NAMES[number % 5]} {number * 7 % 23}",
        description=spec.unless(number, 2, "Öl und Fett"),
    )


CATEGORY_LIST = spec.Listed(
    path="/product-categories",
    collection=CATEGORIES,
    make=_category,
    fields=spec.fields("""
        integer: id
        string: name description?
        date-time: created_at?! updated_at?!
    """),
    filters={"search": spec.contains_text("name", values=["BOLT", "árbol", "ndú g", "?"])},
    sorts=spec.sorted_by("name"),
    default_sort="name",
)
