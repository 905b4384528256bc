"""The number formats of a workbook's cells, which tell a date from a number."""

from html import escape

from shared.kernel.spreadsheets.table import Unreadable
from shared.kernel.spreadsheets.xml_elements import each_element

MOST_BYTES = 8 << 20
"""Of the part that holds the styles."""
_MOST_STYLES = 65_490
"""As in Excel."""


def number_formats(content: bytes) -> bytes:
    """Write the styles of a workbook anew, with nothing in them but the number formats.

    Raises:
        Unreadable: They are not well-formed, or too many.
    """
    formats: list[str] = []
    styles: list[str] = []

    def take(parent: str, tag: str, attributes: dict[str, str]) -> None:
        number = attributes.get("numFmtId", "0")
        if (parent, tag) == ("cellXfs", "xf"):
            styles.append(f'<xf numFmtId="{escape(number)}"/>')
        elif (parent, tag) == ("numFmts", "numFmt"):
            code = escape(attributes.get("formatCode", ""))
            formats.append(f'<numFmt numFmtId="{escape(number)}" formatCode="{code}"/>')

    each_element(content, take)
    if len(styles) > _MOST_STYLES or len(formats) > _MOST_STYLES:
        raise Unreadable("The workbook has too many cell styles. Save the table as .csv.")
    return (
        f"<styleSheet><numFmts>{''.join(formats)}</numFmts>"
        f"<cellXfs>{''.join(styles)}</cellXfs></styleSheet>"
    ).encode()
