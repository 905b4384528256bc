"""Parses small XML parts of a workbook, which are held in memory."""

from collections.abc import Callable
from xml.parsers import expat

from shared.kernel.spreadsheets.table import UnreadableFile

MAX_DEPTH = 100
"""Levels of nested elements; Excel needs about ten."""


def for_each_element(content: bytes, handle: Callable[[str, str, dict[str, str]], None]) -> None:
    """Call `handle` for every element of a part.

    Args:
        content: The XML of the part.
        handle: Takes the name of the parent ("" for the root), the name of the element, both
            without prefix, and the attributes.

    Raises:
        UnreadableFile: The XML is not well-formed.
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
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise UnreadableFile(
            "The workbook is damaged: its XML is not well-formed. Save it in Excel again."
        ) from error


def local_name(name: str) -> str:
    """Return a name without its namespace prefix."""
    return name.rpartition(":")[2]
