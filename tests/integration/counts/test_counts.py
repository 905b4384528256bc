"""Counts: their lines, counting, finishing, recounts, posting and cancellation."""

from decimal import Decimal
from typing import Any

import pytest

from shared.kernel.errors import ApprovalRequired, Conflict, StaleState, ValidationFailed
from tests.count_scenario import CountScenario
from tests.faults import Answer, AwsFaults, Call, Forward, before_first
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


@pytest.fixture
def counts(stack: Stack) -> CountScenario:
    return CountScenario(stack)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step hold about one line."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 6)
    monkeypatch.setattr("shared.warehouse.counts.posting._LINES_PER_STEP", 1)


def _qty(yard: WarehouseScenario, item_code: str = "BRICK", bin_code: str = "A-01") -> Any:
    rows = yard.erp.walk("/stocks", item_code=item_code, bin_code=bin_code, status="in")
    return sum(row["qty"] for row in rows)


def test_count_has_a_line_for_each_stock_and_each_empty_position(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, batch="L1")
    yard.stock_serials("S1")
    yard.stock("BRICK", 3, "F-01")

    count = counts.create(positions=["B-01", "A-01"])

    assert (count.status, count.lines, count.to_list) == ("open", 4, [])
    assert counts.lines(count.id) == [
        (1, "A-01", "BRICK", "open", 10, None),
        (2, "A-01", "CEMENT", "open", 4, None),
        (3, "A-01", "DRILL", "open", 1, None),
        (4, "B-01", None, "open", 0, None),
    ]


def test_what_is_expected_is_the_stock_at_the_moment_of_the_commit(
    yard: WarehouseScenario, counts: CountScenario, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01"]).id

    with aws_faults.faulty(before_first("TransactWriteItems", lambda: yard.stock("BRICK", 5))):
        counts.count(number, item_code="BRICK", qty=15)

    assert counts.lines(number) == [(1, "A-01", "BRICK", "counted", 15, 15)]


@pytest.mark.usefixtures("small_steps")
def test_count_whose_stock_comes_into_another_while_it_is_created_is_cancelled(
    yard: WarehouseScenario, counts: CountScenario, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, batch="L1")
    others: list[int] = []

    def meanwhile(call: Call, forward: Forward) -> Answer:
        answer = forward()
        if call.operation == "TransactWriteItems" and not others:
            others.append(0)
            others.append(counts.create(item_codes=["CEMENT"]).id)
        return answer

    with (
        aws_faults.faulty(meanwhile),
        pytest.raises(Conflict, match="CEMENT batch L1 at A-01 is in CN-2"),
    ):
        counts.create(positions=["A-01"])

    assert [one["status"] for one in yard.erp.walk("/counts", status="cancelled")] == ["cancelled"]
    assert counts.create(item_codes=["BRICK"]).status == "open"


def test_count_of_products_and_of_a_zone_has_their_stock(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("BRICK", 3, "F-01")
    yard.stock("CEMENT", 4, batch="L1")
    yard.erp.patch("/warehouse-positions/3", {"zone_id": 7}).ok()

    product, zone = counts.create(item_codes=["CEMENT"]), counts.create(zone_id=7)

    assert counts.lines(product.id) == [(1, "A-01", "CEMENT", "open", 4, None)]
    assert counts.lines(zone.id) == [(1, "F-01", "BRICK", "open", 3, None)]


@pytest.mark.parametrize(
    ("scope", "field"),
    [({"item_codes": ["DRILL"]}, "item_codes"), ({"positions": ["B-01", "A-01"]}, "positions")],
)
def test_count_of_more_history_than_a_request_examines_is_refused(
    yard: WarehouseScenario,
    counts: CountScenario,
    monkeypatch: pytest.MonkeyPatch,
    scope: dict[str, Any],
    field: str,
) -> None:
    """Of five serials, four are sold: their rows are empty."""
    yard.stock_serials(*(f"S{number}" for number in range(5)))
    for number in range(4):
        yard.adjust("DRILL", decrease=1, serial=f"S{number}").ok(201)
    monkeypatch.setattr("shared.warehouse.counts.creating.MAX_ROWS", 5)
    number = counts.create(**scope).id
    monkeypatch.setattr("shared.warehouse.counts.counting.MAX_ROWS", 4)
    if field == "positions":
        with pytest.raises(ValidationFailed, match="bin_code: names more than 20000 rows"):
            counts.count(number, empty=True)
    counts.cancel(number)
    monkeypatch.setattr("shared.warehouse.counts.creating.MAX_ROWS", 4)
    with pytest.raises(ValidationFailed, match=f"{field}: names more than 20000 rows"):
        counts.create(**scope)


def test_zone_of_too_many_positions_is_refused(
    yard: WarehouseScenario, counts: CountScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.stock("BRICK", 10)
    for number in (1, 2):
        yard.erp.patch(f"/warehouse-positions/{number}", {"zone_id": 7}).ok()
    positions = yard.erp.walk("/warehouse-positions", warehouse="YARD")
    monkeypatch.setattr("shared.warehouse.counts.rules.MAX_POSITIONS", 1)
    with pytest.raises(ValidationFailed, match="zone_id: zone 7 has 2 positions, 1 allowed"):
        counts.create(zone_id=7)
    monkeypatch.setattr("shared.warehouse.counts.rules.MAX_POSITIONS", 2)
    limit = "shared.warehouse.counts.creating.MAX_IN_WAREHOUSE"
    monkeypatch.setattr(limit, len(positions) - 1)
    with pytest.raises(ValidationFailed, match="zone_id: warehouse YARD has more than"):
        counts.create(zone_id=7)
    monkeypatch.setattr(limit, len(positions))
    assert counts.create(zone_id=7).lines == 1


def test_invalid_counts_are_refused_with_all_problems(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    with pytest.raises(ValidationFailed) as refused:
        counts.create(positions=["A-01", "Z-99"], item_codes=["NONE"], assigned_to=99)
    assert {one.field for one in refused.value.problems} == {
        "positions", "positions.1", "item_codes", "item_codes.0", "assigned_to",
    }  # fmt: skip
    with pytest.raises(ValidationFailed, match="zone_id: names no stock in warehouse YARD"):
        counts.create(zone_id=5)


def test_counted_lines_have_what_was_there_when_they_were_counted(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01"]).id
    yard.stock("BRICK", 5)

    [line] = counts.count(number, item_code="BRICK", qty=12)

    assert (line.expected_qty, line.counted_qty, line.difference) == (15, 12, -3)
    assert counts.get(number).record.entity.status == "counting"
    [again] = counts.count(number, item_code="BRICK", qty=15)
    assert (again.line_num, again.difference) == (1, 0)
    sums = counts.get(number).sums
    assert (sums.counted, sums.differences, sums.units) == (1, 0, 15)


def test_stock_that_nobody_expected_takes_the_line_of_the_empty_position(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01", "B-01"]).id

    counts.count(number, bin_code="B-01", item_code="BRICK", qty=2)
    counts.count(number, bin_code="B-01", item_code="CEMENT", batch="L9", qty=1)
    counts.count(number, item_code="BRICK", qty=8)

    assert counts.lines(number) == [
        (1, "A-01", "BRICK", "counted", 10, 8),
        (2, "B-01", "BRICK", "counted", 0, 2),
        (3, "B-01", "CEMENT", "counted", 0, 1),
    ]
    assert counts.finish(number).status == "counted"
    assert counts.post(number).status == "posted"
    assert (_qty(yard), _qty(yard, bin_code="B-01"), _qty(yard, "CEMENT", "B-01")) == (8, 2, 1)


def test_stock_that_nobody_expected_is_counted_again_in_its_line(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01"]).id

    for qty in (1, 3):
        counts.count(number, item_code="CEMENT", batch="L9", qty=qty)

    assert counts.lines(number) == [
        (1, "A-01", "BRICK", "open", 10, None), (2, "A-01", "CEMENT", "counted", 0, 3),
    ]  # fmt: skip
    other = counts.create(positions=["B-01"]).id
    with pytest.raises(Conflict, match="CEMENT batch L9 at A-01 is in CN-1"):
        counts.count(other, item_code="CEMENT", batch="L9", qty=1)


@pytest.mark.usefixtures("small_steps")
def test_empty_position_counts_all_of_its_stock_as_missing(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    yard.stock_serials("S1", "S2")
    number = counts.create(positions=["A-01", "B-01"]).id
    yard.stock("CEMENT", 4, batch="L1")

    lines = counts.count(number, empty=True)
    counts.count(number, bin_code="B-01", empty=True)

    assert sorted((line.item_code, line.counted_qty) for line in lines) == [
        ("BRICK", 0), ("CEMENT", 0), ("DRILL", 0), ("DRILL", 0),
    ]  # fmt: skip
    counts.finish(number)
    assert counts.post(number).status == "posted"
    assert [_qty(yard, one) for one in ("BRICK", "CEMENT", "DRILL")] == [0, 0, 0]
    with pytest.raises(ValidationFailed, match="has no line at F-01"):
        counts.count(counts.create(positions=["B-01"]).id, bin_code="F-01", empty=True)


def test_goods_without_a_status_are_those_of_the_count(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10, inventory_status="quarantine")
    number = counts.create(positions=["A-01"]).id

    [line] = counts.count(number, item_code="BRICK", qty=9)

    assert (line.line_num, line.inventory_status, line.difference) == (1, "quarantine", -1)
    [other] = counts.count(number, item_code="BRICK", qty=1, inventory_status="available")
    assert (other.line_num, other.difference) == (2, 1)


def test_serials_are_lines_of_their_own(yard: WarehouseScenario, counts: CountScenario) -> None:
    yard.stock_serials("S1", "S2")
    number = counts.create(positions=["A-01", "B-01"]).id

    counts.count(number, item_code="DRILL", serials=["S1"])
    counts.count(number, item_code="DRILL", serials=["S2"], qty=0)
    counts.count(number, bin_code="B-01", item_code="DRILL", serials=["S2", "S3"])
    counts.finish(number)

    assert counts.post(number).status == "posted"
    rows = yard.erp.walk("/stocks", item_code="DRILL", status="in")
    assert {(row["serial_number"], row["position"]["bin_code"]) for row in rows} == {
        ("S1", "A-01"), ("S2", "B-01"), ("S3", "B-01"),
    }  # fmt: skip


def test_invalid_goods_are_refused_with_all_problems(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01"]).id

    def problems(**goods: object) -> set[str]:
        with pytest.raises(ValidationFailed) as refused:
            counts.count(number, **goods)
        return {one.field for one in refused.value.problems}

    assert problems(bin_code="Z-99") == {"bin_code", "item_code", "qty"}
    assert problems(item_code="NONE", qty=1) == {"item_code"}
    assert problems(item_code="HAULAGE", qty=1) == {"item_code"}
    assert problems(item_code="CEMENT", qty=1) == {"batch"}
    assert problems(item_code="DRILL", serials=["S1", "S2"], qty=1) == {"qty"}
    assert problems(item_code="DRILL", serials=["S1", ""]) == {"serials.1"}
    assert problems(item_code="BRICK", empty=True, qty=1) == {"item_code", "qty"}
    assert problems(item_code="BRICK", qty=1, unit="BOX") == {"unit"}


def test_finish_names_what_is_not_counted(yard: WarehouseScenario, counts: CountScenario) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, batch="L1")
    number = counts.create(positions=["A-01"]).id
    with pytest.raises(Conflict, match="is open"):
        counts.finish(number)
    counts.count(number, item_code="BRICK", qty=10)

    with pytest.raises(Conflict, match="1 of 2 lines of CN-1 are not counted") as refused:
        counts.finish(number)

    [problem] = refused.value.problems
    assert (problem.field, problem.message) == (
        "lines.2",
        "CEMENT batch L1 at A-01 is not counted",
    )
    counts.count(number, item_code="CEMENT", batch="L1", qty=4)
    assert counts.finish(number).status == "counted"
    with pytest.raises(StaleState):
        counts.count(number, item_code="BRICK", qty=9)


def test_recount_opens_lines_again(yard: WarehouseScenario, counts: CountScenario) -> None:
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01", "B-01"]).id
    counts.count(number, item_code="BRICK", qty=7)
    counts.count(number, bin_code="B-01", empty=True)
    counts.finish(number)

    assert counts.recount(number, 1).status == "counting"

    assert counts.lines(number)[0][3:] == ("recount", 10, None)
    with pytest.raises(Conflict):
        counts.finish(number)
    counts.count(number, item_code="BRICK", qty=10)
    counts.finish(number)
    counts.post(number)
    assert _qty(yard) == 10
    with pytest.raises(ValidationFailed, match=r"lines.0: CN-1 has no line 9"):
        counts.recount(number, 9)
    refused = yard.erp.post(f"/counts/{number}/recount", {"lines": ["x", 9]})
    assert refused.invalid_fields == ["lines.0", "lines.1"]


def test_movements_after_a_line_was_counted_are_no_difference(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    order = yard.order(("BRICK", 4))
    number = counts.create(positions=["A-01"]).id
    counts.count(number, item_code="BRICK", qty=9)
    yard.pick(yard.started(order), "BRICK", 4).ok()
    yard.stock("BRICK", 20)
    counts.finish(number)

    counts.post(number)

    rows = yard.erp.walk("/stocks", item_code="BRICK", status="in", inventory_status="available")
    assert [row["qty"] for row in rows] == [25]
    [line] = counts.get(number).lines
    movement = yard.erp.get(f"/stock-movements/{line.movement_id}").ok()
    assert (movement["type"], movement["qty"], movement["reason"]) == (
        "adjustment", 1, "Count CN-1",
    )  # fmt: skip


@pytest.mark.parametrize("lines_per_step", [1, 2])
def test_line_that_contradicts_the_movements_is_counted_again(
    lines_per_step: int,
    yard: WarehouseScenario,
    counts: CountScenario,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shared.warehouse.counts.posting._LINES_PER_STEP", lines_per_step)
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, batch="L1")
    number = counts.create(positions=["A-01"]).id
    counts.count(number, item_code="BRICK", qty=2)
    counts.count(number, item_code="CEMENT", batch="L1", qty=3)
    yard.adjust("BRICK", decrease=9).ok(201)
    counts.finish(number)

    assert counts.post(number).status == "counting"

    assert [one[3] for one in counts.lines(number)] == ["recount", "counted"]
    assert _qty(yard, "CEMENT") == 3
    counts.count(number, item_code="BRICK", qty=1)
    counts.finish(number)
    assert counts.post(number).status == "posted"
    assert (_qty(yard), _qty(yard, "CEMENT")) == (1, 3)


@pytest.mark.usefixtures("small_steps")
def test_allocated_stock_refuses_its_difference_and_the_others_are_posted(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, batch="L1")
    picking = yard.picking(yard.order(("BRICK", 9)))["id"]
    number = counts.create(positions=["A-01"]).id
    counts.count(number, item_code="BRICK", qty=8)
    counts.count(number, item_code="CEMENT", batch="L1", qty=3)
    counts.finish(number)

    with pytest.raises(Conflict, match="does not allow 1 of the differences of CN-1") as refused:
        counts.post(number)

    [problem] = refused.value.problems
    assert problem.field == "lines.1"
    assert problem.message.startswith("BRICK at A-01: 2 requested, 1 available")
    assert (_qty(yard), _qty(yard, "CEMENT")) == (10, 3)
    yard.act(picking, "cancel").ok()
    assert counts.post(number).status == "posted"
    assert (_qty(yard), _qty(yard, "CEMENT")) == (8, 3)


def test_stock_is_in_one_open_count_at_most(yard: WarehouseScenario, counts: CountScenario) -> None:
    yard.stock("BRICK", 10)
    first = counts.create(positions=["A-01", "B-01"]).id
    for scope in ({"positions": ["A-01"]}, {"positions": ["B-01"]}, {"item_codes": ["BRICK"]}):
        with pytest.raises(Conflict, match="in one open count at most"):
            counts.create(**scope)
    other = counts.create(positions=["F-01"]).id
    with pytest.raises(Conflict, match="BRICK at A-01 is in CN-1"):
        counts.count(other, item_code="BRICK", qty=1)

    assert counts.cancel(first).status == "cancelled"

    second = counts.create(positions=["A-01"]).id
    assert counts.lines(second) == [(1, "A-01", "BRICK", "open", 10, None)]
    with pytest.raises(StaleState):
        counts.count(first, item_code="BRICK", qty=1)
    with pytest.raises(StaleState):
        counts.cancel(first)


@pytest.mark.parametrize("end", ["posted", "cancelled"])
def test_what_an_open_count_names_is_neither_deleted_nor_renamed(
    yard: WarehouseScenario, counts: CountScenario, end: str
) -> None:
    """CEMENT was found at B-01; F-01 was named while it was empty."""
    yard.stock("BRICK", 10)
    number = counts.create(positions=["A-01", "F-01"]).id
    counts.count(number, bin_code="B-01", item_code="CEMENT", batch="L1", qty=0)
    yard.adjust("BRICK", decrease=10).ok(201)
    yard.erp.delete("/products/3").ok()  # the count has no line of DRILL

    def answers() -> list[int]:
        deleted = ("/products/1", "/warehouse-positions/1", "/warehouse-positions/3")
        return [
            *(yard.erp.delete(path).status for path in deleted),
            yard.erp.patch("/products/2", {"item_code": "LIME"}).status,
            yard.erp.patch("/warehouse-positions/2", {"bin_code": "B-02"}).status,
        ]

    assert answers() == [409] * 5

    if end == "posted":
        counts.count(number, item_code="BRICK", qty=0)
        counts.count(number, bin_code="F-01", empty=True)
        counts.finish(number)
        counts.post(number)
    else:
        counts.cancel(number)
    assert answers() == [200] * 5


def test_posting_needs_one_approval_for_all_of_its_differences(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.change_settings(approval_adjustment_qty=Decimal(2))
    yard.stock("BRICK", 2)
    yard.stock("CEMENT", 2, batch="L1")
    number = counts.create(positions=["A-01"]).id
    counts.count(number, item_code="BRICK", qty=5)
    counts.count(number, item_code="CEMENT", batch="L1", qty=6)
    counts.finish(number)

    with pytest.raises(ApprovalRequired, match=r"lines.1: 3 of BRICK at A-01 .* 2 lines need it"):
        counts.post(number)

    assert _qty(yard) == 2


@pytest.mark.usefixtures("small_steps")
def test_lines_are_created_and_posted_in_steps(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    for serial in range(9):
        yard.stock("CEMENT", 5, batch=f"L{serial}")
    count = counts.create(positions=["A-01", "B-01"])
    assert (count.lines, count.to_list) == (10, [])

    for serial in range(9):
        counts.count(count.id, item_code="CEMENT", batch=f"L{serial}", qty=serial)
    counts.count(count.id, bin_code="B-01", empty=True)
    counts.finish(count.id)

    assert counts.post(count.id).status == "posted"
    assert _qty(yard, "CEMENT") == sum(range(9))
    assert counts.get(count.id).sums.units == Decimal(36)
