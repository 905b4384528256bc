"""Every kind of drift is found and named; what is derived is repaired, and nothing else changes."""

from collections import Counter, defaultdict

import pytest

from operations.verify import verify_tenant
from shared.warehouse.stock.models import Shares
from tests.integration.verify.planting import Table
from tests.integration.verify.plants import PLANTS, Plant
from tests.sampling import is_complete

_STRIDE = 27 if is_complete() else 9
"""Neighbors in PLANTS may concern the same item, so each batch has drifts that are far apart. With
a smaller stride most batches fail, because a repair of one drift hides or causes another."""
_ELSEWHERE = {
    "in_transit_of_level_total": 6,
    "damaged_of_level_total": 4,
    "status_of_a_row": 5,
    "receipt_of_another_quantity": 0,
    "count_of_a_position_too_high": 2,
    "receipt_for_another_quantity_of_its_document": 8,
    "level_missing": 9,
    "holds_of_level_total": 7,
    "total_of_a_warehouse": 9,
}
"""Batches of the stride 9 for drifts that would meet another one of the same item. After a change
of PLANTS a batch may fail for this reason: move one of its drifts."""

_FOLLOWING = {f"{kind}.{name}" for kind in ("level", "total") for name in Shares.model_fields} | {
    "feed.sums"
}
"""Kinds that are also found where a document, picking or transfer order has another drift, or where
an entity is missing or has another version."""


def _batches() -> list[list[Plant]]:
    """Return the drifts of each verification."""
    batches, moved = defaultdict[int, list[Plant]](list), {} if is_complete() else _ELSEWHERE
    for number, plant in enumerate(PLANTS):
        batches[moved.get(plant.name, number % _STRIDE)].append(plant)
    return list(batches.values())


def test_moved_drifts_exist() -> None:
    assert _ELSEWHERE.keys() <= {plant.name for plant in PLANTS}


@pytest.mark.parametrize(
    "plants", _batches(), ids=lambda plants: "-".join(plant.name for plant in plants)
)
def test_drifts_are_found_named_and_repaired(plants: list[Plant], table: Table) -> None:
    finds = Counter(kind for plant in plants for kind in plant.finds)
    lasting = frozenset[str]().union(*(plant.lasting for plant in plants))
    for plant in plants:
        plant.apply(table)

    found = verify_tenant("acme", repair=True)

    kinds = Counter(one.kind for one in found.listed)
    assert kinds.keys() - _FOLLOWING == finds.keys() - _FOLLOWING, found.listed
    assert kinds >= finds, found.listed
    assert {one.kind for one in found.listed if not one.repaired} == lasting, found.listed
    assert all(one.stored != one.expected or one.stored is None for one in found.listed)
    again = verify_tenant("acme")
    assert {one.kind for one in again.listed} == lasting, again.listed
    assert not again.unsettled
    assert not found.unsettled
