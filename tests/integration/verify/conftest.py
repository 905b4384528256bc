import pytest

from tests.clock import Clock
from tests.gateway import Erp
from tests.integration.verify.company import build_company, build_small_company
from tests.integration.verify.planting import Table
from tests.stack import Stack


@pytest.fixture
def table(stack: Stack, erp: Erp, clock: Clock) -> Table:
    """The table of a company with every kind of data; pauses take no time."""
    build_company(erp)
    clock.freeze()
    return Table(stack)


@pytest.fixture
def small_table(stack: Stack, erp: Erp, clock: Clock) -> Table:
    """The table of a company with stock of one product; pauses take no time."""
    build_small_company(erp)
    clock.freeze()
    return Table(stack)
