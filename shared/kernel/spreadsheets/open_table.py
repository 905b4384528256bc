"""The way in: a file and its name become a table, or the reason why not."""

from shared.kernel.spreadsheets.csv_table import CsvTable
from shared.kernel.spreadsheets.file_source import Source, opened
from shared.kernel.spreadsheets.file_types import HEAD, kind_of
from shared.kernel.spreadsheets.table import Table
from shared.kernel.spreadsheets.xlsx_package import package_of
from shared.kernel.spreadsheets.xlsx_table import Workbook
from shared.kernel.spreadsheets.zip_archive import Container


def open_table(file: Source, name: str, *, most_rows: int) -> Table:
    """Open an .xlsx or .csv: its first visible sheet.

    Memory stays bounded whatever the file holds. A .csv at a path must stay there until its rows
    have been read.

    Args:
        file: Where it lies, or its content.
        name: Its name, which tells the kind.
        most_rows: How many rows the caller takes; one more is given, if there is one.

    Raises:
        Unreadable: It is no such file, is damaged or hostile.
    """
    with opened(file) as content:
        if kind_of(name, content.read(HEAD)) == "csv":
            return CsvTable(file, most_rows=most_rows)
        content.seek(0)
        return Workbook(content, most_rows=most_rows)


def inspect(file: Source, name: str) -> None:
    """Check what a request can afford to: a few milliseconds, whatever the size.

    Of a workbook, the list of its parts and what they say it is; of other files, the start.

    Args:
        file: Where it lies, or its content.
        name: Its name, which tells the kind.

    Raises:
        Unreadable: It cannot be processed. What passes may still turn out to be damaged.
    """
    with opened(file) as content:
        if kind_of(name, content.read(HEAD)) == "xlsx":
            content.seek(0)
            package_of(Container(content))
