"""Writes the normalized copy of a workbook: its sheet, strings and number formats."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import IO
from zipfile import ZipFile

from shared.kernel.spreadsheets.number_formats import format_of_cells
from shared.kernel.spreadsheets.shared_strings_normalizer import SharedStringsNormalizer
from shared.kernel.spreadsheets.sheet_normalizer import SheetNormalizer
from shared.kernel.spreadsheets.table import MergedRange, UnreadableFile
from shared.kernel.spreadsheets.xlsx_package import XlsxPackage, for_each_element
from shared.kernel.spreadsheets.zip_archive import ZipArchive

_PREFIXED_ROOT = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*\?>\s*)?<([A-Za-z_][\w.-]{0,30}):")
_MAX_TAG_START_BYTES = 40
"""Bytes at the end of a block that may be the start of a prefixed tag."""


def strip_namespace_prefix(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the XML of a part without the prefix of its root element, wherever it occurs.

    Some programs write one before every element: <x:row> is <row>. A part whose root has no prefix
    is unchanged. One with a prefix is refused if it has CDATA sections, in which tags are text.
    """
    opening, held, is_first = b"", b"", True
    for block in blocks:
        if is_first and (root := _PREFIXED_ROOT.match(block)):
            opening = b"<" + root[1] + b":"
        is_first = False
        if not opening:
            yield block
            continue
        whole = held + block
        if b"<![CDATA[" in whole:
            raise UnreadableFile(
                "The workbook is written in an unusual way. Save it in Excel again."
            )
        # The block may end within a tag.
        end = whole.rfind(b"<", -_MAX_TAG_START_BYTES)
        end = len(whole) if end < 0 else end
        held = whole[end:]
        yield _without_prefix(whole[:end], opening)
    yield _without_prefix(held, opening)


def _without_prefix(xml: bytes, opening: bytes) -> bytes:
    return xml.replace(opening, b"<").replace(b"</" + opening[1:], b"</") if opening else xml


MAX_STYLES_BYTES = 8 << 20
"""Size of the part that contains the styles."""
_MAX_STYLES = 65_490
"""As in Excel."""
_IS_FORMAT = re.compile(r"[0-9]{1,9}").fullmatch


def normalized_styles(content: bytes) -> tuple[bytes, Mapping[int, str]]:
    """Return the XML of a workbook's styles: only the formats that tell dates from numbers.

    The second value has the formats of the styles whose numbers may not be shown as their values.
    """
    formats: list[str] = []
    styles: list[str] = []
    codes: dict[int, str] = {}
    numbers: list[str] = []

    def handle(parent: str, tag: str, attributes: dict[str, str]) -> None:
        number = attributes.get("numFmtId", "0")
        if (parent, tag) == ("cellXfs", "xf"):
            styles.append(f'<xf numFmtId="{escape(number)}"/>')
            numbers.append(number)
        elif (parent, tag) == ("numFmts", "numFmt"):
            code = attributes.get("formatCode", "")
            formats.append(f'<numFmt numFmtId="{escape(number)}" formatCode="{escape(code)}"/>')
            if _IS_FORMAT(number):
                codes[int(number)] = code

    for_each_element(content, handle)
    if len(styles) > _MAX_STYLES or len(formats) > _MAX_STYLES:
        raise UnreadableFile(
            f"The workbook has more than {_MAX_STYLES} cell styles. Save the table as .csv."
        )
    xml = (
        f"<styleSheet><numFmts>{''.join(formats)}</numFmts>"
        f"<cellXfs>{''.join(styles)}</cellXfs></styleSheet>"
    )
    formats_by_style = {
        style: code
        for style, number in enumerate(numbers)
        if _IS_FORMAT(number) and (code := format_of_cells(int(number), codes))
    }
    return xml.encode(), formats_by_style


_SMALL_SHEET_BYTES = 1 << 18
"""Size of the small sheets into which the rows are split, as XML."""
_SMALL_SHEET_TEXT_BYTES = 32 << 20
"""Size of the texts to which the cells of a small sheet refer. Every reference to a shared string
becomes a separate text when the sheet is read."""
_MIN_CELL_BYTES = len('<c r="A1" t="s"><v>0</v></c>')

_SHEET_START = b"<worksheet><mergeCells/><sheetData>"
"""python-calamine reads a sheet a second time to find its merged cells, and stops at their element.
The empty element at the start ends this second reading at once."""
_SHEET_END = b"</sheetData></worksheet>"
_RELATIONSHIP_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


@dataclass(frozen=True, slots=True)
class NormalizedWorkbook:
    """The result of the normalization.

    `sheets` is the number of small sheets, which contain the rows one after the other, each under
    its original number. `formats` has the number formats of the styles whose cells are marked. The
    other attributes are those of `SheetNormalizer`.
    """

    sheets: int
    has_marked_cells: bool
    formats: Mapping[int, str]
    formulas: Sequence[str]
    merged_at_top: Sequence[MergedRange]
    merged_below: Sequence[MergedRange]


def write_normalized_workbook(
    archive: ZipArchive, package: XlsxPackage, file: IO[bytes]
) -> NormalizedWorkbook:
    """Write the normalized copy of a workbook.

    Args:
        archive: The uploaded workbook. All its members are decompressed, so that all are
            checked.
        package: The parts that are copied.
        file: The file to write. It is not compressed, because it is read only once.

    Raises:
        UnreadableFile: The workbook is damaged or exceeds a limit.
    """
    needed = {path.lower() for path in (package.sheet, package.strings, package.styles) if path}
    for path in archive.paths:
        if path not in needed:
            for _ in archive.blocks(path):
                pass
    with ZipFile(file, "w") as parts:
        formats: Mapping[int, str] = {}
        if package.styles:
            styles, formats = normalized_styles(archive.read(package.styles, MAX_STYLES_BYTES))
            parts.writestr("xl/styles.xml", styles)
        strings = _write_strings(archive, package, parts)
        max_bytes = _SMALL_SHEET_BYTES
        if strings:
            # The sheet may have this many bytes if every cell refers to the longest string.
            worst_case = _SMALL_SHEET_TEXT_BYTES * _MIN_CELL_BYTES // strings.max_string_bytes
            max_bytes = min(max_bytes, worst_case)
        count = 0

        def write(rows: bytes) -> None:
            nonlocal count
            count += 1
            parts.writestr(f"xl/{count}.xml", _SHEET_START + rows + _SHEET_END)

        sheet = SheetNormalizer(write, max_bytes, formats)
        for block in strip_namespace_prefix(archive.blocks(package.sheet)):
            sheet.feed(block)
        sheet.close()
        _write_workbook_parts(parts, count, is_1904_based=package.is_1904_based)
    has_marked_cells = sheet.has_marked_cells or (strings is not None and strings.has_invalid_cells)
    return NormalizedWorkbook(
        count,
        has_marked_cells,
        formats,
        sheet.formulas,
        sheet.merged_at_top,
        sheet.merged_below,
    )


def _write_strings(
    archive: ZipArchive, package: XlsxPackage, parts: ZipFile
) -> SharedStringsNormalizer | None:
    if package.strings is None:
        return None
    with parts.open("xl/sharedStrings.xml", "w") as part:
        strings = SharedStringsNormalizer(part.write)
        for block in strip_namespace_prefix(archive.blocks(package.strings)):
            strings.feed(block)
        strings.close()
    return strings


def _write_workbook_parts(parts: ZipFile, sheets: int, *, is_1904_based: bool) -> None:
    """Write the parts that combine the sheets into a workbook."""
    numbers = range(1, sheets + 1)
    elements = "".join(f'<sheet name="{number}" r:id="r{number}"/>' for number in numbers)
    parts.writestr(
        "xl/workbook.xml",
        f'<workbook><workbookPr date1904="{is_1904_based:d}"/>'
        f"<sheets>{elements}</sheets></workbook>",
    )
    relationships = [
        _relationship(f"r{number}", "worksheet", f"{number}.xml") for number in numbers
    ]
    parts.writestr("xl/_rels/workbook.xml.rels", _relationships(relationships))
    root = _relationship("r0", "officeDocument", "xl/workbook.xml")
    parts.writestr("_rels/.rels", _relationships([root]))


def _relationships(relationships: Sequence[str]) -> str:
    return f"<Relationships>{''.join(relationships)}</Relationships>"


def _relationship(key: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{key}" Type="{_RELATIONSHIP_TYPES}{kind}" Target="{target}"/>'
