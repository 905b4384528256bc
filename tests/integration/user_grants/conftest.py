import pytest

from tests.integration.user_grants.oauth_requests import Person, enrol, hire
from tests.stack import Stack


@pytest.fixture
def anna(stack: Stack) -> Person:
    """A user of acme with a role."""
    assert stack
    return hire()


@pytest.fixture
def two_step_anna(anna: Person) -> Person:
    """The same, with two-step verification."""
    enrol(anna)
    return anna
