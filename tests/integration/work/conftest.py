"""The floor on which work is done."""

import pytest

from tests.dock import Dock
from tests.floor import Floor
from tests.gateway import Erp
from tests.stack import once


@pytest.fixture
def floor(erp: Erp) -> Floor:
    """The warehouse YARD, furnished and empty."""
    return Floor.furnished(erp, "YARD")


@pytest.fixture
def dock(erp: Erp) -> Dock:
    """The dock of the warehouse YARD, beside an empty SHOP."""
    return Dock(erp)


@pytest.fixture
def yards(erp: Erp) -> Floor:
    """YARD and SHOP, furnished, with some of everything at A-01 of YARD."""
    once(erp, "yards with stock", lambda: _stock(Floor.furnished(erp, "YARD", "SHOP")))
    return Floor(erp)


def _stock(floor: Floor) -> None:
    floor.stock("BRICK", 10)
    floor.stock("CEMENT", 5, batch="L1", expiry_date="2030-01-31")
    for serial in ("S1", "S2", "S3"):
        floor.stock("DRILL", 1, serial=serial)
