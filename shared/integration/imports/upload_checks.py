"""What files are accepted at all."""

import re
from pathlib import PurePosixPath

from shared.integration.imports.models import MAX_UPLOAD
from shared.kernel.errors import ImportRefused
from shared.kernel.spreadsheets.table import Unreadable

_NOT_IN_NAMES = re.compile(
    r"[\x00-\x1f\x7f-\x9f\"$*:<>?{|}\\/\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""What file systems refuse, what S3 replaces in forms, what turns the direction of reading."""
_MOST_CHARACTERS = 100
_SUFFIXES = {".xlsx", ".csv"}
_TOO_LARGE = 413


def file_name(sent: str) -> str:
    """Return the name of a file without its folders and without what names cannot hold."""
    last = sent.replace("\\", "/").rpartition("/")[2]
    name = _NOT_IN_NAMES.sub("_", last).strip(" .")
    stem, dot, suffix = name.rpartition(".")
    return f"{stem[:_MOST_CHARACTERS]}{dot}{suffix}"[: _MOST_CHARACTERS + 10]


def ensure_readable(content: bytes | None, name: str) -> None:
    """Refuse what is too large for a request, or no file that can be read: ImportRefused.

    Without `content` only the name is looked at.
    """
    if PurePosixPath(name).suffix.lower() not in _SUFFIXES:
        message = "The file must be a workbook (.xlsx) or a text file (.csv)."
        raise ImportRefused(message)
    if content is None:
        return
    if len(content) > MAX_UPLOAD:
        message = (
            f"The file has {len(content)} bytes; a request takes {MAX_UPLOAD}. Send larger files"
            " with POST /imports/uploads, or drop them into the import bucket."
        )
        raise ImportRefused(message, _TOO_LARGE)
    # Lazily: most requests bring no file.
    from shared.kernel.spreadsheets.open_table import inspect  # noqa: PLC0415

    try:
        inspect(content, name)
    except Unreadable as error:
        raise ImportRefused(str(error)) from None
