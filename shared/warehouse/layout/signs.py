"""The sheet of a drawn map, and the symbols that map and legend share."""

from dataclasses import dataclass

from shared.warehouse.layout.models import Layout
from shared.warehouse.layout.svg import element, number

INK, FAINT, LINE = "#1e293b", "#64748b", "#94a3b8"
AISLE, STEEL, GOLD, MARK = "#e2e8f0", "#475569", "#f59e0b", "#be123c"
MARGIN = 48.0
_LONG_SIDE = 1200.0
"""Length of the longer side of the floor, in pixels."""
_NARROWEST = 640.0
"""Minimum width of heading and legend, in pixels."""
_HEADING = 76.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """Scale and place of the floor on the sheet. y of the sheet runs downwards."""

    scale: float
    """Pixels per metre."""
    width: float
    left: float
    bottom: float

    @classmethod
    def of(cls, layout: Layout) -> "Sheet":
        """Return the sheet for a map."""
        scale = _LONG_SIDE / max(float(layout.width_m), float(layout.depth_m))
        floor = float(layout.width_m) * scale
        width = max(floor, _NARROWEST)
        bottom = MARGIN + _HEADING + float(layout.depth_m) * scale
        return cls(scale, width, MARGIN + (width - floor) / 2, bottom)

    def x(self, metres: object) -> float:
        """Convert metres along the width of the floor into pixels from the left."""
        return self.left + float(str(metres)) * self.scale

    def y(self, metres: object) -> float:
        """Convert metres along the depth of the floor into pixels from the top."""
        return self.bottom - float(str(metres)) * self.scale


def arrows(line: dict[str, float], length: float, size: float) -> str:
    """Return arrows along a line, one about every 160 pixels."""
    ahead = ((line["x2"] - line["x1"]) / length, (line["y2"] - line["y1"]) / length)
    amount = max(1, round(length / 160))
    path = ""
    for index in range(amount):
        way = length * (index + 0.5) / amount
        x, y = line["x1"] + ahead[0] * way, line["y1"] + ahead[1] * way
        back = (x - ahead[0] * size, y - ahead[1] * size)
        side = (-ahead[1] * size * 0.75, ahead[0] * size * 0.75)
        corners = (
            (back[0] + side[0], back[1] + side[1]),
            (x + ahead[0] * size, y + ahead[1] * size),
            (back[0] - side[0], back[1] - side[1]),
        )
        path += "M" + "L".join(f"{number(a)} {number(b)}" for a, b in corners)
    return element("path", d=path, fill="none", stroke=FAINT, stroke_width=size / 3)


def golden_edge(x: float, y: float, width: float, depth: float) -> str:
    """Return the mark of a bay with a golden level; x and y are its lower left corner."""
    thick = min(width, depth) * 0.14
    return element("rect", x=x, y=y - thick, width=width, height=thick, fill=GOLD)


def depot_symbol(x: float, y: float) -> str:
    """Return the symbol of the depot."""
    path = f"M{number(x - 11)} {number(y - 1)}l11 -11 11 11h-3v11h-16v-11z"
    return element("path", d=path, fill=INK, stroke="#ffffff", stroke_width=1.5)


def described(*parts: str | None) -> str:
    """Join the parts that are present into one line."""
    return " · ".join(part for part in parts if part)


def counted(amount: int, noun: str) -> str:
    """Return an amount with its noun, such as `1 bay` or `2 bays`."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"
