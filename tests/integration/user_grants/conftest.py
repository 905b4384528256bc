import pytest

from tests.clock import install_for_tokens
from tests.integration.user_grants.oauth_requests import (
    ExampleUser,
    create_example_user,
    enable_two_step,
)
from tests.stack import Stack


@pytest.fixture(autouse=True)
def _tokens_are_issued_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the wait for a token that a later revocation covers take no real time."""
    install_for_tokens(monkeypatch)


@pytest.fixture
def user(stack: Stack) -> ExampleUser:
    """A user of acme with a role."""
    assert stack
    return create_example_user()


@pytest.fixture
def two_step_user(user: ExampleUser) -> ExampleUser:
    """A user of acme with a role and two-step verification."""
    enable_two_step(user)
    return user
