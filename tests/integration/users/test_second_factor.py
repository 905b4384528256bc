"""Two-step verification: enrolment, confirmation, use of codes, and disabling it."""

from collections import Counter
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.exceptions import ClientError

from shared.identity.tenancy.access import operator_store
from shared.identity.users import repository, second_factor
from shared.identity.users.logins import Login
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from tests.clock import Clock
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.user_grants.oauth_requests import (
    ExampleUser,
    create_example_user,
    enable_two_step,
    is_accepted,
)
from tests.integration.users.user_requests import (
    CONCURRENCY,
    as_user,
    audit_entries,
    code_of,
    confirm_totp,
    create_user,
    enrol,
)
from tests.stack import Stack


def _login(user: int) -> Login:
    account = repository.read_account(operator_store("acme"), user)
    assert account is not None
    return account.login


# Enrolment


def test_authenticator_app_is_enrolled_and_confirmed(stack: Stack, erp: Erp, clock: Clock) -> None:
    clock.freeze()
    user = create_user(erp)
    caller = as_user(stack, user)

    enrolled = enrol(caller).ok()

    secret = enrolled["secret"]
    address = urlsplit(enrolled["otpauth_uri"])
    assert address.path == "/Stowage:maria.lopez%40acme"
    assert parse_qs(address.query)["secret"] == [secret]
    assert len(set(enrolled["recovery_codes"])) == 10
    assert erp.get(f"/users/{user}").data["two_step"] is False
    assert not _login(user).two_step

    confirmed = confirm_totp(caller, user, code_of(secret)).ok()

    assert confirmed["two_step"] is True
    assert erp.get(f"/users/{user}").data == confirmed
    assert [user["id"] for user in erp.walk("/users", two_step="true")] == [user]
    assert _login(user).two_step
    assert [entry["action"] for entry in audit_entries(erp, target_type="user", target=user)] == [
        "user.created", "user.totp_enrolled",
    ]  # fmt: skip


def test_wrong_code_does_not_confirm_the_enrolment(erp: Erp, clock: Clock) -> None:
    clock.freeze()
    user = create_user(erp)
    nothing = confirm_totp(erp, user, "000000")
    assert (nothing.status, nothing.code) == (409, "conflict")

    secret = enrol(erp, user).data["secret"]
    wrong = {code_of(secret, periods) for periods in (-3, -2, 2, 3)}
    wrong -= {code_of(secret, periods) for periods in (-1, 0, 1)}
    for code in (*wrong, "12345", "", "abcdef"):
        answer = confirm_totp(erp, user, code)
        assert (answer.status, answer.json()["error"]["field"]) == (422, "code"), code
    assert erp.get(f"/users/{user}").data["two_step"] is False


def test_enrolling_again_replaces_the_pending_enrolment(erp: Erp, clock: Clock) -> None:
    clock.freeze()
    user = create_user(erp)
    first, second = (enrol(erp, user).data for _ in range(2))
    assert not set(first["recovery_codes"]) & set(second["recovery_codes"])

    if code_of(first["secret"]) != code_of(second["secret"]):
        assert confirm_totp(erp, user, code_of(first["secret"])).status == 422
    assert confirm_totp(erp, user, code_of(second["secret"])).status == 200

    for answer in (
        enrol(erp, user),
        confirm_totp(erp, user, code_of(second["secret"], 1)),
    ):
        assert (answer.status, answer.code) == (409, "conflict")


def test_one_of_several_concurrent_confirmations_succeeds(
    erp: Erp, aws_faults: AwsFaults, clock: Clock
) -> None:
    clock.freeze()
    user = create_user(erp)
    code = code_of(enrol(erp, user).data["secret"])
    aws_faults.latency = 0.01

    answers = run_concurrently(
        CONCURRENCY, lambda number: confirm_totp(erp, user, code, key=f"c-{number}")
    )

    assert Counter(answer.status for answer in answers) == {200: 1, 409: CONCURRENCY - 1}
    assert [entry["action"] for entry in audit_entries(erp, action="user.totp_enrolled")] != []
    assert len(audit_entries(erp, action="user.totp_enrolled")) == 1


# Use of codes


def use_code(user: int, code: str) -> bool:
    """Use a code like a sign-in; return whether it was accepted."""
    store = operator_store("acme")

    def use_case(tx: Transaction) -> bool:
        account = repository.read_account(tx.store, user)
        assert account is not None
        after = second_factor.use_code("acme", account.login, code, tx.now_ms / 1000)
        if after is None:
            return False
        repository.bind_sign_in(tx, account, after)
        return True

    return run_transaction(store, use_case)


@pytest.fixture
def anna(stack: Stack, clock: Clock) -> ExampleUser:
    """A user with two-step verification, whose current codes are unused."""
    assert stack
    clock.freeze()
    anna = create_example_user()
    enable_two_step(anna)
    return anna


def _app_code(person: ExampleUser) -> str:
    return person.code()


def _recovery_code(person: ExampleUser) -> str:
    return person.recovery_codes[3]


@pytest.mark.parametrize("choose", [_app_code, _recovery_code])
def test_code_is_accepted_once_by_concurrent_requests(
    anna: ExampleUser, aws_faults: AwsFaults, choose: Callable[[ExampleUser], str]
) -> None:
    code = choose(anna)
    aws_faults.latency = 0.01

    assert sorted(run_concurrently(CONCURRENCY, lambda _: use_code(anna.id, code))) == [False] * (
        CONCURRENCY - 1
    ) + [True]
    assert not use_code(anna.id, code)


def test_codes_of_another_user_or_a_pending_enrolment_are_refused(
    anna: ExampleUser, erp: Erp
) -> None:
    bert = create_example_user("bert")
    waiting = enrol(erp, bert.id, password=bert.password).data
    for code in (anna.code(), anna.recovery_codes[0], code_of(waiting["secret"])):
        assert not use_code(bert.id, code)
    assert not use_code(bert.id, waiting["recovery_codes"][0])


def test_secret_can_only_be_unsealed_for_its_user(anna: ExampleUser) -> None:
    factor = _login(anna.id).second_factor
    assert factor is not None
    assert second_factor.unseal_secret("acme", anna.id, factor.sealed_secret) == anna.secret
    for tenant, user in (("beta", anna.id), ("acme", anna.id + 1)):
        with pytest.raises(ClientError):
            second_factor.unseal_secret(tenant, user, factor.sealed_secret)


def test_concurrent_change_of_the_user_makes_the_sign_in_stale(anna: ExampleUser, erp: Erp) -> None:
    for method, path, body in (
        ("PATCH", "", {"is_active": False}),
        ("PATCH", "", {"is_active": True}),
        ("POST", "/reset-password", {}),
        ("PATCH", "", {"roles": []}),
        ("DELETE", "", None),
    ):
        tx = Transaction(operator_store("acme"))
        account = repository.read_account(tx.store, anna.id)
        assert account is not None
        repository.bind_sign_in(tx, account, account.login)
        assert erp.send(method, f"/users/{anna.id}{path}", body).status == 200
        with pytest.raises(StaleRead):
            tx.commit()


# Disabling


def test_user_and_administrator_can_disable_two_step_verification(
    stack: Stack, anna: ExampleUser, erp: Erp
) -> None:
    caller = Erp(stack.gateway, anna.sign_in(otp=anna.code()).access_token)
    off = caller.send("DELETE", "/users/me/totp", {"password": anna.password})
    assert (off.status, off.data["two_step"]) == (200, False)
    assert _login(anna.id).second_factor is None
    assert anna.sign_in().status == 200
    assert not use_code(anna.id, anna.recovery_codes[0])

    enable_two_step(anna)
    assert erp.delete(f"/users/{anna.id}/totp").data["two_step"] is False
    actions = [entry["action"] for entry in audit_entries(erp, target_type="user", target=anna.id)]
    assert actions == ["user.created", *["user.totp_enrolled", "user.totp_removed"] * 2]


def test_pending_enrolment_can_be_deleted(erp: Erp, clock: Clock) -> None:
    clock.freeze()
    user = create_user(erp)
    before = erp.get(f"/users/{user}").data
    code = code_of(enrol(erp, user).data["secret"])

    for _ in range(2):
        assert erp.delete(f"/users/{user}/totp").data == before
    assert confirm_totp(erp, user, code).code == "conflict"
    assert [entry["action"] for entry in audit_entries(erp, target_type="user", target=user)] == [
        "user.created"
    ]


def test_password_reset_keeps_the_second_factor(anna: ExampleUser, erp: Erp) -> None:
    anna.password = erp.post(f"/users/{anna.id}/reset-password").data["password"]
    assert _login(anna.id).two_step
    assert is_accepted(anna.sign_in(otp=anna.code()).access_token)
