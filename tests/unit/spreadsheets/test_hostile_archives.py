"""Files of other types and malicious archives are refused with a clear message."""

import struct
from collections.abc import Callable
from io import BytesIO
from zipfile import ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest

from shared.kernel.spreadsheets import file_types, zip_archive
from shared.kernel.spreadsheets.open_table import check_file
from shared.kernel.spreadsheets.table import UnreadableFile
from tests.cases import each_case
from tests.unit.spreadsheets.xlsx_packages import (
    ROW,
    Parts,
    read,
    refused,
    relationships_xml,
    rows_xml,
    workbook,
    workbook_parts,
    zip_parts,
)

_SHEET = "xl/worksheets/sheet1.xml"
_DOCTYPE = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
_LATIN_1 = '<?xml version="1.0" encoding="ISO-8859-1"?>'


def _with(path: str, content: bytes | str) -> Parts:
    package = workbook_parts(ROW)
    package[path] = content.encode() if isinstance(content, str) else content
    return package


@each_case(
    ("name", "content", "words"),
    [
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Excel workbook"),
        ("a.xlsm", b"PK\x03\x04", "macros"),
        ("a.xlsb", b"PK\x03\x04", "binary workbook"),
        ("a.ods", b"PK\x03\x04", "OpenDocument"),
        ("a.pdf", b"%PDF-1.7", "PDF"),
        ("a", b"x", "neither in .xlsx nor in .csv"),
        ("a.xlsx", b"", "empty"),
        ("a.csv", b"", "empty"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "password"),
        ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "password"),
        ("a.xlsx", b"%PDF-1.7 ...", "PDF document"),
        ("a.csv", b"%PDF-1.7 ...", "PDF document"),
        ("a.xlsx", b"<!DOCTYPE html><table><tr><td>1</td></tr></table>", "web page"),
        ("a.csv", b"\xef\xbb\xbf\r\n<html>", "web page"),
        ("a.xlsx", b'<?xml version="1.0"?><Workbook/>', "XML document"),
        ("a.xlsx", b"\x89PNG\r\n", "image"),
        ("a.xlsx", b"{\\rtf1", "text document"),
        ("a.xlsx", b"\x1f\x8b\x08", "archive"),
        ("a.xlsx", b"PK\x05\x06" + b"\0" * 18, "damaged or empty zip"),
        ("a.xlsx", b"item_code;name\nA;B\n", "plain text"),
        ("a.xlsx", b"\x00\x01\x02", "not a workbook"),
        ("a.csv", b"PK\x03\x04", "workbook or another zip"),
        ("a.csv", b"a,b\n1,\x00\n", "zero bytes"),
    ],
)
def test_other_types_of_files_are_refused_by_name(name: str, content: bytes, words: str) -> None:
    assert words in refused(content, name)
    with pytest.raises(UnreadableFile, match=words):
        check_file(content, name)


def _of_type(main: str) -> Parts:
    main = f"application/vnd.{main}"
    types = f'<Types><Override PartName="/xl/workbook.xml" ContentType="{main}"/></Types>'
    return _with("[Content_Types].xml", types)


_OFFICE = "openxmlformats-officedocument"
_PACKAGES: dict[str, tuple[Parts, str]] = {
    "a zip of texts": ({"a.txt": b"x"}, "not an Excel workbook"),
    "an OpenDocument": ({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}, ".ods"),
    "a Word document": (
        _of_type(f"{_OFFICE}.wordprocessingml.document.main+xml"),
        "Word document",
    ),
    "a presentation": (
        _of_type(f"{_OFFICE}.presentationml.presentation.main+xml"),
        "presentation",
    ),
    "a binary workbook": (_of_type("ms-excel.sheet.binary.macroEnabled.main"), ".xlsb"),
    "a macro workbook by type": (_of_type("ms-excel.sheet.macroEnabled.main+xml"), "macros"),
    "a macro project": (_with("xl/vbaProject.bin", b"\xd0\xcf\x11\xe0"), "macros"),
    "a macro sheet": (
        _with(
            "xl/_rels/workbook.xml.rels",
            relationships_xml(
                ("worksheet", "worksheets/sheet1.xml"), ("xlMacrosheet", "macro.xml")
            ),
        ),
        "macros",
    ),
    "links to other workbooks": (
        _with("xl/externalLinks/externalLink1.xml", "<externalLink/>"),
        "links to other workbooks",
    ),
    "no workbook part": (
        _with("_rels/.rels", relationships_xml(("other", "xl/workbook.xml"))),
        "not an Excel",
    ),
    "no relationships": (_with("_rels/.rels", "no xml"), "not well-formed"),
    "endless nesting": (_with("xl/workbook.xml", "<a>" * 500), "nested more than 100 levels"),
    "an absolute path": (_with("/etc/passwd", b"x"), "unsafe name"),
    "a path upwards": (_with("xl/../../evil", b"x"), "unsafe name"),
    "a path of Windows": (_with("xl\\evil.xml", b"x"), "unsafe name"),
    "a drive": (_with("C:evil.xml", b"x"), "unsafe name"),
    "a line break": (_with("xl/a\nb.xml", b"x"), "unsafe name"),
    "the same name twice": (_with("XL/Workbook.XML", b"<a/>"), "same name"),
    "another archive": (_with("xl/embeddings/a.xlsx", b"PK\x03\x04..."), "another archive"),
    "XML by its content": (_with("xl/thing.bin", f"\n{_DOCTYPE}<a/>"), "entities"),
    "another encoding": (_with(_SHEET, f"{_LATIN_1}{rows_xml(ROW)}"), "UTF-8"),
    "too many parts": (
        {**workbook_parts(ROW), **{f"xl/{n}.xml": b"<a/>" for n in range(1000)}},
        "parts",
    ),
}


@each_case(("package", "words"), _PACKAGES.values(), named=_PACKAGES)
def test_archives_that_are_not_plain_workbooks_are_refused(package: Parts, words: str) -> None:
    assert words in refused(zip_parts(package))


@each_case(
    "path",
    [
        "[Content_Types].xml",
        "_rels/.rels",
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/styles.xml",
        "xl/sharedStrings.xml",
        "xl/worksheets/sheet1.xml",
        "docProps/core.xml",
        "xl/drawings/vmlDrawing1.vml",
    ],
)
@each_case("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_entities_are_refused_in_every_part(path: str, encoding: str) -> None:
    package = workbook_parts(ROW, strings=["<t>x</t>"])
    content = package.get(path, b"<a/>").decode()
    package[path] = f"<?xml version='1.0'?>{_DOCTYPE}{content}".encode(encoding)

    assert "entities" in (words := refused(zip_parts(package))) or "UTF-8" in words


def test_a_declaration_is_found_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    content = zip_parts(_with("docProps/core.xml", f"<a>{' ' * 990}{_DOCTYPE}</a>"))
    for size in range(990, 1010):
        monkeypatch.setattr(file_types, "BLOCK_BYTES", size)
        assert "entities" in refused(content)


def test_a_zip_bomb_is_refused() -> None:
    assert "too large" in refused(workbook(sheet=rows_xml(" " * (8 << 20))))
    assert "too large" in refused(zip_parts(_with("xl/media/image1.png", b"\0" * (2 << 20))))


def test_the_total_size_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_TOTAL_BYTES", 1_000_000)
    eight, ten = (
        zip_parts(
            {**workbook_parts(ROW), **{f"xl/media/{n}.png": b"x" * 100_000 for n in range(number)}}
        )
        for number in (8, 10)
    )
    assert read(eight)
    assert "too large" in refused(ten)


def test_the_size_of_a_part_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_MEMBER_BYTES", 50_000)
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 2000))

    assert "too large" in refused(workbook(rows))


def test_overlapping_members_are_refused() -> None:
    """Many members refer to the same compressed data: a zip bomb without nesting."""
    content = zip_parts(_with("xl/media/a.png", b"\0" * 100_000))
    directory = content.index(b"PK\x01\x02")
    at = content.index(b"PK\x01\x02", content.rindex(b"PK\x01\x02"))
    entry = content[at : content.rindex(b"PK\x05\x06")]
    more = b"".join(
        entry.replace(b"xl/media/a.png", b"xl/media/%c.png" % letter) for letter in b"bcdefgh"
    )
    whole = content[: content.rindex(b"PK\x05\x06")] + more
    count = content.count(b"PK\x01\x02") + 7
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(whole) - directory, directory, 0
    )

    assert "damaged" in refused(whole + end)


def _set_header(offset: int, field_format: str, value: int) -> Callable[[bytes], bytes]:
    """Change a field of the sheet's entry in the central directory."""

    def change(content: bytes) -> bytes:
        changed = bytearray(content)
        position = offset + content.rindex(b"PK\x01\x02", 0, content.rindex(_SHEET.encode()))
        struct.pack_into(field_format, changed, position, value)
        return bytes(changed)

    return change


def _truncate(share: float) -> Callable[[bytes], bytes]:
    return lambda content: content[: int(len(content) * share)]


_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "another checksum": _set_header(16, "<L", 12345),
    "less compressed": _set_header(20, "<L", 20),
    "more compressed": _set_header(20, "<L", 10_000_000),
    "less decompressed": _set_header(24, "<L", 20),
    "64-bit sizes without an extra field": _set_header(20, "<Q", 0xFFFFFFFFFFFFFFFF),
    "another method": _set_header(10, "<H", 99),
    "an offset beyond the end": _set_header(42, "<L", 0xFFFFFFF0),
    "an offset into nothing": _set_header(42, "<L", 3),
    "a newer format": _set_header(6, "<H", 999),
    "cut off at half": _truncate(0.5),
    "cut off near the end": _truncate(0.98),
    "cut off after the start": lambda content: content[:30],
    "no data": lambda content: content[:40] + b"\xff" * 40 + content[80:],
}


@each_case("damage", _DAMAGES.values(), named=_DAMAGES)
def test_wrong_headers_and_truncated_files_are_refused(damage: Callable[[bytes], bytes]) -> None:
    rows = "".join(f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 100))

    assert refused(damage(workbook(rows)))


def test_a_size_in_the_header_that_is_too_large_is_ignored() -> None:
    content = _set_header(24, "<L", 0xFFFFFFF0)(workbook(ROW))

    assert len(read(content)) == 1


def test_members_with_a_password_are_refused() -> None:
    assert "password" in refused(_set_header(8, "<H", 1)(workbook(ROW)))


def test_unusual_compression_is_refused() -> None:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_LZMA) as archive:
        for path, content in workbook_parts(ROW).items():
            archive.writestr(path, content)

    assert "compressed in a way" in refused(file.getvalue())


def test_a_zero_byte_in_a_name_is_refused() -> None:
    content = zip_parts(_with("xl/media/abcd.xml", b"x"))

    assert "unsafe name" in refused(content.replace(b"abcd", b"a\0cd"))


def test_correct_sizes_in_64_bits_are_accepted() -> None:
    file = BytesIO()
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for path, content in workbook_parts(ROW).items():
            with archive.open(ZipInfo(path), "w", force_zip64=True) as part:
                part.write(content)

    assert len(read(file.getvalue())) == 1
