"""Sign-ins from addresses that the user has used before: strangers cannot lock the user out."""

from collections.abc import Mapping
from typing import Any

import pytest

from operations.control_table import scan_items
from shared.identity.auth import attempt_limits
from shared.identity.auth.attempt_limits import (
    ADDRESS_LIFETIME,
    LONG_WINDOW,
    MAX_ADDRESSES,
    PER_USER,
    PER_USER_LONG_WINDOW,
    WINDOW,
)
from shared.kernel.clock import now_ms
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.user_grants.oauth_requests import (
    INVALID_GRANT,
    RATE_LIMITED,
    SOURCE_IP,
    ExampleUser,
    create_example_user,
    request_token,
)

OFFICE, HOME = "203.0.113.20", "203.0.113.21"
_ALL_ADDRESSES = 5


@pytest.fixture(autouse=True)
def _few_failures_in_a_new_window(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    clock.freeze_in_new_window(LONG_WINDOW)
    monkeypatch.setattr(attempt_limits, "PER_USER_ALL_ADDRESSES", _ALL_ADDRESSES)


def sign_in(user: ExampleUser, address: str, **more: str) -> tuple[int, str]:
    return request_token(user.form(**more), address=address).outcome


def lock_out(user: ExampleUser) -> None:
    """Let strangers reach the limit over all addresses."""
    for number in range(_ALL_ADDRESSES):
        assert sign_in(user, f"198.51.100.{number}", password="wrong") == INVALID_GRANT
    assert sign_in(user, "198.51.100.99") == RATE_LIMITED


def known_items() -> list[Mapping[str, Any]]:
    return list(scan_items("ADDRESSES#"))


def test_user_locked_out_by_strangers_can_sign_in_from_a_known_address(user: ExampleUser) -> None:
    create_example_user("berta").sign_in()
    assert sign_in(user, OFFICE) == (200, "")
    lock_out(user)
    assert sign_in(user, OFFICE) == (200, "")
    assert sign_in(user, SOURCE_IP) == RATE_LIMITED, "only Berta has signed in from there"


def test_known_address_keeps_its_own_limits(user: ExampleUser, clock: Clock) -> None:
    assert sign_in(user, OFFICE) == (200, "")
    outcomes = []
    for _ in range(3):
        outcomes += [sign_in(user, OFFICE, password="wrong") for _ in range(PER_USER + 1)]
        clock.advance(WINDOW)
    assert outcomes.count(INVALID_GRANT) == PER_USER_LONG_WINDOW
    assert sign_in(user, OFFICE) == RATE_LIMITED
    lock_out(user)  # these failures did not count toward the limit over all addresses


def test_password_without_the_code_makes_no_address_known(two_step_user: ExampleUser) -> None:
    """Otherwise, whoever has the password could guess codes at many addresses."""
    user = two_step_user
    assert sign_in(user, OFFICE) == (200, "")
    assert sign_in(user, HOME, otp=user.code()) == (200, "")
    lock_out(user)
    assert sign_in(user, OFFICE) == RATE_LIMITED
    assert sign_in(user, HOME, otp=user.code(periods=1)) == (200, "")


def test_address_used_longest_ago_is_forgotten_first(user: ExampleUser, clock: Clock) -> None:
    addresses = [f"203.0.113.{number}" for number in range(100, 100 + MAX_ADDRESSES + 1)]
    for address in addresses:
        assert sign_in(user, address) == (200, "")
        clock.advance(1)
    (item,) = known_items()
    assert len(item["networks"]["M"]) == MAX_ADDRESSES
    lock_out(user)
    assert sign_in(user, addresses[0]) == RATE_LIMITED
    assert {sign_in(user, address) for address in addresses[1:]} == {(200, "")}


def test_address_is_forgotten_a_month_after_the_last_sign_in(
    user: ExampleUser, clock: Clock
) -> None:
    sign_in(user, OFFICE)
    sign_in(user, HOME)
    clock.advance(ADDRESS_LIFETIME - LONG_WINDOW)
    sign_in(user, HOME)
    clock.advance(LONG_WINDOW)
    lock_out(user)
    assert (sign_in(user, HOME), sign_in(user, OFFICE)) == ((200, ""), RATE_LIMITED)
    (item,) = known_items()
    assert int(item["expires_at"]["N"]) > now_ms() / 1000 + ADDRESS_LIFETIME - 2 * LONG_WINDOW


def test_known_address_is_written_once_a_day(
    user: ExampleUser, clock: Clock, aws_faults: AwsFaults
) -> None:
    writes = []
    for pause in (0, 1, attempt_limits._ADDRESS_RENEWAL):
        clock.advance(pause)
        with aws_faults.recorded() as made:
            assert user.sign_in().status == 200
        writes.append(
            sum(
                "ADDRESSES#" in str(call.request)
                for call in made.calls
                if call.operation == "UpdateItem"
            )
        )
    assert writes == [1, 0, 1]


def test_stored_addresses_are_digests(user: ExampleUser) -> None:
    sign_in(user, OFFICE)
    text = str(known_items())
    assert OFFICE not in text
    assert user.username not in text
