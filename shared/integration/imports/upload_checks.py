"""Checks of a file that are fast enough for a request: its name, size and type."""

import re
from pathlib import PurePosixPath

from shared.integration.imports.models import MAX_REQUEST_FILE_BYTES, megabytes
from shared.kernel.errors import ImportRefused
from shared.kernel.fields import normalized
from shared.kernel.spreadsheets.table import UnreadableFile
from shared.kernel.uploaded_file import MAX_FILE_NAME

_UNSAFE_CHARACTERS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\"$*:<>?{|}\\/\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""Characters that file systems refuse, that S3 replaces in forms, or that change the direction of
text."""
_SUFFIXES = {".xlsx", ".csv"}
_PAYLOAD_TOO_LARGE = 413


def safe_file_name(name: str) -> str:
    """Return the file name without folders and unsafe characters, shortened if necessary."""
    last = normalized(name).replace("\\", "/").rpartition("/")[2]
    safe = _UNSAFE_CHARACTERS.sub("_", last).strip(" .")
    stem, dot, suffix = safe.rpartition(".")
    return f"{stem[: max(0, MAX_FILE_NAME - len(dot + suffix))]}{dot}{suffix}"[:MAX_FILE_NAME]


def ensure_acceptable(content: bytes | None, name: str) -> None:
    """Check an uploaded file.

    `content` is None to check only the name.

    Raises:
        ImportRefused: The file is too large for a request (413), or is not a spreadsheet.
    """
    if PurePosixPath(name).suffix.lower() not in _SUFFIXES:
        message = "The name of the file must end in .xlsx (workbook) or .csv (text file)."
        raise ImportRefused(message)
    if content is None:
        return
    if len(content) > MAX_REQUEST_FILE_BYTES:
        message = (
            f"The file has {len(content)} bytes; at most {MAX_REQUEST_FILE_BYTES}"
            f" ({megabytes(MAX_REQUEST_FILE_BYTES)}) are allowed in a request. Upload larger files"
            " with POST /imports/uploads or to the import bucket."
        )
        raise ImportRefused(message, _PAYLOAD_TOO_LARGE)
    # Imported here because most requests contain no file.
    from shared.kernel.spreadsheets.open_table import check_file  # noqa: PLC0415

    try:
        check_file(content, name)
    except UnreadableFile as error:
        raise ImportRefused(str(error)) from None
