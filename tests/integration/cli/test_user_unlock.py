"""`stowage user unlock`: failed sign-ins are forgotten, with an entry in the audit log."""

from collections.abc import Callable

import pytest

from shared.identity.auth.attempt_limits import (
    LONG_WINDOW,
    PER_USER,
    PER_USER_ALL_ADDRESSES,
)
from shared.identity.users.code_checks import UNHINDERED
from tests.clock import Clock
from tests.faults import AwsFaults, Fault, kill_after, kill_before
from tests.gateway import Erp
from tests.integration.cli.command_line import as_json, deploy_stack, refused, run
from tests.integration.user_grants.oauth_requests import (
    RATE_LIMITED,
    SOURCE_IP,
    ExampleUser,
    create_example_user,
    enable_two_step,
    request_token,
)
from tests.integration.users.user_requests import audit_entries
from tests.sampling import deadly_calls
from tests.stack import Stack


@pytest.fixture
def user(stack: Stack, clock: Clock) -> ExampleUser:
    """A user of acme at the beginning of a window; the command line finds the stack."""
    assert stack
    clock.freeze_in_new_window(LONG_WINDOW)
    deploy_stack()
    return create_example_user()


def fail(user: ExampleUser, times: int, address: str = SOURCE_IP) -> None:
    for _ in range(times):
        request_token(user.form(password="wrong"), address=address)


def test_user_can_sign_in_again_at_every_address(user: ExampleUser, erp: Erp) -> None:
    fail(user, PER_USER)
    strangers = [f"198.51.100.{n}" for n in range(PER_USER_ALL_ADDRESSES - PER_USER)]
    for address in strangers:
        fail(user, 1, address)
    assert user.sign_in().outcome == RATE_LIMITED
    assert request_token(user.form(), address="203.0.113.99").outcome == RATE_LIMITED

    shown = as_json("user", "unlock", "acme", "anna")

    assert shown == {
        "username": "anna", "id": user.id, "failures": PER_USER_ALL_ADDRESSES,
        "wrong_codes": 0, "addresses": sorted([SOURCE_IP, *strangers]),
    }  # fmt: skip
    assert user.sign_in().status == 200
    assert request_token(user.form(), address="203.0.113.99").status == 200
    entry = audit_entries(erp, action="user.unlocked")[0]
    assert entry["actor"]["type"] == "operator"
    assert entry["target"] == {"type": "user", "id": str(user.id)}
    failures = {"failures": PER_USER_ALL_ADDRESSES, "wrong_codes": 0}
    assert entry["details"] == {"username": "anna"} | failures


def test_wrong_codes_are_forgotten(user: ExampleUser, erp: Erp) -> None:
    enable_two_step(user)
    for n in range(UNHINDERED):
        request_token(user.form(otp="000000"), address=f"198.51.100.{n}")
    assert user.sign_in(otp=user.code()).outcome == RATE_LIMITED

    assert as_json("user", "unlock", "acme", "anna")["wrong_codes"] == UNHINDERED

    assert user.sign_in(otp=user.code()).status == 200
    assert audit_entries(erp, action="user.unlocked")[0]["details"]["wrong_codes"] == UNHINDERED
    assert as_json("user", "unlock", "acme", "anna")["wrong_codes"] == 0
    assert len(audit_entries(erp, action="user.unlocked")) == 1


def test_limits_hold_again_after_the_unlocking(user: ExampleUser) -> None:
    for _ in range(2):
        fail(user, PER_USER)
        assert user.sign_in().outcome == RATE_LIMITED
        as_json("user", "unlock", "acme", "anna")
    assert user.sign_in().status == 200


def test_unlocking_concerns_one_user_only(user: ExampleUser) -> None:
    berta = create_example_user("berta")
    fail(user, PER_USER)
    fail(berta, PER_USER)
    as_json("user", "unlock", "acme", "anna")
    assert berta.sign_in().outcome == RATE_LIMITED


def test_unlocking_a_user_without_failures_changes_nothing(user: ExampleUser, erp: Erp) -> None:
    result = run("user", "unlock", "acme", "anna")
    assert result.exit_code == 0
    assert "has no failed attempts" in result.stderr
    assert "Attempts that were interrupted count until it ends." in result.stderr
    assert audit_entries(erp, action="user.unlocked") == []
    assert user.sign_in().status == 200
    assert "nobody" in refused("user", "unlock", "acme", "nobody")


@pytest.mark.parametrize("cut", [kill_before, kill_after])
def test_interrupted_unlocking_can_be_repeated(
    cut: Callable[[int], Fault], user: ExampleUser, erp: Erp, stack: Stack, aws_faults: AwsFaults
) -> None:
    fail(user, PER_USER)
    restore = stack.take_snapshot()
    with aws_faults.recorded() as seen:
        run("user", "unlock", "acme", "anna")
    for at in deadly_calls(f"unlocking {cut.__name__}", seen.operations, every=6):
        restore()
        assert aws_faults.kills(cut(at), lambda: run("user", "unlock", "acme", "anna"))
        assert run("user", "unlock", "acme", "anna").exit_code == 0
        assert user.sign_in().status == 200
        assert len(audit_entries(erp, action="user.unlocked")) == 1
