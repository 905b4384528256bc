"""Opens a spreadsheet file as a table, or checks that it can be opened."""

from shared.kernel.spreadsheets.csv_table import CsvTable
from shared.kernel.spreadsheets.file_types import (
    HEAD_BYTES,
    FileSource,
    detect_file_type,
    open_source,
)
from shared.kernel.spreadsheets.table import Table
from shared.kernel.spreadsheets.xlsx_package import read_package
from shared.kernel.spreadsheets.xlsx_table import XlsxTable
from shared.kernel.spreadsheets.zip_archive import ZipArchive


def open_table(file: FileSource, name: str) -> Table:
    """Open the first visible sheet of an .xlsx, or a .csv.

    Memory is bounded whatever the file contains.

    Args:
        file: The path or the content. A .csv at a path must remain there until its rows are read.
        name: The file name, whose suffix determines the type.

    Raises:
        UnreadableFile: The file is of another type, damaged, or malicious.
    """
    with open_source(file) as content:
        if detect_file_type(name, content.read(HEAD_BYTES)) == "csv":
            return CsvTable(file)
        content.seek(0)
        return XlsxTable(content)


def check_file(file: FileSource, name: str) -> None:
    """Check a file within a few milliseconds, whatever its size.

    Of a workbook, the list of parts and their types are checked; of other files, the first bytes. A
    file that passes may still be damaged. The suffix of the name determines the type.
    """
    with open_source(file) as content:
        if detect_file_type(name, content.read(HEAD_BYTES)) == "xlsx":
            content.seek(0)
            read_package(ZipArchive(content))
