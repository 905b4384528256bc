"""Counters of a company with thousands of warehouses stay small, and its lists cost the same."""

from collections.abc import Iterable

from shared.kernel.db.counters import read_totals
from shared.kernel.db.items import size_of
from shared.kernel.db.transaction import Transaction
from shared.warehouse.warehouses.models import StoredPosition, StoredWarehouse
from shared.warehouse.warehouses.repository import POSITIONS, WAREHOUSES
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.stack import Stack

_NOW = "2026-03-01T12:00:00.000Z"
_PER_STEP = 10


def _code(number: int) -> str:
    return f"A-SHOP-WITH-A-LONG-CODE-{number:04d}"


def _open_shops(stack: Stack, numbers: Iterable[int]) -> None:
    """Store warehouses with one position each."""
    tx = Transaction(stack.store())
    for number in numbers:
        code = _code(number)
        shop = StoredWarehouse(
            id=number, whs_code=code, name=code, created_at=_NOW, updated_at=_NOW
        )
        position = StoredPosition(
            id=number, warehouse_id=number, whs_code=code, bin_code="A-01",
            created_at=_NOW, updated_at=_NOW,
        )  # fmt: skip
        WAREHOUSES.insert(tx, number, shop)
        POSITIONS.insert(tx, number, position)
        if number % _PER_STEP == 0:
            tx.commit_step()
    tx.commit()


def test_counters_do_not_grow_with_the_number_of_warehouses(stack: Stack) -> None:
    _open_shops(stack, range(1, 121))

    counters = [item for item in stack.items() if item["PK"]["S"].startswith("count#")]
    assert max(map(size_of, counters)) < 200
    assert read_totals(stack.store(), POSITIONS.kind).counts == {"n": 120}


def test_lists_read_only_the_counters_of_what_they_show(
    erp: Erp, stack: Stack, aws_faults: AwsFaults
) -> None:
    _open_shops(stack, range(2_981, 3_041))
    last = POSITIONS.get(stack.store(), 3_040)
    tx = Transaction(stack.store())
    POSITIONS.remove(tx, last)
    tx.commit()

    assert erp.get("/products").status == 200  # so that keys and tenant are cached
    with aws_faults.recorded() as seen:
        page = erp.get("/warehouses", query={"sort": "-whs_code", "per_page": 5})
    shops = page.json()["data"]
    assert [shop["positions_count"] for shop in shops] == [0, 1, 1, 1, 1]
    assert seen.round_trips <= 2
    [batch] = [call for call in seen.calls if call.operation == "BatchGetItem"]
    [asked] = batch.request["RequestItems"].values()
    assert len(asked["Keys"]) == 2 * len(shops)

    for query in ({"warehouse": _code(3_000)}, {"warehouse_id": 3_000}):
        answer = erp.get("/warehouse-positions", query=query)
        assert answer.json()["meta"]["total"] == 1
    assert erp.get("/warehouses/3000").data["positions_count"] == 1
    assert erp.get("/warehouses/3040").data["positions_count"] == 0
