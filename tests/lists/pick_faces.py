"""The list of pick faces."""

from decimal import Decimal

from shared.warehouse.pick_faces.models import PickFace
from shared.warehouse.pick_faces.repository import PICK_FACES
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, bin_code, warehouse_of

_PER_PRODUCT = 4


def _product(number: int) -> int:
    return (number - 1) // _PER_PRODUCT + 1


def _item_code(number: int) -> str:
    return f"ITEM-{_product(number):06d}"


def _pick_face(number: int, times: spec.Times) -> PickFace:
    return PickFace(
        id=number,
        product_id=_product(number),
        item_code=_item_code(number),
        warehouse_id=warehouse_of(number),
        whs_code=WAREHOUSE_CODES[warehouse_of(number)],
        position_id=number,
        bin_code=bin_code(number),
        minimum=spec.unless(number, 3, Decimal(number % 50) / 4),
        maximum=spec.unless(number, 4, Decimal(number % 50 + 200)),
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


PICK_FACE_LIST = spec.Listed(
    path="/pick-faces",
    collection=PICK_FACES,
    make=_pick_face,
    fields=spec.fields("""
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
        "product_id": spec.Filter(
            lambda count: (str(_product(max(1, count // 2))), "1", "999999"),
            lambda row, value: row["product_id"] == int(value),
            spec.INVALID_IDS,
            selective=True,
        ),
        "item_code": spec.equal("item_code", _item_code),
        "warehouse": spec.Filter(
            lambda _: ("W2", "W3", "W4", "w2"),
            lambda row, value: row["whs_code"] == value,
            spec.INVALID_TEXTS,
            selective=True,
        ),
        "bin_code": spec.equal("bin_code", bin_code),
    },
    sorts={"id": spec.by("id"), "updated_at": spec.by("updated_at")},
    default_sort="id",
)
