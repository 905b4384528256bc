"""Plane geometry on whole numbers, so that what touches is never taken for what overlaps.

Coordinates are half micrometres: places have at most six decimals of a metre, and the
middle between two of them is whole as well. Only what is turned by other than right
angles is rounded; there, less than 10 micrometres count as touching.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

_UNITS = 2_000_000
_SLACK = 20
_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_MOST_COMPARISONS = 200_000
"""Of pairs that lie at an angle and whose bounding boxes overlap. Real floors need a few for
each bay; more would be an attempt to keep the service busy."""

type Vertex = tuple[int, int]


class Crowded(Exception):
    """So many rectangles at an angle lie so close together that they are not compared."""


def units(metres: Decimal) -> int:
    """Metres, with at most six decimals, as half micrometres."""
    return int(metres * _UNITS)


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Corners counterclockwise, from the one it was turned about; `slack` is its rounding."""

    corners: tuple[Vertex, Vertex, Vertex, Vertex]
    slack: int
    left: int
    bottom: int
    right: int
    top: int

    @property
    def center(self) -> Vertex:
        """The middle."""
        (x0, y0), _, (x1, y1), _ = self.corners
        return (x0 + x1) // 2, (y0 + y1) // 2


def rectangle(corner: Vertex, width: int, depth: int, degrees: Decimal) -> Rectangle:
    """Make the rectangle that lies right of and above `corner`, then turned about it."""
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
    """Return the corners without the first one repeated at the end."""
    closed = len(polygon) > 1 and polygon[0] == polygon[-1]
    return list(polygon[:-1] if closed else polygon)


def edges(polygon: Sequence[Vertex]) -> list[tuple[Vertex, Vertex]]:
    """Return the sides of a polygon."""
    return list(zip(polygon, [*polygon[1:], polygon[0]], strict=True))


def is_simple(polygon: Sequence[Vertex]) -> bool:
    """Tell whether a polygon (three corners or more) nowhere crosses or touches itself."""
    sides = edges(polygon)
    if any(a == b for a, b in sides):
        return False
    for (a, b), (_, c) in zip(sides, [*sides[1:], sides[0]], strict=True):
        back = (a[0] - b[0]) * (c[0] - b[0]) + (a[1] - b[1]) * (c[1] - b[1])
        if _turn(a, b, c) == 0 and back > 0:
            return False
    last = len(sides) - 1
    return not any(
        _meet(*sides[first], *sides[second])
        for first in range(last)
        # The sides next to it share a corner with it.
        for second in range(first + 2, last if first == 0 else last + 1)
    )


def _turn(a: Vertex, b: Vertex, c: Vertex) -> int:
    """Positive when c lies left of the line from a to b, 0 when on it."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _meet(a: Vertex, b: Vertex, c: Vertex, d: Vertex) -> bool:
    """Tell whether two line segments have a point in common."""
    if max(a[0], b[0]) < min(c[0], d[0]) or max(c[0], d[0]) < min(a[0], b[0]):
        return False
    if max(a[1], b[1]) < min(c[1], d[1]) or max(c[1], d[1]) < min(a[1], b[1]):
        return False
    return _turn(a, b, c) * _turn(a, b, d) <= 0 and _turn(c, d, a) * _turn(c, d, b) <= 0


def _holds(polygon: Sequence[Vertex], point: Vertex) -> bool:
    """Tell whether a point that is on no side lies inside."""
    x, y = point
    inside = False
    for a, b in edges(polygon):
        if (a[1] > y) != (b[1] > y) and (_turn(a, b, (x, y)) > 0) == (b[1] > a[1]):
            inside = not inside
    return inside


def lies_in(shape: Rectangle, polygon: Sequence[Vertex]) -> bool:
    """Tell whether a rectangle lies in a simple polygon, sides touching or not.

    It does when no side of the polygon runs through the rectangle and its middle is inside.
    """
    for side in edges(polygon):
        (ax, ay), (bx, by) = side
        if (
            max(ax, bx) > shape.left
            and min(ax, bx) < shape.right
            and max(ay, by) > shape.bottom
            and min(ay, by) < shape.top
            and not _apart(shape.corners, side, shape.slack)
        ):
            return False
    return _holds(polygon, shape.center)


# Rectangles


def overlaps(shapes: Sequence[Rectangle]) -> Iterator[tuple[int, int]]:
    """Find rectangles that overlap: (one, another), once for each but the first of them.

    Raises:
        Crowded: Comparing them would take too long.
    """
    comparisons = 0
    open_ones: list[tuple[int, int, int, int]] = []
    for index in sorted(range(len(shapes)), key=lambda number: shapes[number].left):
        shape = shapes[index]
        left, bottom, top = shape.left, shape.bottom, shape.top
        open_ones = [entry for entry in open_ones if entry[0] > left]
        near = [other for _, low, high, other in open_ones if low < top and high > bottom]
        for other in near:
            slack = max(shape.slack, shapes[other].slack)
            if slack:
                comparisons += 1
                if comparisons > _MOST_COMPARISONS:
                    raise Crowded
            if not slack or not _apart(shape.corners, shapes[other].corners, slack):
                yield index, other
                break
        open_ones.append((shape.right, bottom, top, index))


def _apart(rectangle: Sequence[Vertex], other: Sequence[Vertex], slack: int) -> bool:
    """Tell whether a line parallel to a side of either (a rectangle, a line segment) parts them."""
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
