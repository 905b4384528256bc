"""The map of a warehouse as a drawing (SVG).

Only attributes, no style sheet and no script: the answer's policy lets neither run.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shared.warehouses.layout_models import Aisle, Bay, Layout, MapPoint, Zone
from shared.warehouses.svg import color, element, label, number, text_of

_LONG_SIDE = 1200.0
"""Pixels of the floor's longer side."""
_NARROWEST = 640.0
"""Pixels that heading and legend need."""
_MARGIN = 48.0
_HEADING = 76.0
_MOST_GRID_LINES = 200
_PALETTE = (
    "#2563eb", "#d97706", "#059669", "#9333ea", "#dc2626", "#0891b2", "#65a30d", "#db2777",
)  # fmt: skip
_INK, _FAINT, _LINE, _PAPER = "#1e293b", "#64748b", "#94a3b8", "#f8fafc"
_AISLE, _STEEL, _GOLD, _MARK = "#e2e8f0", "#475569", "#f59e0b", "#be123c"
_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def draw(layout: Layout, warehouse_name: str) -> str:
    """Draw a published map, with its legend and scale."""
    sheet = _Sheet.of(layout)
    colors = [
        color(zone.color, _PALETTE[index % len(_PALETTE)])
        for index, zone in enumerate(layout.zones)
    ]
    legend, height = _legend(sheet, layout, colors)
    title = f"{layout.warehouse_code} · {warehouse_name}"
    drawn = [
        element("title", text_of(title)),
        element("rect", width="100%", height="100%", fill=_PAPER),
        _heading(sheet, layout, title),
        _floor(sheet, layout),
        *(_zone(sheet, zone, fill) for zone, fill in zip(layout.zones, colors, strict=True)),
        *(_aisle(sheet, aisle) for aisle in layout.aisles),
        *(_bay(sheet, bay) for bay in layout.bays),
        # Names last, so that nothing covers them.
        *(_aisle_name(sheet, aisle) for aisle in layout.aisles),
        *(_zone_name(sheet, zone, fill) for zone, fill in zip(layout.zones, colors, strict=True)),
        *(_point(sheet, point) for point in layout.points),
        _depot(sheet, layout),
        *legend,
    ]
    size = (sheet.width + 2 * _MARGIN, height)
    return element(
        "svg",
        "\n".join(drawn),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(size[0])} {number(size[1])}",
        width=size[0],
        height=size[1],
        role="img",
        font_family=_FONT,
        fill=_INK,
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Where the floor lies on the paper, whose y runs downwards."""

    scale: float
    """Pixels per metre."""
    width: float
    left: float
    bottom: float

    @classmethod
    def of(cls, layout: Layout) -> "_Sheet":
        scale = _LONG_SIDE / max(float(layout.width_m), float(layout.depth_m))
        floor = float(layout.width_m) * scale
        width = max(floor, _NARROWEST)
        bottom = _MARGIN + _HEADING + float(layout.depth_m) * scale
        return cls(scale, width, _MARGIN + (width - floor) / 2, bottom)

    def x(self, metres: object) -> float:
        return self.left + float(str(metres)) * self.scale

    def y(self, metres: object) -> float:
        return self.bottom - float(str(metres)) * self.scale


def _heading(sheet: _Sheet, layout: Layout, title: str) -> str:
    published = (layout.published_at or "")[:16].replace("T", " ")
    facts = (
        f"Version {layout.version}, published {published} UTC",
        f"{layout.width_m.normalize():f} \N{MULTIPLICATION SIGN} {layout.depth_m.normalize():f} m",
        _counted(len(layout.bays), "bay"),
        _counted(len(layout.aisles), "aisle"),
    )
    room = max(8.0, min(26.0, 1.7 * sheet.width / max(len(title), 1)))
    return label(title, x=_MARGIN, y=_MARGIN + 22, font_size=room, font_weight=650) + label(
        " · ".join(facts), x=_MARGIN, y=_MARGIN + 46, font_size=14, fill=_FAINT
    )


def _counted(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def _floor(sheet: _Sheet, layout: Layout) -> str:
    left, top = sheet.x(0), sheet.y(layout.depth_m)
    right, bottom = sheet.x(layout.width_m), sheet.y(0)
    box = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    floor = element("rect", **box, fill="#ffffff", stroke=_STEEL, stroke_width=2.5)
    if not layout.grid_m:
        return floor
    across, along = (int(side / layout.grid_m) for side in (layout.width_m, layout.depth_m))
    if max(across, along) > _MOST_GRID_LINES:
        return floor
    path = "".join(
        f"M{number(sheet.x(at * layout.grid_m))} {number(top)}V{number(bottom)}"
        for at in range(1, across + 1)
    ) + "".join(
        f"M{number(left)} {number(sheet.y(at * layout.grid_m))}H{number(right)}"
        for at in range(1, along + 1)
    )
    return floor + element("path", d=path, stroke=_AISLE, stroke_width=0.6, fill="none")


def _zone(sheet: _Sheet, zone: Zone, fill: str) -> str:
    points = " ".join(f"{number(sheet.x(x))},{number(sheet.y(y))}" for x, y in zone.polygon)
    return element(
        "polygon",
        element(
            "title", text_of(_described(f"Zone {zone.code}", zone.type, zone.temperature_class))
        ),
        points=points,
        fill=fill,
        fill_opacity=0.13,
        stroke=fill,
        stroke_width=1.6,
        stroke_linejoin="round",
    )


def _zone_name(sheet: _Sheet, zone: Zone, fill: str) -> str:
    """Put the name into the zone's upper left corner, no wider than the zone."""
    xs, ys = zip(*zone.polygon, strict=True)
    top = max(ys)
    left = min(x for x, y in zone.polygon if y == top)
    name = f"{zone.code} · {zone.type}" if zone.type else zone.code
    room = sheet.x(max(xs)) - sheet.x(left)
    size = min(15.0, max(3.0, (room - 10) / (0.58 * len(name))))
    return label(
        name,
        x=sheet.x(left) + 0.5 * size,
        y=sheet.y(top) + 1.25 * size,
        font_size=size,
        font_weight=650,
        fill=fill,
        **_halo(size),
    )


def _halo(size: float) -> dict[str, object]:
    """Set a text off from what it lies on."""
    return {
        "stroke": "#ffffff",
        "stroke_width": size / 4,
        "stroke_linejoin": "round",
        "paint_order": "stroke",
    }


def _aisle(sheet: _Sheet, aisle: Aisle) -> str:
    x1, y1, x2, y2 = _ends(sheet, aisle)
    line = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    width = float(aisle.width_m) * sheet.scale if aisle.width_m else 3.0
    name = _described(f"Aisle {aisle.number}", aisle.kind, "one way" if aisle.one_way else None)
    floor = element(
        "line",
        element("title", text_of(name)),
        **line,
        stroke=_AISLE,
        stroke_width=width,
        stroke_opacity=0.85,
    )
    middle = element("line", **line, stroke=_LINE, stroke_width=1, stroke_dasharray="7 6")
    length = math.hypot(x2 - x1, y2 - y1)
    if not aisle.one_way or not length:
        return floor + middle
    return floor + middle + _arrows(line, length, min(max(width / 5, 3.0), 9.0))


def _arrows(line: dict[str, float], length: float, size: float) -> str:
    """Show the direction: an arrow about every 160 pixels."""
    ahead = ((line["x2"] - line["x1"]) / length, (line["y2"] - line["y1"]) / length)
    amount = max(1, round(length / 160))
    path = ""
    for turn in range(amount):
        way = length * (turn + 0.5) / amount
        x, y = line["x1"] + ahead[0] * way, line["y1"] + ahead[1] * way
        back = (x - ahead[0] * size, y - ahead[1] * size)
        side = (-ahead[1] * size * 0.75, ahead[0] * size * 0.75)
        corners = (
            (back[0] + side[0], back[1] + side[1]),
            (x + ahead[0] * size, y + ahead[1] * size),
            (back[0] - side[0], back[1] - side[1]),
        )
        path += "M" + "L".join(f"{number(a)} {number(b)}" for a, b in corners)
    return element("path", d=path, fill="none", stroke=_FAINT, stroke_width=size / 3)


def _aisle_name(sheet: _Sheet, aisle: Aisle) -> str:
    x1, y1, x2, y2 = _ends(sheet, aisle)
    name = str(aisle.number)
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    radius = min(13.0, max(4.0, float(aisle.width_m or 2) * sheet.scale * 0.36))
    at = (x1 + (x2 - x1) / length * radius, y1 + (y2 - y1) / length * radius)
    size = min(radius * 1.15, 2.6 * radius / len(name))
    return element("circle", cx=at[0], cy=at[1], r=radius, fill=_INK) + label(
        name,
        x=at[0],
        y=at[1] + 0.36 * size,
        font_size=size,
        font_weight=650,
        fill="#ffffff",
        text_anchor="middle",
    )


def _ends(sheet: _Sheet, aisle: Aisle) -> tuple[float, float, float, float]:
    return sheet.x(aisle.x1), sheet.y(aisle.y1), sheet.x(aisle.x2), sheet.y(aisle.y2)


def _bay(sheet: _Sheet, bay: Bay) -> str:
    x, y = sheet.x(bay.x), sheet.y(bay.y)
    width, depth = float(bay.w) * sheet.scale, float(bay.d) * sheet.scale
    name = str(bay.number)
    upright = depth > 1.6 * width and len(name) > 1
    size = min((width if upright else depth) * 0.55, (depth if upright else width) / len(name))
    size = min(size * 1.3, 13.0)
    middle = (x + width / 2, y - depth / 2)
    golden = any(level.golden for level in bay.levels)
    return element(
        "g",
        element("title", text_of(_bay_facts(bay)))
        + element(
            "rect",
            x=x,
            y=y - depth,
            width=width,
            height=depth,
            fill="#ffffff",
            stroke=_STEEL,
            stroke_width=min(1.0, depth / 8),
        )
        + (_golden_edge(x, y, width, depth) if golden else "")
        + label(
            name,
            x=middle[0],
            y=middle[1] + 0.36 * size,
            font_size=size,
            text_anchor="middle",
            **(
                {"transform": f"rotate(-90 {number(middle[0])} {number(middle[1])})"}
                if upright
                else {}
            ),
        ),
        **(
            {"transform": f"rotate({number(-float(bay.rotation))} {number(x)} {number(y)})"}
            if bay.rotation
            else {}
        ),
    )


def _golden_edge(x: float, y: float, width: float, depth: float) -> str:
    thick = min(width, depth) * 0.14
    return element("rect", x=x, y=y - thick, width=width, height=thick, fill=_GOLD)


def _bay_facts(bay: Bay) -> str:
    height = max((level.z_from_m + level.height_m for level in bay.levels), default=None)
    return _described(
        f"Bay {bay.number}",
        None if bay.aisle is None else f"aisle {bay.aisle}",
        bay.side,
        bay.rack_type,
        _counted(len(bay.levels), "level") if bay.levels else None,
        None if height is None else f"up to {height.normalize():f} m",
    )


def _described(*parts: str | None) -> str:
    return " · ".join(part for part in parts if part)


def _point(sheet: _Sheet, point: MapPoint) -> str:
    x, y = sheet.x(point.x), sheet.y(point.y)
    name = _described(point.code, point.kind)
    return (
        element("circle", element("title", text_of(name)), cx=x, cy=y, r=5, fill=_MARK,
                stroke="#ffffff", stroke_width=1.5)
        + label(point.code, x=x, y=y - 9, font_size=11, fill=_MARK, text_anchor="middle",
                **_halo(11))
    )  # fmt: skip


def _depot(sheet: _Sheet, layout: Layout) -> str:
    if not layout.depot:
        return ""
    x, y = sheet.x(layout.depot.x), sheet.y(layout.depot.y)
    return _house(x, y) + label(
        "Depot", x=x, y=y + 24, font_size=12, font_weight=650, text_anchor="middle", **_halo(12)
    )


def _house(x: float, y: float) -> str:
    path = f"M{number(x - 11)} {number(y - 1)}l11 -11 11 11h-3v11h-16v-11z"
    return element("path", d=path, fill=_INK, stroke="#ffffff", stroke_width=1.5)


# Scale and legend

_ROW, _COLUMN = 24.0, 250.0


def _legend(sheet: _Sheet, layout: Layout, colors: Sequence[str]) -> tuple[list[str], float]:
    """Draw the scale and, in as many columns as fit, what the signs mean; the sheet's height."""
    top = sheet.bottom + 46
    columns = max(1, int(sheet.width // _COLUMN))
    entries = list(_entries(layout, colors))
    drawn = [_scale_bar(sheet, top)]
    first = top + 52
    for index, (sign, text) in enumerate(entries):
        x = _MARGIN + index % columns * _COLUMN
        y = first + index // columns * _ROW
        place = f"translate({number(x)} {number(y)})"
        shown = text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
        drawn.append(element("g", sign + label(shown, x=34, y=5, font_size=13), transform=place))
    rows = -(-len(entries) // columns)
    return drawn, first + rows * _ROW + _MARGIN / 2


_MOST_LETTERS = 30


def _entries(layout: Layout, colors: Iterable[str]) -> Iterator[tuple[str, str]]:
    for zone, fill in zip(layout.zones, colors, strict=True):
        swatch = element(
            "rect", x=2, y=-7, width=22, height=14, rx=2, fill=fill, fill_opacity=0.2, stroke=fill
        )
        yield swatch, _described(zone.code, zone.type, zone.temperature_class)
    box = {"x": 2, "y": -7, "width": 22, "height": 14, "fill": "#ffffff", "stroke": _STEEL}
    if layout.bays:
        yield element("rect", **box), "Bay"
    if any(level.golden for bay in layout.bays for level in bay.levels):
        yield element("rect", **box) + _golden_edge(2, 7, 22, 20), "Bay with a golden level"
    line = {"x1": 0.0, "y1": 0.0, "x2": 26.0, "y2": 0.0}
    band = element("line", **line, stroke=_AISLE, stroke_width=14)
    middle = element("line", **line, stroke=_LINE, stroke_dasharray="7 6")
    if any(not aisle.one_way for aisle in layout.aisles):
        yield band + middle, "Aisle"
    if any(aisle.one_way for aisle in layout.aisles):
        yield band + middle + _arrows(line, 26, 4), "Aisle, one way"
    if layout.points:
        yield element("circle", cx=13, cy=0, r=5, fill=_MARK), "Point"
    if layout.depot:
        yield element("g", _house(13, 1), transform="translate(3 0) scale(0.77)"), "Depot"


def _scale_bar(sheet: _Sheet, top: float) -> str:
    """Draw a bar of a round length, about a sixth of the sheet."""
    metres = sheet.width / sheet.scale / 6
    power = 10.0 ** math.floor(math.log10(metres))
    length = max(step * power for step in (1, 2, 5) if step * power <= metres)
    half = length * sheet.scale / 2
    box = {"y": top, "height": 7, "stroke": _INK, "stroke_width": 1}
    marks = "".join(
        label(f"{at:g}{unit}", x=_MARGIN + at * sheet.scale, y=top + 23, font_size=12,
              text_anchor="middle")
        for at, unit in ((0, ""), (length / 2, ""), (length, " m"))
    )  # fmt: skip
    return (
        element("rect", x=_MARGIN, width=half, fill=_INK, **box)
        + element("rect", x=_MARGIN + half, width=half, fill="#ffffff", **box)
        + marks
    )
