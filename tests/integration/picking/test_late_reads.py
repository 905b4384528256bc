"""Allocation from levels that name their rows, and eventually consistent reads that lag."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from shared.kernel.db.facets import id_text
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.warehouse.stock.repository import STOCK
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.lagging_reads import LaggingReads
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION, Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_TABLE = "stowage-tenant-acme"


@pytest.fixture
def lagging() -> LaggingReads:
    """A fault: reads show the table as it was before the first write that the fault has seen."""
    return LaggingReads(lambda: 0, 1, _TABLE)


def _allocated(picking: dict[str, object]) -> list[tuple[object, ...]]:
    lines = picking["lines"]
    assert isinstance(lines, list)
    return [(one["qty"], one["bin_code"], one["batch_num"]) for one in lines]


@contextmanager
def _queries(aws_faults: AwsFaults) -> Iterator[list[int]]:
    """Return the number of queries of the block."""
    found: list[int] = []
    with aws_faults.recorded() as seen:
        yield found
    found.append(sum(call.operation == "Query" for call in seen.calls))


def test_stock_that_another_picking_has_taken_is_not_allocated_again(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, lagging: LaggingReads
) -> None:
    yard.stock("BRICK", 10)
    first, second = yard.order(("BRICK", 6)), yard.order(("BRICK", 6))

    with aws_faults.faulty(lagging):
        assert _allocated(yard.picking(first)) == [(6, "A-01", None)]
        assert _allocated(yard.picking(second)) == [(4, "A-01", None), (2, None, None)]

    assert yard.level("BRICK") == (10, 10, 0)
    assert_invariants(stack.store())


def test_stock_that_arrived_a_moment_ago_is_allocated(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults, lagging: LaggingReads
) -> None:
    yard.stock("BRICK", 2)
    yard.stock("CEMENT", 5, batch="FORMER")
    more, first = yard.order(("BRICK", 6)), yard.order(("DRILL", 1))
    other_batch = yard.order(("CEMENT", 2), batch="NEW")

    with aws_faults.faulty(lagging):
        yard.stock("BRICK", 4)
        yard.stock_serials("S-1")
        yard.stock("CEMENT", 5, batch="NEW")
        assert _allocated(yard.picking(more)) == [(6, "A-01", None)]
        assert _allocated(yard.picking(first)) == [(1, "A-01", None)]
        assert _allocated(yard.picking(other_batch)) == [(2, "A-01", "NEW")]

    assert_invariants(stack.store())


def test_batch_that_arrived_a_moment_ago_and_expires_first_is_allocated(
    yard: WarehouseScenario, aws_faults: AwsFaults, lagging: LaggingReads
) -> None:
    yard.stock("CEMENT", 5, batch="LATE", expiry_date="2031-01-31")
    order = yard.order(("CEMENT", 2))

    with aws_faults.faulty(lagging):
        yard.stock("CEMENT", 5, batch="SOON", expiry_date="2030-01-31")
        assert _allocated(yard.picking(order)) == [(2, "A-01", "SOON")]


def test_serial_that_was_released_a_moment_ago_is_allocated_to_the_line_that_names_it(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    """Its row lags behind the level that names it, and so does the index."""
    yard.stock_serials("S-1", "S-2", "S-3", "S-4")
    lines: list[dict[str, Any]] = [
        {"item_code": "DRILL", "qty": 1, "serials": ["S-1"]}, {"item_code": "DRILL", "qty": 1},
    ]  # fmt: skip
    first, both = (yard.order(head={"lines": some}) for some in (lines[:1], lines))
    number = yard.picking(first)["id"]
    key = STOCK.key(1)
    former = {_key(item): item for item in stored_items(ACCOUNT, REGION, _TABLE)}[key]
    yard.act(number, "cancel").ok()

    def lag(call: Call, forward: Forward) -> Answer:
        answer = forward()
        parsed: dict[str, Any] = answer[0][1] if answer[0] else {}
        if call.operation == "Query" and "IndexName" in call.request:
            parsed["Items"] = [one for one in parsed["Items"] if id_text(1) not in str(one)]
        if call.operation == "BatchGetItem":
            items = parsed["Responses"][_TABLE]
            if not call.request["RequestItems"][_TABLE].get("ConsistentRead"):
                items[:] = [former if _key(one) == key else one for one in items]
        return answer

    with aws_faults.faulty(lag):
        found = yard.picking(both)["lines"]
    assert sorted(one["serials"] for one in found) == [["S-1"], ["S-2"]]


def _key(item: dict[str, Any]) -> tuple[str, str]:
    return item[PARTITION_KEY]["S"], item[SORT_KEY]["S"]


def test_position_that_was_blocked_a_moment_ago_is_not_allocated_from(
    yard: WarehouseScenario, aws_faults: AwsFaults, lagging: LaggingReads
) -> None:
    yard.stock("BRICK", 5)
    order = yard.order(("BRICK", 2))
    positions = yard.erp.get("/warehouse-positions").data
    number = next(one["id"] for one in positions if one["bin_code"] == "A-01")

    with aws_faults.faulty(lagging):
        yard.erp.patch(f"/warehouse-positions/{number}", {"is_blocked": True}).ok()
        assert _allocated(yard.picking(order)) == [(2, None, None)]


def test_short_stock_is_read_once_and_without_an_index(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 4)
    order = yard.order(("BRICK", 6), ("DRILL", 1))

    with _queries(aws_faults) as by_index:
        picking = yard.picking(order)

    assert [one["qty"] for one in picking["lines"] if one["bin_code"]] == [4]
    assert by_index == [0]


def test_stock_that_moved_within_the_warehouse_is_found_and_named_by_the_next_allocation(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 10)
    orders = [yard.order(("BRICK", 2)) for _ in range(2)]
    line = {"item_code": "BRICK", "qty": 4, "from_bin": "A-01", "to_bin": "F-01"}
    body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}
    yard.erp.post("/transfers", body).ok(201)

    with _queries(aws_faults) as by_index:
        assert _allocated(yard.picking(orders[0])) == [(2, "F-01", None)]
    with _queries(aws_faults) as by_level:
        assert _allocated(yard.picking(orders[1])) == [(2, "F-01", None)]

    assert (by_index, by_level) == ([1], [0])
    assert_invariants(stack.store())
