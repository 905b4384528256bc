"""Rules of the map of a warehouse: bounds, unique codes, references and overlaps."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from shared.kernel.errors import Problem
from shared.kernel.fields import plain
from shared.kernel.validation import Checked, invalid_fields
from shared.warehouse.layout import geometry
from shared.warehouse.layout.geometry import Rectangle, Vertex, units
from shared.warehouse.layout.models import (
    MAX_CORNERS_IN_ALL,
    AisleDraft,
    BayDraft,
    LayoutDraft,
    ZoneDraft,
)

_MIN_CORNERS = 3


def layout_problems(draft: Checked[LayoutDraft]) -> list[Problem]:
    """Return the problems of a map that field validation does not find.

    Invalid fields are not compared with others.
    """
    return list(_Check(draft).all())


class _Check:
    """The check of one map."""

    def __init__(self, draft: Checked[LayoutDraft]) -> None:
        self._draft = draft
        self._invalid = invalid_fields(draft)
        self._zones: Sequence[Checked[ZoneDraft]] = draft.zones or ()
        self._aisles: Sequence[Checked[AisleDraft]] = draft.aisles or ()
        self._bays: Sequence[Checked[BayDraft]] = draft.bays or ()
        self._zone_codes = {zone.code for zone in self._zones}
        self._polygons = dict[str, list[Vertex]]()
        """Corners of the valid zones, by zone code."""

    def all(self) -> Iterator[Problem]:
        """Yield all problems in the order of the fields."""
        if self._draft.depot:
            yield from self._off_floor("depot", self._draft.depot.x, self._draft.depot.y)
        yield from self._zone_problems()
        yield from self._aisle_problems()
        yield from self._bay_problems()
        points = self._draft.points or ()
        yield from _repeated("points", "code", [point.code for point in points])
        for number, point in enumerate(points):
            yield from self._off_floor(f"points.{number}", point.x, point.y)

    def _off_floor(
        self, path: str, x: Decimal | None, y: Decimal | None, names: tuple[str, str] = ("x", "y")
    ) -> Iterator[Problem]:
        for name, value, side in ((names[0], x, "width_m"), (names[1], y, "depth_m")):
            limit: Decimal | None = getattr(self._draft, side)
            if value is not None and limit is not None and value > limit:
                message = f"must be at most {side} ({_metres(limit)}); is {_metres(value)}"
                yield Problem(f"{path}.{name}", message)

    # Zones

    def _zone_problems(self) -> Iterator[Problem]:
        yield from _repeated("zones", "code", [zone.code for zone in self._zones])
        corners = 0
        for number, zone in enumerate(self._zones):
            polygon: list[list[Decimal]] | None = zone.polygon
            if polygon is None:
                continue
            path = f"zones.{number}.polygon"
            corners += len(polygon)
            if corners > MAX_CORNERS_IN_ALL:
                yield Problem(
                    path, f"the polygons have more than {MAX_CORNERS_IN_ALL} corners in total"
                )
                return
            found = [
                problem
                for at, (x, y) in enumerate(polygon)
                for problem in self._off_floor(f"{path}.{at}", x, y, ("0", "1"))
            ]
            shape = geometry.opened([(units(x), units(y)) for x, y in polygon])
            if len(shape) < _MIN_CORNERS:
                found.append(
                    Problem(path, f"must have at least 3 different corners; has {len(shape)}")
                )
            elif not geometry.is_simple(shape):
                found.append(Problem(path, "must not cross or touch itself"))
            elif not found and zone.code is not None:
                self._polygons.setdefault(zone.code, shape)
            yield from found

    # Aisles

    def _aisle_problems(self) -> Iterator[Problem]:
        names = [
            None if aisle.number is None else (aisle.zone, str(aisle.number))
            for aisle in self._aisles
        ]
        yield from _repeated("aisles", "number", names, "in its zone")
        for number, aisle in enumerate(self._aisles):
            path = f"aisles.{number}"
            yield from self._off_floor(path, aisle.x1, aisle.y1, ("x1", "y1"))
            yield from self._off_floor(path, aisle.x2, aisle.y2, ("x2", "y2"))
            yield from self._unknown_zone(f"{path}.zone", aisle.zone)

    def _unknown_zone(self, path: str, code: str | None) -> Iterator[Problem]:
        # If a zone is invalid, its code may be the missing one.
        if code is not None and code not in self._zone_codes and "zones" not in self._invalid:
            yield Problem(path, f"the map has no zone {code}")

    # Bays

    def _bay_problems(self) -> Iterator[Problem]:
        by_number: dict[str, list[Checked[AisleDraft]]] = {}
        for each in self._aisles:
            by_number.setdefault(str(each.number), []).append(each)
        served = [self._aisle_of(bay, by_number) for bay in self._bays]
        names = [
            None if bay.number is None else (*_aisle_name(bay, aisle), bay.side, str(bay.number))
            for bay, (aisle, _) in zip(self._bays, served, strict=True)
        ]
        yield from _repeated("bays", "number", names, "on its side of its aisle")
        shapes: dict[int, Rectangle] = {}
        for number, bay in enumerate(self._bays):
            path = f"bays.{number}"
            levels = [level.level_no for level in bay.levels or ()]
            yield from _repeated(f"{path}.levels", "level_no", levels)
            yield from self._unknown_zone(f"{path}.aisle_zone", bay.aisle_zone)
            shape = _rectangle(bay)
            if shape:
                shapes[number] = shape
                yield from self._bay_off_floor(path, shape)
            aisle, unknown = served[number]
            if unknown:
                yield Problem(f"{path}.aisle", unknown)
            zone = aisle.zone if aisle else None
            polygon = self._polygons.get(zone) if zone else None
            if shape and polygon and not geometry.lies_in(shape, polygon):
                yield Problem(path, f"lies outside {zone}, the zone of its aisle")
        yield from _overlapping(shapes)

    def _aisle_of(
        self, bay: Checked[BayDraft], by_number: dict[str, list[Checked[AisleDraft]]]
    ) -> tuple[Checked[AisleDraft] | None, str | None]:
        if bay.aisle is None:
            return None, None
        found = [
            aisle
            for aisle in by_number.get(str(bay.aisle), ())
            if bay.aisle_zone in {None, aisle.zone}
        ]
        if len(found) == 1:
            return found[0], None
        if "aisles" in self._invalid:
            return None, None
        if found:
            return None, f"{len(found)} aisles have the number {bay.aisle}; aisle_zone is required"
        place = "the map" if bay.aisle_zone is None else f"zone {bay.aisle_zone}"
        return None, f"{place} has no aisle {bay.aisle}"

    def _bay_off_floor(self, path: str, shape: Rectangle) -> Iterator[Problem]:
        width: Decimal | None = self._draft.width_m
        depth: Decimal | None = self._draft.depth_m
        for name, low, high, limit in (
            ("x", shape.left, shape.right, width),
            ("y", shape.bottom, shape.top, depth),
        ):
            if limit is not None and (low < -shape.slack or high > units(limit) + shape.slack):
                yield Problem(f"{path}.{name}", "the bay reaches beyond the floor")


def _metres(length: Decimal) -> str:
    return f"{plain(length)} m"


def _repeated(path: str, field: str, names: Sequence[object], where: str = "") -> Iterator[Problem]:
    first: dict[object, int] = {}
    for number, name in enumerate(names):
        if name is not None and first.setdefault(name, number) != number:
            message = f"is the same as in {path}.{first[name]}; must be unique {where}".rstrip()
            yield Problem(f"{path}.{number}.{field}", message)


def _aisle_name(
    bay: Checked[BayDraft], aisle: Checked[AisleDraft] | None
) -> tuple[str | None, str | None]:
    """Return zone and number of the aisle of a bay, which may leave out the zone."""
    if aisle:
        return aisle.zone, str(aisle.number)
    return bay.aisle_zone, None if bay.aisle is None else str(bay.aisle)


def _rectangle(bay: Checked[BayDraft]) -> Rectangle | None:
    sizes: list[Decimal | None] = [bay.x, bay.y, bay.w, bay.d, bay.rotation]
    x, y, w, d, rotation = sizes
    if x is None or y is None or w is None or d is None or rotation is None:
        return None
    return geometry.rectangle((units(x), units(y)), units(w), units(d), rotation)


def _overlapping(shapes: dict[int, Rectangle]) -> Iterator[Problem]:
    numbers = list(shapes)
    try:
        for one, other in geometry.overlaps(list(shapes.values())):
            first, second = sorted((numbers[one], numbers[other]))
            yield Problem(f"bays.{second}", f"overlaps bays.{first}")
    except geometry.TooManyComparisons:
        yield Problem(
            "bays", "too many rotated bays are too close to each other to check for overlaps"
        )
