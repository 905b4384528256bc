import pytest

from tests.integration.offboarding.company import Company, deploy_api
from tests.stack import Stack


@pytest.fixture
def company(stack: Stack) -> Company:
    """The tenant acme with data of every kind, and the tenant beta."""
    company = Company(stack, deploy_api())
    company.populate()
    return company
