"""Limits on failed sign-ins, sequential and concurrent."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from operations.api_clients import create_client, create_mobile_client
from shared.identity.auth import attempt_limits
from shared.identity.auth.attempt_limits import (
    LONG_WINDOW,
    PER_ADDRESS,
    PER_USER,
    PER_USER_ALL_ADDRESSES,
    PER_USER_LONG_WINDOW,
    WINDOW,
    AttemptCounters,
)
from shared.identity.users import passwords, user_grants
from shared.kernel.clock import now_ms
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    RATE_LIMITED,
    SOURCE_IP,
    ExampleUser,
    OAuthResponse,
    client_form,
    create_example_user,
    guess,
    refresh,
    request_token,
)
from tests.integration.user_grants.test_refresh_grant import INVALID_TOKENS
from tests.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def clock(clock: Clock) -> Clock:
    """A clock that only the test advances."""
    clock.freeze()
    return clock


def test_user_name_at_an_address_has_ten_failures_per_minute(
    user: ExampleUser, clock: Clock
) -> None:
    outcomes = [guess(user) for _ in range(PER_USER + 2)]
    assert outcomes == [INVALID_GRANT] * PER_USER + [RATE_LIMITED] * 2
    refused = user.sign_in()
    assert refused.outcome == RATE_LIMITED
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.body["error"]["request_id"] == "req-1"
    # other users at this address and this user at other addresses are not limited
    assert create_example_user("berta").sign_in().status == 200
    assert request_token(user.form(), address="203.0.113.8").status == 200
    clock.advance(int(refused.headers["Retry-After"]))
    assert user.sign_in().status == 200


def test_unknown_user_names_are_limited_too(user: ExampleUser) -> None:
    for name in ("nobody@acme", "anna@nowhere", "\0@" + "x" * 10_000):
        outcomes = [guess(user, username=name) for _ in range(PER_USER + 1)]
        assert outcomes == [INVALID_GRANT] * PER_USER + [RATE_LIMITED]


def test_spellings_of_a_user_name_share_one_limit(user: ExampleUser) -> None:
    names = ["anna@acme", "ANNA@acme", " anna@ACME ", "Anna @acme", "anna@acme"]
    outcomes = {guess(user, username=name) for name in names * 2}
    assert outcomes == {INVALID_GRANT}
    assert {guess(user, username=name) for name in names} == {RATE_LIMITED}


def test_user_name_has_fifty_failures_per_quarter_hour_over_all_addresses(
    user: ExampleUser, clock: Clock
) -> None:
    outcomes = [guess(user, f"198.51.100.{n}") for n in range(PER_USER_ALL_ADDRESSES + 1)]
    assert outcomes == [INVALID_GRANT] * PER_USER_ALL_ADDRESSES + [RATE_LIMITED]
    refused = request_token(user.form(), address="198.51.100.99")
    assert refused.outcome == RATE_LIMITED
    wait = int(refused.headers["Retry-After"])
    assert 1 <= wait <= LONG_WINDOW
    clock.advance(wait)
    assert user.sign_in().status == 200


def test_one_address_cannot_lock_a_user_out_of_other_addresses(
    user: ExampleUser, clock: Clock
) -> None:
    clock.freeze_in_new_window(LONG_WINDOW)
    judged = 0
    for _ in range(LONG_WINDOW // WINDOW):
        judged += [guess(user) for _ in range(PER_USER + 2)].count(INVALID_GRANT)
        refused = user.sign_in()
        clock.advance(WINDOW - 1)
    assert judged == PER_USER_LONG_WINDOW
    assert refused.outcome == RATE_LIMITED
    assert int(refused.headers["Retry-After"]) > WINDOW // 2
    assert request_token(user.form(), address="203.0.113.8").status == 200


def test_refused_attempts_are_not_counted(user: ExampleUser) -> None:
    """Attempts refused at one address must not lock the user out elsewhere."""
    for _ in range(PER_USER_ALL_ADDRESSES + 20):
        guess(user)
    assert request_token(user.form(), address="198.51.100.1").status == 200


def test_address_has_a_hundred_failures_per_minute(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PER_ADDRESS == 100
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 8)
    names = [f"user{number}@acme" for number in range(9)]
    outcomes = [guess(user, f"2001:db8:1:2::{n}", username=name) for n, name in enumerate(names)]
    assert outcomes == [INVALID_GRANT] * 8 + [RATE_LIMITED]
    assert request_token(user.form(), address="2001:db8:1:2:ffff::1").outcome == RATE_LIMITED
    assert request_token(user.form(), address="2001:db8:1:3::1").status == 200


def test_invalid_refresh_tokens_are_limited_per_address(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stack
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 3)
    token = INVALID_TOKENS["no session"]
    assert [refresh(token).outcome for _ in range(4)] == [INVALID_GRANT] * 3 + [RATE_LIMITED]


def test_failures_with_one_kind_of_credential_refuse_no_other_kind(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 3)
    monkeypatch.setattr(time, "time", clock.time)
    erp, app = create_client("acme", "erp"), create_mobile_client("acme", "scanners").client_id
    session = user.sign_in()
    failures: dict[str, Callable[[int], OAuthResponse]] = {
        "password": lambda n: request_token(user.form(username=f"user{n}@acme", password="no")),
        "secret": lambda n: request_token(client_form(erp._replace(client_id=f"stw_acme_{n:024}"))),
        "application": lambda n: user.sign_in(client_id=f"stm_acme_{n}"),
        "refresh": lambda _: refresh(INVALID_TOKENS["no session"]),
    }
    for name, fail in failures.items():
        outcomes = [fail(n).outcome for n in range(5)]
        assert outcomes[3:] == [RATE_LIMITED] * 2, name
        assert (user.sign_in().status == 200) == (name != "password"), name
        assert (request_token(client_form(erp)).status == 200) == (name != "secret"), name
        # what cannot be guessed is checked even now
        session = refresh(session.refresh_token)
        assert session.status == 200, name
        if name != "password":
            assert user.sign_in(client_id=app).status == 200, name
        clock.advance(WINDOW)


def test_refresh_failures_write_their_counter_only(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch, aws_faults: AwsFaults
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 1)
    assert user
    reads = {"BatchGetItem", "GetItem"}
    for outcome, writes in ((INVALID_GRANT, ["UpdateItem"]), (RATE_LIMITED, [])):
        with aws_faults.recorded() as calls:
            assert refresh(INVALID_TOKENS["no session"]).outcome == outcome
        assert [name for name in calls.operations if name not in reads] == writes


def test_successful_sign_ins_are_not_limited(user: ExampleUser) -> None:
    assert {user.sign_in().status for _ in range(PER_USER + 5)} == {200}


def test_wrong_codes_count_as_failures(
    two_step_user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_USER", 4)
    codes = [f"{number:06d}" for number in range(4)]
    assert {two_step_user.sign_in(otp=code).outcome for code in codes} == {INVALID_GRANT}
    assert two_step_user.sign_in(otp=two_step_user.code()).outcome == RATE_LIMITED


def test_concurrent_attempts_check_no_more_passwords_than_the_limit(
    user: ExampleUser, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = list[str]()

    def verify(password: str, stored: str | None) -> bool:
        judged.append(password)
        return password == stored

    monkeypatch.setattr(passwords, "verify", verify)
    aws_faults.latency = 0.01
    with ThreadPoolExecutor(20) as crowd:
        outcomes = list(crowd.map(lambda _: guess(user), range(20)))
    assert set(outcomes) <= {INVALID_GRANT, RATE_LIMITED}
    assert len(judged) == outcomes.count(INVALID_GRANT) <= PER_USER
    aws_faults.latency = 0.0
    # refused attempts are not counted, so the rest of the limit is available
    left = PER_USER - len(judged)
    assert [guess(user) for _ in range(left + 1)] == [INVALID_GRANT] * left + [RATE_LIMITED]


def _fill_with_attempts_in_flight(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> AttemptCounters:
    """Start as many attempts as the limit allows; other attempts do not wait for them."""
    monkeypatch.setattr(attempt_limits, "_RETRY_DELAYS", (0, 0))
    attempts = AttemptCounters.for_user("acme", user.username, SOURCE_IP, now_ms() / 1000)
    for _ in range(PER_USER):
        attempts.begin(now_ms() / 1000)
    return attempts


def test_attempt_refused_because_of_attempts_in_flight_can_be_retried(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = _fill_with_attempts_in_flight(user, monkeypatch)
    refused = user.sign_in()
    assert (refused.outcome, refused.headers["Retry-After"]) == (RATE_LIMITED, "1")
    attempts.cancel()
    assert user.sign_in().status == 200


def test_attempts_in_flight_that_failed_count_as_failures(
    user: ExampleUser, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.freeze_in_new_window(WINDOW)
    attempts = _fill_with_attempts_in_flight(user, monkeypatch)
    for _ in range(PER_USER):
        attempts.fail()
    refused = user.sign_in()
    assert (refused.outcome, refused.headers["Retry-After"]) == (RATE_LIMITED, str(WINDOW - 1))


@pytest.mark.parametrize("step", ["find_account", "_verify_credentials"])
def test_attempt_that_raises_an_error_is_not_a_failure(
    step: str, user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(user_grants, step, _fails)
        answers = {guess(user) for _ in range(PER_USER + 2)}
    assert answers == {(500, "internal_error")}
    assert user.sign_in().status == 200


def _fails(*_: object) -> None:
    raise RuntimeError


# Addresses


def test_failures_at_one_tenant_do_not_limit_an_address_at_others(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 3)
    outcomes = [guess(user, username=f"user{number}@acme") for number in range(4)]
    assert outcomes == [INVALID_GRANT] * 3 + [RATE_LIMITED]
    assert create_example_user("bea", tenant="beta").sign_in().status == 200


def test_made_up_tenants_share_the_limit_of_an_address(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 3)
    names = ["anna@nobody-1", "anna@nobody-2", "anna@ü", "anna@nobody-4", "anna@-"]
    outcomes = [guess(user, username=name) for name in names]
    assert outcomes == [INVALID_GRANT] * 3 + [RATE_LIMITED] * 2
    assert user.sign_in().status == 200
