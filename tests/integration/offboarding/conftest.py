import pytest

from tests.integration.offboarding.company import (Company, deploy_api)
from tests.stack import Stack


@pytest.fixture
def company(stack: Stack) -> Company:
    """Acme with a bit of everything, and its neighbour."""
    company = Company(stack, deploy_api())
    company.populate()
    return company
