"""Several picks of a transfer order in one request."""

from functools import partial

import pytest

from tests.clock import Clock
from tests.concurrency import at_once
from tests.faults import AwsFaults
from tests.gateway import Response
from tests.integration.call_faults import at_calls, die
from tests.integration.transfer_orders.test_life_cycle import statuses, units
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import PATH, TransferScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

_BRICK = {"item_code": "BRICK", "qty": 4, "bin_code": "A-01"}
_DRILL = {"item_code": "DRILL", "qty": 1, "bin_code": "A-01", "serials": ["S-1"]}


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step hold one line."""
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)


def _released(transfer_scenario: TransferScenario) -> int:
    """Release an order of 4 bricks and a drill."""
    transfer_scenario.yard.stock("BRICK", 10)
    transfer_scenario.yard.stock_serials("S-1")
    return transfer_scenario.order(("BRICK", 4), ("DRILL", 1))


def _send(transfer_scenario: TransferScenario, number: int, **body: object) -> Response:
    return transfer_scenario.erp.post(f"{PATH}/{number}/picks", body, key="k")


def _picked(transfer_scenario: TransferScenario) -> list[tuple[str, float]]:
    """Return item and quantity of each movement of a pick, oldest first."""
    moved = transfer_scenario.erp.walk("/stock-movements", type="pick", sort="created_at")
    return [(one["item_code"], one["qty"]) for one in moved]


@pytest.mark.parametrize("body", [{"lines": [_BRICK, _DRILL]}, {"as_allocated": True}])
def test_order_is_picked_in_one_transaction(
    transfer_scenario: TransferScenario, aws_faults: AwsFaults, body: dict[str, object]
) -> None:
    number = _released(transfer_scenario)

    with aws_faults.recorded() as seen:
        answer = transfer_scenario.act(number, "picks", **body)

    assert (answer.data["status"], answer.json()["unapplied"]) == ("picked", [])
    assert (statuses(answer.data), units(answer.data)) == (["picked"] * 2, [5, 5, 0, 0])
    assert seen.operations.count("TransactWriteItems") == 1
    assert answer.data == transfer_scenario.shown(number)
    assert _picked(transfer_scenario) == [("BRICK", 4), ("DRILL", 1)]


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("transaction", [0, 1])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_repeat_of_a_killed_request_picks_the_rest(
    transfer_scenario: TransferScenario, aws_faults: AwsFaults, clock: Clock,
    transaction: int, moment: str,
) -> None:  # fmt: skip
    number = _released(transfer_scenario)
    send = partial(_send, transfer_scenario, number, as_allocated=True)
    step = partial(at_calls, "TransactWriteItems", {transaction})
    assert aws_faults.kills(step(before=die) if moment == "before" else step(after=die), send)
    clock.advance(6)

    answer = send()

    assert (answer.data["status"], units(answer.data)) == ("picked", [5, 5, 0, 0])
    assert answer.json()["unapplied"] == []
    assert _picked(transfer_scenario) == [("BRICK", 4), ("DRILL", 1)]


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize(
    ("action", "status"), [("cancel", "cancelled"), ("finish-picking", "picked")]
)
def test_order_that_ends_meanwhile_leaves_out_the_other_lines(
    transfer_scenario: TransferScenario, aws_faults: AwsFaults, action: str, status: str
) -> None:
    number = _released(transfer_scenario)

    def interfere() -> None:
        transfer_scenario.done(number, action)

    with aws_faults.faulty(at_calls("TransactWriteItems", {1}, before=interfere)):
        answer = _send(transfer_scenario, number, lines=[_BRICK, _DRILL])

    assert (answer.status, answer.data["status"]) == (200, status)
    [left_out] = answer.json()["unapplied"]
    assert left_out["line"] == 1
    assert left_out["message"].startswith(f"DRILL at A-01: TO-{number} is {status}")


def test_concurrent_requests_pick_each_line_once(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    number = _released(transfer_scenario)

    answers = at_once(
        *[lambda: transfer_scenario.act(number, "picks", as_allocated=True) for _ in range(20)]
    )

    assert sorted(answer.status for answer in answers) == [200] + [409] * 19
    assert _picked(transfer_scenario) == [("BRICK", 4), ("DRILL", 1)]
    assert_invariants(stack.store())
