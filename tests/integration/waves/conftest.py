"""The floor on which waves are worked."""

import pytest

from tests.floor import Floor
from tests.gateway import Erp


@pytest.fixture
def floor(erp: Erp) -> Floor:
    """The warehouses YARD and SHOP, furnished and empty."""
    return Floor.furnished(erp, "YARD", "SHOP")
