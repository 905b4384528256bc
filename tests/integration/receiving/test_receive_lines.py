"""Several lines of a receipt in one request, and all that is open as ordered."""

from collections.abc import Mapping
from functools import partial

import pytest

from tests.cases import each_case
from tests.clock import Clock
from tests.concurrency import at_once
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.approvals.conftest import approval_of
from tests.integration.call_faults import at_calls, die
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

pytestmark = pytest.mark.usefixtures("consistent_stock")

_BRICK = {"item_code": "BRICK", "qty": 3}
_CEMENT = {"item_code": "CEMENT", "qty": 4, "batch": "L1", "bin_code": "B-01"}
_DRILL = {"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-2"], "bin_code": "B-01"}


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step hold one line."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)


@pytest.fixture
def receiving(receiving_scenario: ReceivingScenario) -> ReceivingScenario:
    return receiving_scenario


def _started(receiving: ReceivingScenario) -> int:
    """Start the receipt of 5 bricks, 4 bags of cement and 2 drills."""
    order = receiving.order(
        {"qty": 5}, {"item_code": "CEMENT", "qty": 4}, {"item_code": "DRILL", "qty": 2}
    )
    return receiving.started(order)


def _send(
    receiving: ReceivingScenario, number: int, *lines: object, key: str | None = None,
    by: Erp | None = None, **more: object,
) -> Response:  # fmt: skip
    body = {"lines": lines, **more} if lines else more
    return (by or receiving.erp).post(f"/receipts/{number}/lines", body, key=key)


def _lines() -> list[dict[str, object]]:
    return [dict(_BRICK), dict(_CEMENT), dict(_DRILL), {**_BRICK, "qty": 2, "bin_code": "B-01"}]


def _received(answer: Response) -> list[tuple[object, ...]]:
    return [(one["item_code"], one["bin_code"], one["qty"]) for one in answer.data["lines"]]


_ALL = [("BRICK", "A-01", 3), ("CEMENT", "B-01", 4), ("DRILL", "B-01", 2), ("BRICK", "B-01", 2)]


def test_lines_are_received_in_one_transaction_as_single_lines_are(
    receiving: ReceivingScenario, aws_faults: AwsFaults
) -> None:
    number = _started(receiving)

    with aws_faults.recorded() as seen:
        answer = _send(receiving, number, *_lines())

    assert answer.status == 200, answer.text
    assert _received(answer) == _ALL
    assert (answer.json()["unapplied"], answer.json()["left"]) == ([], [])
    assert seen.operations.count("TransactWriteItems") == 1
    assert {status for *_, status in receiving.progress(1)} == {"complete"}
    assert receiving.shown(number) == answer.data
    moved = receiving.erp.walk("/stock-movements", sort="created_at")
    assert [one["qty"] for one in moved] == [3, 4, 1, 1, 2]


def test_what_is_open_as_ordered_is_received_and_the_others_are_named(
    receiving: ReceivingScenario,
) -> None:
    for code in ("FRESH", "DATED"):
        product = {"item_code": code, "name": code, "min_remaining_days": 10}
        assert receiving.erp.post("/products", product).status == 201
    order = receiving.order(
        {"qty": 5},
        {"item_code": "CEMENT", "qty": 4},
        {"item_code": "DRILL", "qty": 2},
        {"qty": 1, "destination_bin": "B-01"},
        {"item_code": "FRESH", "qty": 6},
        {"item_code": "FRESH", "qty": 2, "expiry_date": "2030-01-31"},
        {"item_code": "DATED", "qty": 1, "expiry_date": "2030-01-31"},
    )
    number = receiving.started(order)
    receiving.receive(number, 2).ok()

    answer = _send(receiving, number, as_ordered=True)

    assert answer.status == 200, answer.text
    assert _received(answer)[1:] == [
        ("BRICK", "A-01", 3),
        ("BRICK", "B-01", 1),
        ("DATED", "A-01", 1),
    ]
    assert answer.json()["unapplied"] == []
    assert answer.json()["left"] == [
        {"line_num": 2, "item_code": "CEMENT", "qty": 4, "needs": ["batch"]},
        {"line_num": 3, "item_code": "DRILL", "qty": 2, "needs": ["serials"]},
        {"line_num": 5, "item_code": "FRESH", "qty": 6, "needs": ["expiry_date"]},
        {"line_num": 6, "item_code": "FRESH", "qty": 2, "needs": ["expiry_date"]},
    ]
    again = _send(receiving, number, as_ordered=True)
    assert (again.status, _received(again)) == (200, _received(answer)), "nothing else is possible"


def test_goods_as_ordered_are_put_at_the_position_that_is_named(
    receiving: ReceivingScenario,
) -> None:
    order = receiving.order({"qty": 5, "destination_bin": None}, {"qty": 1})
    number = receiving.started(order)

    refused = _send(receiving, number, as_ordered=True)
    unknown = _send(receiving, number, as_ordered=True, bin_code="Z-99")
    answer = _send(receiving, number, as_ordered=True, bin_code="B-01")

    assert refused.invalid_fields == ["bin_code"]
    assert unknown.problems == {"bin_code": "warehouse YARD has no position Z-99"}
    assert _received(answer) == [("BRICK", "B-01", 6)]
    done = _send(receiving, number, as_ordered=True)
    assert done.problems == {"as_ordered": "nothing is open on the document PO-1"}


def test_open_lines_of_an_item_may_exceed_the_largest_quantity(
    receiving: ReceivingScenario,
) -> None:
    number = receiving.started(receiving.order({"qty": 999_999_999}, {"qty": 2}))

    answer = _send(receiving, number, as_ordered=True)

    assert _received(answer) == [("BRICK", "A-01", 999_999_999), ("BRICK", "A-01", 2)]


def test_problems_of_all_lines_come_at_once_and_nothing_is_received(
    receiving: ReceivingScenario, stack: Stack
) -> None:
    number = _started(receiving)
    before = len(stack.items())

    refused = _send(
        receiving,
        number,
        _BRICK,
        {**_CEMENT, "batch": None},
        {**_DRILL, "serials": ["S-1"]},
        {**_DRILL, "qty": 1, "serials": ["S-3"]},
        {**_DRILL, "qty": 1, "serials": ["S-3"]},
        {"item_code": "BRICK", "bin_code": "X-99"},
        {**_CEMENT, "expiry_date": "2020-01-31"},
        "a line",
    )

    assert refused.status == 422
    assert sorted(refused.invalid_fields) == [
        "lines.1.batch", "lines.2.serials", "lines.4.serials.0", "lines.5.bin_code", "lines.5.qty",
        "lines.6.expiry_date", "lines.7",
    ]  # fmt: skip
    assert len(stack.items()) == before


@each_case(
    ("body", "problems"),
    [
        ({"lines": [_BRICK], "bin_code": "A-01"}, {"bin_code": "is not allowed beside lines"}),
        ({"as_ordered": True, "qty": 1}, {"qty": "is not allowed beside as_ordered"}),
        ({"as_ordered": False}, {"qty": "is required", "item_code": "is required"}),
        ({"lines": []}, {"lines": "must have at least 1 entry"}),
        ({"lines": [{**_BRICK, "qty": "3"}] * 101}, {"lines": "must have at most 100 entries"}),
        ({"lines": [{"gtin": "4006381333931", "qty": 1}]},
         {"lines.0.gtin": "no product has the GTIN 4006381333931"}),
        ({"lines": [{**_CEMENT, "expiry_date": "2030-01-31"},
                    {**_CEMENT, "expiry_date": "2031-01-31"}] },
         {"lines.1.expiry_date":
          "batch L1 has the expiry date 2030-01-31 at lines.0.expiry_date"}),
        ({"lines": [{**_DRILL, "qty": 1, "serials": ["S-1"], "bin_code": "X-99"},
                    {**_DRILL, "qty": 1, "serials": ["S-1"]}]},
         {"lines.0.bin_code": "warehouse YARD has no position X-99",
          "lines.1.serials.0": "serial S-1 is already in lines.0"}),
        ({"lines": [{**_DRILL, "qty": 2, "serials": ["S-1", "S-1"]}]},
         {"lines.0.serials.1": "must not be named twice"}),
    ],
)  # fmt: skip
def test_invalid_body_is_refused(
    receiving: ReceivingScenario, body: Mapping[str, object], problems: Mapping[str, str]
) -> None:
    number = receiving.started(
        receiving.order(
            {"qty": 5}, {"item_code": "CEMENT", "qty": 8}, {"item_code": "DRILL", "qty": 2}
        )
    )

    refused = receiving.erp.post(f"/receipts/{number}/lines", body)

    assert refused.problems == problems


def _supervisor(stack: Stack) -> Erp:
    return Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))


@pytest.mark.usefixtures("small_steps")
def test_approval_is_asked_for_once_and_holds_for_all_lines(
    receiving: ReceivingScenario, stack: Stack
) -> None:
    number = _started(receiving)
    lines = [{**_BRICK, "qty": 5}, _BRICK, {**_CEMENT, "qty": 5}, _DRILL]

    first = approval_of(refused := _send(receiving, number, *lines, key="k"))

    assert refused.json()["message"].startswith("lines.1: 8 of BRICK would be received, 5 ordered")
    assert refused.json()["message"].endswith(" 2 lines need it.")
    _supervisor(stack).post(f"/approvals/{first}/grant").ok()
    answer = _send(receiving, number, *lines, key="k")
    assert len(_received(answer)) == 4
    approved = [(one["item_code"], one["received_qty"]) for one in answer.data["approvals"]]
    assert approved == [("BRICK", 8), ("CEMENT", 5)]
    assert receiving.erp.get(f"/approvals/{first}").data["status"] == "used"


@pytest.mark.usefixtures("small_steps")
def test_approval_holds_for_the_quantities_that_it_was_granted_for(
    receiving: ReceivingScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    number = _started(receiving)
    send = partial(_send, receiving, number, _BRICK, {**_CEMENT, "qty": 5}, key="k")
    _supervisor(stack).post(f"/approvals/{approval_of(send())}/grant").ok()

    def interfere() -> None:
        receiving.receive(number, 1, item_code="CEMENT", batch="L1").ok()

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = send()

    [left_out] = answer.json()["unapplied"]
    assert left_out["message"].startswith("CEMENT at B-01: 6 of CEMENT would be received, 4 order")
    assert answer.data["approvals"] == []


@pytest.mark.usefixtures("small_steps")
def test_repeat_of_a_killed_request_keeps_its_approval(
    receiving: ReceivingScenario, stack: Stack, aws_faults: AwsFaults, clock: Clock
) -> None:
    number = _started(receiving)
    dated = {**_CEMENT, "qty": 5, "expiry_date": "2030-01-31", "inventory_status": "quarantine"}
    send = partial(_send, receiving, number, _BRICK, dated, key="k")
    _supervisor(stack).post(f"/approvals/{approval_of(send())}/grant").ok()
    assert aws_faults.kills(at_calls("TransactWriteItems", {1}, before=die), send)
    clock.advance(6)

    answer = send()

    assert (answer.status, answer.json()["unapplied"]) == (200, [])
    [approved] = answer.data["approvals"]
    assert (approved["item_code"], approved["received_qty"]) == ("CEMENT", 5)
    # This supervisor's token has no user of the company.
    assert approved["decided_by"] == {"user_id": None, "name": None}
    assert answer.data["lines"][1]["expiry_date"] == "2030-01-31"


@pytest.mark.usefixtures("small_steps")
def test_lines_that_a_supervisor_approves_are_recorded(
    receiving: ReceivingScenario, stack: Stack
) -> None:
    number = _started(receiving)
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    more = {**_BRICK, "qty": 6, "approve": True}

    answer = _send(receiving, number, more, {**more, "qty": 1}, _CEMENT, by=chief)

    assert [one["received_qty"] for one in answer.data["approvals"]] == [6, 7]
    audited = receiving.erp.walk("/audit-log", action="receipt.over_receipt_approved")
    assert len(audited) == 2


@pytest.mark.usefixtures("small_steps")
def test_line_that_becomes_impossible_meanwhile_is_left_out(
    receiving: ReceivingScenario, aws_faults: AwsFaults
) -> None:
    number = _started(receiving)

    def interfere() -> None:
        receiving.yard.stock("DRILL", 1, serial="S-2")
        receiving.receive(number, 1).ok()

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(receiving, number, *_lines())

    assert answer.status == 200
    left_out = {one["line"]: one["message"] for one in answer.json()["unapplied"]}
    assert left_out[2] == "DRILL at B-01: serial S-2 is already in stock at YARD A-01"
    assert left_out[3].startswith("BRICK at B-01: 6 of BRICK would be received, 5 ordered")
    assert _received(answer) == [_ALL[0], ("BRICK", "A-01", 1), _ALL[1]]


@pytest.mark.usefixtures("small_steps")
def test_receipt_that_ends_meanwhile_leaves_out_the_other_lines(
    receiving: ReceivingScenario, aws_faults: AwsFaults
) -> None:
    number = _started(receiving)

    def interfere() -> None:
        assert receiving.act(number, "finalize").status == 200

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(receiving, number, *_lines())

    assert (answer.data["status"], _received(answer)) == ("finalized", _ALL[:1])
    assert [one["line"] for one in answer.json()["unapplied"]] == [1, 2, 3]


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_repeat_of_a_killed_request_goes_on_and_answers_the_same(
    receiving: ReceivingScenario, aws_faults: AwsFaults, clock: Clock, moment: str
) -> None:
    number = _started(receiving)
    send = partial(_send, receiving, number, *_lines(), key="k")
    step = partial(at_calls, "TransactWriteItems", {2})
    assert aws_faults.kills(step(before=die) if moment == "before" else step(after=die), send)
    clock.advance(6)

    answer = send()

    assert (answer.status, _received(answer), answer.json()["unapplied"]) == (200, _ALL, [])
    again = send()
    assert (again.text, again.headers["Idempotent-Replayed"]) == (answer.text, "true")


def test_concurrent_requests_receive_each_line_once(
    receiving: ReceivingScenario, stack: Stack
) -> None:
    number = _started(receiving)

    answers = at_once(*[lambda: _send(receiving, number, as_ordered=True) for _ in range(20)])

    assert {answer.status for answer in answers} == {200}
    assert receiving.progress(1)[0] == (5, 0, "complete")
    assert len(receiving.erp.walk("/stock-movements", sort="created_at")) == 1
    assert_invariants(stack.store())


@pytest.mark.usefixtures("small_steps")
def test_receipt_takes_no_more_lines_than_it_has_room_for(
    receiving: ReceivingScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.receiving.rules.MAX_LINES", 3)
    number = _started(receiving)

    refused = _send(receiving, number, *_lines())

    assert (refused.status, list(refused.conflicts)) == (409, ["lines.3.qty"])
    assert _received(_send(receiving, number, *_lines()[:3])) == _ALL[:3]


def test_many_lines_take_few_transactions(
    receiving: ReceivingScenario, aws_faults: AwsFaults, stack: Stack
) -> None:
    codes = [f"P-{number:02d}" for number in range(40)]
    for code in codes:
        assert receiving.erp.post("/products", {"item_code": code, "name": code}).status == 201
    number = receiving.started(receiving.order(*({"item_code": code, "qty": 2} for code in codes)))

    with aws_faults.recorded() as seen:
        answer = _send(receiving, number, as_ordered=True)

    assert len(_received(answer)) == 40
    assert seen.operations.count("TransactWriteItems") <= 6
    assert_invariants(stack.store())
