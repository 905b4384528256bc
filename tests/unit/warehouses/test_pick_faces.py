"""Of which products a position is a pick face."""

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
def test_it_serves_whom_it_is_assigned_to_or_else_everyone(
    use: str | None, assigned: set[int], faces: set[int]
) -> None:
    position = KnownPosition(
        5, "A-01", use, pickable=True, disabled=False, blocked=False, products=frozenset(assigned)
    )

    assert {product for product in (1, 2) if position.is_pick_face_of(product)} == faces
