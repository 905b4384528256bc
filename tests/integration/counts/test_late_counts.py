"""Counts whose requests arrive after they were counted, and those of positions in steps."""

from typing import Any

import pytest

from shared.kernel.clock import instant
from shared.kernel.errors import Conflict, ValidationFailed
from tests.clock import Clock
from tests.count_scenario import CountScenario
from tests.faults import AwsFaults, kill_after_step
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


@pytest.fixture
def counts(stack: Stack) -> CountScenario:
    return CountScenario(stack)


def _bricks(yard: WarehouseScenario, counts: CountScenario, *others: str) -> int:
    """Return a count of A-01 with 10 bricks, and of other positions."""
    yard.stock("BRICK", 10)
    return counts.create(positions=["A-01", *others]).id


@pytest.fixture
def serials(yard: WarehouseScenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the serials S0 to S5 at A-01, of which a step counts two."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 9)
    yard.stock_serials(*(f"S{number}" for number in range(6)))


def _minutes_later(clock: Clock, minutes: float) -> str:
    """Advance the clock, and return the time."""
    clock.advance(60 * minutes)
    return instant(int(clock.time() * 1000))


def test_goods_picked_between_count_and_request_are_no_difference(
    yard: WarehouseScenario, counts: CountScenario, clock: Clock
) -> None:
    """10 are counted, 4 of them are picked, and only then the count arrives."""
    number = _bricks(yard, counts)
    picking = yard.started(yard.order(("BRICK", 4)))
    counted_at = _minutes_later(clock, 1)
    clock.advance(60)
    yard.pick(picking, "BRICK", 4).ok()

    [line] = counts.count(number, item_code="BRICK", qty=10, counted_at=counted_at)

    assert (line.status, line.counted_qty, line.difference) == ("recount", None, None)
    assert counts.get(number).sums.counted == 0
    [line] = counts.count(number, item_code="BRICK", qty=6, counted_at=_minutes_later(clock, 1))
    assert (line.status, line.difference) == ("counted", 0)


def test_late_count_of_stock_that_has_not_changed_counts(
    yard: WarehouseScenario, counts: CountScenario, clock: Clock
) -> None:
    number = _bricks(yard, counts, "B-01")
    counted_at = _minutes_later(clock, 1)
    clock.advance(600)

    [line] = counts.count(number, item_code="BRICK", qty=9, counted_at=counted_at)
    [new] = counts.count(
        number, bin_code="B-01", item_code="CEMENT", batch="L9", qty=1, counted_at=counted_at
    )
    yard.stock("BRICK", 3, "B-01")
    [unseen] = counts.count(
        number, bin_code="B-01", item_code="BRICK", qty=1, counted_at=counted_at
    )

    assert (line.status, line.counted_at, line.difference) == ("counted", counted_at, -1)
    assert (new.status, new.difference) == ("counted", 1)
    assert (unseen.status, unseen.counted_qty) == ("recount", None)


def test_late_empty_position_opens_only_what_has_changed(
    yard: WarehouseScenario, counts: CountScenario, clock: Clock
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, batch="L1")
    number = counts.create(positions=["A-01"]).id
    counted_at = _minutes_later(clock, 1)
    yard.stock("CEMENT", 2, batch="L1")

    counts.count(number, empty=True, counted_at=counted_at)

    assert counts.lines(number) == [
        (1, "A-01", "BRICK", "counted", 10, 0), (2, "A-01", "CEMENT", "recount", 4, None),
    ]  # fmt: skip


def test_count_that_arrives_behind_a_later_one_does_not_replace_it(
    yard: WarehouseScenario, counts: CountScenario, clock: Clock
) -> None:
    number = _bricks(yard, counts)
    early = _minutes_later(clock, 1)
    late = _minutes_later(clock, 1)

    counts.count(number, item_code="BRICK", qty=6, counted_at=late)
    [same] = counts.count(number, item_code="BRICK", qty=6, counted_at=early)
    [corrected] = counts.count(number, item_code="BRICK", qty=7, counted_at=late)
    [other] = counts.count(number, item_code="BRICK", qty=10, counted_at=early)

    assert [(one.status, one.counted_qty) for one in (same, corrected, other)] == [
        ("counted", 6), ("counted", 7), ("recount", None),
    ]  # fmt: skip


def test_time_of_a_count_is_neither_in_the_future_nor_before_its_creation(
    yard: WarehouseScenario, counts: CountScenario, clock: Clock
) -> None:
    clock.freeze()
    before = _minutes_later(clock, 1)
    yard.stock("BRICK", 10)
    near = _minutes_later(clock, 2)
    clock.advance(5 * 60 - 1)
    number = counts.create(positions=["A-01"]).id

    for at, why in (
        (before, f"counted_at: {before} is before the creation of CN-1"),
        (instant(int(clock.time() * 1000) + 301_000), "is in the future; it is"),
    ):
        with pytest.raises(ValidationFailed, match=why):
            counts.count(number, item_code="BRICK", qty=9, counted_at=at)

    for at in (near, instant(int(clock.time() * 1000) + 299_000)):
        [line] = counts.count(number, item_code="BRICK", qty=9, counted_at=at)
        assert line.status == "counted"


def test_empty_position_in_a_count_of_products_leaves_other_products(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    yard.stock("BRICK", 3, "F-01")
    yard.stock("BRICK", 2)
    yard.stock("CEMENT", 40, batch="L1")
    yard.stock("CEMENT", 5, "B-01", batch="L1")
    number = counts.create(item_codes=["BRICK"]).id

    counts.count(number, empty=True)
    with pytest.raises(ValidationFailed, match="bin_code: CN-1 has no line at B-01"):
        counts.count(number, bin_code="B-01", empty=True)
    counts.count(number, bin_code="F-01", item_code="BRICK", qty=3)
    counts.finish(number)
    counts.post(number)

    assert counts.lines(number) == [
        (1, "A-01", "BRICK", "counted", 2, 0), (2, "F-01", "BRICK", "counted", 3, 3),
    ]  # fmt: skip
    assert yard.level("CEMENT")[0] == 45


def _empty(yard: WarehouseScenario) -> Any:
    return yard.erp.post("/counts/1/lines", {"bin_code": "A-01", "empty": True}, key="k")


@pytest.mark.usefixtures("serials")
def test_empty_position_is_read_once_and_a_repeat_goes_on(
    yard: WarehouseScenario,
    counts: CountScenario,
    clock: Clock,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yard.stock_serials(*(f"T{number}" for number in range(6)))
    number = counts.create(positions=["A-01"]).id

    assert aws_faults.kills(kill_after_step(3), lambda: _empty(yard))
    done = counts.get(number).sums.counted
    clock.advance(6)
    compared: list[object] = []
    monkeypatch.setattr("shared.warehouse.counts.counting._Counted.__eq__", compared.append)
    with aws_faults.recorded() as seen:
        answer = _empty(yard)

    assert 0 < done < 12
    assert not compared, "each of thousands of lines would be compared with all others"
    assert seen.operations.count("TransactWriteItems") == (12 - done) // 2
    # The lines and the stock of the position, and both again: the first reading is beside the claim
    # of the request, which then has the progress.
    assert seen.operations.count("Query") == 4
    assert [line["counted_qty"] for line in answer.ok()["lines"]] == [0] * 12
    assert counts.get(number).sums.counted == 12


@pytest.mark.usefixtures("serials")
def test_goods_that_come_between_a_request_and_its_repeat_are_not_counted_as_missing(
    yard: WarehouseScenario,
    counts: CountScenario,
    clock: Clock,
    aws_faults: AwsFaults,
) -> None:
    number = counts.create(positions=["A-01"]).id
    assert aws_faults.kills(kill_after_step(), lambda: _empty(yard))
    clock.advance(60)
    yard.stock_serials("T0")

    lines = _empty(yard).ok()["lines"]

    found = {line["serial_number"]: (line["status"], line["counted_qty"]) for line in lines}
    assert found.pop("T0") == ("recount", None)
    assert list(found.values()) == [("counted", 0)] * 6
    assert counts.get(number).sums.counted == 6


def test_count_has_no_more_lines_than_it_may_begin_with(
    yard: WarehouseScenario, counts: CountScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.counts.counting.MAX_LINES", 2)
    number = _bricks(yard, counts, "B-01")

    with pytest.raises(ValidationFailed, match="bin_code: CN-1 has 5000 lines, the most"):
        counts.count(number, item_code="CEMENT", batch="L1", qty=1)
    counts.count(number, item_code="BRICK", qty=9)
    counts.count(number, bin_code="B-01", item_code="BRICK", qty=1)

    assert [line[3] for line in counts.lines(number)] == ["counted", "counted"]


@pytest.mark.usefixtures("serials")
def test_count_whose_creation_was_interrupted_says_how_many_lines_it_gets(
    yard: WarehouseScenario,
    counts: CountScenario,
    aws_faults: AwsFaults,
) -> None:
    assert aws_faults.kills(kill_after_step(), lambda: counts.create(positions=["A-01"]))

    shown = yard.erp.get("/counts/1").ok()

    assert (shown["progress"]["lines"], len(shown["lines"]) < 6) == (6, True)
    counts.count(1, item_code="DRILL", serials=["S0"])
    assert len(yard.erp.get("/counts/1").ok()["lines"]) == 6


@pytest.mark.parametrize("most", [6, 7])
def test_empty_position_counts_nothing_unless_the_count_has_lines_for_all(
    yard: WarehouseScenario,
    counts: CountScenario,
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of 6 serials takes the line of the position, which was empty."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 9)
    monkeypatch.setattr("shared.warehouse.counts.counting.MAX_LINES", most)
    number = counts.create(positions=["A-01", "B-01"]).id
    yard.stock_serials(*(f"S{number}" for number in range(6)))

    if most == 7:
        counts.count(number, empty=True)
    else:
        with pytest.raises(ValidationFailed, match="bin_code: CN-1 has 5000 lines, the most"):
            counts.count(number, empty=True)

    assert counts.get(number).sums.counted == (6 if most == 7 else 0)


@pytest.mark.usefixtures("serials")
def test_empty_position_counts_nothing_if_goods_there_are_in_another_count(
    yard: WarehouseScenario, counts: CountScenario
) -> None:
    number = counts.create(positions=["A-01"]).id
    yard.stock("BRICK", 10)
    counts.create(item_codes=["BRICK"])

    with pytest.raises(Conflict, match="BRICK at A-01 is in CN-2"):
        counts.count(number, empty=True)

    assert counts.get(number).sums.counted == 0


@pytest.mark.usefixtures("yard")
def test_rows_of_a_full_count_take_the_lines_of_empty_positions(
    counts: CountScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.counts.counting.MAX_LINES", 2)
    number = counts.create(positions=["A-01", "B-01"]).id

    refused = counts.fill(
        number,
        {"item_code": "BRICK", "qty": 1},
        {"item_code": "CEMENT", "batch": "L1", "qty": 2},
        {"item_code": "BRICK", "qty": 3, "bin_code": "B-01"},
        {"item_code": "CEMENT", "batch": "L1", "qty": 4, "bin_code": "B-01"},
    )

    full = ["CN-1 has 5000 lines, the most; count it in another count"]
    assert refused == [[], full, [], full]
    assert [line[1:3] for line in counts.lines(number)] == [("A-01", "BRICK"), ("B-01", "BRICK")]
    assert counts.fill(number, {"item_code": "CEMENT", "batch": "L1", "qty": 2}) == [full]
