"""Plane geometry on integers, so that shapes that touch are never reported as overlapping.

Coordinates are in half micrometres: lengths have at most six decimals of a metre, and the middle
between two coordinates is an integer too. Only shapes that are not rotated by a multiple of 90
degrees are rounded; overlaps of less than 10 micrometres then count as touching.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

_UNITS = 2_000_000
_SLACK = 20
_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_MAX_COMPARISONS = 200_000
"""Maximum number of compared pairs of rotated rectangles with overlapping bounding boxes.

Real maps need a few per bay. The limit protects the service against maps made to overload it.
"""

type Vertex = tuple[int, int]


class TooManyComparisons(Exception):
    """Too many rotated rectangles are too close to each other to compare them."""


def units(metres: Decimal) -> int:
    """Convert metres with at most six decimals into half micrometres."""
    return int(metres * _UNITS)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle with its bounding box, in half micrometres.

    `corners` are counterclockwise from the corner it was rotated about; `slack` is the tolerance
    for rounding.
    """

    corners: tuple[Vertex, Vertex, Vertex, Vertex]
    slack: int
    left: int
    bottom: int
    right: int
    top: int

    @property
    def center(self) -> Vertex:
        """Center of the rectangle."""
        (x0, y0), _, (x1, y1), _ = self.corners
        return (x0 + x1) // 2, (y0 + y1) // 2


def rectangle(corner: Vertex, width: int, depth: int, degrees: Decimal) -> Rectangle:
    """Return the rectangle to the right of and above `corner`, rotated about it by `degrees`."""
    quarters, rest = divmod(degrees, 90)
    if rest:
        angle = math.radians(degrees)
        cosine, sine = math.cos(angle), math.sin(angle)
        along = (round(cosine * width), round(sine * width))
        across = (round(-sine * depth), round(cosine * depth))
    else:
        right_x, right_y = _QUARTERS[int(quarters) % 4]
        along = (right_x * width, right_y * width)
        across = (-right_y * depth, right_x * depth)
    x, y = corner
    second = (x + along[0], y + along[1])
    fourth = (x + across[0], y + across[1])
    corners = (corner, second, (second[0] + across[0], second[1] + across[1]), fourth)
    xs, ys = zip(*corners, strict=True)
    return Rectangle(corners, _SLACK if rest else 0, min(xs), min(ys), max(xs), max(ys))


# Polygons


def opened(polygon: Sequence[Vertex]) -> list[Vertex]:
    """Return the corners without a repetition of the first corner at the end."""
    closed = len(polygon) > 1 and polygon[0] == polygon[-1]
    return list(polygon[:-1] if closed else polygon)


def edges(polygon: Sequence[Vertex]) -> list[tuple[Vertex, Vertex]]:
    """Return the sides of a polygon."""
    return list(zip(polygon, [*polygon[1:], polygon[0]], strict=True))


def is_simple(polygon: Sequence[Vertex]) -> bool:
    """Return whether a polygon of at least three corners does not cross or touch itself."""
    sides = edges(polygon)
    if any(a == b for a, b in sides):
        return False
    for (a, b), (_, c) in zip(sides, [*sides[1:], sides[0]], strict=True):
        back = (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1])
        if _orientation(a, b, c) == 0 and back > 0:
            return False
    last = len(sides) - 1
    return not any(
        _intersect(*sides[first], *sides[second])
        for first in range(last)
        # Neighbouring sides share a corner.
        for second in range(first + 2, last if first == 0 else last + 1)
    )


def _orientation(a: Vertex, b: Vertex, c: Vertex) -> int:
    """Return a positive number if c lies left of the line from a to b, 0 if it lies on it."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _intersect(a: Vertex, b: Vertex, c: Vertex, d: Vertex) -> bool:
    """Return whether two line segments have a common point."""
    if max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0]):
        return False
    if max(a[1], b[1]) < min(c[1], d[1]) or max(c[1], d[1]) < min(a[1], b[1]):
        return False
    return (
        _orientation(a, b, c) * _orientation(a, b, d) <= 0
        and _orientation(c, d, a) * _orientation(c, d, b) <= 0
    )


def _contains(polygon: Sequence[Vertex], point: Vertex) -> bool:
    """Return whether a point that lies on no side is inside the polygon."""
    x, y = point
    inside = False
    for a, b in edges(polygon):
        if (a[1] > y) != (b[1] > y) and (_orientation(a, b, (x, y)) > 0) == (b[1] > a[1]):
            inside = not inside
    return inside


def lies_in(shape: Rectangle, polygon: Sequence[Vertex]) -> bool:
    """Return whether a rectangle lies in a simple polygon; sides may touch.

    It does if no side of the polygon crosses the rectangle and the center is inside.
    """
    for side in edges(polygon):
        (ax, ay), (bx, by) = side
        if (
            max(ax, bx) > shape.left
            and min(ax, bx) < shape.right
            and max(ay, by) > shape.bottom
            and min(ay, by) < shape.top
            and not _separated(shape.corners, side, shape.slack)
        ):
            return False
    return _contains(polygon, shape.center)


# Rectangles


def overlaps(shapes: Sequence[Rectangle]) -> Iterator[tuple[int, int]]:
    """Yield pairs of indexes of overlapping rectangles, one pair for each rectangle but the first.

    Raises:
        TooManyComparisons: Comparing all pairs would take too long.
    """
    comparisons = 0
    active: list[tuple[int, int, int, int]] = []
    for index in sorted(range(len(shapes)), key=lambda number: shapes[number].left):
        shape = shapes[index]
        left, bottom, top = shape.left, shape.bottom, shape.top
        active = [entry for entry in active if entry[0] > left]
        near = [other for _, low, high, other in active if low < top and high > bottom]
        for other in near:
            slack = max(shape.slack, shapes[other].slack)
            if slack:
                comparisons += 1
                if comparisons > _MAX_COMPARISONS:
                    raise TooManyComparisons
            if not slack or not _separated(shape.corners, shapes[other].corners, slack):
                yield index, other
                break
        active.append((shape.right, bottom, top, index))


def _separated(rectangle: Sequence[Vertex], other: Sequence[Vertex], slack: int) -> bool:
    """Return whether a line parallel to a side of either shape separates the two shapes.

    `other` is a rectangle or a line segment.
    """
    bases = [(rectangle[0], rectangle[1]), (rectangle[1], rectangle[2]), (other[0], other[1])]
    if len(other) > 2:  # noqa: PLR2004 - a segment has one direction, a rectangle two
        bases.append((other[1], other[2]))
    for (ax, ay), (bx, by) in bases:
        across_x, across_y = ay - by, bx - ax
        mine = [x * across_x + y * across_y for x, y in rectangle]
        theirs = [x * across_x + y * across_y for x, y in other]
        margin = slack and int(slack * math.hypot(across_x, across_y))
        if max(mine) <= min(theirs) + margin or max(theirs) <= min(mine) + margin:
            return True
    return False
