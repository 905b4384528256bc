"""Rows and strings in the form of common programs are copied unchanged."""

import pytest

from shared.kernel.spreadsheets.part_normalizer import PartNormalizer
from shared.kernel.spreadsheets.shared_strings_normalizer import SharedStringsNormalizer
from shared.kernel.spreadsheets.sheet_normalizer import SheetNormalizer
from tests.cases import each_case

_ROWS = {
    "Excel": '<row r="2" spans="1:3" x14ac:dyDescent="0.25"><c r="A2" s="1" t="s"><v>0</v></c>'
    '<c r="B2"><v>1.1000000000000001</v></c><c r="C2" s="3"/></row>',
    "LibreOffice": '<row r="2" customFormat="false" ht="12.8" hidden="false" outlineLevel="0">'
    '<c r="A2" s="0" t="s"><v>0</v></c><c r="B2" s="0" t="n"><v>-1.5E-7</v></c>'
    '<c r="C2" s="0" t="b"><v>1</v></c></row>',
    "openpyxl": '<row r="2" ht="2"><c r="A2" s="1" /><c r="B2" t="inlineStr" />'
    '<c r="C2" t="inlineStr"><is><t xml:space="preserve"> x </t></is></c>'
    '<c r="D2" s="1" t="n"><v /></c></row>',
    "Apache POI": '<row r="2" ht="2">\n<c r="A2" t="s" s="1"><v>0</v></c>'
    '<c r="B2" t="inlineStr"><is><t>x &amp; y</t></is></c><c r="C2" t="n"><v>1.0</v></c></row>',
    "SheetJS": '<row r="2" ht="2"><c r="A2" t="str"><v>x</v></c><c r="HZ2" t="n"><v>1</v></c>'
    "</row>",
    "an empty row": '<row r="2" spans="1:3" s="1" customFormat="1"/>',
}


def _normalize(normalizer: PartNormalizer, part: str, size: int) -> None:
    content = part.encode()
    for start in range(0, len(content), size):
        normalizer.feed(content[start : start + size])
    normalizer.close()


@each_case("row", _ROWS.values(), named=_ROWS)
@each_case("size", [7, 10_000])
def test_rows_in_usual_forms_are_unchanged(row: str, size: int) -> None:
    sheets: list[bytes] = []
    before, after = '<row r="1" ht="1"/>', '\n<row r="3" ht="1"></row>'
    part = f"<worksheet><sheetData>{before}{row}{after}</sheetData></worksheet>"
    _normalize(SheetNormalizer(sheets.append, 10_000, {}), part, size)

    assert b"".join(sheets) == f"{before}{row}{after}".encode()


@pytest.mark.parametrize("size", [7, 10_000])
def test_strings_in_usual_forms_are_unchanged(size: int) -> None:
    normalized: list[bytes] = []
    strings = (
        '<si><t>x</t></si><si><t xml:space="preserve"> y </t></si><si><t/></si><si></si>\n'
        '<si><t>東</t><phoneticPr fontId="1" type="noConversion"/></si>'
    )
    part = f'<?xml version="1.0"?><sst uniqueCount="5">{strings}</sst>'
    _normalize(SharedStringsNormalizer(normalized.append), part, size)

    assert b"".join(normalized) == f"<sst>{strings}</sst>".encode()


def test_rows_are_split_into_small_sheets() -> None:
    sheets: list[bytes] = []
    numbers = [*range(1, 11), 12, 100, 101, *range(102, 2_300), 1_048_576]
    rows = "".join(f'<row r="{number}"/>' for number in numbers)
    _normalize(
        SheetNormalizer(sheets.append, 10**6, {}),
        f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
        999,
    )

    first_rows = [sheet.split(b'"')[1] for sheet in sheets]
    assert first_rows == [b"1", b"100", b"2100", b"1048576"]
    assert b"".join(sheets) == rows.encode()

    sheets.clear()
    _normalize(
        SheetNormalizer(sheets.append, 50, {}),
        f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
        999,
    )
    assert max(map(len, sheets)) < 50 + len('<row r="1000"/>')
    assert b"".join(sheets) == rows.encode()
