"""Reads the small XML parts of a workbook, which fit into memory."""

from collections.abc import Callable
from xml.parsers import expat

from shared.kernel.spreadsheets.table import Unreadable

DEEPEST = 100
"""Elements within one another; Excel needs about ten."""


def each_element(content: bytes, take: Callable[[str, str, dict[str, str]], None]) -> None:
    """Go through the elements of a part.

    Args:
        content: The whole of it.
        take: Takes the name of the parent ("" for the root), the name, both without prefix, and
            the attributes.

    Raises:
        Unreadable: It is not well-formed.
    """
    path = [""]

    def start(name: str, attributes: dict[str, str]) -> None:
        tag = local(name)
        take(path[-1], tag, attributes)
        path.append(tag)
        if len(path) > DEEPEST:
            raise Unreadable("The workbook is damaged: its parts are nested without end.")

    def end(_name: str) -> None:
        path.pop()

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise Unreadable(
            "The workbook is damaged: its XML is not well-formed. Save it in Excel again."
        ) from error


def local(name: str) -> str:
    """Leave out the prefix of a name."""
    return name.rpartition(":")[2]
