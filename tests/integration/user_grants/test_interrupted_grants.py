"""Grants that are interrupted, retried or concurrent."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from shared.identity.tenancy.directory import directory
from tests import faults
from tests.clock import Clock
from tests.faults import AwsFaults, Fault
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    ExampleUser,
    OAuthResponse,
    caller_of,
    is_accepted,
    refresh,
    revocation_entries,
    revoke,
)
from tests.integration.user_grants.test_refresh_grant import reused_sessions
from tests.sampling import deadly_calls
from tests.stack import Stack

INTERRUPTIONS: dict[str, Callable[[int], Fault]] = {
    "before": faults.kill_before,
    "after": faults.kill_after,
}


@pytest.fixture(autouse=True)
def _waits_take_no_time(clock: Clock) -> None:
    """A token request waits until the next second after an interrupted one, among others."""
    assert clock


@dataclass(frozen=True, slots=True)
class Interruptions:
    """Interrupts an action at its calls, a sample with the commit, in the same state each time."""

    stack: Stack
    aws_faults: AwsFaults

    def of(self, family: str, action: Callable[[], object], cut: str) -> Iterator[bool]:
        """Yield after each interruption whether the call that commits had taken effect."""
        calls, restore = self._calls(action)
        for at in deadly_calls(f"{family} {cut}", calls, every=6):
            restore()
            assert self.aws_faults.kills(INTERRUPTIONS[cut](at), action)
            yield (at, cut) == (len(calls) - 1, "after")

    def lost(self, family: str, action: Callable[[], object]) -> Iterator[None]:
        """Yield after each run of the action in which the response of a call was lost."""
        calls, restore = self._calls(action)
        for at in deadly_calls(family, calls, every=6):
            restore()
            with self.aws_faults.faulty(faults.lose_answer(at)):
                action()
            yield

    def _calls(self, action: Callable[[], object]) -> tuple[Sequence[str], Callable[[], None]]:
        """Return the calls of the action, which is not done, and a function that undoes it."""
        restore_tables = self.stack.take_snapshot()

        def restore() -> None:
            restore_tables()
            directory.clear()

        action()  # fill the caches of the environment
        restore()
        with self.aws_faults.recorded() as seen:
            action()
        return seen.operations, restore


@pytest.fixture
def interruptions(stack: Stack, aws_faults: AwsFaults) -> Interruptions:
    return Interruptions(stack, aws_faults)


@pytest.mark.parametrize("cut", INTERRUPTIONS)
def test_interrupted_sign_in_can_be_repeated(
    cut: str, two_step_user: ExampleUser, interruptions: Interruptions
) -> None:
    user = two_step_user
    for _ in interruptions.of("sign-in", lambda: user.sign_in(otp=user.code()), cut):
        # the code may be used up, the next one is valid
        again = user.sign_in(otp=user.code(periods=1))
        assert again.status == 200
        assert caller_of(again.access_token).second_factor
        assert is_accepted(refresh(again.refresh_token).access_token)


@pytest.mark.parametrize("cut", INTERRUPTIONS)
def test_interrupted_refresh_leaves_one_usable_token(
    cut: str, user: ExampleUser, interruptions: Interruptions
) -> None:
    first = user.sign_in()
    for is_done in interruptions.of("refresh", lambda: refresh(first.refresh_token), cut):
        again = refresh(first.refresh_token)
        if is_done:
            # the token was rotated, so its next use is a reuse
            assert again.outcome == INVALID_GRANT
            assert not is_accepted(first.access_token)
            assert len(reused_sessions()) == 1
        else:
            assert again.status == 200
            assert is_accepted(first.access_token)
            assert reused_sessions() == []
        assert user.sign_in().status == 200


@pytest.mark.parametrize("cut", INTERRUPTIONS)
def test_interrupted_reuse_detection_is_completed_by_the_next_reuse(
    cut: str, user: ExampleUser, interruptions: Interruptions
) -> None:
    first = user.sign_in()
    second = refresh(first.refresh_token)
    for _ in interruptions.of("reuse", lambda: refresh(first.refresh_token), cut):
        assert refresh(first.refresh_token).outcome == INVALID_GRANT
        assert refresh(second.refresh_token).outcome == INVALID_GRANT
        assert not is_accepted(second.access_token)
        assert len(reused_sessions()) == len(revocation_entries()) == 1


@pytest.mark.parametrize("cut", INTERRUPTIONS)
def test_interrupted_revocation_can_be_repeated(
    cut: str, user: ExampleUser, interruptions: Interruptions
) -> None:
    first = user.sign_in()
    for _ in interruptions.of("revocation", lambda: revoke(first.refresh_token), cut):
        assert revoke(first.refresh_token).status == 200
        assert refresh(first.refresh_token).outcome == INVALID_GRANT
        assert not is_accepted(first.access_token)
        assert len(revocation_entries()) == 1


def test_retry_after_a_lost_aws_response_is_not_treated_as_a_reuse(
    user: ExampleUser, interruptions: Interruptions
) -> None:
    """botocore retries the call; the own first attempt is not treated as a concurrent change."""
    answers: list[OAuthResponse] = []
    for _ in interruptions.lost("sign-in", lambda: answers.append(user.sign_in())):
        assert answers[-1].status == 200
        assert refresh(answers[-1].refresh_token).status == 200
    first = user.sign_in()
    for _ in interruptions.lost("refresh", lambda: answers.append(refresh(first.refresh_token))):
        assert answers[-1].status == 200
        assert refresh(answers[-1].refresh_token).status == 200
        assert reused_sessions() == []


@pytest.mark.parametrize("times", [1, 3])
def test_conflicts_and_throttling_are_retried(
    times: int, user: ExampleUser, aws_faults: AwsFaults
) -> None:
    with aws_faults.faulty(faults.conflict(times)):
        first = user.sign_in()
    with aws_faults.faulty(faults.conflict(times)):
        second = refresh(first.refresh_token)
    with aws_faults.faulty(faults.throttle(4)):
        third = refresh(second.refresh_token)
    assert third.status == 200


def test_kms_failure_keeps_the_refresh_token_valid(
    user: ExampleUser, aws_faults: AwsFaults
) -> None:
    token = user.sign_in().refresh_token
    with aws_faults.faulty(faults.refuse_calls("Sign", code="KMSInternalException")):
        assert user.sign_in().outcome == (503, "service_unavailable")
        assert refresh(token).outcome == (503, "service_unavailable")
    assert refresh(token).status == 200


def test_concurrent_uses_of_one_refresh_token_end_the_session(
    user: ExampleUser, aws_faults: AwsFaults
) -> None:
    first = user.sign_in()
    aws_faults.latency = 0.01
    with ThreadPoolExecutor(20) as crowd:
        answers = list(crowd.map(lambda _: refresh(first.refresh_token), range(20)))
    aws_faults.latency = 0.0
    won = [answer for answer in answers if answer.status == 200]
    assert len(won) == 1
    assert {answer.outcome for answer in answers if answer.status != 200} == {INVALID_GRANT}
    assert not is_accepted(won[0].access_token)
    assert refresh(won[0].refresh_token).outcome == INVALID_GRANT
    assert len(reused_sessions()) == len(revocation_entries()) == 1


def test_one_of_concurrent_sign_ins_with_the_same_code_succeeds(
    two_step_user: ExampleUser, aws_faults: AwsFaults
) -> None:
    user, code = two_step_user, two_step_user.code()
    aws_faults.latency = 0.01
    with ThreadPoolExecutor(20) as crowd:
        answers = list(crowd.map(lambda _: user.sign_in(otp=code), range(20)))
    assert [answer.status for answer in answers].count(200) == 1
    assert {answer.status for answer in answers} <= {200, 400, 429}


def test_concurrent_sign_ins_without_a_code_all_succeed(
    user: ExampleUser, aws_faults: AwsFaults
) -> None:
    aws_faults.latency = 0.005
    with ThreadPoolExecutor(20) as crowd:
        answers = list(crowd.map(lambda _: user.sign_in(), range(20)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.refresh_token for answer in answers}) == 20
