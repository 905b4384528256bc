"""The columns of an import file: what they are called, what they hold, how they are recognised."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from shared.kernel.db.facets import fold

type Language = Literal["en", "es"]
type ImportKind = Literal[
    "entry_documents", "exit_documents", "transfer_orders", "pick_faces", "products"
]
type Form = Literal["text", "texts", "number", "whole", "day", "moment", "flag"]
"""What the cells of a column hold: a code or text, several of them in one cell, a quantity, a
whole number, a date, a date-time, yes or no."""

LANGUAGES: tuple[Language, ...] = ("en", "es")

_NOT_LETTERS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Words:
    """A text in both languages of the templates."""

    en: str
    es: str

    def in_(self, language: Language) -> str:
        """Return it in one of them."""
        return self.es if language == "es" else self.en


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    `field` is the field of the body that the cell fills; `of_line`: of a line of the document,
    not of the document. `example` is what the template's sample row holds, `choices` what its
    drop-down offers. `also` are further headers under which it is recognised.
    """

    field: str
    header: Words
    note: Words
    example: Words
    form: Form = "text"
    required: bool = False
    of_line: bool = False
    choices: Sequence[Words] = ()
    also: Sequence[str] = ()

    def names(self) -> set[str]:
        """Every header that means this column, as `header_key` writes them."""
        return {header_key(name) for name in (self.field, self.header.en, self.header.es)} | {
            header_key(name) for name in self.also
        }


@dataclass(frozen=True)
class Layout:
    """The file of one kind of import.

    `key` are the fields whose values rows of one document share; empty where each row is a
    thing of its own. `unique` are the fields that no two rows may share then.
    """

    kind: ImportKind
    title: Words
    columns: Sequence[Column]
    key: Sequence[str] = ()
    unique: Sequence[str] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Column]:
        """Header, as `header_key` writes it → column."""
        return {name: column for column in self.columns for name in column.names()}

    @cached_property
    def by_field(self) -> Mapping[str, Column]:
        """Field → column."""
        return {column.field: column for column in self.columns}


def header_key(header: str) -> str:
    """Write a header so that case, accents, spaces and punctuation do not matter."""
    return _NOT_LETTERS.sub(" ", fold(header)).strip()
