"""Text as glyphs at their places: fonts, directions, widths, and lines that fit.

Widths are in units of `UNITS_PER_EM` per em.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

import uharfbuzz as hb

from shared.warehouse.labels.direction import is_right_to_left, levels, visual_order
from shared.warehouse.labels.fonts import UNITS_PER_EM, Typeface, advance_of, font_of, typeface_for

POINT = 25.4 / 72
"""A point in millimetres."""
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
_MOST_CHARACTERS = 500
"""More than a line of A4 holds; no text costs more time than the lines that show it."""


@dataclass(frozen=True, slots=True)
class Glyph:
    """A glyph, and the text that it stands for; empty if it belongs to the glyph before."""

    number: int
    advance: int
    dx: int
    dy: int
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """Glyphs of one typeface, from left to right."""

    typeface: Typeface
    glyphs: Sequence[Glyph]

    @property
    def width(self) -> int:
        """Width of all glyphs."""
        return sum(glyph.advance for glyph in self.glyphs)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text as glyphs, from left to right."""

    runs: Sequence[Run]
    right_to_left: bool = False

    @property
    def width(self) -> int:
        """Width of the line."""
        return sum(run.width for run in self.runs)


def shape(text: str, *, bold: bool = False) -> Line:
    """Return a text as one line."""
    right_to_left = is_right_to_left(text)
    parts = list(_parts(text, levels(text, right_to_left=right_to_left), bold=bold))
    runs = [_run(part, typeface, level) for part, typeface, level in parts]
    order = visual_order([level for _, _, level in parts])
    return Line([runs[place] for place in order], right_to_left)


def _parts(text: str, found: Sequence[int], *, bold: bool) -> Iterator[tuple[str, Typeface, int]]:
    """Yield the parts of a text with one typeface and one level."""
    keys = list[tuple[Typeface, int]]()
    for char, level in zip(text, found, strict=True):
        typeface = typeface_for(char, bold=bold)
        if keys and unicodedata.combining(char):
            typeface = keys[-1][0]
        keys.append((typeface, level))
    start = 0
    for (typeface, level), same in groupby(keys):
        end = start + len(list(same))
        yield text[start:end], typeface, level
        start = end


def _run(text: str, typeface: Typeface, level: int) -> Run:
    buffer = hb.Buffer()
    buffer.add_str(text)
    buffer.guess_segment_properties()
    buffer.direction = "rtl" if level % 2 else "ltr"
    hb.shape(font_of(typeface), buffer)
    infos = buffer.glyph_infos
    ends = dict(pairwise([*sorted({info.cluster for info in infos}), len(text)]))
    seen, glyphs = set[int](), list[Glyph]()
    for info, place in zip(infos, buffer.glyph_positions, strict=True):
        stands_for = "" if info.cluster in seen else text[info.cluster : ends[info.cluster]]
        seen.add(info.cluster)
        if level % 2 and len(stands_for) == 1 and unicodedata.mirrored(stands_for):
            stands_for = ""  # the glyph is that of the opposite bracket
        glyphs.append(
            Glyph(info.codepoint, place.x_advance, place.x_offset, place.y_offset, stands_for)
        )
    return Run(typeface, glyphs)


# Lines that fit


def fit(text: str, width: float, *, bold: bool = False) -> Line:
    """Return a text as one line of at most `width`, with an ellipsis if it is longer."""
    if len(text) <= _MOST_CHARACTERS:
        line = shape(text, bold=bold)
        if line.width <= width:
            return line
    low, high = 0, min(len(text), _MOST_CHARACTERS)
    while low < high:  # the most characters that fit
        middle = (low + high + 1) // 2
        fits = shape(text[:middle].rstrip() + ELLIPSIS, bold=bold).width <= width
        low, high = (middle, high) if fits else (low, middle - 1)
    return shape(text[:low].rstrip() + ELLIPSIS, bold=bold)


def wrap(text: str, width: float, most: int, *, bold: bool = False) -> list[Line]:
    """Return a text in at most `most` lines of at most `width`; the last may end in an ellipsis.

    A text breaks at spaces and beside Chinese characters, a longer word anywhere.
    """
    lines, rest = list[Line](), " ".join(text.split())
    while rest and len(lines) < most - 1:
        cut = _longest(rest, width, bold=bold)
        lines.append(shape(rest[:cut].rstrip(), bold=bold))
        rest = rest[cut:].lstrip()
    return [*lines, fit(rest, width, bold=bold)] if rest else lines


def _longest(text: str, width: float, *, bold: bool) -> int:
    """Return after how many characters a text breaks, at least one.

    It adds the widths of single letters, which is much faster than to shape each part. Kerning
    changes little, and joined Arabic letters are narrower than single ones.
    """
    text = text[:_MOST_CHARACTERS]
    places, cut = list(accumulate(advance_of(char, bold=bold) for char in text)), 0
    for end in _breaks(text):
        if places[len(text[:end].rstrip()) - 1] > width:
            break
        cut = end
    return cut or max(1, bisect_right(places, width))


def _breaks(text: str) -> Iterator[int]:
    """Yield the places where a line may break, and the end."""
    for place in range(1, len(text)):
        before, after = text[place - 1], text[place]
        if before == " " or (_is_wide(before) and after != " ") or _is_wide(after):
            yield place
    yield len(text)


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) == "W" and unicodedata.category(char) == "Lo"


# Lines in their places


def text_width(units: float, size: float) -> float:
    """Return a width of text in millimetres, for a font size in points."""
    return units / UNITS_PER_EM * size * POINT


def units_of(width: float, size: float) -> float:
    """Return how much text of a font size has a width of so many millimetres."""
    return width / (size * POINT) * UNITS_PER_EM


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A text in up to `lines` lines of a width; (x, y) is the baseline of the first in mm."""

    text: str
    x: float
    y: float
    width: float
    size: float
    lines: int = 1
    bold: bool = False
    centered: bool = False

    @property
    def leading(self) -> float:
        """Distance of two baselines in millimetres."""
        return self.size * 0.44


def placed_lines(block: TextBlock) -> Iterator[tuple[Line, float, float]]:
    """Yield the lines of a text, each with the place of its left end and baseline in mm."""
    lines = wrap(block.text, units_of(block.width, block.size), block.lines, bold=block.bold)
    for at, line in enumerate(lines):
        free = block.width - text_width(line.width, block.size)
        shift = free / 2 if block.centered else (free if line.right_to_left else 0)
        yield line, block.x + shift, block.y + at * block.leading
