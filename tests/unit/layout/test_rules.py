"""Rules of the map of a warehouse."""

import json
from typing import Any

import pytest

from shared.kernel.json_text import loads
from shared.kernel.validation import check, problems_of
from shared.warehouse.layout import geometry
from shared.warehouse.layout.models import LayoutDraft
from shared.warehouse.layout.rules import layout_problems
from tests.cases import each_case

HALL: dict[str, Any] = {
    "zones": [
        {"code": "S", "polygon": [[0, 0], [30, 0], [30, 20], [0, 20], [0, 0]]},
        {"code": "C", "polygon": [[30, 0], [40, 0], [40, 20], [30, 20]]},
    ],
    "aisles": [
        {"number": "A", "x1": 2, "y1": 10, "x2": 28, "y2": 10, "zone": "S"},
        {"number": "B", "x1": 2, "y1": 15, "x2": 28, "y2": 15, "zone": "S"},
        {"number": "B", "x1": 35, "y1": 2, "x2": 35, "y2": 18, "zone": "C"},
    ],
    "bays": [],
    "points": [{"code": "D1", "x": 40, "y": 0}],
}


def bay(number: int, x: float, y: float, **more: object) -> dict[str, Any]:
    return {"number": number, "x": x, "y": y, "w": 2.7, "d": 1.1, "aisle": "A", **more}


def problems(**fields: object) -> dict[str, str]:
    """Return the problems of the map HALL with these fields, by field."""
    raw = loads(json.dumps({"width_m": 40, "depth_m": 20, **HALL, **fields}))
    draft = check(LayoutDraft, raw)
    found = [*problems_of(draft), *layout_problems(draft)]
    return {problem.field: problem.message for problem in found}


def test_bays_may_touch_back_to_back() -> None:
    row = [bay(n, 2 + 2.7 * n, 11.5, side="left") for n in range(8)]
    back = [bay(n, 2 + 2.7 * n, 12.6, side="right") for n in range(8)]

    assert problems(bays=row + back, depot={"x": 0, "y": 0}) == {}


def test_map_with_only_a_floor_is_valid() -> None:
    assert problems(zones=[], aisles=[], bays=[], points=[]) == {}
    assert problems(width_m=None) == {"width_m": "must be a number"}


def test_list_as_depot_is_refused() -> None:
    assert problems(depot=[{"x": 1, "y": 1}]) == {"depot": "must be an object"}


def test_all_problems_are_reported_together() -> None:
    found = problems(
        depth_m="20",
        depot={"x": 41, "y": 1},
        grid_m=0,
        slots_per_level=0,
        zones=[
            {"code": "S", "polygon": [[0, 0], [41, 0], [30, 20]], "color": "x" * 33},
            {"code": "S", "polygon": [[0, 0], [1, 0], [0, 0]]},
            {"code": "T", "polygon": [[0, 0], [2, 2], [2, 0], [0, 2]]},
            {"code": "U", "polygon": [[0, 0], [2, 2, 2], [2]]},
        ],
        aisles=[
            {"number": 1, "x1": 0, "y1": 0, "x2": 50, "y2": 0, "zone": "Z"},
            {"number": "1", "x1": 0, "y1": 0, "x2": 5, "y2": 0, "zone": "Z", "one_way": 1},
        ],
        bays=[
            bay(1, 39, 1, aisle=None),
            bay(2, -1, 1, rotation=361, levels=[{"level_no": 1, "z_from_m": 0, "height_m": 0}]),
            {"number": True, "x": "1", "y": 0, "w": 0.0000001, "d": 10_001},
        ],
        points=[{"code": "P", "x": 40.000001, "y": 0}, {"code": "P", "x": 1, "y": 99}],
    )

    assert found == {
        "depth_m": "must be a number",
        "grid_m": "must be more than 0",
        "slots_per_level": "must be at least 1",
        "depot.x": "must be at most width_m (40 m); is 41 m",
        "zones.0.color": "must have at most 32 characters",
        "zones.0.polygon.1.0": "must be at most width_m (40 m); is 41 m",
        "zones.1.code": "is the same as in zones.0; must be unique",
        "zones.1.polygon": "must have at least 3 different corners; has 2",
        "zones.2.polygon": "must not cross or touch itself",
        "zones.3.polygon.1": "must have at most 2 entries",
        "zones.3.polygon.2": "must have at least 2 entry",
        "aisles.0.x2": "must be at most width_m (40 m); is 50 m",
        "aisles.1.number": "is the same as in aisles.0; must be unique in its zone",
        "aisles.1.one_way": "must be true or false",
        "bays.0.x": "the bay reaches beyond the floor",
        "bays.1.x": "must be at least 0",
        "bays.1.rotation": "must be at most 360",
        "bays.1.levels.0.height_m": "must be more than 0",
        "bays.2.number": "must be a whole number",
        "bays.2.x": "must be a number",
        "bays.2.w": "must be more than 0",
        "bays.2.d": "must be at most 10000",
        "points.0.x": "must be at most width_m (40 m); is 40.000001 m",
        "points.1.code": "is the same as in points.0; must be unique",
    }


@each_case(
    ("more", "field"),
    [
        ({"x": 27.4}, "bays.0"),  # 0.1 m inside the next zone
        ({"x": 27.3}, None),
        ({"x": 38}, "bays.0.x"),
        ({"y": 19}, "bays.0.y"),
        ({"x": 1.1, "rotation": 90}, None),
        ({"x": 1, "rotation": 90}, "bays.0.x"),
        ({"x": 3, "y": 2, "rotation": 135}, None),
        ({"x": 0.5, "y": 2, "rotation": 135}, "bays.0.x"),
        ({"aisle": "C"}, "bays.0.aisle"),
        ({"aisle": "B"}, "bays.0.aisle"),  # two aisles have this number
        ({"aisle": "B", "aisle_zone": "S"}, None),
        ({"aisle": "B", "aisle_zone": "C"}, "bays.0"),
        ({"aisle": "A", "aisle_zone": "C"}, "bays.0.aisle"),
        ({"aisle": None, "aisle_zone": "X"}, "bays.0.aisle_zone"),
        (
            {"levels": [{"level_no": 1, "z_from_m": 0, "height_m": 1}] * 2},
            "bays.0.levels.1.level_no",
        ),
    ],
)
def test_bay_must_lie_on_the_floor_and_in_the_zone_of_its_aisle(
    more: dict[str, object], field: str | None
) -> None:
    found = problems(bays=[bay(1, 5, 5) | more])

    # A bay beyond the floor may be outside its zone as well.
    assert field in found if field else found == {}


def test_number_of_a_bay_is_unique_on_its_side_whether_the_zone_of_its_aisle_is_named() -> None:
    both = [bay(1, 2, 11.5), bay(1, 8, 11.5, aisle_zone="S")]

    assert problems(bays=both) == {
        "bays.1.number": "is the same as in bays.0; must be unique on its side of its aisle"
    }


def test_bay_without_an_aisle_is_not_one_of_an_aisle_named_none() -> None:
    aisles = [{"number": "None", "x1": 2, "y1": 10, "x2": 28, "y2": 10}]
    both = [bay(1, 2, 11.5, aisle="None"), bay(1, 8, 11.5, aisle=None)]

    assert problems(aisles=aisles, bays=both) == {}


def test_overlapping_bay_is_reported_once() -> None:
    found = problems(bays=[bay(1, 5, 5), bay(2, 7.6, 5), bay(3, 20, 5), bay(3, 12, 5)])

    assert found == {
        "bays.1": "overlaps bays.0",
        "bays.3.number": "is the same as in bays.2; must be unique on its side of its aisle",
    }
    turned = [bay(1, 5, 5, rotation=45), bay(2, 6, 5.5)]
    assert problems(bays=turned) == {"bays.1": "overlaps bays.0"}


def test_invalid_parts_cause_no_problems_of_other_parts() -> None:
    broken = {"code": "S"}

    found = problems(zones=[broken, {"code": 5, "polygon": [[0, 0], [1, 0], [1, 1]]}])
    assert set(found) == {"zones.0.polygon", "zones.1.code"}
    found = problems(aisles=[{"number": ""}], bays=[bay(1, 5, 5)])
    assert {field.partition(".")[0] for field in found} == {"aisles"}


@pytest.mark.parametrize(
    ("field", "entries", "most"),
    [
        ("zones", lambda n: {"code": f"Z{n}", "polygon": [[0, 0], [1, 0], [1, 1]]}, 200),
        ("aisles", lambda n: {"number": n, "x1": 0, "y1": 0, "x2": 1, "y2": 1}, 1000),
        ("bays", lambda n: {"number": n, "x": n % 40, "y": n // 40 * 0.1, "w": 1, "d": 0.1}, 5000),
        ("points", lambda n: {"code": f"P{n}", "x": 0, "y": 0}, 5000),
    ],
)
def test_number_of_parts_is_limited(field: str, entries: Any, most: int) -> None:
    bare: dict[str, Any] = {"zones": [], "aisles": [], "bays": [], "points": []}

    assert problems(**bare | {field: [entries(n) for n in range(most)]}) == {}
    found = problems(**bare | {field: [entries(n) for n in range(most + 1)]})
    assert found == {field: f"must have at most {most} entries"}


def test_number_of_corners_and_levels_is_limited() -> None:
    comb = [[0, 0], *([n * 0.2, 1 + n % 2] for n in range(198)), [39.4, 0]]
    zones = [{"code": f"Z{n}", "polygon": comb} for n in range(26)]

    assert problems(zones=zones[:25], aisles=[]) == {}
    assert problems(zones=zones, aisles=[]) == {
        "zones.25.polygon": "the polygons have more than 5000 corners in total"
    }
    zones = [{"code": "Z", "polygon": [*comb, [39.4, 0]]}]
    assert "at most 200" in problems(zones=zones, aisles=[])["zones.0.polygon"]
    levels = [{"level_no": n, "z_from_m": 0, "height_m": 1} for n in range(51)]
    assert problems(bays=[bay(1, 5, 5, levels=levels)]) == {
        "bays.0.levels": "must have at most 50 entries"
    }


def test_map_of_too_many_rotated_bays_close_to_each_other_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only comparisons of rotated bays cost much; `test_geometry.py` shows their limit."""
    monkeypatch.setattr(geometry, "_MAX_COMPARISONS", 1_000)
    slanting = [
        {"number": n, "x": n / 250, "y": 20 - n / 250, "w": 20, "d": 0.001, "rotation": 45}
        for n in range(100)
    ]

    found = problems(bays=slanting)

    assert (
        found.items()
        >= {
            "bays": "too many rotated bays are too close to each other to check for overlaps"
        }.items()
    )
