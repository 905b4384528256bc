""".csv files are read: encodings, separators, quotes, and refusals of damaged files."""

import codecs
import csv
from io import StringIO
from pathlib import Path

import pytest

from shared.kernel.spreadsheets import csv_table
from shared.kernel.spreadsheets.open_table import check_file, open_table
from shared.kernel.spreadsheets.table import Row, UnreadableFile
from tests.cases import each_case
from tests.unit.spreadsheets.xlsx_packages import cells, open_content, read, refused

_NAME = "list.csv"


def _read(text: str, encoding: str = "utf-8") -> list[Row]:
    return read(text.encode(encoding), _NAME)


def test_cells_are_unchanged_text() -> None:
    text = "code,qty,when,note\n007,1E5,01/02/2026, two \n=1+1,-3,true,\n"

    assert _read(text) == [
        Row(1, ["code", "qty", "when", "note"]),
        Row(2, ["007", "1E5", "01/02/2026", " two "]),
        Row(3, ["=1+1", "-3", "true"]),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_rows_are_numbered_as_in_a_spreadsheet_program(end: str) -> None:
    lines = ["a,b", "", ",", '"x', 'y",z', ",,last", ""]

    assert _read(end.join(lines)) == [
        Row(1, ["a", "b"]),
        Row(4, [f"x{end}y", "z"]),
        Row(5, [None, None, "last"]),
    ]


_SPANISH = "Artículo;Descripción\nÑ-1;Cañón º “x” €\n"
_MARKED = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


@pytest.mark.parametrize(
    "content",
    [
        _SPANISH.encode(),
        _SPANISH.encode("utf-8-sig"),
        _SPANISH.encode("cp1252"),
        *(_MARKED[name] + _SPANISH.encode(name) for name in _MARKED),
        *(_SPANISH.encode(name) for name in _MARKED),
    ],
)
def test_the_encoding_is_detected(content: bytes) -> None:
    check_file(content, _NAME)

    assert cells(content, _NAME) == [["Artículo", "Descripción"], ["Ñ-1", "Cañón º “x” €"]]


def test_the_encoding_is_detected_by_a_late_character() -> None:
    text = "code,name\n" + "A,plain\n" * 100_000 + "B,año\n"
    for encoding in ("utf-8", "cp1252"):
        table = open_content(text.encode(encoding), _NAME)
        assert list(table.rows())[-1] == Row(100_002, ["B", "año"])


@pytest.mark.parametrize(
    ("content", "row"),
    [
        ("a,b\nñ,1\nx,2\n".encode() + b"\xff,3\n", 4),
        (codecs.BOM_UTF8 + b"a,b\nx,\xe9\n", 2),
        ("á,b\n1,".encode() + b"\xc3", 2),
        (b"a,b\n\xe9,1\n\x81,2\n", 3),
        (codecs.BOM_UTF16_LE + "a,b\n1,2\n".encode("utf-16-le") + b"\x00\xdc,\0", 3),
        (codecs.BOM_UTF16_LE + "a,b\n1,2\n".encode("utf-16-le") + b"x", 3),
    ],
)
def test_invalid_bytes_are_refused_with_their_row(content: bytes, row: int) -> None:
    assert f"Row {row} contains bytes that are not" in refused(content, _NAME)


def test_zero_bytes_are_refused_with_their_row() -> None:
    text = "a,b\n" + "1,2345678\n" * 900

    assert "Row 902 contains zero bytes" in refused(text.encode() + b"x,\0\n", _NAME)
    assert "zero bytes" in refused(b"a,\0\n", _NAME)
    assert "Row 1 contains zero bytes" in refused("a,b\n".encode("utf-32"), _NAME)


def test_rows_before_the_damage_are_read() -> None:
    rows = open_content("a,b\nñ,1\n".encode() + b"\xff,3\n", _NAME).rows()

    assert [next(rows).number, next(rows).number] == [1, 2]
    with pytest.raises(UnreadableFile):
        next(rows)


@each_case("separator", [",", ";", "\t"])
@each_case(
    "template",
    [
        "code|name|qty\nA|x|1\n",
        "code|name|qty\n",
        "Products of May, 2026; all\n\ncode|name|qty\nA|x|1\nB|y|2\n",
        '"co,de"|"na;me"|"q\tty"\n"A"|"x,y;z"|1\n"B"|"x,y;z"|1\n',
        'code|name|qty\nA|"one\ntwo, three; four\nfive, six; seven"|1\n',
        'code|name|qty\nA|"say ""hi"""|1\n',
        "code|name|qty\nA|x\nB\nC|y|1\n",
        "code|name|qty\nA|x|1|2|3\nC|y|1\n",
    ],
)
def test_the_separator_is_detected(template: str, separator: str) -> None:
    text = template.replace("|", separator)

    expected = csv.reader(StringIO(text), delimiter=separator)
    assert cells(text.encode(), _NAME) == [record for record in expected if record]


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("código;cantidad;precio\nA;1,5;2,25\nB;2,5;3,25\n", ["A", "1,5", "2,25"]),
        ("code\tname\nA\tx, y; z\nB\tx, y; z\n", ["A", "x, y; z"]),
        ("code,name\nA,x; y\nB,x; y\n", ["A", "x; y"]),
        ("only\nvalue\n", ["value"]),
        ("code;price\nA;1,5", ["A", "1,5"]),
    ],
)
def test_the_header_determines_the_separator(text: str, second: list[str]) -> None:
    assert _read(text)[1].cells == second


_LONG = "x" * 32_767
"""A text with the greatest length of a cell in a workbook."""


@pytest.mark.parametrize(
    ("text", "second"),
    [
        pytest.param("a,b\n1,2", ["1", "2"], id="no end of the last line"),
        pytest.param('a,b\n1,"2"', ["1", "2"], id="no end of the last quoted line"),
        pytest.param('name,size\nPipe,5" wide\n', ["Pipe", '5" wide'], id="quote within a cell"),
        pytest.param("a,b\n1,2" + "," * 300 + "\n", ["1", "2"], id="empty cells at the end"),
        pytest.param(f'a,b\n{_LONG},"{_LONG}"\n', [_LONG] * 2, id="longest cells"),
    ],
)
def test_unusual_rows_are_read(text: str, second: list[str]) -> None:
    assert _read(text)[1] == Row(2, list(second))


@pytest.mark.parametrize("first", ["sep=|", '"sep=|"', "SEP=|"])
def test_a_separator_line_is_respected_and_not_a_row(first: str) -> None:
    assert _read(f"{first}\r\na|b\r\n1|2\r\n", "utf-8-sig") == [
        Row(1, ["a", "b"]),
        Row(2, ["1", "2"]),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a,b\n1,"open\n2,3\n4,5\n', "Row 2 opens a quote that is never closed"),
        ('a,b\n1,2\n"x', "Row 3 opens a quote that is never closed"),
        ('a,b\n\n"x"y,1\n', "Row 3 has text behind a closing quote"),
        (
            'a,b\n1,"' + "x" * 32_768 + '"\n',
            "Row 2 opens a quote that is never closed, or has a text",
        ),
        ("a,b\n" + "x" * 32_768 + "\n", "Row 2 opens a quote"),
        ("a,b\n" + "1," * 300 + "1\n", "Row 2 has 301 cells, at most 256 allowed"),
        ("a,b\n" + '"x\n",' * 500_000, "Row 2 is too long"),
        ("a,b\n" + "," * 3_000_000, "Row 2 is too long"),
    ],
)
def test_malformed_rows_are_refused_with_their_number(text: str, words: str) -> None:
    assert words in refused(text.encode(), _NAME)


def test_reading_ends_one_row_after_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_table, "MAX_ROWS", 1)
    content = b"a,b\n\n1,2\n3,4\n" + b"\xff" * 1000

    assert [row.number for row in read(content, _NAME)] == [1, 3]


def test_an_empty_table_has_no_rows() -> None:
    for text in ("\n", "\r\n\r\n", ",,\n", codecs.BOM_UTF8.decode()):
        assert _read(text) == []


def test_a_file_can_be_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(b"a;b\n1;2,5\n")
    check_file(path, "LIST.CSV")
    table = open_table(path, "LIST.CSV")

    expected = [Row(1, ["a", "b"]), Row(2, ["1", "2,5"])]
    assert list(table.rows()) == expected
    assert list(table.rows()) == expected, "rows can be read again"
    assert (table.structure_errors, table.merged_at_top) == ((), ())


def test_texts_that_are_written_as_formulas_are_texts() -> None:
    text = 'code,qty\n"=""0017""","=""2"""\n="0018",="a ""b"""\n="",=1+1\n"=""a"", ""b""",x\n'

    assert _read(text) == [
        Row(1, ["code", "qty"]),
        Row(2, ["0017", "2"]),
        Row(3, ["0018", 'a "b"']),
        Row(4, [None, "=1+1"]),
        Row(5, ['="a", "b"', "x"]),
    ]
