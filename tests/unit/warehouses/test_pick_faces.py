"""The products of which a position is a pick face."""

import pytest

from shared.warehouse.warehouses.models import KnownPosition


@pytest.mark.parametrize(
    ("use", "assigned", "faces"),
    [
        ("pick_face", set(), {1, 2}),
        ("pick_face", {1}, {1}),
        ("pick_face", {1, 2}, {1, 2}),
        ("pick_face", {3}, set()),
        ("storage", set(), set()),
        ("storage", {2}, {2}),
        (None, {1, 3}, {1}),
    ],
)
def test_pick_face_serves_assigned_products_or_all_products(
    use: str | None, assigned: set[int], faces: set[int]
) -> None:
    position = KnownPosition(
        5, "A-01", use, pickable=True, disabled=False, blocked=False, products=frozenset(assigned)
    )

    assert {product for product in (1, 2) if position.is_pick_face_of(product)} == faces
