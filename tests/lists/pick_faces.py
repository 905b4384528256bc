"""The list of pick faces."""

from decimal import Decimal

from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.pick_faces.repository import PICK_FACES
from tests.lists.description import (
    INVALID_IDS,
    INVALID_TEXTS,
    Filter,
    Listed,
    Times,
    by,
    equal,
    fields,
    unless,
)
from tests.lists.warehouses import WAREHOUSE_CODES, bin_code, warehouse_of

_PER_PRODUCT = 4


def _product(number: int) -> int:
    return (number - 1) // _PER_PRODUCT + 1


def _item_code(number: int) -> str:
    return f"ITEM-{_product(number):06d}"


def _pick_face(number: int, times: Times) -> PickFace:
    return PickFace(
        id=number,
        product_id=_product(number),
        item_code=_item_code(number),
        warehouse_id=warehouse_of(number),
        whs_code=WAREHOUSE_CODES[warehouse_of(number)],
        position_id=number,
        bin_code=bin_code(number),
        minimum=unless(number, 3, Decimal(number % 50) / 4),
        maximum=unless(number, 4, Decimal(number % 50 + 200)),
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


PICK_FACE_LIST = Listed(
    path="/pick-faces",
    collection=PICK_FACES,
    make=_pick_face,
    fields=fields("""
        id integer
        product_id integer
        item_code string
        warehouse_id integer
        whs_code string
        position_id integer
        bin_code string
        minimum number?
        maximum number?
        created_at date-time?
        updated_at date-time?
    """),
    always_filled=frozenset({"created_at", "updated_at"}),
    filters={
        "product_id": Filter(
            lambda count: (str(_product(max(1, count // 2))), "1", "999999"),
            lambda row, value: row["product_id"] == int(value),
            INVALID_IDS,
            selective=True,
        ),
        "item_code": equal("item_code", _item_code),
        "warehouse": Filter(
            lambda _: ("W2", "W3", "W4", "w2"),
            lambda row, value: row["whs_code"] == value,
            INVALID_TEXTS,
            selective=True,
        ),
        "bin_code": equal("bin_code", bin_code),
    },
    sorts={"id": by("id"), "updated_at": by("updated_at")},
    default_sort="id",
)
