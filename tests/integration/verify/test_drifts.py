"""Every kind of drift is found and named; what is derived is repaired, and nothing else changes."""

from collections import Counter

import pytest

from operations.verify import verify_tenant
from tests.integration.verify.planting import Table
from tests.integration.verify.plants import PLANTS, Plant

BATCHES = 27
"""Number of verifications. Neighbors in PLANTS may concern the same item, so each batch has
drifts that are far apart."""


@pytest.mark.parametrize(
    "plants",
    [PLANTS[number::BATCHES] for number in range(BATCHES)],
    ids=lambda plants: "-".join(plant.name for plant in plants),
)
def test_drifts_are_found_named_and_repaired(plants: list[Plant], table: Table) -> None:
    finds = Counter(kind for plant in plants for kind in plant.finds)
    lasting = frozenset[str]().union(*(plant.lasting for plant in plants))
    for plant in plants:
        plant.apply(table)

    found = verify_tenant("acme", repair=True)

    kinds = Counter(one.kind for one in found.listed)
    assert kinds.keys() == finds.keys(), found.listed
    assert kinds >= finds, found.listed
    assert {one.kind for one in found.listed if not one.repaired} == lasting, found.listed
    assert all(one.stored != one.expected or one.stored is None for one in found.listed)
    again = verify_tenant("acme")
    assert {one.kind for one in again.listed} == lasting, again.listed
    assert not again.unsettled
    assert not found.unsettled
