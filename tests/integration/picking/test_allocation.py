"""Allocation finds the stock that fits behind any number of rows that do not."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.picking import free_stock
from shared.warehouse.stock import free_rows
from shared.warehouse.stock import repository as stock
from shared.warehouse.stock.posting import StockPosting, empty_row
from shared.warehouse.warehouses import service as warehouses
from tests.sampling import is_complete
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_PAGE, _ROWS, _PER_TRANSACTION = (300, 1_000, 25) if is_complete() else (4, 14, 7)
"""Rows of a page, in the stock and in a transaction. Either way the stock takes four pages."""


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use pages of a few rows, because moto reads a thousand slowly, which no level names."""
    monkeypatch.setattr(free_rows, "MOST_CHARACTERS", 0)
    assert stock.FREE_PAGE == 300
    monkeypatch.setattr(stock, "FREE_PAGE", _PAGE)


def _add_serials(stack: Stack, product: KnownProduct, bin_code: str) -> None:
    """Add serials of a product at a position of YARD, each with a row of its own."""
    warehouse = warehouses.find_warehouse(stack.store(), "YARD")
    assert warehouse

    def add(tx: Transaction, first: int) -> None:
        key = warehouses.position_key("YARD", bin_code)
        pairs = {("YARD", bin_code)}
        position = warehouses.known_positions(tx, pairs, tx.store.get_many([key]))["YARD", bin_code]
        posting = StockPosting(tx)
        rows = [
            empty_row(product, warehouse, position, status="available", batch="A",
                      serial=f"OLD-{number:04d}", now=tx.now)
            for number in range(first, first + _PER_TRANSACTION)
        ]  # fmt: skip
        posting.load(targets=[row.key for row in rows], movements=len(rows))
        for row in rows:
            posting.changes.move("adjustment", Decimal(1), target=row)
        posting.post()

    for first in range(0, _ROWS, _PER_TRANSACTION):
        run_transaction(stack.store(), lambda tx, first=first: add(tx, first))  # type: ignore[misc]


@pytest.fixture
def tools(yard: WarehouseScenario) -> KnownProduct:
    """A product that is managed by batch and serial."""
    body = {"item_code": "SAW", "name": "Saw", "man_btch_num": True, "man_ser_num": True}
    number = yard.erp.post("/products", body).data["id"]
    return KnownProduct(number, "SAW", "Saw", by_batch=True, by_serial=True, in_stock=True)


@pytest.mark.usefixtures("clock")  # however long moto takes
def test_batch_is_allocated_behind_four_pages_of_rows_of_another(
    yard: WarehouseScenario, stack: Stack, tools: KnownProduct
) -> None:
    _add_serials(stack, tools, "A-01")
    yard.stock("SAW", 1, batch="B", serial="NEW")

    picking = yard.picking(yard.order(("SAW", 1), batch="B"))

    assert [(line["batch_num"], line["serials"]) for line in picking["lines"]] == [("B", ["NEW"])]


@pytest.mark.usefixtures("clock")
def test_stock_is_allocated_behind_four_pages_of_rows_at_a_blocked_position(
    yard: WarehouseScenario, stack: Stack, tools: KnownProduct, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add_serials(stack, tools, "X-01")
    yard.stock("SAW", 1, batch="A", serial="NEW")
    order = yard.order(("SAW", 1))

    with monkeypatch.context() as patched:
        patched.setattr(free_stock, "MAX_PAGES", 3)
        number = yard.picking(order)["id"]
    before = yard.erp.get(f"/pickings/{number}").data["lines"]
    after = yard.act(number, "allocate").data["lines"]

    assert [(line["bin_code"], line["serials"]) for line in before] == [(None, [])]
    assert [(line["bin_code"], line["serials"]) for line in after] == [("A-01", ["NEW"])]
    assert_invariants(stack.store())


@pytest.mark.usefixtures("clock")
def test_stock_is_allocated_behind_four_pages_of_rows_that_expire_too_soon(
    yard: WarehouseScenario, stack: Stack, tools: KnownProduct
) -> None:
    def day(ahead: int) -> str:
        return (datetime.now(UTC) + timedelta(ahead)).date().isoformat()

    yard.erp.patch(f"/products/{tools.id}", {"min_remaining_days": 30}).ok()
    yard.stock("SAW", 1, batch="B", serial="NEW", expiry_date=day(40))
    yard.stock("SAW", 1, batch="A", serial="OLD", expiry_date=day(20))
    _add_serials(stack, tools, "A-01")

    picking = yard.picking(yard.order(("SAW", 1)))

    assert [(line["batch_num"], line["serials"]) for line in picking["lines"]] == [("B", ["NEW"])]
