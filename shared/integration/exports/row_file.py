"""A file of rows, compressed while it is written."""

import csv
import gzip
import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from shared.integration.exports.field_words import WORDS
from shared.integration.exports.models import ExportFormat, ExportLanguage
from shared.kernel.json_text import dumps

MEDIA = "application/gzip"
_LEVEL = 6
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""Beginnings of texts that spreadsheet programs take for formulas."""


@dataclass(slots=True)
class RowFile:
    """Rows as lines of JSON, or as a table whose header is in the language."""

    format: ExportFormat
    language: ExportLanguage
    rows: int = 0
    size: int = 0
    """Characters before the compression."""
    _content: io.BytesIO = field(default_factory=io.BytesIO)
    _columns: list[str] = field(default_factory=list)

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows, which all have the same fields."""
        lines = [self._table_line(row) if self.format == "csv" else _json_line(row) for row in rows]
        if not lines:
            return
        self.rows += len(lines)
        text = "".join(lines)
        self.size += len(text)
        # Each call writes a member: together they are one file of gzip.
        self._content.write(gzip.compress(text.encode(), _LEVEL, mtime=0))

    def content(self) -> tuple[bytes, str]:
        """Return the compressed file and its SHA-256."""
        content = self._content.getvalue()
        return content, hashlib.sha256(content).hexdigest()

    def _table_line(self, row: Mapping[str, Any]) -> str:
        out = io.StringIO()
        table = csv.writer(out, lineterminator="\r\n")
        if not self._columns:
            self._columns = list(row)
            table.writerow(_header(name, self.language) for name in self._columns)
        table.writerow(_cell(row[name]) for name in self._columns)
        return out.getvalue()


def _json_line(row: Mapping[str, Any]) -> str:
    return f"{dumps(row)}\n"


def _header(name: str, language: ExportLanguage) -> str:
    english, spanish = WORDS[name]
    return spanish if language == "es" else english


def _cell(value: object) -> str:
    """Return the text of a cell: of objects and lists their JSON, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULAS) else value
    return dumps(value)
