import pytest

from tests.integration.user_grants.oauth_requests import ExampleUser, enrol, hire
from tests.stack import Stack


@pytest.fixture
def user(stack: Stack) -> ExampleUser:
    """A user of acme with a role."""
    assert stack
    return hire()


@pytest.fixture
def two_step_user(user: ExampleUser) -> ExampleUser:
    """A user of acme with a role and two-step verification."""
    enrol(user)
    return user
