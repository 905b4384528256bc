"""The bottom of a drawn map: scale bar and legend."""

import math
from collections.abc import Iterable, Iterator, Sequence

from shared.warehouse.layout.models import Layout
from shared.warehouse.layout.signs import (
    AISLE,
    INK,
    LINE,
    MARGIN,
    MARK,
    STEEL,
    Sheet,
    arrows,
    depot_symbol,
    described,
    golden_edge,
)
from shared.warehouse.layout.svg import element, label, number

_ROW, _COLUMN = 24.0, 250.0
_MOST_LETTERS = 30
"""Maximum length of an entry; longer texts are cut off."""


def legend(sheet: Sheet, layout: Layout, colors: Sequence[str]) -> tuple[list[str], float]:
    """Draw the scale bar and the legend; return the elements and the height of the sheet."""
    top = sheet.bottom + 46
    columns = max(1, int(sheet.width // _COLUMN))
    entries = list(_entries(layout, colors))
    drawn = [_scale_bar(sheet, top)]
    first = top + 52
    for index, (symbol, text) in enumerate(entries):
        x = MARGIN + index % columns * _COLUMN
        y = first + index // columns * _ROW
        place = f"translate({number(x)} {number(y)})"
        shown = text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
        drawn.append(element("g", symbol + label(shown, x=34, y=5, font_size=13), transform=place))
    rows = -(-len(entries) // columns)
    return drawn, first + rows * _ROW + MARGIN / 2


def _entries(layout: Layout, colors: Iterable[str]) -> Iterator[tuple[str, str]]:
    for zone, fill in zip(layout.zones, colors, strict=True):
        swatch = element(
            "rect", x=2, y=-7, width=22, height=14, rx=2, fill=fill, fill_opacity=0.2, stroke=fill
        )
        yield swatch, described(zone.code, zone.type, zone.temperature_class)
    box = {"x": 2, "y": -7, "width": 22, "height": 14, "fill": "#ffffff", "stroke": STEEL}
    if layout.bays:
        yield element("rect", **box), "Bay"
    if any(level.golden for bay in layout.bays for level in bay.levels):
        yield element("rect", **box) + golden_edge(2, 7, 22, 20), "Bay with a golden level"
    line = {"x1": 0.0, "y1": 0.0, "x2": 26.0, "y2": 0.0}
    band = element("line", **line, stroke=AISLE, stroke_width=14)
    middle = element("line", **line, stroke=LINE, stroke_dasharray="7 6")
    if any(not aisle.one_way for aisle in layout.aisles):
        yield band + middle, "Aisle"
    if any(aisle.one_way for aisle in layout.aisles):
        yield band + middle + arrows(line, 26, 4), "Aisle, one way"
    if layout.points:
        yield element("circle", cx=13, cy=0, r=5, fill=MARK), "Point"
    if layout.depot:
        yield element("g", depot_symbol(13, 1), transform="translate(3 0) scale(0.77)"), "Depot"


def _scale_bar(sheet: Sheet, top: float) -> str:
    """Return a bar of a round length, at most a quarter of the sheet."""
    metres = sheet.width / sheet.scale / 4
    power = 10.0 ** math.floor(math.log10(metres))
    length = max(step * power for step in (1, 2, 5) if step * power <= metres)
    half = length * sheet.scale / 2
    box = {"y": top, "height": 7, "stroke": INK, "stroke_width": 1}
    marks = "".join(
        label(f"{at:g}{unit}", x=MARGIN + at * sheet.scale, y=top + 23, font_size=12,
              text_anchor="middle")
        for at, unit in ((0, ""), (length / 2, ""), (length, " m"))
    )  # fmt: skip
    return (
        element("rect", x=MARGIN, width=half, fill=INK, **box)
        + element("rect", x=MARGIN + half, width=half, fill="#ffffff", **box)
        + marks
    )
