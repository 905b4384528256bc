"""Geometry of maps, compared with slower reference implementations."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.warehouse.layout.geometry import (
    Rectangle,
    TooManyComparisons,
    Vertex,
    edges,
    is_simple,
    lies_in,
    opened,
    overlaps,
    rectangle,
    units,
)

METRE = units(Decimal(1))

small = st.integers(0, 6)
vertices = st.tuples(small, small)


def bay(x: float, y: float, w: float, d: float, degrees: float = 0) -> Rectangle:
    x_, y_, w_, d_ = (units(Decimal(str(length))) for length in (x, y, w, d))
    return rectangle((x_, y_), w_, d_, Decimal(str(degrees)))


def scaled(polygon: list[tuple[int, int]]) -> list[Vertex]:
    return [(x * METRE, y * METRE) for x, y in polygon]


# Polygons


def common_points(a: Vertex, b: Vertex, c: Vertex, d: Vertex) -> int:
    """Return the number of common points of two line segments: 0, 1 or 2 (many)."""
    (rx, ry), (sx, sy) = (b[0] - a[0], b[1] - a[1]), (d[0] - c[0], d[1] - c[1])
    qx, qy = c[0] - a[0], c[1] - a[1]
    cross = rx * sy - ry * sx
    if cross:
        t, u = Fraction(qx * sy - qy * sx, cross), Fraction(qx * ry - qy * rx, cross)
        return int(0 <= t <= 1 and 0 <= u <= 1)
    if qx * ry - qy * rx:
        return 0
    length = rx * rx + ry * ry
    from_, to = sorted(Fraction((x - a[0]) * rx + (y - a[1]) * ry, length) for x, y in (c, d))
    low, high = max(from_, Fraction(0)), min(to, Fraction(1))
    return 0 if low > high else 1 if low == high else 2


def is_simple_by_definition(polygon: list[Vertex]) -> bool:
    sides = edges(polygon)
    if any(a == b for a, b in sides):
        return False
    for (i, one), (j, other) in combinations(enumerate(sides), 2):
        neighbours = (j - i) in {1, len(sides) - 1}
        if common_points(*one, *other) > (1 if neighbours else 0):
            return False
    return True


@given(st.lists(vertices, min_size=3, max_size=9))
def test_polygon_is_simple_if_its_sides_share_only_corners(
    polygon: list[Vertex],
) -> None:
    assert is_simple(polygon) == is_simple_by_definition(polygon)


@pytest.mark.parametrize(
    ("polygon", "simple"),
    [
        ([(0, 0), (4, 0), (4, 4), (0, 4)], True),
        ([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)], True),
        ([(0, 0), (4, 4), (4, 0), (0, 4)], False),  # a bow tie
        ([(0, 0), (4, 0), (4, 4), (2, 0), (0, 4)], False),  # a corner on a side
        ([(0, 0), (4, 0), (2, 0)], False),  # flat
        ([(0, 0), (4, 0), (4, 4), (4, 1)], False),  # a spike
        ([(0, 0), (4, 0), (4, 0), (0, 4)], False),  # a corner twice
        ([(0, 0), (2, 2), (4, 0), (4, 4), (2, 2), (0, 4)], False),  # pinched
    ],
)
def test_is_simple_of_example_polygons(polygon: list[Vertex], simple: bool) -> None:  # noqa: FBT001
    assert is_simple(polygon) is simple


def test_first_corner_may_be_repeated_at_the_end() -> None:
    square = [(0, 0), (4, 0), (4, 4), (0, 4)]

    assert opened([*square, square[0]]) == opened(square) == square


# Rectangles at right angles, compared with the unit squares they cover


def squares(shape: Rectangle) -> set[tuple[int, int]]:
    xs = range(shape.left // METRE, shape.right // METRE)
    return set(product(xs, range(shape.bottom // METRE, shape.top // METRE)))


sizes = st.integers(1, 4)
right_angles = st.sampled_from([0, 90, 180, 270, 360])
bays = st.builds(bay, small, small, sizes, sizes, right_angles)


@given(st.lists(bays, max_size=8))
def test_each_overlapping_bay_but_the_first_is_found(shapes: list[Rectangle]) -> None:
    found = list(overlaps(shapes))

    assert all(squares(shapes[one]) & squares(shapes[other]) for one, other in found)
    accused = [one for one, _ in found]
    assert len(set(accused)) == len(accused)
    rest = [shape for index, shape in enumerate(shapes) if index not in accused]
    assert not any(squares(one) & squares(other) for one, other in combinations(rest, 2))


heights = st.lists(sizes, min_size=1, max_size=5)


@given(heights, bays)
def test_bay_lies_in_a_zone_if_all_its_unit_squares_do(
    columns: list[int], shape: Rectangle
) -> None:
    # The zone consists of columns that are one metre wide.
    polygon = [(0, 0), (len(columns), 0)]
    for x in reversed(range(len(columns))):
        polygon += [(x + 1, columns[x]), (x, columns[x])]
    polygon = [
        point
        for point, after in zip(polygon, [*polygon[1:], (0, 0)], strict=True)
        if point != after
    ]
    covered = {(x, y) for x, height in enumerate(columns) for y in range(height)}

    assert lies_in(shape, scaled(polygon)) == (squares(shape) <= covered)


def test_touching_bays_do_not_overlap_at_any_decimal() -> None:
    left, right = bay(0.1, 0, 0.2, 1), bay(0.3, 0, 0.1, 1)  # 0.1 + 0.2 == 0.3 here

    assert list(overlaps([left, right])) == []
    assert list(overlaps([left, bay(0.299999, 0, 0.1, 1)])) == [(1, 0)]
    zone = [(units(Decimal("0.1")), 0), (units(Decimal("0.3")), 0)]
    zone += [(units(Decimal("0.3")), METRE), (units(Decimal("0.1")), METRE)]
    assert lies_in(left, zone)
    assert not lies_in(bay(0.1, 0, 0.200001, 1), zone)


# Rectangles at any angle, compared by their common area


def area_in_common(one: Rectangle, other: Rectangle) -> float:
    """Return the common area in square metres, by Sutherland-Hodgman clipping."""
    shape = [(Fraction(x), Fraction(y)) for x, y in one.corners]
    for (ax, ay), (bx, by) in edges(other.corners):

        def side(
            point: tuple[Fraction, Fraction], line: tuple[int, ...] = (ax, ay, bx, by)
        ) -> Fraction:
            return (line[2] - line[0]) * (point[1] - line[1]) - (line[3] - line[1]) * (
                point[0] - line[0]
            )

        kept = []
        for p, q in zip(shape, [*shape[1:], *shape[:1]], strict=True):
            if side(p) >= 0:
                kept.append(p)
            if side(p) * side(q) < 0:
                t = side(p) / (side(p) - side(q))
                kept.append((p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])))
        shape = kept
    pairs = zip(shape, [*shape[1:], *shape[:1]], strict=True)
    return abs(float(sum(p[0] * q[1] - q[0] * p[1] for p, q in pairs))) / 2 / METRE**2


turned = st.builds(bay, small, small, sizes, sizes, st.integers(0, 360))


@given(turned, turned)
def test_rotated_bays_overlap_if_they_share_an_area(one: Rectangle, other: Rectangle) -> None:
    shared = area_in_common(one, other)

    # Up to 10 micrometres along a side of at most 6 metres count as touching.
    if shared > 1e-3:
        assert list(overlaps([one, other]))
    elif shared == 0:
        assert not list(overlaps([one, other]))


@given(st.integers(0, 359), sizes, sizes)
def test_bays_side_by_side_touch_at_any_angle(degrees: int, w: int, d: int) -> None:
    first = bay(5000, 5000, w, d, degrees)
    angle = math.radians(degrees)
    next_to_it = bay(
        round(5000 + w * math.cos(angle), 6), round(5000 + w * math.sin(angle), 6), w, d, degrees
    )
    into_it = bay(
        round(5000 + (w - 0.01) * math.cos(angle), 6),
        round(5000 + (w - 0.01) * math.sin(angle), 6),
        w,
        d,
        degrees,
    )

    assert list(overlaps([first, next_to_it])) == []
    assert list(overlaps([first, into_it]))


def test_comparison_of_hundreds_of_long_rotated_bays_is_limited() -> None:
    slanting = [bay(i * 0.01, 5000 - i * 0.01, 5000, 0.001, 45) for i in range(1500)]

    with pytest.raises(TooManyComparisons):
        list(overlaps(slanting))
