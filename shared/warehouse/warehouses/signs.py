"""The paper a map is drawn on, and the signs that map and legend share."""

from dataclasses import dataclass

from shared.warehouse.warehouses.layout_models import Layout
from shared.warehouse.warehouses.svg import element, number

INK, FAINT, LINE = "#1e293b", "#64748b", "#94a3b8"
AISLE, STEEL, GOLD, MARK = "#e2e8f0", "#475569", "#f59e0b", "#be123c"
MARGIN = 48.0
_LONG_SIDE = 1200.0
"""Pixels of the floor's longer side."""
_NARROWEST = 640.0
"""Pixels that heading and legend need."""
_HEADING = 76.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """Where the floor lies on the paper, whose y runs downwards."""

    scale: float
    """Pixels per metre."""
    width: float
    left: float
    bottom: float

    @classmethod
    def of(cls, layout: Layout) -> "Sheet":
        """Choose the scale and the margins."""
        scale = _LONG_SIDE / max(float(layout.width_m), float(layout.depth_m))
        floor = float(layout.width_m) * scale
        width = max(floor, _NARROWEST)
        bottom = MARGIN + _HEADING + float(layout.depth_m) * scale
        return cls(scale, width, MARGIN + (width - floor) / 2, bottom)

    def x(self, metres: object) -> float:
        """Place metres along the floor's width, in pixels from the left."""
        return self.left + float(str(metres)) * self.scale

    def y(self, metres: object) -> float:
        """Place metres along the floor's depth, in pixels from the top."""
        return self.bottom - float(str(metres)) * self.scale


def arrows(line: dict[str, float], length: float, size: float) -> str:
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
    return element("path", d=path, fill="none", stroke=FAINT, stroke_width=size / 3)


def golden_edge(x: float, y: float, width: float, depth: float) -> str:
    """Mark a bay that has a golden level; x and y are its lower left corner."""
    thick = min(width, depth) * 0.14
    return element("rect", x=x, y=y - thick, width=width, height=thick, fill=GOLD)


def house(x: float, y: float) -> str:
    """Draw the sign of the depot."""
    path = f"M{number(x - 11)} {number(y - 1)}l11 -11 11 11h-3v11h-16v-11z"
    return element("path", d=path, fill=INK, stroke="#ffffff", stroke_width=1.5)


def described(*parts: str | None) -> str:
    """Put what is known of something into one line."""
    return " · ".join(part for part in parts if part)


def counted(amount: int, noun: str) -> str:
    """Write a number of things."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"
