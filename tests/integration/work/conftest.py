"""The floor on which work is done."""

import pytest

from tests.dock import Dock
from tests.floor import Floor
from tests.gateway import Erp


@pytest.fixture
def floor(erp: Erp) -> Floor:
    """The warehouse YARD, furnished and empty."""
    return Floor.furnished(erp, "YARD")


@pytest.fixture
def dock(erp: Erp) -> Dock:
    """The dock of the warehouse YARD, beside an empty SHOP."""
    return Dock(erp)
