"""Files are read back as written, and any other bytes are either read or refused."""

import csv
import string
from contextlib import suppress
from io import StringIO
from typing import Any
from xml.sax.saxutils import escape

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.kernel.spreadsheets.open_table import check_file
from shared.kernel.spreadsheets.sheet_normalizer import column_name
from shared.kernel.spreadsheets.table import Row, UnreadableFile
from tests.unit.spreadsheets.xlsx_packages import (
    Parts,
    open_content,
    read,
    workbook,
    workbook_parts,
    zip_parts,
)

_LETTERS = string.ascii_letters + string.digits + " ',.;:-_\"\t\n\r|=+/<>&áéíóúñüçßÄÖÅ"
"""Each is one byte in Windows-1252, and no two of these bytes are a character in UTF-8."""
_LATIN = st.text(_LETTERS, max_size=12)
_ANY = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
_HEADER = st.lists(st.text(string.ascii_lowercase, min_size=1), min_size=2, max_size=5)
_DIALECTS = st.fixed_dictionaries(
    {
        "delimiter": st.sampled_from(",;\t"),
        "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
        "lineterminator": st.sampled_from(["\r\n", "\n", "\r"]),
    }
)
_SETTINGS = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def _tables(draw: st.DrawFn, cells: st.SearchStrategy[str]) -> list[list[str]]:
    header = draw(_HEADER)
    width = len(header)
    row = st.lists(cells, min_size=width, max_size=width)
    return [header, *draw(st.lists(row, max_size=8))]


def _csv(table: list[list[str]], dialect: dict[str, Any]) -> str:
    text = StringIO(newline="")
    csv.writer(text, **dialect).writerows(table)
    return text.getvalue()


def _rows(table: list[list[Any]]) -> list[Row]:
    """Return the rows and cells of a table that have values."""
    rows = []
    for number, values in enumerate(table, 1):
        cells = [None if value == "" else value for value in values]
        while cells and cells[-1] is None:
            cells.pop()
        rows += [Row(number, cells)] if cells else []
    return rows


_UNICODE = st.tuples(_tables(_ANY), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
_OTHERS = st.tuples(_tables(_LATIN), st.sampled_from(["cp1252", "utf-16-le", "utf-16-be"]))


@settings(_SETTINGS, max_examples=200)
@given(_UNICODE | _OTHERS, _DIALECTS)
def test_a_csv_is_read_back(encoded: tuple[list[list[str]], str], dialect: dict[str, Any]) -> None:
    table, encoding = encoded
    content = _csv(table, dialect).encode(encoding)

    assert read(content, "a.csv") == _rows(table)


_IN_XML = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff_"
    )
    | st.sampled_from("\n\t"),
    min_size=1,
    max_size=12,
)
_INTEGERS = st.integers(-(2**53) + 1, 2**53 - 1)
_SHEETS = st.dictionaries(
    st.integers(1, 1_048_576),
    st.dictionaries(
        st.integers(1, 256), _IN_XML | _INTEGERS | st.booleans(), min_size=1, max_size=4
    ),
    max_size=8,
)


def _cell(name: str, value: str | int, form: int, strings: list[str]) -> str:
    if isinstance(value, bool):
        return f'<c r="{name}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, int):
        return f'<c r="{name}"><v>{value}</v></c>'
    text = escape(value)
    if form == 0:
        return f'<c r="{name}" t="str"><v>{text}</v></c>'
    kept = f'<t xml:space="preserve">{text}</t>'
    if form == 1:
        return f'<c r="{name}" t="inlineStr"><is>{kept}</is></c>'
    if form == 2:
        return f"<c t='inlineStr' r='{name}'><is><r>{kept}</r></is></c>"
    strings.append(kept if form == 3 else f"<r>{kept}</r><r><t/></r>")
    return f'<c r="{name}" t="s"><v>{len(strings) - 1}</v></c>'


@_SETTINGS
@given(_SHEETS, st.data())
def test_a_workbook_is_read_back(
    sheet: dict[int, dict[int, str | int]], data: st.DataObject
) -> None:
    strings: list[str] = []
    rows, expected = [], []
    for number in sorted(sheet):
        values = sheet[number]
        inside = "".join(
            _cell(
                f"{column_name(column)}{number}",
                values[column],
                data.draw(st.integers(0, 4)),
                strings,
            )
            for column in sorted(values)
        )
        rows.append(f'<row r="{number}">{inside}</row>')
        expected.append(Row(number, [values.get(one) for one in range(1, max(values) + 1)]))
    found = read(workbook("".join(rows), strings=strings))

    assert found == expected
    assert [[type(cell) for cell in row.cells] for row in found] == [
        [type(cell) for cell in row.cells] for row in expected
    ]


def _is_read_or_refused(content: bytes, name: str) -> None:
    """Check that no other exception than UnreadableFile is raised."""
    with suppress(UnreadableFile):
        check_file(content, name)
    with suppress(UnreadableFile):
        list(open_content(content, name).rows())


@_SETTINGS
@given(st.binary(max_size=200), st.sampled_from(["a.xlsx", "a.csv"]), st.booleans())
def test_any_bytes_are_read_or_refused(content: bytes, name: str, is_zip: bool) -> None:  # noqa: FBT001
    _is_read_or_refused(b"PK\x03\x04" * is_zip + content, name)


_VALID = workbook_parts(
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    '<row r="2"><c r="A2" t="inlineStr"><is><t>x</t></is></c><c r="B2" s="1"><v>46000</v></c></row>'
    "<row r='3'><c r='A3' t='e'><v>#N/A</v></c><c r='B3'><f>1</f><v>1</v></c></row>",
    strings=["<t>code</t>", "<r><t>na</t></r><r><t>me</t></r>"],
)
_FRAGMENTS = st.sampled_from(
    b'< > / = " & &amp; &#0; &#xffff; <![CDATA[ ]]> <!-- --> <? ?> <c> <row> </row> <v> </v> <is>'
    b' <t> <f> <si> </si> <sst> <sheetData> </sheetData> r="A1" r="XFD1048576" r="0" t="s" t="e"'
    b' t="d" s="9" 99999999999 -1 1E999 1904 \x00 \xff \xef\xbb\xbf'.split(b" ")
)


@st.composite
def _mutated(draw: st.DrawFn, content: bytes) -> bytes:
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 30)))
        content = content[:start] + draw(_FRAGMENTS | st.binary(max_size=4)) + content[end:]
    return content


@_SETTINGS
@given(st.sampled_from(sorted(_VALID)), st.data())
def test_a_workbook_with_a_damaged_part_is_read_or_refused(path: str, data: st.DataObject) -> None:
    package: Parts = {**_VALID, path: data.draw(_mutated(_VALID[path]))}

    _is_read_or_refused(zip_parts(package), "a.xlsx")


@_SETTINGS
@given(_mutated(zip_parts(_VALID)))
def test_a_damaged_archive_is_read_or_refused(content: bytes) -> None:
    _is_read_or_refused(content, "a.xlsx")
