"""A PDF document of text and rectangles, the same bytes for the same content.

Lengths are in millimetres from the upper left corner of the page, font sizes in points. Each
typeface is embedded with the glyphs that the document uses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import pydyf
import uharfbuzz as hb

from shared.warehouse.labels.fonts import UNITS_PER_EM, Typeface, face_of, font_of
from shared.warehouse.labels.shaping import POINT, Line, Run, text_width

_HAIRLINE = 0.2
_SHAPING_TABLES = ("GSUB", "GPOS", "GDEF", "BASE", "name", "vhea", "vmtx", "VORG", "STAT", "DSIG")
"""Tables that a text needs only before it is embedded."""
_FIXED_WIDTH_FLAGS = 4
"""Flags of a font descriptor: a symbolic font, whose codes are those of its own glyphs."""


@dataclass(frozen=True, slots=True)
class _Text:
    x: float
    y: float
    size: float
    run: Run


@dataclass(slots=True)
class _Page:
    texts: list[_Text] = field(default_factory=list)
    rectangles: list[tuple[float, float, float, float]] = field(default_factory=list)


class PdfDocument:
    """The pages of a document of one size."""

    def __init__(self, title: str, width: float, height: float) -> None:
        self._title = title
        self._width, self._height = width, height
        self._pages: list[_Page] = []

    def add_page(self) -> None:
        """Begin a page."""
        self._pages.append(_Page())

    @property
    def page_count(self) -> int:
        """How many pages have begun."""
        return len(self._pages)

    def rectangle(self, x: float, y: float, width: float, height: float) -> None:
        """Fill a rectangle whose upper left corner is at (x, y)."""
        self._pages[-1].rectangles.append((x, y, width, height))

    def rule(self, x: float, y: float, width: float) -> None:
        """Draw a thin horizontal line."""
        self.rectangle(x, y, width, _HAIRLINE)

    def text(self, x: float, y: float, size: float, line: Line, *, page: int = -1) -> None:
        """Write a line whose left end and baseline are at (x, y)."""
        for run in line.runs:
            self._pages[page].texts.append(_Text(x, y, size, run))
            x += text_width(run.width, size)

    def data(self) -> bytes:
        """Return the document."""
        pdf, fonts = pydyf.PDF(), self._fonts()
        pdf.info["Title"] = pydyf.String(self._title)
        for font in fonts.values():
            font.add_to(pdf)
        named = {font.name: font.reference for font in fonts.values()}
        resources = pydyf.Dictionary({"Font": pydyf.Dictionary(named)})
        size = [0, 0, _points(self._width), _points(self._height)]
        for page in self._pages:
            stream = pydyf.Stream([self._content(page, fonts)], compress=True)
            pdf.add_object(stream)
            pdf.add_page(
                pydyf.Dictionary(
                    {
                        "Type": "/Page",
                        "Parent": pdf.pages.reference,
                        "MediaBox": pydyf.Array(size),
                        "Resources": resources,
                        "Contents": stream.reference,
                    }
                )
            )
        output = BytesIO()
        pdf.write(output)
        return output.getvalue()

    def _fonts(self) -> Mapping[Typeface, "_EmbeddedFont"]:
        used: dict[Typeface, dict[int, str]] = {}
        for page in self._pages:
            for text in page.texts:
                glyphs = used.setdefault(text.run.typeface, {})
                for glyph in text.run.glyphs:
                    glyphs[glyph.number] = glyphs.get(glyph.number) or glyph.text
        ordered = sorted(used, key=lambda one: (one.number, one.bold))
        return {one: _EmbeddedFont(f"F{at}", one, used[one]) for at, one in enumerate(ordered)}

    def _content(self, page: _Page, fonts: Mapping[Typeface, "_EmbeddedFont"]) -> bytes:
        commands = [
            f"{_points(x)} {_points(self._height - y - height)}"
            f" {_points(width)} {_points(height)} re"
            for x, y, width, height in page.rectangles
        ]
        commands += ["f"] if commands else []
        commands.append("BT")
        for text in page.texts:
            font = fonts[text.run.typeface]
            commands.append(f"/{font.name} {text.size:g} Tf")
            commands += font.show(text, _points(text.x), _points(self._height - text.y))
        commands.append("ET")
        return "\n".join(commands).encode()


def _points(millimetres: float) -> float:
    rounded = round(millimetres / POINT, 3)
    return int(rounded) if rounded == int(rounded) else rounded


class _EmbeddedFont:
    """A typeface with the glyphs that a document uses; a code is the number of a glyph in it."""

    def __init__(self, name: str, typeface: Typeface, texts: Mapping[int, str]) -> None:
        self.name = name
        self.reference = b""
        self._typeface = typeface
        wanted = hb.SubsetInput()
        wanted.glyph_set.update(texts.keys())
        wanted.drop_table_tag_set.update(int.from_bytes(tag.encode()) for tag in _SHAPING_TABLES)
        # The codes of a text are then also the numbers of the glyphs in a font of type CFF.
        wanted.flags |= hb.SubsetFlags.CFF_IDENTITY_CHARSET | hb.SubsetFlags.NO_HINTING
        face = face_of(typeface.number)
        for axis, value in typeface.axes.items():
            wanted.pin_axis_location(face, axis, value)
        plan = hb.SubsetPlan(face, wanted)
        self._codes: Mapping[int, int] = dict(plan.old_to_new_glyph_mapping)
        self._face = plan.execute()
        self._texts = {self._codes[old]: text for old, text in texts.items()}
        font = font_of(typeface)
        self._widths = {new: int(font.get_glyph_h_advance(old)) for old, new in self._codes.items()}

    def show(self, text: _Text, x: float, y: float) -> list[str]:
        """Return the commands that show a run with its left end at (x, y) in points."""
        commands, shown = list[str](), list[str]()
        place, start = 0, 0
        height = 0

        def flush() -> None:
            if shown:
                at = x + start / UNITS_PER_EM * text.size
                up = y + height / UNITS_PER_EM * text.size
                commands.append(f"1 0 0 1 {at:.3f} {up:.3f} Tm [{''.join(shown)}] TJ")
                shown.clear()

        pen = 0
        for glyph in text.run.glyphs:
            code = self._codes[glyph.number]
            left = place + glyph.dx
            if not shown or glyph.dy != height:
                flush()
                start, height, pen = left, glyph.dy, left
            elif pen != left:
                shown.append(f"{pen - left}")
            shown.append(f"<{code:04x}>")
            pen = left + self._widths[code]
            place += glyph.advance
        flush()
        return commands

    def add_to(self, pdf: Any) -> None:
        """Add the font with all its objects to a document."""
        is_cff = "CFF " in self._face.table_tags
        if is_cff:
            data = self._face.reference_table("CFF ").data
            extra: dict[str, Any] = {"Subtype": "/CIDFontType0C"}
        else:
            data = self._face.blob.data
            extra = {"Length1": len(data)}
        file = pydyf.Stream([data], extra, compress=True)
        to_unicode = pydyf.Stream([_to_unicode(self._texts)], compress=True)
        pdf.add_object(file)
        pdf.add_object(to_unicode)
        name = f"/{_tag(self._typeface)}+Noto{self._typeface.number}"
        extents = font_of(self._typeface).get_font_extents("ltr")
        descriptor = pydyf.Dictionary(
            {
                "Type": "/FontDescriptor",
                "FontName": name,
                "Flags": _FIXED_WIDTH_FLAGS,
                "FontBBox": pydyf.Array([-1000, extents.descender, 3000, extents.ascender]),
                "ItalicAngle": 0,
                "Ascent": extents.ascender,
                "Descent": extents.descender,
                "CapHeight": 714,
                "StemV": 80,
                "FontFile3" if is_cff else "FontFile2": file.reference,
            }
        )
        pdf.add_object(descriptor)
        values = {
            "Type": "/Font",
            "Subtype": "/CIDFontType0" if is_cff else "/CIDFontType2",
            "BaseFont": name,
            "CIDSystemInfo": pydyf.Dictionary(
                {
                    "Registry": pydyf.String("Adobe"),
                    "Ordering": pydyf.String("Identity"),
                    "Supplement": 0,
                }
            ),
            "FontDescriptor": descriptor.reference,
            "W": pydyf.Array(_widths_array(self._widths)),
        }
        if not is_cff:
            values["CIDToGIDMap"] = "/Identity"
        descendant = pydyf.Dictionary(values)
        pdf.add_object(descendant)
        font = pydyf.Dictionary(
            {
                "Type": "/Font",
                "Subtype": "/Type0",
                "BaseFont": name,
                "Encoding": "/Identity-H",
                "DescendantFonts": pydyf.Array([descendant.reference]),
                "ToUnicode": to_unicode.reference,
            }
        )
        pdf.add_object(font)
        self.reference = font.reference


def _tag(typeface: Typeface) -> str:
    """Return the six letters before the name of a subset."""
    return "STOW" + "ABC"[typeface.number] + ("B" if typeface.bold else "R")


def _widths_array(widths: Mapping[int, int]) -> Sequence[Any]:
    return [part for code, width in sorted(widths.items()) for part in (code, pydyf.Array([width]))]


_CMAP = """/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <ffff>
endcodespacerange
{entries}
endcmap
CMapName currentdict /CMap defineresource pop
end
end"""
_NOTHING = "\N{ZERO WIDTH SPACE}"
"""The text of a glyph that belongs to the one before, such as a mark."""
_MAX_ENTRIES = 100
"""Most entries of one block of a character map."""


def _to_unicode(texts: Mapping[int, str]) -> bytes:
    """Return the map by which a viewer copies and searches text."""
    entries = [
        f"<{code:04x}> <{(text or _NOTHING).encode('utf-16-be').hex()}>"
        for code, text in sorted(texts.items())
    ]
    blocks = [entries[at : at + _MAX_ENTRIES] for at in range(0, len(entries), _MAX_ENTRIES)]
    lines = [
        line for block in blocks for line in (f"{len(block)} beginbfchar", *block, "endbfchar")
    ]
    return _CMAP.format(entries="\n".join(lines)).encode()
