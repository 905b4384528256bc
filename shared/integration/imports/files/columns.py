"""The columns of an import file: header, cell type, and how a header is recognized."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from shared.integration.imports.languages import BilingualText
from shared.kernel.db.facets import fold
from shared.warehouse.documents.vocabulary import DocumentKind

type CellType = Literal["text", "list", "decimal", "integer", "date", "datetime", "boolean"]
"""Type of the cells of a column. A `list` is several texts in one cell."""

_NOT_LETTERS_OR_DIGITS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an import file.

    Attributes:
        field: The field of the request body that the cell fills.
        header: The header in the template.
        description: What the column contains, for the instructions and the documentation.
        example: The cell of the template's sample row.
        cell_type: How the cell is converted.
        required: Whether the file must have the column.
        is_line_field: Whether `field` belongs to a line of the document, not to its head.
        choices: The values of the template's drop-down list.
        aliases: Further headers under which the column is recognized.
    """

    field: str
    header: BilingualText
    description: BilingualText
    example: BilingualText
    cell_type: CellType = "text"
    required: bool = False
    is_line_field: bool = False
    choices: Sequence[BilingualText] = ()
    aliases: Sequence[str] = ()

    def normalized_headers(self) -> set[str]:
        """Return every header of this column as `normalize_header` writes it."""
        names = (self.field, self.header.en, self.header.es, *self.aliases)
        return {normalize_header(name) for name in names}


@dataclass(frozen=True)
class FileLayout:
    """The columns of the files of one import kind.

    Attributes:
        title: Name of the kind, and of the template's sheet.
        columns: The columns in the order of the template.
        group_by: Fields that the rows of one document have in common; empty if each row stands
            for itself.
        unique_fields: Fields whose combination must be unique within a file without `group_by`.
        document_kind: The kind of document whose types the column `type` accepts.
    """

    title: BilingualText
    columns: Sequence[Column]
    group_by: Sequence[str] = ()
    unique_fields: Sequence[str] = ()
    document_kind: DocumentKind | None = None

    @cached_property
    def by_header(self) -> Mapping[str, Column]:
        """The columns by header, as `normalize_header` writes it."""
        return {name: column for column in self.columns for name in column.normalized_headers()}

    @cached_property
    def by_field(self) -> Mapping[str, Column]:
        """The columns by field."""
        return {column.field: column for column in self.columns}


def normalize_header(header: str) -> str:
    """Return `header` without differences of case, accents, spaces and punctuation."""
    return _NOT_LETTERS_OR_DIGITS.sub(" ", fold(header)).strip()
