"""Changes of a second factor that need a password or code with the token, and what they end."""

from collections import Counter
from collections.abc import Callable

import pytest

from shared.identity.auth import attempt_limits
from shared.identity.tenancy.access import operator_store
from shared.identity.users import code_checks, credentials, repository
from shared.identity.users.code_checks import UNHINDERED
from shared.kernel.db.unit_of_work import run_transaction
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.user_grants.oauth_requests import (
    RATE_LIMITED,
    ExampleUser,
    OAuthResponse,
    caller_of,
    create_example_user,
    enable_two_step,
    guess,
    is_accepted,
    refresh,
)
from tests.integration.users.user_requests import (
    as_user,
    audit_entries,
    before_next_commit,
    code_of,
    confirm_totp,
    create_user,
    enrol,
)
from tests.stack import Stack

type _Guess = Callable[[], int]

_ENDED = (400, "invalid_grant")
_WRONG = "not the password at all"


@pytest.fixture
def anna(stack: Stack, clock: Clock) -> ExampleUser:
    """A user without a second factor."""
    assert stack
    clock.freeze()
    return create_example_user()


def _as(stack: Stack, signed_in: OAuthResponse) -> Erp:
    return Erp(stack.gateway, signed_in.access_token)


def _disable(caller: Erp, user: int | str = "me", **body: object) -> Response:
    return caller.send("DELETE", f"/users/{user}/totp", body)


def _enrol_me(caller: Erp, person: ExampleUser) -> str:
    """Enrol an app; return its current code."""
    answer = enrol(caller, password=person.password).ok()
    return code_of(answer["secret"])


# Sessions


def test_enrolment_ends_sessions_without_a_code_and_its_own_token_confirms(
    stack: Stack, anna: ExampleUser
) -> None:
    here, elsewhere = anna.sign_in(), anna.sign_in()
    caller = _as(stack, here)

    code = _enrol_me(caller, anna)

    assert refresh(elsewhere.refresh_token).outcome == _ENDED
    assert refresh(here.refresh_token).outcome == _ENDED
    assert is_accepted(here.access_token)
    between = anna.sign_in()
    assert confirm_totp(caller, caller.get("/users/me").data["id"], code).status == 200
    assert refresh(between.refresh_token).outcome == _ENDED
    for ended in (here, elsewhere, between):
        assert not is_accepted(ended.access_token)


def test_session_with_a_code_survives_removal_and_enrolment(
    stack: Stack, anna: ExampleUser, clock: Clock
) -> None:
    enable_two_step(anna)
    proven, restricted = anna.sign_in(otp=anna.code()), anna.sign_in()
    assert not caller_of(restricted.access_token).second_factor
    clock.advance(2)  # a revocation does not cover tokens after an earlier one of its second

    assert _disable(_as(stack, proven), password=anna.password).status == 200

    assert refresh(restricted.refresh_token).outcome == _ENDED
    for ended in (proven, restricted):
        assert not is_accepted(ended.access_token)
    proven = refresh(proven.refresh_token)
    assert is_accepted(proven.access_token)
    plain = anna.sign_in()
    _enrol_me(_as(stack, proven), anna)
    assert refresh(plain.refresh_token).outcome == _ENDED
    assert is_accepted(refresh(proven.refresh_token).access_token)


def test_removal_of_a_pending_enrolment_ends_sessions_without_a_code(
    stack: Stack, anna: ExampleUser
) -> None:
    caller = _as(stack, anna.sign_in())
    _enrol_me(caller, anna)
    plain = anna.sign_in()

    assert _disable(caller, password=anna.password).status == 200

    assert refresh(plain.refresh_token).outcome == _ENDED
    assert anna.sign_in().status == 200


def test_session_kept_by_a_password_change_ends_with_an_enrolment(
    stack: Stack, anna: ExampleUser
) -> None:
    here = anna.sign_in()
    change = {"current_password": anna.password, "new_password": "ten green bottles hanging"}
    assert _as(stack, here).post("/users/me/password", change).status == 200
    anna.password = change["new_password"]
    kept = refresh(here.refresh_token)

    _enrol_me(_as(stack, kept), anna)

    assert refresh(kept.refresh_token).outcome == _ENDED


def test_restricted_refresh_during_the_removal_stays_restricted(
    anna: ExampleUser, aws_faults: AwsFaults
) -> None:
    """The removal commits after the refresh has read the login, and before its commit."""
    enable_two_step(anna)
    restricted = anna.sign_in()
    store = operator_store("acme")

    with before_next_commit(
        aws_faults, lambda: run_transaction(store, lambda tx: credentials.remove_totp(tx, anna.id))
    ):
        assert refresh(restricted.refresh_token).outcome == _ENDED


# Password or code


def test_enrolment_needs_the_password(stack: Stack, anna: ExampleUser, erp: Erp) -> None:
    caller = _as(stack, anna.sign_in())

    for body in ({}, {"password": None}, {"password": _WRONG}, {"password": 5}, {"otp": "123456"}):
        answer = caller.post("/users/me/totp", body)
        assert answer.invalid_fields == ["password"], body
    assert caller.post("/users/me/totp").status == 400, "no body"
    for other in (erp, as_user(stack, 99, "users.manage")):
        assert enrol(other, anna.id, password=_WRONG).invalid_fields == ["password"]
    assert not _has_second_factor(anna)
    assert enrol(caller, password=anna.password).status == 200


def _has_second_factor(person: ExampleUser) -> bool:
    account = repository.read_account(operator_store(person.tenant), person.id)
    assert account is not None
    return account.login.second_factor is not None


def test_users_need_password_or_code_to_disable_their_own(stack: Stack, anna: ExampleUser) -> None:
    enable_two_step(anna)
    caller = _as(stack, anna.sign_in(otp=anna.recovery_codes[0]))
    used = anna.recovery_codes[0]

    assert caller.delete("/users/me/totp").invalid_fields == ["password"], "no body"
    for body, fields in (
        ({}, ["password"]),
        ({"password": None, "otp": None}, ["password"]),
        ({"password": 5}, ["password"]),
        ({"password": _WRONG}, ["password"]),
        ({"otp": used}, ["otp"]),
        ({"otp": "9" * 70}, ["otp"]),
        ({"password": _WRONG, "otp": "nonsense"}, ["password"]),
        ({"password": anna.password, "otp": "nonsense"}, ["otp"]),
    ):
        assert _disable(caller, anna.id, **body).invalid_fields == fields, body
    assert _has_second_factor(anna)
    assert _disable(caller, otp=anna.code()).data["two_step"] is False


@pytest.mark.parametrize("choose", ["code", "recovery code", "password"])
def test_each_credential_disables_two_step_verification(
    stack: Stack, anna: ExampleUser, choose: str
) -> None:
    enable_two_step(anna)
    caller = _as(stack, anna.sign_in(otp=anna.recovery_codes[0]))
    body = {
        "code": {"otp": anna.code()},
        "recovery code": {"otp": anna.recovery_codes[1]},
        "password": {"password": anna.password},
    }[choose]

    assert _disable(caller, **body).data["two_step"] is False


def _replace_codes(caller: Erp, user: int | str = "me", **body: object) -> Response:
    return caller.post(f"/users/{user}/totp/recovery-codes", body)


def test_password_or_code_replaces_the_recovery_codes(stack: Stack, anna: ExampleUser) -> None:
    enable_two_step(anna)
    before = anna.recovery_codes
    caller = _as(stack, anna.sign_in(otp=before[0]))

    for body, fields in (({}, ["password"]), ({"password": _WRONG}, ["password"]),
                         ({"otp": before[0]}, ["otp"])):  # fmt: skip
        assert _replace_codes(caller, **body).invalid_fields == fields, body
    code = anna.code()
    first = _replace_codes(caller, otp=code).data["recovery_codes"]
    assert _replace_codes(caller, otp=code).invalid_fields == ["otp"], "a code is used once"
    second = _replace_codes(caller, password=anna.password).data["recovery_codes"]

    assert len({*before, *first, *second}) == 30
    for invalid in (before[1], first[0]):
        assert anna.sign_in(otp=invalid).outcome == _ENDED
    assert anna.sign_in(otp=second[0]).status == 200
    assert caller.get("/products").status == 200, "tokens stay valid"


def test_recovery_codes_are_replaced_by_their_user_only(stack: Stack, anna: ExampleUser) -> None:
    caller = _as(stack, anna.sign_in())
    answer = _replace_codes(caller, password=anna.password)
    assert (answer.status, answer.code) == (409, "conflict"), "no second factor"

    enable_two_step(anna)
    administrator = as_user(stack, 99, "users.manage")
    answer = _replace_codes(administrator, anna.id, password=anna.password)
    assert (answer.status, answer.code) == (403, "forbidden")


def test_administrator_disables_that_of_others_without_their_credentials(
    stack: Stack, anna: ExampleUser, erp: Erp
) -> None:
    boss = create_example_user("boss", permissions=["users.manage"])
    caller = _as(stack, boss.sign_in())
    for administrator in (caller, erp):
        enable_two_step(anna)
        assert administrator.delete(f"/users/{anna.id}/totp").data["two_step"] is False
    assert caller.delete(f"/users/{boss.id}/totp").invalid_fields == ["password"], "the own one"


def test_guesses_with_a_token_and_sign_ins_share_their_limit(
    stack: Stack, anna: ExampleUser, clock: Clock
) -> None:
    caller = _as(stack, anna.sign_in())
    change = {"current_password": _WRONG, "new_password": "ten green bottles hanging"}
    guesses: list[_Guess] = [
        lambda: enrol(caller, password=_WRONG).status,
        lambda: _disable(caller, password=_WRONG).status,
        lambda: _disable(caller, otp="123456").status,
        lambda: caller.post("/users/me/password", change).status,
    ]
    for number in range(attempt_limits.PER_USER - 1):
        assert guesses[number % len(guesses)]() == 422
    right, anna.password = anna.password, _WRONG
    assert anna.sign_in().outcome == _ENDED
    anna.password = right

    assert {guess() for guess in guesses} == {429}
    refused = enrol(caller, password=right)
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert anna.sign_in().status == 429, "the limit of sign-ins"
    clock.advance(int(refused.headers["Retry-After"]))
    assert enrol(caller, password=right).status == 200


def test_strangers_cannot_keep_a_user_at_a_known_address_from_changing_the_password(
    stack: Stack, anna: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_USER_ALL_ADDRESSES", 2)
    caller = _as(stack, anna.sign_in())
    for number in range(2):
        assert guess(anna, f"198.51.100.{number}") == _ENDED
    assert guess(anna, "198.51.100.99") == RATE_LIMITED

    change = {"current_password": anna.password, "new_password": "ten green bottles hanging"}
    assert caller.post("/users/me/password", change).status == 200


def test_guesses_with_a_token_are_recorded_with_the_user(
    stack: Stack, erp: Erp, anna: ExampleUser
) -> None:
    caller = _as(stack, anna.sign_in())
    for turn in range(2):
        assert caller.post("/users/me/totp", {"password": _WRONG}, key=f"k{turn}").status == 422
    (entry,) = audit_entries(erp, action="user.sign_in_failed")
    assert entry["actor"] == {"type": "user", "id": str(anna.id), "name": "Anna"}
    assert entry["target"]["id"] == str(anna.id)


def test_guesses_of_an_administrator_are_recorded_with_the_administrator(
    stack: Stack, erp: Erp, anna: ExampleUser
) -> None:
    boss = create_example_user("boss", permissions=["users.manage"])
    administrator = _as(stack, boss.sign_in())
    assert enrol(administrator, anna.id, password=_WRONG).status == 422
    for _ in range(attempt_limits.PER_USER - 1):
        assert enrol(erp, anna.id, password=_WRONG).status == 422

    failed = audit_entries(erp, action="user.sign_in_failed")
    locked = audit_entries(erp, action="user.locked_out")

    assert [entry["actor"]["id"] for entry in failed] == [str(boss.id)]
    assert [entry["actor"]["type"] for entry in locked] == ["client"]
    assert {entry["target"]["id"] for entry in failed + locked} == {str(anna.id)}


def test_concurrent_guesses_do_not_exceed_the_limit(
    stack: Stack, anna: ExampleUser, aws_faults: AwsFaults
) -> None:
    caller = _as(stack, anna.sign_in())
    aws_faults.latency = 0.005

    statuses = Counter(
        run_concurrently(
            attempt_limits.PER_USER + 2, lambda _: enrol(caller, password=_WRONG).status
        )
    )

    assert set(statuses) == {422, 429}
    assert statuses[422] <= attempt_limits.PER_USER


def test_right_credentials_do_not_count(stack: Stack, anna: ExampleUser) -> None:
    caller = _as(stack, anna.sign_in())
    for _ in range(attempt_limits.PER_USER + 2):
        assert enrol(caller, password=anna.password).status == 200


# The stored response of the enrolment


def _records(stack: Stack, key: str) -> list[str]:
    return [item["PK"]["S"] for item in stack.items() if item["PK"]["S"].endswith(f"#{key}")]


def test_confirmation_deletes_the_stored_response_of_the_enrolment(
    stack: Stack, erp: Erp, clock: Clock
) -> None:
    clock.freeze()
    user = create_user(erp)
    caller = as_user(stack, user)
    first = enrol(caller, key="first")
    second = enrol(caller, key="second")
    assert enrol(caller, key="second").text == second.text

    assert confirm_totp(caller, user, code_of(second.data["secret"]), key="confirm").status == 200

    assert _records(stack, "second") == []
    assert enrol(erp, user, key="second").code == "conflict"
    assert enrol(caller, key="first").text == first.text, "an invalid secret, replaced before"
    assert _records(stack, "confirm") != []


def test_confirmation_deletes_no_record_of_a_later_request_with_the_same_key(
    stack: Stack, erp: Erp, clock: Clock
) -> None:
    clock.freeze()
    user = create_user(erp)
    secret = enrol(erp, user, key="reused").data["secret"]
    clock.advance(25 * 3600)
    assert erp.post("/roles", {"name": "Packers", "permissions": []}, key="reused").status == 201

    assert confirm_totp(erp, user, code_of(secret)).status == 200

    assert len(_records(stack, "reused")) == 1


def test_wrong_codes_with_a_token_count_with_those_of_sign_ins(
    stack: Stack, erp: Erp, anna: ExampleUser
) -> None:
    enable_two_step(anna)
    caller = _as(stack, anna.sign_in(otp=anna.code()))
    for _ in range(UNHINDERED):
        assert _disable(caller, otp="nonsense").invalid_fields == ["otp"]
    assert anna.sign_in(otp=anna.code(periods=1)).outcome == RATE_LIMITED
    refused = _disable(caller, otp="nonsense")
    assert (refused.status, refused.code) == RATE_LIMITED
    (entry,) = audit_entries(erp, action="user.codes_refused")
    assert entry["actor"] == {"type": "user", "id": str(anna.id), "name": "Anna"}


def test_only_a_recovery_code_is_accepted_with_a_token_after_too_many_wrong_codes(
    stack: Stack, anna: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_checks, "MOST", 2)
    enable_two_step(anna)
    caller = _as(stack, anna.sign_in(otp=anna.code()))
    for _ in range(2):
        _disable(caller, otp="nonsense")
    refused = _disable(caller, otp=anna.code(periods=1))
    assert "refused after 2 wrong ones" in refused.problems["otp"]
    assert _disable(caller, otp=anna.recovery_codes[0]).status == 200
