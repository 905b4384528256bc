"""Output of a command: tables for people, JSON for programs."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import simplejson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shared.kernel.json_text import dumps, loads

type Row = Mapping[str, Any]

_CONTROL = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that control a terminal or the direction of text, except the line feed: C0, DEL, C1,
separators of lines and paragraphs, marks, overrides and isolates of directions. Also surrogates,
which stand for the bytes of a file name that are not UTF-8; no output can encode them."""

_UNLIMITED_WIDTH = 1_000_000
"""Width in characters, wider than any table."""


def printable(text: str) -> str:
    """Return a text without characters that control the terminal.

    Everything that a command prints passes here: names, addresses and messages come from callers
    of the API, and an escape sequence could change what the operator sees.
    """
    return _CONTROL.sub("", text)


class Output:
    """Writes results to standard output, and progress and advice to standard error."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._is_terminal = sys.stdout.isatty()
        width = None if self._is_terminal else _UNLIMITED_WIDTH
        self._console = Console(file=sys.stdout, highlight=False, width=width)
        self._advice = Console(file=sys.stderr, highlight=False, soft_wrap=True)

    def one(self, row: Row) -> None:
        """Print one object, one field per line."""
        if self._as_json:
            _write_json(row)
            return
        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        for name, value in loads(dumps(row)).items():
            table.add_row(name.replace("_", " "), Text(as_text(value)))
        self._print(table)

    def many(self, rows: Sequence[Row], columns: Sequence[str]) -> None:
        """Print a list; the table has the fields of `columns`, the JSON has all fields."""
        if self._as_json:
            _write_json(rows)
            return
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for number, name in enumerate(columns):
            # The first column identifies the row; it must not be wrapped, so that it can be copied.
            table.add_column(name.replace("_", " "), overflow="fold", no_wrap=number == 0)
        for row in loads(dumps(rows)):
            table.add_row(*(Text(as_text(row[name])) for name in columns))
        self._print(table)

    def details(self, rows: Sequence[Row], columns: Sequence[str]) -> None:
        """Print a further table for people; in JSON the rows are part of the result."""
        if not self._as_json:
            self.many(rows, columns)

    def _print(self, table: Table) -> None:
        """Print a table; to a file or a pipe without wrapping and without trailing blanks."""
        if self._is_terminal:
            self._console.print(table)
            return
        with self._console.capture() as captured:
            self._console.print(table)
        lines = captured.get().removesuffix("\n").split("\n")
        sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))

    def say(self, message: str) -> None:
        """Print a message to standard error, which JSON output leaves out."""
        if not self._as_json:
            self._advice.print(printable(message), markup=False)

    @contextmanager
    def progress(self) -> Iterator[Any]:
        """Yield a callback that shows each step of an operation that takes time."""
        if self._as_json:
            yield lambda _step: None
        elif self._advice.is_terminal:
            with self._advice.status("starting") as status:
                yield lambda step: status.update(Text(as_text(step)))
        else:
            yield self.say


def json_text(content: Any) -> str:
    """Return JSON; control characters in texts become escapes, so that the values stay exact."""
    text = simplejson.dumps(content, use_decimal=True, indent=2, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _write_json(content: Any) -> None:
    sys.stdout.write(json_text(content) + "\n")


def as_text(value: Any) -> str:
    """Return a JSON value as people write it: `-` for nothing, `yes` and `no`, words with commas.

    Only a list of objects has several lines.
    """
    if value is None or value in ([], "", {}):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, list):
        separator = "\n" if isinstance(value[0], Mapping) else ", "
        return separator.join(as_text(each) for each in value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{printable(name).replace('_', ' ')} {as_text(each)}" for name, each in value.items()
        )
    return printable(str(value).replace("\n", " "))
