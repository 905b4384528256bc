import pytest

from tests.clock import Clock
from tests.integration.cli.test_cli import deploy_stack
from tests.integration.offboarding.company import Company, deploy_api
from tests.stack import Stack


@pytest.fixture
def company(stack: Stack, clock: Clock) -> Company:
    """The tenant acme with data of every kind, in a stack that the command line finds."""
    assert clock
    company = Company(stack, deploy_api())
    company.populate()
    deploy_stack(ApiId=company.api)
    return company
