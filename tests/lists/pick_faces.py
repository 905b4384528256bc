"""The list of pick faces."""

from decimal import Decimal

from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.pick_faces.repository import PICK_FACES
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, bin_code, by_warehouse, warehouse_of

_PER_PRODUCT = 4


def _product(number: int) -> int:
    return (number - 1) // _PER_PRODUCT + 1


def _item_code(number: int) -> str:
    return f"ITEM-{_product(number):06d}"


def _pick_face(number: int, times: spec.Times) -> PickFace:
    return PickFace(
        **times.of(number),
        product_id=_product(number),
        item_code=_item_code(number),
        warehouse_id=warehouse_of(number),
        whs_code=WAREHOUSE_CODES[warehouse_of(number)],
        position_id=number,
        bin_code=bin_code(number),
        minimum=spec.unless(number, 3, Decimal(number % 50) / 4),
        maximum=spec.unless(number, 4, Decimal(number % 50 + 200)),
    )


PICK_FACE_LIST = spec.Listed(
    path="/pick-faces",
    collection=PICK_FACES,
    make=_pick_face,
    fields=spec.fields("""
        integer: id product_id warehouse_id position_id
        number: minimum? maximum?
        string: item_code whs_code bin_code
        date-time: created_at?! updated_at?!
    """),
    filters={
        "product_id": spec.equal_id("product_id", _product),
        "item_code": spec.equal("item_code", _item_code),
        "warehouse": by_warehouse("whs_code"),
        "bin_code": spec.equal("bin_code", bin_code),
    },
    sorts=spec.sorted_by("id updated_at"),
    default_sort="id",
)
