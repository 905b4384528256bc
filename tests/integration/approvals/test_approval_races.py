"""A grant is used at most once, whatever happens at the same time or in the middle."""

from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import (
    AwsFaults,
    Fault,
    Killed,
    before_first,
    kill_after,
    kill_before,
    lose_answer,
)
from tests.gateway import Response
from tests.integration.approvals.conftest import MORE, ApprovalScenario, approval_of
from tests.interleaving import Scheduler, each_seed
from tests.sampling import deadly_calls, is_complete
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

_DAY = 24 * 3600
_AT_ONCE = 20 if is_complete() else 8


def _codes(answers: list[Response]) -> Counter[object]:
    return Counter(answer.code if answer.status >= 400 else answer.status for answer in answers)


def test_refused_requests_at_once_make_one_approval_and_one_repeat_passes(
    scenario: ApprovalScenario, aws_faults: AwsFaults
) -> None:
    aws_faults.latency = 0.005
    refused = run_concurrently(_AT_ONCE, lambda _: scenario.receive())
    assert _codes(refused) == {"approval_required": _AT_ONCE}
    [number] = set(map(approval_of, refused))
    assert scenario.statuses() == [(number, "pending")]

    scenario.decide(number)
    repeats = run_concurrently(_AT_ONCE, lambda _: scenario.receive())
    assert _codes(repeats) == {200: 1, "approval_required": _AT_ONCE - 1}
    [later] = {approval_of(one) for one in repeats if one.status == 409}
    assert scenario.statuses() == [(number, "used"), (later, "pending")]
    assert scenario.received() == 11


# Interleavings


def test_grant_and_deny_at_once_decide_once(
    scenario: ApprovalScenario, scheduler: Scheduler, stack: Stack
) -> None:
    number = scenario.requested()
    for seed in each_seed(stack):
        decisions = ("grant", "deny", "grant")
        answers = scheduler.run([partial(scenario.decide, number, one) for one in decisions], seed)
        assert _codes(answers) == {200: 1, "stale_state": 2}
        [decided] = [answer for answer in answers if answer.status == 200]
        status = scenario.shown(number)["status"]
        assert status == decided.data["status"]
        assert scenario.receive().status == (200 if status == "granted" else 409)


def test_repeats_of_a_granted_request_at_once_pass_once(
    scenario: ApprovalScenario, scheduler: Scheduler, stack: Stack
) -> None:
    number = scenario.granted()
    for seed in each_seed(stack):
        answers = scheduler.run([scenario.receive] * 3, seed)
        assert _codes(answers) == {200: 1, "approval_required": 2}
        assert scenario.shown(number)["status"] == "used"
        assert [status for _, status in scenario.statuses()] == ["used", "pending"]
        assert scenario.received() == 11
        assert_invariants(stack.store())


def test_grant_and_repeat_around_the_expiry_agree(
    scenario: ApprovalScenario, scheduler: Scheduler, stack: Stack
) -> None:
    """A repeat passes with the approval of its request before the expiry, or not at all."""
    clock = scheduler._clock
    pending = scenario.requested()
    granted = scenario.requested_for(12)
    scenario.decide(granted)
    for seed in each_seed(stack):
        actions: list[Callable[[], Response]] = [
            lambda: scenario.decide(pending),
            scenario.receive,
            lambda: scenario.receive({**MORE, "qty": 12}),
        ]

        def late(seed: int = seed) -> Response:
            clock.sleep(_DAY - 0.01 * (seed % 3))
            return scenario.receive({**MORE, "qty": 12})

        answers = scheduler.run([*actions, late], seed)
        passed = [answer for answer in answers[1:] if answer.status == 200]
        used = [number for number, status in scenario.statuses() if status == "used"]
        assert len(passed) == len(used)
        assert set(used) <= {pending, granted}
        assert_invariants(stack.store())


@pytest.mark.parametrize("decision", ["grant", "deny"])
def test_decision_that_commits_after_the_expiry_leaves_the_next_approval_alone(
    decision: str, scenario: ApprovalScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    number, later = scenario.requested(), list[int]()

    def expire() -> None:
        clock.advance(_DAY)
        later.append(scenario.requested())

    with aws_faults.faulty(before_first("TransactWriteItems", expire)):
        answer = scenario.decide(number, decision)

    assert answer.status in {409, 503}, answer.text
    assert scenario.statuses() == [(number, "expired"), (later[0], "pending")]
    assert scenario.requested() == later[0]


def test_requests_at_once_after_the_expiry_make_one_approval(
    scenario: ApprovalScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    number = scenario.requested()
    clock.advance(_DAY)
    aws_faults.latency = 0.005
    answers = run_concurrently(8, lambda _: scenario.receive())
    [later] = set(map(approval_of, answers))
    assert scenario.statuses() == [(number, "expired"), (later, "pending")]


# Faults


@pytest.mark.parametrize("kind", [kill_before, kill_after, lose_answer])
def test_use_of_a_grant_and_its_change_happen_both_or_not_at_all(
    kind: Callable[[int], Fault],
    scenario: ApprovalScenario,
    stack: Stack,
    aws_faults: AwsFaults,
    clock: Clock,
) -> None:
    number = scenario.granted()
    as_prepared = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        assert scenario.receive(key="once").status == 200
    for at in deadly_calls(f"use of a grant {kind.__name__}", seen.operations, every=9):
        as_prepared()
        with aws_faults.faulty(kind(at)):
            if kind is lose_answer:
                assert scenario.receive(key="once").status == 200
            else:
                with pytest.raises(Killed):
                    scenario.receive(key="once")
        is_used = scenario.shown(number)["status"] == "used"
        assert scenario.received() == (11 if is_used else 0)

        clock.advance(10)  # the claim of the key has ended
        assert scenario.receive(key="once").status == 200
        assert scenario.received() == 11
        assert [status for _, status in scenario.statuses()] == ["used"]


@pytest.mark.parametrize("kind", [kill_before, kill_after, lose_answer])
def test_interrupted_refusal_makes_one_approval_at_most(
    kind: Callable[[int], Fault],
    scenario: ApprovalScenario,
    stack: Stack,
    aws_faults: AwsFaults,
    clock: Clock,
) -> None:
    as_prepared = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        scenario.receive(key="once")
    for at in deadly_calls(f"refusal {kind.__name__}", seen.operations, every=9):
        as_prepared()
        with aws_faults.faulty(kind(at)):
            if kind is lose_answer:
                assert scenario.receive(key="once").code == "approval_required"
            else:
                with pytest.raises(Killed):
                    scenario.receive(key="once")
        clock.advance(10)
        number = approval_of(scenario.receive(key="once"))
        assert scenario.statuses() == [(number, "pending")]
