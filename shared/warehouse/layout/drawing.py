"""The map of a warehouse as a drawing (SVG).

The drawing has attributes only, because the Content-Security-Policy of the response blocks style
sheets and scripts.
"""

import math

from shared.kernel.fields import plain
from shared.warehouse.layout.legend import legend
from shared.warehouse.layout.models import Aisle, Bay, Layout, MapPoint, Zone
from shared.warehouse.layout.signs import (
    AISLE,
    FAINT,
    INK,
    LINE,
    MARGIN,
    MARK,
    STEEL,
    Sheet,
    arrows,
    counted,
    depot_symbol,
    described,
    golden_edge,
)
from shared.warehouse.layout.svg import color, element, haloed, label, number, text_of

_MOST_GRID_LINES = 200
_PALETTE = (
    "#2563eb", "#d97706", "#059669", "#9333ea", "#dc2626", "#0891b2", "#65a30d", "#db2777",
)  # fmt: skip
_PAPER = "#f8fafc"
_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def draw(layout: Layout, warehouse_name: str) -> str:
    """Return a published map as SVG, with legend and scale bar.

    It is drawn for each request, so that no stored file has to follow the map.
    """
    sheet = Sheet.of(layout)
    colors = [
        color(zone.color, _PALETTE[index % len(_PALETTE)])
        for index, zone in enumerate(layout.zones)
    ]
    foot, height = legend(sheet, layout, colors)
    title = f"{layout.warehouse_code} · {warehouse_name}"
    drawn = [
        element("title", text_of(title)),
        element("rect", width="100%", height="100%", fill=_PAPER),
        _heading(sheet, layout, title),
        _floor(sheet, layout),
        *(_zone(sheet, zone, fill) for zone, fill in zip(layout.zones, colors, strict=True)),
        *(_aisle(sheet, aisle) for aisle in layout.aisles),
        *(_bay(sheet, bay) for bay in layout.bays),
        # Names come last, so that nothing covers them.
        *(_aisle_name(sheet, aisle) for aisle in layout.aisles),
        *(_zone_name(sheet, zone, fill) for zone, fill in zip(layout.zones, colors, strict=True)),
        *(_point(sheet, point) for point in layout.points),
        _depot(sheet, layout),
        *foot,
    ]
    size = (sheet.width + 2 * MARGIN, height)
    return element(
        "svg",
        "\n".join(drawn),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(size[0])} {number(size[1])}",
        width=size[0],
        height=size[1],
        role="img",
        font_family=_FONT,
        fill=INK,
    )


def _heading(sheet: Sheet, layout: Layout, title: str) -> str:
    published = (layout.published_at or "")[:16].replace("T", " ")
    facts = (
        f"Version {layout.version}, published {published} UTC",
        f"{plain(layout.width_m)} \N{MULTIPLICATION SIGN} {plain(layout.depth_m)} m",
        counted(len(layout.bays), "bay"),
        counted(len(layout.aisles), "aisle"),
    )
    room = max(8.0, min(26.0, 1.7 * sheet.width / max(len(title), 1)))
    return label(title, x=MARGIN, y=MARGIN + 22, font_size=room, font_weight=650) + label(
        " · ".join(facts), x=MARGIN, y=MARGIN + 46, font_size=14, fill=FAINT
    )


def _floor(sheet: Sheet, layout: Layout) -> str:
    left, top = sheet.x(0), sheet.y(layout.depth_m)
    right, bottom = sheet.x(layout.width_m), sheet.y(0)
    box = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    floor = element("rect", **box, fill="#ffffff", stroke=STEEL, stroke_width=2.5)
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
    return floor + element("path", d=path, stroke=AISLE, stroke_width=0.6, fill="none")


def _zone(sheet: Sheet, zone: Zone, fill: str) -> str:
    points = " ".join(f"{number(sheet.x(x))},{number(sheet.y(y))}" for x, y in zone.polygon)
    return element(
        "polygon",
        element(
            "title", text_of(described(f"Zone {zone.code}", zone.type, zone.temperature_class))
        ),
        points=points,
        fill=fill,
        fill_opacity=0.13,
        stroke=fill,
        stroke_width=1.6,
        stroke_linejoin="round",
    )


def _zone_name(sheet: Sheet, zone: Zone, fill: str) -> str:
    """Return the name in the upper left corner of the zone, not wider than the zone."""
    xs, ys = zip(*zone.polygon, strict=True)
    top = max(ys)
    left = min(x for x, y in zone.polygon if y == top)
    name = f"{zone.code} · {zone.type}" if zone.type else zone.code
    room = sheet.x(max(xs)) - sheet.x(left)
    size = min(15.0, max(3.0, (room - 10) / (0.64 * len(name))))
    return haloed(
        name,
        x=sheet.x(left) + 0.5 * size,
        y=sheet.y(top) + 1.25 * size,
        font_size=size,
        font_weight=650,
        fill=fill,
    )


def _aisle(sheet: Sheet, aisle: Aisle) -> str:
    x1, y1, x2, y2 = _ends(sheet, aisle)
    line = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    width = float(aisle.width_m) * sheet.scale if aisle.width_m else 3.0
    name = described(f"Aisle {aisle.number}", aisle.kind, "one way" if aisle.one_way else None)
    floor = element(
        "line",
        element("title", text_of(name)),
        **line,
        stroke=AISLE,
        stroke_width=width,
        stroke_opacity=0.85,
    )
    middle = element("line", **line, stroke=LINE, stroke_width=1, stroke_dasharray="7 6")
    length = math.hypot(x2 - x1, y2 - y1)
    if not aisle.one_way or not length:
        return floor + middle
    return floor + middle + arrows(line, length, min(max(width / 5, 3.0), 9.0))


def _aisle_name(sheet: Sheet, aisle: Aisle) -> str:
    x1, y1, x2, y2 = _ends(sheet, aisle)
    name = str(aisle.number)
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    radius = min(13.0, max(4.0, float(aisle.width_m or 2) * sheet.scale * 0.36))
    at = (x1 + (x2 - x1) / length * radius, y1 + (y2 - y1) / length * radius)
    size = min(radius * 1.15, 2.6 * radius / len(name))
    return element("circle", cx=at[0], cy=at[1], r=radius, fill=INK) + label(
        name,
        x=at[0],
        y=at[1] + 0.36 * size,
        font_size=size,
        font_weight=650,
        fill="#ffffff",
        text_anchor="middle",
    )


def _ends(sheet: Sheet, aisle: Aisle) -> tuple[float, float, float, float]:
    return sheet.x(aisle.x1), sheet.y(aisle.y1), sheet.x(aisle.x2), sheet.y(aisle.y2)


def _bay(sheet: Sheet, bay: Bay) -> str:
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
            stroke=STEEL,
            stroke_width=min(1.0, depth / 8),
        )
        + (golden_edge(x, y, width, depth) if golden else "")
        + label(
            name,
            x=middle[0],
            y=middle[1] + 0.36 * size,
            font_size=size,
            text_anchor="middle",
            **_turned(90 if upright else 0, *middle),
        ),
        **_turned(float(bay.rotation), x, y),
    )


def _turned(degrees: float, x: float, y: float) -> dict[str, str]:
    """Return the attribute that rotates an element counterclockwise about (x, y)."""
    if not degrees:
        return {}
    return {"transform": f"rotate({number(-degrees)} {number(x)} {number(y)})"}


def _bay_facts(bay: Bay) -> str:
    height = max((level.z_from_m + level.height_m for level in bay.levels), default=None)
    return described(
        f"Bay {bay.number}",
        None if bay.aisle is None else f"aisle {bay.aisle}",
        bay.side,
        bay.rack_type,
        counted(len(bay.levels), "level") if bay.levels else None,
        None if height is None else f"up to {plain(height)} m",
    )


def _point(sheet: Sheet, point: MapPoint) -> str:
    x, y = sheet.x(point.x), sheet.y(point.y)
    name = described(point.code, point.kind)
    mark = element(
        "circle",
        element("title", text_of(name)),
        cx=x,
        cy=y,
        r=5,
        fill=MARK,
        stroke="#ffffff",
        stroke_width=1.5,
    )
    return mark + haloed(point.code, x=x, y=y - 9, font_size=11, fill=MARK, text_anchor="middle")


def _depot(sheet: Sheet, layout: Layout) -> str:
    if not layout.depot:
        return ""
    x, y = sheet.x(layout.depot.x), sheet.y(layout.depot.y)
    return depot_symbol(x, y) + haloed(
        "Depot", x=x, y=y + 24, font_size=12, font_weight=650, text_anchor="middle"
    )
