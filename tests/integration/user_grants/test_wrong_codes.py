"""Wrong codes after a right password: they count per user, slow down and end in a refusal."""

from typing import Any

import pytest

from shared.identity.audit.models import AuditParameters
from shared.identity.audit.service import list_entries
from shared.identity.audit.views import audit_entry
from shared.identity.auth import attempt_limits
from shared.identity.auth.attempt_limits import LONG_WINDOW
from shared.identity.tenancy.access import operator_store
from shared.identity.users import credentials
from shared.identity.users.code_checks import FIRST_PAUSE, LONGEST_PAUSE, MOST, UNHINDERED
from shared.identity.users.models import PasswordReset
from shared.identity.users.repository import read_account
from shared.identity.users.service import reset_password
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.unit_of_work import run_transaction
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults, kill_after
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    PASSWORD,
    RATE_LIMITED,
    SOURCE_IP,
    ExampleUser,
    OAuthResponse,
    request_token,
)

_WRONG = "000000"


@pytest.fixture(autouse=True)
def _only_codes_are_limited(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    clock.freeze_in_new_window(LONG_WINDOW)
    for limit in ("PER_USER", "PER_USER_LONG_WINDOW", "PER_USER_ALL_ADDRESSES"):
        monkeypatch.setattr(attempt_limits, limit, 1_000)


@pytest.fixture
def anna(two_step_user: ExampleUser) -> ExampleUser:
    """A user with two-step verification."""
    return two_step_user


def wrong_codes(user: ExampleUser) -> int:
    """Return how many wrong codes the login has."""
    account = read_account(operator_store("acme"), user.id)
    assert account
    return account.login.wrong_codes


def entries() -> list[dict[str, Any]]:
    """Return the entries about refused codes, oldest first."""
    parameters = AuditParameters(action="user.codes_refused", sort="created_at")
    found = list_entries(operator_store("acme"), parameters).records
    return [audit_entry(record).model_dump() for record in found]


def send_wrong_code(user: ExampleUser) -> OAuthResponse:
    """Send a wrong code after the right password."""
    assert _WRONG not in {user.code(periods=n) for n in (-1, 0, 1)}
    return user.sign_in(otp=_WRONG)


def send_wrong_codes(user: ExampleUser, clock: Clock, times: int) -> None:
    """Let so many wrong codes be counted, waiting as long as necessary."""
    for _ in range(times):
        answer = send_wrong_code(user)
        if answer.outcome == RATE_LIMITED:
            clock.advance(int(answer.headers["Retry-After"]))
            answer = send_wrong_code(user)
        assert answer.outcome == INVALID_GRANT


def test_pauses_grow_from_the_fifth_wrong_code_on(anna: ExampleUser, clock: Clock) -> None:
    assert {send_wrong_code(anna).outcome for _ in range(UNHINDERED)} == {INVALID_GRANT}
    pauses = []
    while wrong_codes(anna) < MOST:
        refused = anna.sign_in(otp=anna.code())
        assert refused.outcome == RATE_LIMITED, "not even the right code is checked"
        pauses.append(int(refused.headers["Retry-After"]))
        clock.advance(pauses[-1])
        send_wrong_code(anna)
    assert pauses[:6] == [FIRST_PAUSE * 2**n for n in range(5)] + [LONGEST_PAUSE]
    assert set(pauses[5:]) == {LONGEST_PAUSE}


def test_only_a_recovery_code_is_accepted_after_twenty(anna: ExampleUser, clock: Clock) -> None:
    send_wrong_codes(anna, clock, MOST)
    clock.advance(30 * 24 * 3600)
    refused = anna.sign_in(otp=anna.code())
    assert refused.outcome == INVALID_GRANT
    assert "recovery code" in refused.body["error_description"]
    assert anna.sign_in(otp="k7m2-9xqd-b4ft-w0nz").outcome == INVALID_GRANT
    assert wrong_codes(anna) == MOST
    assert anna.sign_in(otp=anna.recovery_codes[0]).status == 200
    assert wrong_codes(anna) == 0
    assert anna.sign_in(otp=anna.code()).status == 200


def test_recovery_code_is_accepted_during_a_pause(anna: ExampleUser) -> None:
    for _ in range(UNHINDERED):
        send_wrong_code(anna)
    assert anna.sign_in(otp=anna.recovery_codes[0]).status == 200
    assert wrong_codes(anna) == 0


def test_right_code_within_the_limits_resets_the_count(anna: ExampleUser) -> None:
    for _ in range(UNHINDERED - 1):
        send_wrong_code(anna)
    assert anna.sign_in(otp=anna.code()).status == 200
    assert wrong_codes(anna) == 0


def test_new_password_resets_the_count(anna: ExampleUser, clock: Clock) -> None:
    send_wrong_codes(anna, clock, MOST)
    new = PasswordReset(password=f"{PASSWORD} of today")
    run_transaction(operator_store("acme"), lambda tx: reset_password(tx, anna.id, new))
    anna.password = f"{PASSWORD} of today"
    assert anna.sign_in(otp=anna.code()).status == 200


def test_removed_second_factor_resets_the_count(anna: ExampleUser, clock: Clock) -> None:
    send_wrong_codes(anna, clock, MOST)
    run_transaction(operator_store("acme"), lambda tx: credentials.remove_totp(tx, anna.id))
    assert wrong_codes(anna) == 0
    assert anna.sign_in().status == 200


def test_codes_with_a_wrong_password_do_not_count(anna: ExampleUser) -> None:
    """Nobody without the password can make a user wait."""
    for _ in range(MOST):
        assert anna.sign_in(password="wrong", otp=_WRONG).outcome == INVALID_GRANT
    assert wrong_codes(anna) == 0
    assert anna.sign_in(otp=anna.code()).status == 200


def test_wrong_codes_count_at_every_address(anna: ExampleUser) -> None:
    answers = [
        request_token(anna.form(otp=_WRONG), address=f"198.51.100.{n}").outcome
        for n in range(UNHINDERED + 1)
    ]
    assert answers == [INVALID_GRANT] * UNHINDERED + [RATE_LIMITED]


def test_password_without_a_code_is_accepted_meanwhile(anna: ExampleUser, clock: Clock) -> None:
    send_wrong_codes(anna, clock, MOST)
    assert anna.sign_in().status == 200
    assert wrong_codes(anna) == MOST


def test_each_of_concurrent_wrong_codes_counts(anna: ExampleUser, aws_faults: AwsFaults) -> None:
    aws_faults.latency = 0.01
    answers = run_concurrently(12, lambda _: send_wrong_code(anna).outcome)
    assert answers.count(INVALID_GRANT) == wrong_codes(anna) == UNHINDERED
    assert set(answers) <= {INVALID_GRANT, RATE_LIMITED}


def test_right_code_among_concurrent_wrong_ones_is_not_known_beyond_the_limit(
    anna: ExampleUser, clock: Clock, aws_faults: AwsFaults
) -> None:
    send_wrong_codes(anna, clock, UNHINDERED - 1)
    codes = [_WRONG] * 11 + [anna.code()]
    aws_faults.latency = 0.01
    answers = run_concurrently(12, lambda n: anna.sign_in(otp=codes[n]).outcome)
    if answers[-1][0] != 200:
        assert answers[-1] == RATE_LIMITED
        assert answers.count(INVALID_GRANT) == 1
    assert set(answers[:-1]) <= {INVALID_GRANT, RATE_LIMITED}


def test_killed_attempt_counts_at_most_once(anna: ExampleUser, aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as seen:
        send_wrong_code(anna)
    for at in range(len(seen.operations)):
        before = wrong_codes(anna)
        if before >= UNHINDERED - 1:
            assert anna.sign_in(otp=anna.recovery_codes.pop()).status == 200
            before = 0
        aws_faults.kills(kill_after(at), lambda: send_wrong_code(anna))
        assert wrong_codes(anna) - before in {0, 1}


def test_audit_log_has_the_first_refusal_and_the_last(anna: ExampleUser, clock: Clock) -> None:
    send_wrong_codes(anna, clock, UNHINDERED)
    pause = instant((now_ms() // 1000 + FIRST_PAUSE) * 1000)
    send_wrong_codes(anna, clock, MOST - UNHINDERED)
    first, last = entries()
    assert first["actor"] == {"type": "anonymous", "id": None, "name": None}
    assert first["target"] == {"type": "user", "id": str(anna.id)}
    common = {"username": "anna", "address": SOURCE_IP}
    assert first["details"] == common | {"wrong_codes": UNHINDERED, "until": pause}
    assert last["details"] == common | {"wrong_codes": MOST, "until": None}


def test_code_that_cannot_be_checked_does_not_count(
    anna: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("shared.identity.users.second_factor.unseal_secret", fails)
        assert anna.sign_in(otp=anna.code()).status == 500
    assert wrong_codes(anna) == 0
