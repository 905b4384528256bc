"""Several stock adjustments in one request, and expected quantities."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial

import pytest

from tests.cases import each_case
from tests.clock import Clock
from tests.concurrency import at_once
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.approvals.conftest import approval_of
from tests.integration.call_faults import at_calls, die
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

_BRICK = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01"}
_CEMENT = {"item_code": "CEMENT", "warehouse": "YARD", "bin_code": "A-01", "batch": "L1"}
_DRILL = {"item_code": "DRILL", "warehouse": "YARD", "bin_code": "A-01", "serial": "S-1"}

type Line = Mapping[str, object]


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step hold one line."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)


def _send(
    yard: WarehouseScenario, *lines: Line | str, key: str | None = None, **more: object
) -> Response:
    return yard.erp.post("/stock-adjustments", {"lines": lines, "reason": "Count", **more}, key=key)


def _shown(answer: Response) -> list[tuple[object, ...]]:
    return [
        (one["status"], one["item_code"], one["qty_before"], one["qty_after"])
        for one in answer.data["lines"]
    ]


def _at(*bins: str, **change: object) -> list[Line]:
    return [{**_BRICK, "bin_code": bin_code, **change} for bin_code in bins]


def test_lines_are_applied_in_one_transaction_and_shown_in_their_order(
    yard: WarehouseScenario, aws_faults: AwsFaults, stack: Stack
) -> None:
    yard.stock("BRICK", 5)
    lines = (
        {**_BRICK, "counted_qty": 7, "expected_qty": 5},
        {**_CEMENT, "increase": 3, "expiry_date": "2030-01-31", "expected_qty": 0},
        {**_DRILL, "increase": 1, "reason": "Behind the rack"},
        {**_BRICK, "bin_code": "B-01", "counted_qty": 0},
    )

    with aws_faults.recorded() as seen:
        answer = _send(yard, *lines)

    assert answer.status == 201
    assert _shown(answer) == [
        ("applied", "BRICK", 5, 7), ("applied", "CEMENT", 0, 3), ("applied", "DRILL", 0, 1),
        ("applied", "BRICK", 0, 0),
    ]  # fmt: skip
    shown = answer.data["lines"]
    assert [one["reason"] for one in shown] == ["Count", "Count", "Behind the rack", "Count"]
    assert shown[1]["expiry_date"] == "2030-01-31"
    assert shown[3]["movement_id"] is None
    assert seen.operations.count("TransactWriteItems") == 1
    for one in shown[:3]:
        movement = yard.erp.get(f"/stock-movements/{one['movement_id']}").data
        assert (movement["item_code"], movement["reason"]) == (one["item_code"], one["reason"])
    [entry] = yard.erp.get("/audit-log", query={"action": "stock.adjusted", "per_page": 1}).data
    audited = entry["details"]["lines"]
    assert [(one["movement_id"], one["qty"]) for one in audited] == [
        (one["movement_id"], {"from": one["qty_before"], "to": one["qty_after"]})
        for one in shown[:3]
    ]
    assert len([1 for event in stack.events() if event["type"]["S"] == "stock.updated"]) == 4


def test_a_single_adjustment_of_another_quantity_than_expected_is_stale(
    yard: WarehouseScenario,
) -> None:
    yard.stock("BRICK", 10)

    refused = yard.adjust(counted_qty=8, expected_qty=12)

    assert (refused.status, refused.code) == (409, "stale_state")
    assert refused.conflicts == {"expected_qty": "12 expected, 10 there"}
    assert yard.adjust(decrease=1, expected_qty=10).status == 201
    assert yard.level("BRICK")[0] == 9


def test_expected_quantity_counts_the_unit_of_the_line(yard: WarehouseScenario) -> None:
    units = {"units": [{"unit": "BOX", "qty": 12}]}
    assert yard.erp.put("/products/1/packaging", units).status == 200
    yard.stock("BRICK", 24)

    assert yard.adjust(counted_qty=3, expected_qty=1, unit="box").conflicts == {
        "expected_qty": "12 expected, 24 there"
    }
    answer = _send(yard, {**_BRICK, "counted_qty": 3, "expected_qty": 2, "unit": "BOX"})
    assert _shown(answer) == [("applied", "BRICK", 24, 36)]


def test_all_stale_lines_are_named_and_nothing_is_applied(
    yard: WarehouseScenario, stack: Stack
) -> None:
    yard.stock("BRICK", 10)
    before = len(stack.items())
    refused = _send(
        yard,
        {**_BRICK, "counted_qty": 9, "expected_qty": 12},
        {**_CEMENT, "increase": 1},
        {**_BRICK, "bin_code": "B-01", "decrease": 1},
        {**_DRILL, "increase": 1, "expected_qty": 1},
    )

    assert (refused.status, refused.code) == (409, "stale_state")
    assert refused.conflicts == {
        "lines.0.expected_qty": "12 expected, 10 there",
        "lines.2.decrease": "1 requested, 0 available of BRICK at B-01",
        "lines.3.expected_qty": "1 expected, 0 there",
    }
    assert len(stack.items()) == before


def test_lines_that_only_conflict_name_what_holds_the_stock(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 5)
    number = yard.picking(yard.order(("BRICK", 4)))["id"]

    refused = _send(yard, *_at("A-01", counted_qty=1), *_at("B-01", counted_qty=1))

    assert (refused.status, refused.code) == (409, "conflict")
    assert refused.conflicts == {
        "lines.0.counted_qty": "1 counted, 4 allocated of BRICK at A-01;"
        f" 4 allocated to PKG-{number} (4)"
    }


def test_problems_of_all_lines_come_at_once_before_conflicts(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 1, batch="L1", expiry_date="2030-01-31")
    refused = _send(
        yard,
        {**_BRICK, "counted_qty": 9, "expected_qty": 12},
        {**_BRICK, "item_code": "NONE", "counted_qty": -1},
        {**_CEMENT, "bin_code": "B-01", "increase": 1, "expiry_date": "2031-01-31"},
        {**_BRICK, "bin_code": "F-01", "increase": 2, "unit": "BOX"},
        {**_CEMENT, "batch": "OLD", "increase": 1, "expiry_date": "2020-01-31"},
        {"counted_qty": 1},
        "a line",
    )

    assert (refused.status, refused.code) == (422, "validation_failed")
    assert sorted(refused.invalid_fields) == [
        "lines.1.counted_qty", "lines.1.item_code", "lines.2.expiry_date", "lines.3.unit",
        "lines.4.expiry_date", "lines.5.bin_code", "lines.5.item_code", "lines.5.warehouse",
        "lines.6",
    ]  # fmt: skip


@each_case(
    ("lines", "more", "problems"),
    [
        (_at("A-01", increase=1), {"reason": None}, {
            "reason": "is required, because lines.0 has none",
        }),
        (_at("A-01", increase=1), {"item_code": "BRICK", "increase": 1}, {
            "item_code": "is not allowed beside lines", "increase": "is not allowed beside lines",
        }),
        (
            _at("A-01", "B-01", "A-01", increase=1),
            {}, {"lines.2": "is of the same stock as lines.0"},
        ),
        (
            [{**_BRICK, "increase": 1}, {**_BRICK, "inventory_status": "available", "decrease": 1}],
            {}, {"lines.1": "is of the same stock as lines.0"},
        ),
        (
            [{"item_code": "CEMENT", "batch": "L1", "expiry_date": "2030-01-31"}], {},
            {"lines.0.expiry_date": "is corrected by a request of its own, without lines"},
        ),
        (
            [{**_CEMENT, "increase": 1, "expiry_date": "2030-01-31"},
             {**_CEMENT, "bin_code": "B-01", "increase": 1, "expiry_date": "2030-02-28"}],
            {}, {"lines.1.expiry_date":
                 "batch L1 has the expiry date 2030-01-31 at lines.0.expiry_date"},
        ),
        (
            [{**_DRILL, "increase": 1}, {**_DRILL, "bin_code": "B-01", "counted_qty": 1}],
            {}, {"lines.1.serial": "serial S-1 is already in lines.0"},
        ),
    ],
)  # fmt: skip
def test_invalid_body_is_refused(
    yard: WarehouseScenario,
    lines: Sequence[Line],
    more: Mapping[str, object],
    problems: Mapping[str, str],
) -> None:
    refused = yard.erp.post("/stock-adjustments", {"lines": lines, "reason": "Count", **more})

    assert refused.problems == problems


def test_expected_quantity_beside_an_expiry_date_is_refused(yard: WarehouseScenario) -> None:
    yard.stock("CEMENT", 1, batch="L1")
    body = {"item_code": "CEMENT", "batch": "L1", "expiry_date": "2030-01-31", "reason": "Misread"}

    refused = yard.erp.post("/stock-adjustments", {**body, "expected_qty": 1})

    assert (refused.status, refused.invalid_fields) == (422, ["expected_qty"])


def test_change_of_status_and_a_count_of_that_status_are_different_stock(
    yard: WarehouseScenario,
) -> None:
    yard.stock("BRICK", 10)

    answer = _send(
        yard,
        {**_BRICK, "to_status": "damaged", "qty": 3, "expected_qty": 10},
        {**_BRICK, "inventory_status": "damaged", "counted_qty": 4},
    )

    assert _shown(answer) == [("applied", "BRICK", 10, 7), ("applied", "BRICK", 3, 4)]


@pytest.fixture
def opening(yard: WarehouseScenario, small_steps: None) -> list[Line]:
    """Counts of five stocks; each is a transaction of its own."""
    del small_steps
    yard.stock("BRICK", 5)
    return [
        {**_BRICK, "counted_qty": 6, "expected_qty": 5},
        *_at("B-01", "F-01", counted_qty=4, expected_qty=0),
        {**_CEMENT, "increase": 2, "expiry_date": "2030-01-31"},
        {**_DRILL, "increase": 1},
    ]


_OPENED = [
    ("applied", "BRICK", 5, 6), ("applied", "BRICK", 0, 4), ("applied", "BRICK", 0, 4),
    ("applied", "CEMENT", 0, 2), ("applied", "DRILL", 0, 1),
]  # fmt: skip


def test_line_that_becomes_stale_meanwhile_is_left_out(
    yard: WarehouseScenario, opening: list[Line], aws_faults: AwsFaults
) -> None:
    opening += [{**_BRICK, "bin_code": "X-01", "decrease": 1}]
    yard.stock("BRICK", 1, "X-01")

    def interfere() -> None:
        yard.adjust(bin_code="F-01", increase=9).ok(201)
        yard.adjust(bin_code="X-01", counted_qty=0).ok(201)

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(yard, *opening)

    assert answer.status == 201
    assert _shown(answer) == [
        *_OPENED[:2], ("stale", "BRICK", 9, 9), *_OPENED[3:], ("stale", "BRICK", 0, 0),
    ]  # fmt: skip
    assert answer.data["lines"][2]["movement_id"] is None
    assert yard.level("BRICK")[0] == 6 + 4 + 9


def test_change_before_the_first_step_refuses_all_lines(
    yard: WarehouseScenario, opening: list[Line], aws_faults: AwsFaults
) -> None:
    def interfere() -> None:
        yard.adjust(increase=1).ok(201)
        yard.adjust(bin_code="F-01", increase=9).ok(201)

    with aws_faults.faulty(at_calls("TransactWriteItems", {0}, before=interfere)):
        refused = _send(yard, *opening)

    assert refused.code == "stale_state"
    assert refused.conflicts == {
        "lines.0.expected_qty": "5 expected, 6 there",
        "lines.2.expected_qty": "0 expected, 9 there",
    }
    assert yard.level("BRICK")[0] == 15


@pytest.mark.parametrize("key", ["before", "after"])
def test_repeat_of_a_killed_request_goes_on_and_answers_the_same(
    yard: WarehouseScenario, opening: list[Line], aws_faults: AwsFaults, clock: Clock, key: str
) -> None:
    step = partial(at_calls, "TransactWriteItems", {2})
    fault = step(before=die) if key == "before" else step(after=die)
    assert aws_faults.kills(fault, lambda: _send(yard, *opening, key=key))
    clock.advance(6)

    answer = _send(yard, *opening, key=key)

    assert answer.status == 201
    assert _shown(answer) == _OPENED
    again = _send(yard, *opening, key=key)
    assert (again.text, again.headers["Idempotent-Replayed"]) == (answer.text, "true")
    moved = yard.erp.walk("/stock-movements", sort="created_at")
    shown = [one["movement_id"] for one in answer.data["lines"]]
    assert [one["id"] for one in moved][-5:] == shown


def test_approval_is_asked_for_once_and_holds_for_the_figures_of_the_lines(
    yard: WarehouseScenario, opening: list[Line], stack: Stack
) -> None:
    yard.change_settings(approval_adjustment_qty=Decimal(3))
    first = approval_of(refused := _send(yard, *opening, key="k"))

    message = "lines.1: 4 of BRICK at B-01 would be adjusted, from 0 to 4; more than 3 needs"
    assert refused.json()["message"].startswith(message)
    assert refused.json()["message"].endswith(" 2 lines need it.")
    supervisor = Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))
    supervisor.post(f"/approvals/{first}/grant").ok()
    assert _shown(_send(yard, *opening, key="k")) == _OPENED
    assert yard.erp.get(f"/approvals/{first}").data["status"] == "used"


def test_line_that_needs_another_approval_meanwhile_is_left_out(
    yard: WarehouseScenario, opening: list[Line], aws_faults: AwsFaults
) -> None:
    yard.change_settings(approval_adjustment_qty=Decimal(5))
    opening[2] = {**_BRICK, "bin_code": "F-01", "counted_qty": 4}

    def interfere() -> None:
        yard.change_settings(approval_adjustment_qty=None)
        yard.adjust(bin_code="F-01", increase=10).ok(201)
        yard.change_settings(approval_adjustment_qty=Decimal(5))

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(yard, *opening)

    assert _shown(answer) == [*_OPENED[:2], ("stale", "BRICK", 10, 10), *_OPENED[3:]]


def test_line_whose_position_is_deleted_meanwhile_is_left_out(
    yard: WarehouseScenario, opening: list[Line], aws_faults: AwsFaults
) -> None:
    shelves = yard.erp.walk("/warehouse-positions", bin_code="F-01", sort="bin_code")
    [shelf] = [one["id"] for one in shelves if one["warehouse"]["whs_code"] == "YARD"]

    def interfere() -> None:
        assert yard.erp.delete(f"/warehouse-positions/{shelf}").status == 200

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(yard, *opening)

    assert _shown(answer) == [*_OPENED[:2], ("stale", "BRICK", 0, 0), *_OPENED[3:]]


@pytest.mark.usefixtures("small_steps")
def test_concurrent_increases_of_the_same_stocks_are_all_applied(
    yard: WarehouseScenario, stack: Stack
) -> None:
    lines = _at("A-01", "B-01", "F-01", increase=1)

    answers = at_once(*[lambda: _send(yard, *lines) for _ in range(20)])

    assert [answer.status for answer in answers] == [201] * 20
    made = [one for answer in answers for one in answer.data["lines"]]
    assert {one["status"] for one in made} == {"applied"}
    at_position = {(one["bin_code"], one["qty_after"]) for one in made}
    assert len(at_position) == len(made) == 60
    assert yard.level("BRICK")[0] == 60
    assert_invariants(stack.store())


def test_concurrent_requests_of_the_same_lines_apply_each_line_once(
    yard: WarehouseScenario, stack: Stack
) -> None:
    lines = [
        *_at("A-01", "B-01", "F-01", counted_qty=4, expected_qty=0),
        {**_CEMENT, "counted_qty": 2, "expected_qty": 0},
    ]

    answers = at_once(*[lambda: _send(yard, *lines) for _ in range(20)])

    assert sorted(answer.status for answer in answers) == [201] + [409] * 19
    assert {answer.code for answer in answers if answer.status == 409} == {"stale_state"}
    moved = yard.erp.walk("/stock-movements", sort="created_at")
    assert len(moved) == len(lines)
    assert_invariants(stack.store())


def _many(count: int) -> Iterator[Line]:
    for number in range(count):
        yield {**_CEMENT, "batch": f"L-{number}", "counted_qty": 2, "expected_qty": 0}


def test_two_hundred_lines_take_few_calls(
    yard: WarehouseScenario, aws_faults: AwsFaults, stack: Stack
) -> None:
    with aws_faults.recorded() as seen:
        answer = _send(yard, *_many(200), key="k")

    assert {one["status"] for one in answer.data["lines"]} == {"applied"}
    assert len(seen.operations) <= 40, seen.operations
    assert_invariants(stack.store())
