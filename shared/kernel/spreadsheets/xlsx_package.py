"""Checks that an archive is an .xlsx workbook, and finds the parts of the sheet to read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from posixpath import dirname, join, normpath
from typing import NamedTuple
from xml.parsers import expat

from shared.kernel.spreadsheets.table import UnreadableFile
from shared.kernel.spreadsheets.zip_archive import ZipArchive

MAX_DEPTH = 100
"""Levels of nested elements; Excel needs about ten."""


def for_each_element(content: bytes, handle: Callable[[str, str, dict[str, str]], None]) -> None:
    """Call `handle` for every element of a part with the XML `content`.

    It takes the name of the parent ("" for the root), the name of the element, both without prefix,
    and the attributes.
    """
    path = [""]

    def start(name: str, attributes: dict[str, str]) -> None:
        tag = local_name(name)
        handle(path[-1], tag, attributes)
        path.append(tag)
        if len(path) > MAX_DEPTH:
            raise UnreadableFile(
                f"The workbook is damaged: its XML is nested more than {MAX_DEPTH} levels deep."
            )

    def end(_name: str) -> None:
        path.pop()

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parse_xml(parser, content, final=True)


def parse_xml(parser: expat.XMLParserType, content: bytes, *, final: bool) -> None:
    """Parse XML, which is the last of a part if it is `final`."""
    try:
        parser.Parse(content, final)
    except expat.ExpatError as error:
        raise UnreadableFile(
            "The workbook is damaged: its XML is not well-formed. Save it in Excel again."
        ) from error


def local_name(name: str) -> str:
    """Return a name without its namespace prefix."""
    return name.rpartition(":")[2]


_MAX_SMALL_PART_BYTES = 4 << 20
"""Size of the parts that are held in memory: content types, relationships, the workbook part."""

_VISIBLE = {None, "visible"}
_CONTENT_TYPES = "[content_types].xml"
_SAVE_AS = "Save it as .xlsx and upload that file."
_NOT_A_WORKBOOK = "The file is a zip archive, but not an Excel workbook. " + _SAVE_AS


@dataclass(frozen=True, slots=True)
class XlsxPackage:
    """The paths of the parts of a workbook that are read.

    Attributes:
        sheet: The first visible worksheet.
        strings: The shared strings, or None.
        styles: The cell styles, or None.
        is_1904_based: Whether days are counted from 1904, as on old Macs, instead of 1900.
    """

    sheet: str
    strings: str | None
    styles: str | None
    is_1904_based: bool


class _Relationship(NamedTuple):
    kind: str
    path: str


def read_package(archive: ZipArchive) -> XlsxPackage:
    """Return the package of a workbook that has a visible sheet and no macros or external links."""
    _check_content_types(archive)
    top = _relationships(archive, "")
    workbook = next((one.path for one in top.values() if one.kind == "officeDocument"), "")
    if workbook.lower() not in archive.paths:
        raise UnreadableFile(_NOT_A_WORKBOOK)
    relations = _relationships(archive, workbook)
    kinds = {one.kind for one in relations.values()}
    if kinds & {"vbaProject", "xlMacrosheet", "xlIntlMacrosheet"}:
        raise _macros()
    if "externalLink" in kinds or any("/externallinks/" in path for path in archive.paths):
        raise UnreadableFile(
            "The workbook has links to other workbooks. Break them in Excel (Data, Edit links) and"
            " save it again."
        )
    sheet, is_1904_based = _first_visible(archive, workbook, relations)
    return XlsxPackage(
        sheet,
        _part(archive, relations, "sharedStrings"),
        _part(archive, relations, "styles"),
        is_1904_based,
    )


def _check_content_types(archive: ZipArchive) -> None:
    if _CONTENT_TYPES not in archive.paths:
        if "mimetype" in archive.paths and b"opendocument" in archive.read("mimetype", 1 << 10):
            raise UnreadableFile(f"The file is an OpenDocument file (.ods). {_SAVE_AS}")
        raise UnreadableFile(_NOT_A_WORKBOOK)
    types: set[str] = set()

    def handle(_parent: str, _tag: str, attributes: dict[str, str]) -> None:
        types.add(attributes.get("ContentType", "").lower())

    for_each_element(archive.read(_CONTENT_TYPES, _MAX_SMALL_PART_BYTES), handle)
    if any("ms-excel.sheet.binary" in one for one in types):
        raise UnreadableFile(f"The file is a binary workbook (.xlsb). {_SAVE_AS}")
    if any("vbaproject" in path for path in archive.paths) or any(
        "macro" in one or "vbaproject" in one for one in types
    ):
        raise _macros()
    for word, description in (
        ("wordprocessingml", "Word document"),
        ("presentationml", "presentation"),
    ):
        if any(word in one and one.endswith("main+xml") for one in types):
            raise UnreadableFile(f"The file is a {description}, not a spreadsheet. {_SAVE_AS}")


def _macros() -> UnreadableFile:
    return UnreadableFile("The workbook has macros. Save it as .xlsx, which contains no macros.")


def _first_visible(
    archive: ZipArchive, workbook: str, relations: Mapping[str, _Relationship]
) -> tuple[str, bool]:
    """Return the path of the first visible worksheet, and whether dates count from 1904."""
    sheets: list[_Relationship] = []
    is_1904_based = False

    def handle(parent: str, tag: str, attributes: dict[str, str]) -> None:
        nonlocal is_1904_based
        if tag == "workbookPr":
            is_1904_based = attributes.get("date1904") in {"1", "true"}
        elif (parent, tag) == ("sheets", "sheet") and attributes.get("state") in _VISIBLE:
            key = next((attributes[name] for name in attributes if local_name(name) == "id"), "")
            sheets.extend([relations[key]] if key in relations else [])

    for_each_element(archive.read(workbook, _MAX_SMALL_PART_BYTES), handle)
    for sheet in sheets:
        if sheet.kind == "worksheet" and sheet.path.lower() in archive.paths:
            return sheet.path, is_1904_based
    raise UnreadableFile("The workbook has no visible sheet with cells.")


def _part(archive: ZipArchive, relations: Mapping[str, _Relationship], kind: str) -> str | None:
    paths = (one.path for one in relations.values() if one.kind == kind)
    return next((path for path in paths if path.lower() in archive.paths), None)


def _relationships(archive: ZipArchive, part: str) -> dict[str, _Relationship]:
    """Return the relationships of a part by id; those of the package itself for ""."""
    path = f"{dirname(part)}/_rels/{part.rpartition('/')[2]}.rels".removeprefix("/")
    if path.lower() not in archive.paths:
        return {}
    relations: dict[str, _Relationship] = {}

    def handle(_parent: str, tag: str, attributes: dict[str, str]) -> None:
        if tag == "Relationship" and attributes.get("TargetMode") != "External":
            target = join("/", dirname(part), attributes.get("Target", ""))
            # The last word of the type is the same in both variants of the format.
            kind = attributes.get("Type", "").rpartition("/")[2]
            relations[attributes.get("Id", "")] = _Relationship(kind, normpath(target).lstrip("/"))

    for_each_element(archive.read(path, _MAX_SMALL_PART_BYTES), handle)
    return relations
