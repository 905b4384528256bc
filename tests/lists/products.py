"""The lists of products and of product categories."""

from shared.warehouse.catalog.models import Category, Product
from shared.warehouse.catalog.repository import CATEGORIES, PRODUCTS
from tests.lists import spec

_NAMES = ("Hexagon bolt", "Árbol de levas", "arandela", "Ñandú gasket", "ZINC plate")


def product_code(number: int) -> str:
    """Return the code of product n."""
    # The order of codes differs from that of ids.
    return f"ITEM-{number * 7919 % 10**7:07d}"


def _product(number: int, times: spec.Times) -> Product:
    return Product(
        id=number,
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
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


def _barcode(number: int) -> str:
    return f"40063{number // 2:08d}"


PRODUCT_LIST = spec.Listed(
    path="/products",
    collection=PRODUCTS,
    make=_product,
    fields=spec.fields("""
        id integer
        item_code string
        sku string
        name string
        barcode string?
        type string?
        image_url string?
        man_btch_num boolean
        man_ser_num boolean
        sales_unit string?
        purchase_unit string?
        inventory_item boolean
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=frozenset({"created_at", "updated_at"}),
    filters={
        "item_code": spec.equal("item_code", product_code),
        "sku": spec.equal("sku", product_code),
        "barcode": spec.Filter(
            lambda count: (_barcode(count // 2 | 1), _barcode(count), "no such value"),
            lambda row, value: row["barcode"] == value,
            ("", "x" * 256),
            selective=True,
        ),
        "type": spec.among(
            "type", ["tool", "fastener", "glue"], wrong=["", "x" * 256], narrow=False
        ),
        "search": spec.contains_text(
            "item_code",
            "name",
            values=["m4", "ARBOL", "nandu", "item-00", "M1 plate item", "?"],
            code=lambda number: product_code(number)[5:],
        ),
    },
    sorts={
        "id": spec.by("id"),
        "item_code": spec.by("item_code"),
        "name": spec.by_folded_text("name"),
        "created_at": spec.by("created_at"),
        "updated_at": spec.by("updated_at"),
    },
    default_sort="id",
)


def _category(number: int, times: spec.Times) -> Category:
    return Category(
        id=number,
        name=f"{_NAMES[number % 5]} {number * 7 % 23}",
        description=spec.unless(number, 2, "Öl und Fett"),
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


CATEGORY_LIST = spec.Listed(
    path="/product-categories",
    collection=CATEGORIES,
    make=_category,
    fields=spec.fields("""
        id integer
        name string
        description string?
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=frozenset({"created_at", "updated_at"}),
    filters={"search": spec.contains_text("name", values=["BOLT", "árbol", "ndú g", "?"])},
    sorts={"name": spec.by_folded_text("name")},
    default_sort="name",
)
