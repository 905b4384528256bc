"""What an archive says it is, and where in it the sheet lies that is to be read."""

from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import dirname, join, normpath
from typing import NamedTuple

from shared.kernel.spreadsheets.table import Unreadable
from shared.kernel.spreadsheets.xml_elements import each_element, local
from shared.kernel.spreadsheets.zip_archive import Container

_MOST_OF_SMALL_PART = 4 << 20
"""Bytes of the parts that are held in memory: content types, relationships, the workbook."""

_VISIBLE = {None, "visible"}
_TYPES = "[content_types].xml"
_SAVE_AS = "Save it as .xlsx and upload that."
_NOT_A_WORKBOOK = "The file is a zip archive, but no Excel workbook. " + _SAVE_AS


@dataclass(frozen=True, slots=True)
class Package:
    """The first visible worksheet of a workbook and what it needs.

    `strings` and `styles` are None where the workbook has none. `from_1904`: dates count from
    1904, as on old Macs, not from 1900.
    """

    sheet: str
    strings: str | None
    styles: str | None
    from_1904: bool


class _Relation(NamedTuple):
    kind: str
    path: str


def package_of(container: Container) -> Package:
    """Find out.

    Raises:
        Unreadable: It is something else, or is more than data: it has macros, links to other
            workbooks, no visible sheet.
    """
    _check_types(container)
    top = _relations(container, "")
    workbook = next((one.path for one in top.values() if one.kind == "officeDocument"), "")
    if workbook.lower() not in container.paths:
        raise Unreadable(_NOT_A_WORKBOOK)
    relations = _relations(container, workbook)
    kinds = {one.kind for one in relations.values()}
    if kinds & {"vbaProject", "xlMacrosheet", "xlIntlMacrosheet"}:
        raise _macros()
    if "externalLink" in kinds or any("/externallinks/" in path for path in container.paths):
        raise Unreadable(
            "The workbook has links to other workbooks. Break them in Excel (Data, Edit links) and"
            " save it again."
        )
    sheet, from_1904 = _first_visible(container, workbook, relations)
    return Package(
        sheet,
        _part(container, relations, "sharedStrings"),
        _part(container, relations, "styles"),
        from_1904,
    )


def _check_types(container: Container) -> None:
    if _TYPES not in container.paths:
        if "mimetype" in container.paths and b"opendocument" in container.read("mimetype", 1 << 10):
            raise Unreadable(f"The file is an OpenDocument file (.ods). {_SAVE_AS}")
        raise Unreadable(_NOT_A_WORKBOOK)
    types: set[str] = set()

    def take(_parent: str, _tag: str, attributes: dict[str, str]) -> None:
        types.add(attributes.get("ContentType", "").lower())

    each_element(container.read(_TYPES, _MOST_OF_SMALL_PART), take)
    if any("ms-excel.sheet.binary" in one for one in types):
        raise Unreadable(f"The file is a binary workbook (.xlsb). {_SAVE_AS}")
    if any("vbaproject" in path for path in container.paths) or any(
        "macro" in one or "vbaproject" in one for one in types
    ):
        raise _macros()
    for word, what in (("wordprocessingml", "Word document"), ("presentationml", "presentation")):
        if any(word in one and one.endswith("main+xml") for one in types):
            raise Unreadable(f"The file is a {what}, not a spreadsheet. {_SAVE_AS}")


def _macros() -> Unreadable:
    return Unreadable("The workbook has macros. Save it as .xlsx, which has none.")


def _first_visible(
    container: Container, workbook: str, relations: Mapping[str, _Relation]
) -> tuple[str, bool]:
    """Path of the first visible worksheet, and whether dates count from 1904."""
    sheets: list[_Relation] = []
    from_1904 = False

    def take(parent: str, tag: str, attributes: dict[str, str]) -> None:
        nonlocal from_1904
        if tag == "workbookPr":
            from_1904 = attributes.get("date1904") in {"1", "true"}
        elif (parent, tag) == ("sheets", "sheet") and attributes.get("state") in _VISIBLE:
            key = next((attributes[name] for name in attributes if local(name) == "id"), "")
            sheets.extend([relations[key]] if key in relations else [])

    each_element(container.read(workbook, _MOST_OF_SMALL_PART), take)
    for sheet in sheets:
        if sheet.kind == "worksheet" and sheet.path.lower() in container.paths:
            return sheet.path, from_1904
    raise Unreadable("The workbook has no visible sheet with cells.")


def _part(container: Container, relations: Mapping[str, _Relation], kind: str) -> str | None:
    paths = (one.path for one in relations.values() if one.kind == kind)
    return next((path for path in paths if path.lower() in container.paths), None)


def _relations(container: Container, part: str) -> dict[str, _Relation]:
    """Relationships of a part, by their ids; the package's own for ""."""
    path = f"{dirname(part)}/_rels/{part.rpartition('/')[2]}.rels".removeprefix("/")
    if path.lower() not in container.paths:
        return {}
    relations: dict[str, _Relation] = {}

    def take(_parent: str, tag: str, attributes: dict[str, str]) -> None:
        if tag == "Relationship" and attributes.get("TargetMode") != "External":
            target = join("/", dirname(part), attributes.get("Target", ""))
            # The last word of the type is the same in both variants of the format.
            kind = attributes.get("Type", "").rpartition("/")[2]
            relations[attributes.get("Id", "")] = _Relation(kind, normpath(target).lstrip("/"))

    each_element(container.read(path, _MOST_OF_SMALL_PART), take)
    return relations
