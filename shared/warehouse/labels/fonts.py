"""The fonts of labels and slips: Noto Sans for Latin, Greek, Cyrillic, Arabic and Chinese text.

A font is read at its first use and stays open. Most texts need the first one only.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import Any

import uharfbuzz as hb

UNITS_PER_EM = 1000
"""Units per em of all fonts, in which advances and widths are given."""
_BOLD, _REGULAR = 700, 400
_CACHED = 4_096
"""Characters whose font and width are remembered."""


@dataclass(frozen=True, slots=True)
class FontFile:
    """A file of a font package."""

    package: str
    path: str
    is_variable: bool
    """Whether it has the axis of weights; another one has no bold."""


FONTS = (
    FontFile("fontpkg_noto_sans", "files/NotoSans[wdth,wght].ttf", is_variable=True),
    FontFile("fontpkg_noto_sans_arabic", "files/NotoSansArabic[wdth,wght].ttf", is_variable=True),
    FontFile("pylopdf_fonts_zh_cn", "NotoSansSC-Regular.otf", is_variable=False),
)
"""The fonts, in the order in which they are asked for a character."""


@dataclass(frozen=True, slots=True)
class Typeface:
    """A font in one weight; `number` is its place in FONTS."""

    number: int
    bold: bool

    @property
    def axes(self) -> dict[str, int]:
        """Place on the axes of a variable font; none of another one."""
        weight = _BOLD if self.bold else _REGULAR
        return {"wght": weight, "wdth": 100} if FONTS[self.number].is_variable else {}


@cache
def face_of(number: int) -> Any:
    """Return the opened font with a number."""
    font = FONTS[number]
    with as_file(files(font.package) / font.path) as path:
        face = hb.Face(hb.Blob.from_file_path(path))
    assert face.upem == UNITS_PER_EM  # noqa: S101 - the fonts are fixed
    return face


@cache
def font_of(typeface: Typeface) -> Any:
    """Return the font of a typeface for shaping."""
    font = hb.Font(face_of(typeface.number))
    if typeface.axes:
        font.set_variations(typeface.axes)
    return font


@lru_cache(_CACHED)
def typeface_for(char: str, *, bold: bool) -> Typeface:
    """Return the first typeface that has a character; the first one of all if none has it."""
    for number, font in enumerate(FONTS):
        typeface = Typeface(number, bold=bold and font.is_variable)
        if font_of(typeface).get_nominal_glyph(ord(char)):
            return typeface
    return Typeface(0, bold=bold)


@lru_cache(_CACHED)
def advance_of(char: str, *, bold: bool) -> int:
    """Return the width of a single character."""
    font = font_of(typeface_for(char, bold=bold))
    return int(font.get_glyph_h_advance(font.get_nominal_glyph(ord(char)) or 0))
