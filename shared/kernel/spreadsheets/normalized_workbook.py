"""Makes the workbook that is really read: what is needed of the one that came, in a known form."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO
from zipfile import ZipFile

from shared.kernel.spreadsheets import number_formats
from shared.kernel.spreadsheets.namespace_prefixes import without_prefix
from shared.kernel.spreadsheets.shared_strings_normalizer import StringsCopy
from shared.kernel.spreadsheets.sheet_normalizer import SheetCopy
from shared.kernel.spreadsheets.table import Merged
from shared.kernel.spreadsheets.xlsx_package import Package
from shared.kernel.spreadsheets.zip_archive import Container

_BYTES_OF_SHEET = 1 << 18
"""Of the small sheets into which the rows are copied, as XML."""
_TEXT_OF_SHEET = 32 << 20
"""Bytes of text to which the cells of a small sheet may refer: each naming of a shared string
becomes a text of its own when the sheet is read."""
_SHORTEST_CELL = len('<c r="A1" t="s"><v>0</v></c>')

_HEAD = b"<worksheet><mergeCells/><sheetData>"
"""Of a small sheet. The reader goes through a sheet a second time to look for merged cells and
stops where it finds their element: at once."""
_TAIL = b"</sheetData></worksheet>"
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied.

    `sheets`: how many small sheets hold the rows, one after the other, each row under its own
    number. `has_odd`: whether there are texts that begin with `ODD`. The others are those of
    `SheetCopy`.
    """

    sheets: int
    has_odd: bool
    formulas: Sequence[str]
    merged_on_top: Sequence[Merged]
    merged_below: Sequence[Merged]


def copy_workbook(container: Container, package: Package, file: IO[bytes]) -> Copied:
    """Copy the sheet, the strings and the number formats.

    Args:
        container: The workbook that came. All members are inflated, so that none is trusted
            unseen.
        package: What is needed of it.
        file: Where the copy goes. It is not compressed: it is read once, at once.

    Raises:
        Unreadable: It is damaged, or beyond a limit.
    """
    needed = {path.lower() for path in (package.sheet, package.strings, package.styles) if path}
    for path in container.paths:
        if path not in needed:
            for _ in container.blocks(path):
                pass
    with ZipFile(file, "w") as parts:
        if package.styles:
            content = container.read(package.styles, number_formats.MOST_BYTES)
            parts.writestr("xl/styles.xml", number_formats.number_formats(content))
        strings = _copy_strings(container, package, parts)
        room = _TEXT_OF_SHEET * _SHORTEST_CELL // strings.longest if strings else _BYTES_OF_SHEET
        count = 0

        def write(rows: bytes) -> None:
            nonlocal count
            count += 1
            parts.writestr(f"xl/{count}.xml", _HEAD + rows + _TAIL)

        sheet = SheetCopy(write, min(_BYTES_OF_SHEET, room))
        for block in without_prefix(container.blocks(package.sheet)):
            sheet.feed(block)
        sheet.close()
        _bind(parts, count, from_1904=package.from_1904)
    has_odd = sheet.has_odd or (strings is not None and strings.has_odd)
    return Copied(count, has_odd, sheet.formulas, sheet.merged_on_top, sheet.merged_below)


def _copy_strings(container: Container, package: Package, parts: ZipFile) -> StringsCopy | None:
    if package.strings is None:
        return None
    with parts.open("xl/sharedStrings.xml", "w") as part:
        strings = StringsCopy(part.write)
        for block in without_prefix(container.blocks(package.strings)):
            strings.feed(block)
        strings.close()
    return strings


def _bind(parts: ZipFile, count: int, *, from_1904: bool) -> None:
    """Write the parts that make a workbook of the others."""
    numbers = range(1, count + 1)
    sheets = "".join(f'<sheet name="{one}" r:id="r{one}"/>' for one in numbers)
    parts.writestr(
        "xl/workbook.xml",
        f'<workbook><workbookPr date1904="{from_1904:d}"/><sheets>{sheets}</sheets></workbook>',
    )
    related = [_relation(f"r{one}", "worksheet", f"{one}.xml") for one in numbers]
    parts.writestr("xl/_rels/workbook.xml.rels", _relations(related))
    top = _relation("r0", "officeDocument", "xl/workbook.xml")
    parts.writestr("_rels/.rels", _relations([top]))


def _relations(relations: Sequence[str]) -> str:
    return f"<Relationships>{''.join(relations)}</Relationships>"


def _relation(key: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{key}" Type="{_TYPES}{kind}" Target="{target}"/>'
