"""The sums of counts in a verification."""

import pytest

from operations.verify import verify_tenant
from shared.identity.tenancy.access import operator_store
from shared.kernel.db.unit_of_work import run_transaction
from shared.warehouse.counts import repository
from shared.warehouse.counts.models import CountSums
from shared.warehouse.counts.rules import stock_of
from tests.count_scenario import CountScenario
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario


def _findings() -> set[tuple[str, bool]]:
    """Return the kinds of findings about counts, and whether they were repaired."""
    found = verify_tenant("acme", repair=True).listed
    return {(one.kind, one.repaired) for one in found if "count" in one.kind + one.subject}


@pytest.mark.usefixtures("clock")
def test_sums_and_lines_of_counts_are_verified(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("BRICK", 10)
    counts = CountScenario(stack)
    number = counts.create(positions=["A-01", "B-01"]).id
    counts.count(number, item_code="BRICK", qty=9)
    assert _findings() == set()
    store = operator_store("acme")
    wrong = CountSums(1, -1, counts.get(number).sums.units)
    run_transaction(store, lambda tx: repository.correct_sums(tx, number, wrong))

    assert _findings() == {
        ("count.counted", True), ("count.differences", True), ("count.units", True),
    }  # fmt: skip
    assert repository.read_sums(store, [number])[number] == counts.get(number).sums
    key = repository.COUNT_LINES.key(repository.line_id(number, 2))
    run_transaction(store, lambda tx: tx.delete(key))
    assert {("count.lines", False), ("counter.n", True)} <= _findings()


@pytest.mark.usefixtures("clock")
def test_places_of_open_counts_are_verified(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("BRICK", 10)
    counts = CountScenario(stack)
    number = counts.create(positions=["A-01", "B-01"]).id
    store = operator_store("acme")
    line = counts.get(number).lines[0]
    stock = stock_of(line, counts.get(number).record.entity.warehouse_id)
    assert stock is not None
    place = repository.place_key(stock)
    run_transaction(store, lambda tx: tx.delete(place))
    run_transaction(store, lambda tx: repository.take_place(tx, place, number, 2))

    assert _findings() == {("count.place", False)}
    run_transaction(store, lambda tx: tx.delete(place))
    assert _findings() == {("count.place", False)}
    counts.cancel(number)
    assert _findings() == set()
