"""Failed sign-ins and reached limits in the audit log of the tenant."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from operations.provisioning import set_state
from shared.identity.audit.models import AuditParameters
from shared.identity.audit.service import list_entries
from shared.identity.audit.views import audit_entry
from shared.identity.auth import attempt_limits
from shared.identity.auth.attempt_limits import (
    LONG_WINDOW,
    PER_USER,
    PER_USER_ALL_ADDRESSES,
    PER_USER_LONG_WINDOW,
    WINDOW,
)
from shared.identity.tenancy.access import operator_store
from shared.kernel.clock import instant, now_ms
from tests import faults
from tests.clock import Clock
from tests.faults import AwsFaults, Fault
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    SOURCE_IP,
    ExampleUser,
    guess,
)
from tests.sampling import deadly_calls
from tests.stack import Stack
from tests.tenant_cache import apply_now


@pytest.fixture(autouse=True)
def _begin_of_a_window(clock: Clock) -> None:
    clock.freeze_in_new_window(LONG_WINDOW)


def entries(action: Any = None) -> list[dict[str, Any]]:
    """Return the entries about attempts in the order in which they were made."""
    parameters = AuditParameters(action=action, per_page=100, sort="created_at")
    found = list_entries(operator_store("acme"), parameters).records
    shown = [audit_entry(record).model_dump() for record in found]
    about = {"user.sign_in_failed", "user.locked_out"}
    return [entry for entry in shown if entry["action"] in about]


def test_first_failure_of_a_user_at_an_address_is_recorded(user: ExampleUser, clock: Clock) -> None:
    for _ in range(3):
        assert guess(user) == INVALID_GRANT
    guess(user, "203.0.113.8")
    clock.advance(LONG_WINDOW)
    guess(user, username=" ANNA@acme")

    first, other, later = entries("user.sign_in_failed")
    assert first["actor"] == {"type": "anonymous", "id": None, "name": None}
    assert first["target"] == {"type": "user", "id": str(user.id)}
    assert first["details"] == {"username": "anna", "address": SOURCE_IP}
    assert first["request_id"] == "req-1"
    assert other["details"]["address"] == "203.0.113.8"
    assert later["details"] == first["details"]


def test_reached_limits_are_recorded(user: ExampleUser, clock: Clock) -> None:
    begin = now_ms() // 1000 // LONG_WINDOW * LONG_WINDOW
    for _ in range(3):
        for _ in range(PER_USER + 2):
            guess(user)
        clock.advance(WINDOW)

    minute, quarter = entries("user.locked_out")
    here = {"username": "anna", "address": SOURCE_IP, "all_addresses": False}
    assert minute["details"] == here | {"until": instant((begin + WINDOW) * 1000)}
    assert quarter["details"] == here | {"until": instant((begin + LONG_WINDOW) * 1000)}
    assert len(entries()) == 3


def test_reached_limit_over_all_addresses_is_recorded(
    user: ExampleUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_USER_ALL_ADDRESSES", 3)
    for number in range(5):
        guess(user, f"198.51.100.{number}")
    (entry,) = entries("user.locked_out")
    assert entry["details"]["all_addresses"]
    assert entry["target"]["id"] == str(user.id)


def test_unknown_names_and_inactive_tenants_have_no_entries(user: ExampleUser) -> None:
    """Nothing bounds the number of names, and some people type their password as their name."""
    for name in ("berta@acme", "0@acme", "@acme", "anna@nowhere"):
        assert guess(user, username=name) == INVALID_GRANT
    apply_now(set_state, "acme", "suspended")
    assert guess(user) == INVALID_GRANT
    assert entries() == []


def test_concurrent_failures_have_one_entry(user: ExampleUser, aws_faults: AwsFaults) -> None:
    aws_faults.latency = 0.005
    with ThreadPoolExecutor(PER_USER) as crowd:
        outcomes = list(crowd.map(lambda _: guess(user), range(PER_USER)))
    aws_faults.latency = 0.0
    assert set(outcomes) == {INVALID_GRANT}
    assert sorted(entry["action"] for entry in entries()) == [
        "user.locked_out",
        "user.sign_in_failed",
    ]


def test_flood_of_one_user_has_few_entries(user: ExampleUser, clock: Clock) -> None:
    addresses = [f"198.51.100.{number}" for number in range(4)]
    for _ in range(5):
        for address in addresses:
            for _ in range(PER_USER + 1):
                guess(user, address)
        clock.advance(WINDOW - 1)
    failures = min(PER_USER_LONG_WINDOW * len(addresses), PER_USER_ALL_ADDRESSES)
    assert len(entries()) < failures / 4


@pytest.mark.parametrize("cut", [faults.kill_before, faults.kill_after])
def test_interrupted_failure_has_at_most_one_entry(
    cut: Callable[[int], Fault], user: ExampleUser, stack: Stack, aws_faults: AwsFaults
) -> None:
    restore = stack.take_snapshot()
    guess(user)  # fill the caches of the environment
    restore()
    with aws_faults.recorded() as seen:
        guess(user)
    for at in deadly_calls(f"failed sign-in {cut.__name__}", seen.operations, every=9):
        restore()
        assert aws_faults.kills(cut(at), lambda: guess(user))
        assert guess(user) == INVALID_GRANT
        assert len(entries()) <= 1
        assert user.sign_in().status == 200


@pytest.mark.parametrize("times", [1, 3])
def test_conflicting_changes_do_not_lose_the_entry(
    times: int, user: ExampleUser, aws_faults: AwsFaults
) -> None:
    with aws_faults.faulty(faults.conflict(times)):
        assert guess(user) == INVALID_GRANT
    assert len(entries()) == 1
