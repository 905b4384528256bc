"""Malicious files do not exhaust memory."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from shared.kernel.spreadsheets.sheet_normalizer import column_name
from tests.subprocesses import output_of
from tests.unit.spreadsheets.xlsx_packages import (
    MAIN,
    rows_xml,
    workbook,
    workbook_parts,
    zip_parts,
)

_MAX_MB = 130
"""Memory of the process, including Python. A third is for one small sheet of long texts."""


def _far_apart() -> bytes:
    rows = '<row r="1"><c r="A1"><v>1</v></c><c r="XFD1" s="1"/></row>'
    return workbook(rows + '<row r="1048576"><c r="A1048576"><v>1</v></c></row>')


def _far_away() -> bytes:
    sheet = rows_xml('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    return workbook(
        sheet=sheet.replace("<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>')
    )


def _every_thousandth() -> bytes:
    return workbook(
        "".join(
            f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="HZ{n}"><v>1</v></c></row>'
            for n in range(1, 1_048_576, 1000)
        )
    )


def _empty_rows() -> bytes:
    return workbook("".join(f'<row r="{n}" s="1" ht="9"/>' for n in range(1, 1_000_001)))


def _empty_cells() -> bytes:
    cells = [column_name(number) for number in range(1, 201)]
    return workbook(
        "".join(
            f'<row r="{n}">{"".join(f'<c r="{name}{n}" s="1"/>' for name in cells)}</row>'
            for n in range(1, 2_000)
        )
    )


def _one_text_referenced_often() -> bytes:
    row = "".join(f'<c r="{column_name(n)}{{0}}" t="s"><v>0</v></c>' for n in range(1, 201))
    rows = "".join(f'<row r="{n}">{row.replace("{0}", str(n))}</row>' for n in range(1, 61))
    return workbook(rows, strings=[f"<t>{'x' * 32_767}</t>"])


def _many_strings() -> bytes:
    package = workbook_parts()
    package["xl/sharedStrings.xml"] = b"<sst>" + b"<si><t>a</t></si>" * 4_000_000 + b"</sst>"
    return zip_parts(package)


def _entities() -> bytes:
    levels = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise("abcdefghij"))
    package = workbook_parts('<row r="1"><c r="A1" t="str"><v>&j;</v></c></row>')
    path = "xl/worksheets/sheet1.xml"
    package[path] = f'<!DOCTYPE x [<!ENTITY a "ha">{levels}]>'.encode() + package[path]
    return zip_parts(package)


def _spaces() -> bytes:
    return workbook(sheet=rows_xml(" " * (64 << 20)))


def _nested() -> bytes:
    content = zip_parts({"0.bin": b"\0" * (16 << 20)})
    for _ in range(5):
        content = zip_parts({f"{n}.zip": content for n in range(16)})
    return zip_parts({**workbook_parts(), "xl/media/lib.zip": content})


def _one_tag() -> bytes:
    tag = f'<row r="1" x="{"abcdefgh" * (4 << 20)}">'
    package = workbook_parts()
    package["xl/worksheets/sheet1.xml"] = rows_xml(tag + "</row>").encode()
    return zip_parts(package)


def _deep() -> bytes:
    return workbook(sheet=f'<worksheet xmlns="{MAIN}">{"<a>" * 1_000_000}')


_FILES: dict[str, tuple[Callable[[], bytes], object]] = {
    "far-apart.xlsx": (_far_apart, 2),
    "far-away.xlsx": (_far_away, "XFD1048576 has a value"),
    "every-thousandth.xlsx": (_every_thousandth, 1049),
    "empty-rows.xlsx": (_empty_rows, 0),
    "empty-cells.xlsx": (_empty_cells, 0),
    "one-text-referenced-often.xlsx": (_one_text_referenced_often, 60),
    "many-strings.xlsx": (_many_strings, "too large"),
    "entities.xlsx": (_entities, "XML entities"),
    "spaces.xlsx": (_spaces, "too large"),
    "nested.xlsx": (_nested, "another archive"),
    "one-tag.xlsx": (_one_tag, "too "),
    "deep.xlsx": (_deep, "too "),
    "quote.csv": (lambda: b'a,b\n1,"' + b"x\n" * (8 << 20), "Row 2 opens a quote"),
    "line.csv": (lambda: b"a,b\n" + b"1," * (8 << 20), "Row 2 is too long"),
    "quotes.csv": (lambda: b"a,b\n" + b'"x\n",' * (4 << 20), "Row 2 is too long"),
    "empty-lines.csv": (lambda: b"a,b\n" + b"\n" * (1 << 20), 1),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    for name, (create, _) in _FILES.items():
        (folder / name).write_bytes(create())
    return [folder / name for name in _FILES]


def test_no_file_exhausts_memory(files: list[Path]) -> None:
    output = output_of("-m", "tests.unit.spreadsheets.memory_probe", *map(str, files))

    peaks: dict[str, int] = {}
    for line in output.splitlines():
        name, result, peaks[name] = json.loads(line)
        expected = _FILES[name][1]
        assert result == expected or (isinstance(result, str) and str(expected) in result), name
    assert peaks.keys() == _FILES.keys()
    assert max(peaks.values()) < _MAX_MB, f"peak after each file: {peaks}"
