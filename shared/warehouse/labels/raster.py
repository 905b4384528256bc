"""A line of text as a bitmap, for printers that lack the fonts of its letters."""

from dataclasses import dataclass

import uharfbuzz as hb

from shared.warehouse.labels.fonts import UNITS_PER_EM, font_of
from shared.warehouse.labels.shaping import Line

_HALF = 128
"""A dot is black if the letters cover at least half of it (A8 has 0 to 255)."""


@dataclass(frozen=True, slots=True)
class Bitmap:
    """Rows of dots from top to bottom, eight per byte; (left, top) is its corner from the baseline.

    `top` is the number of dots above the baseline.
    """

    left: int
    top: int
    rows: tuple[bytes, ...]


def bitmap_of(line: Line, dots_per_em: float) -> Bitmap:
    """Return a line as a bitmap."""
    scale, pen = dots_per_em / UNITS_PER_EM, 0
    canvas = hb.RasterDraw()
    for run in line.runs:
        font = font_of(run.typeface)
        for glyph in run.glyphs:
            x, y = (pen + glyph.dx) * scale, glyph.dy * scale
            canvas.transform = (scale, 0, 0, scale, x, y)
            canvas.draw_glyph(font, glyph.number)
            pen += glyph.advance
    image = canvas.render()
    extents, dots = image.extents, bytes(image.buffer)
    rows = [
        _packed(dots[row * extents.stride :][: extents.width])
        for row in range(extents.height - 1, -1, -1)
    ]
    return Bitmap(extents.x_origin, extents.y_origin + extents.height, tuple(rows))


def _packed(row: bytes) -> bytes:
    bits = "".join("1" if dot >= _HALF else "0" for dot in row)
    bits += "0" * (-len(bits) % 8)
    return int(bits or "0", 2).to_bytes(len(bits) // 8, "big")
