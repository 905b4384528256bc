"""Extracts the number formats of a workbook's cells, which distinguish dates from numbers."""

from html import escape

from shared.kernel.spreadsheets.table import UnreadableFile
from shared.kernel.spreadsheets.xml_elements import for_each_element

MAX_STYLES_BYTES = 8 << 20
"""Size of the part that contains the styles."""
_MAX_STYLES = 65_490
"""As in Excel."""


def normalized_styles(content: bytes) -> bytes:
    """Return the XML of a workbook's styles, reduced to the number formats.

    Raises:
        UnreadableFile: The XML is not well-formed, or there are too many styles.
    """
    formats: list[str] = []
    styles: list[str] = []

    def handle(parent: str, tag: str, attributes: dict[str, str]) -> None:
        number = attributes.get("numFmtId", "0")
        if (parent, tag) == ("cellXfs", "xf"):
            styles.append(f'<xf numFmtId="{escape(number)}"/>')
        elif (parent, tag) == ("numFmts", "numFmt"):
            code = escape(attributes.get("formatCode", ""))
            formats.append(f'<numFmt numFmtId="{escape(number)}" formatCode="{code}"/>')

    for_each_element(content, handle)
    if len(styles) > _MAX_STYLES or len(formats) > _MAX_STYLES:
        raise UnreadableFile(
            f"The workbook has more than {_MAX_STYLES} cell styles. Save the table as .csv."
        )
    return (
        f"<styleSheet><numFmts>{''.join(formats)}</numFmts>"
        f"<cellXfs>{''.join(styles)}</cellXfs></styleSheet>"
    ).encode()
