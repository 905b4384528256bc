"""Rules of pick faces and their quantities."""

from decimal import Decimal

import pytest

from shared.kernel.db.records import Record
from shared.kernel.validation import check, ensure_valid
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.pick_faces import rules
from shared.warehouse.pick_faces.models import PickFace, PickFaceDraft
from shared.warehouse.pick_faces.rules import MAX_PRODUCTS
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse

NOW = "2026-03-01T08:00:00.000Z"
BOLT = KnownProduct(1, "BOLT", "Bolt", by_batch=True, by_serial=False, in_stock=True)
DEPOT = KnownWarehouse(1, "CEN", "Central")


def face(minimum: int | None, maximum: int | None) -> Record[PickFace]:
    """Return the stored pick face of BOLT at A-01."""
    entity = PickFace(
        id=4, product_id=1, item_code="BOLT", warehouse_id=1, whs_code="CEN", position_id=7,
        bin_code="A-01", minimum=None if minimum is None else Decimal(minimum),
        maximum=None if maximum is None else Decimal(maximum), created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    return Record(4, 1, entity)


def draft(**quantities: int | None) -> PickFaceDraft:
    body = {"item_code": "BOLT", "warehouse_code": "CEN", "bin_code": "A-01", **quantities}
    return ensure_valid(check(PickFaceDraft, body))


def fields(
    sent: PickFaceDraft, existing: Record[PickFace] | None = None, *, products: int = 0
) -> list[str]:
    """Return the fields of the problems of a draft; the position has so many `products`."""
    position = KnownPosition(
        7, "A-01", "storage", pickable=True, disabled=False, blocked=True,
        products=frozenset(range(100, 100 + products)),
    )  # fmt: skip
    known = MasterData({"BOLT": BOLT}, {"CEN": DEPOT}, {("CEN", "A-01"): position})
    return [problem.field for problem in rules.examine(sent, known, existing)]


def test_batch_product_at_a_blocked_position_is_allowed() -> None:
    assert fields(draft(minimum=0, maximum=0)) == []


@pytest.mark.parametrize(
    ("sent", "there", "after", "wrong"),
    [
        ({}, (2, 9), (2, 9), []),
        ({"maximum": 5}, (2, 9), (2, 5), []),
        ({"maximum": None}, (2, 9), (2, None), []),
        ({"maximum": 1}, (2, 9), (2, 1), ["maximum"]),
        ({"minimum": 10}, (2, 9), (10, 9), ["minimum"]),
        ({"minimum": 10, "maximum": 9}, (None, None), (10, 9), ["maximum"]),
        ({"minimum": 10}, (None, None), (10, None), []),
    ],
)
def test_only_sent_quantities_change_and_minimum_is_at_most_maximum(
    sent: dict[str, int | None],
    there: tuple[int | None, int | None],
    after: tuple[int | None, int | None],
    wrong: list[str],
) -> None:
    existing = face(*there)

    assert rules.quantities(draft(**sent), existing) == after
    assert fields(draft(**sent), existing) == wrong


def test_number_of_products_of_a_position_is_limited() -> None:
    assert fields(draft(), products=MAX_PRODUCTS - 1) == []
    assert fields(draft(), products=MAX_PRODUCTS) == ["bin_code"]
    assert fields(draft(), face(1, 2), products=MAX_PRODUCTS) == []
