"""Every kind of drift is found and named; what is derived is repaired, and nothing else changes."""

import pytest

from operations.verify import verify_tenant
from tests.integration.verify.planting import Table
from tests.integration.verify.plants import PLANTS, Plant


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_drift_is_found_named_and_repaired(plant: Plant, table: Table) -> None:
    plant.apply(table)

    found = verify_tenant("acme", repair=True)

    assert {one.kind for one in found.listed} == plant.finds, found.listed
    assert {one.kind for one in found.listed if not one.repaired} == plant.lasting, found.listed
    assert all(one.stored != one.expected or one.stored is None for one in found.listed)
    again = verify_tenant("acme")
    assert {one.kind for one in again.listed} == plant.lasting, again.listed
    assert not again.unsettled
    assert not found.unsettled
