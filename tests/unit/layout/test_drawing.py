"""The drawing of a map is complete, well-formed and safe with any names."""

import json
from typing import Any
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from local.sample import ACME
from shared.kernel.json_text import loads
from shared.warehouse.layout.drawing import draw
from shared.warehouse.layout.models import Layout, LayoutDraft

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "title", "rect", "path", "polygon", "line", "circle", "g", "text"}
CEN = json.loads((ACME / "warehouse_layouts.json").read_text())[0]


def published(body: dict[str, Any]) -> Layout:
    draft = LayoutDraft.model_validate(loads(json.dumps(body)))
    return Layout(
        warehouse_code="CEN",
        version=3,
        published_at="2026-03-01T09:30:00.000Z",
        **draft.model_dump(),
    )


def drawn(body: dict[str, Any], name: str = "Central") -> ET.Element:
    return ET.fromstring(draw(published(body), name))  # noqa: S314 - our own text


def texts(drawing: ET.Element, tag: str = "text") -> list[str]:
    return [node.text or "" for node in drawing.iter(SVG + tag)]


def floor_of(drawing: ET.Element) -> dict[str, float]:
    """Return the rectangle of the floor, which follows the rectangle of the sheet."""
    rectangles = list(drawing.iter(SVG + "rect"))
    return {name: float(rectangles[1].get(name, "")) for name in ("x", "y", "width", "height")}


def test_every_part_of_the_map_is_drawn_with_its_name() -> None:
    drawing = drawn(CEN)

    shown = texts(drawing)
    assert "CEN · Central" in shown
    size = "26 \N{MULTIPLICATION SIGN} 18 m"
    assert f"Version 3, published 2026-03-01 09:30 UTC · {size} · 20 bays · 5 aisles" in shown
    for zone in CEN["zones"]:
        assert f"{zone['code']} · {zone['type']}" in shown
        legend = f"{zone['code']} · {zone['type']} · {zone['temperature_class']}"
        assert legend in shown
    polygons = drawing.findall(SVG + "polygon")
    assert [node.get("fill") for node in polygons] == [zone["color"] for zone in CEN["zones"]]
    assert {str(aisle["number"]) for aisle in CEN["aisles"]} <= set(shown)
    assert {point["code"] for point in CEN["points"]} <= set(shown)
    assert {"Depot", "Point", "Bay", "Aisle", "Aisle, one way", "5 m"} <= set(shown)
    tips = texts(drawing, "title")
    assert sum(tip.startswith("Bay ") for tip in tips) == len(CEN["bays"])
    assert "Bay 01 · aisle A · left · shelving · 3 levels · up to 4.4 m" in tips


def test_origin_of_the_floor_is_the_lower_left_corner() -> None:
    body = {"width_m": 40, "depth_m": 20, "points": [{"code": "P", "x": 10, "y": 5}]}

    drawing = drawn(body)

    yard = floor_of(drawing)
    assert yard["width"] == 2 * yard["height"] == 1200
    circle = drawing.find(SVG + "circle")
    assert circle is not None
    assert float(circle.get("cx", "")) == yard["x"] + yard["width"] / 4
    assert float(circle.get("cy", "")) == yard["y"] + yard["height"] * 3 / 4


def test_bay_is_rotated_counterclockwise_about_its_corner() -> None:
    bay = {"number": 1, "x": 10, "y": 10, "w": 4, "d": 2, "rotation": 30}

    drawing = drawn({"width_m": 20, "depth_m": 20, "bays": [bay]})

    yard = floor_of(drawing)
    group = next(
        node for node in drawing.findall(SVG + "g") if node.find(SVG + "title") is not None
    )
    assert group.get("transform") == f"rotate(-30 {yard['x'] + 600:g} {yard['y'] + 600:g})"
    box = group.find(SVG + "rect")
    assert box is not None
    assert (box.get("width"), box.get("height")) == ("240", "120")


hostile = st.one_of(
    st.text(min_size=1, max_size=32),
    st.sampled_from(
        [
            "</text><script>alert(1)</script>",
            '" onload="alert(1)',
            "<![CDATA[",
            "&lt;&#0;&bogus;",
            "]]>",
            "\ufffe\uffff",
            "'><svg onload=x>",
        ]
    ),
)


@given(name=hostile, color=hostile)
def test_names_and_colors_are_escaped(name: str, color: str) -> None:
    layout = published(CEN)
    zone = layout.zones[0].model_copy(update={"code": name, "type": name, "color": color})
    aisle = layout.aisles[0].model_copy(update={"number": name, "kind": name})
    bay = layout.bays[0].model_copy(update={"number": name, "side": name, "rack_type": name})
    point = layout.points[0].model_copy(update={"code": name, "kind": name})
    layout = layout.model_copy(
        update={"zones": [zone], "aisles": [aisle], "bays": [bay], "points": [point]}
    )

    drawing = ET.fromstring(draw(layout, name))  # noqa: S314 - must parse

    assert {node.tag.removeprefix(SVG) for node in drawing.iter()} <= ELEMENTS
    attributes = {attribute for node in drawing.iter() for attribute in node.attrib}
    assert not {"href", "style", "class", "id"} & attributes
    assert not any(attribute.startswith("on") for attribute in attributes)
    assert not any("url(" in value for node in drawing.iter() for value in node.attrib.values())


def test_floor_of_any_shape_fits_the_sheet() -> None:
    for width, depth in ((10_000, 0.000001), (0.000001, 10_000), (0.000001, 0.000001)):
        body = {
            "width_m": width,
            "depth_m": depth,
            "grid_m": 0.000001,
            "depot": {"x": 0, "y": 0},
            "aisles": [{"number": 1, "x1": 0, "y1": 0, "x2": 0, "y2": 0, "one_way": True}],
        }

        drawing = drawn(body)

        yard, sheet = floor_of(drawing), [float(drawing.get(n, "")) for n in ("width", "height")]
        assert yard["x"] + yard["width"] <= sheet[0]
        assert yard["y"] + yard["height"] <= sheet[1]
        assert max(sheet) < 2000
