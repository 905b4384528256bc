"""The columns of an import file: header, cell type, and how a header is recognized."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Literal

from shared.integration.imports.languages import BilingualText, ColumnWords
from shared.kernel.db.facets import fold
from shared.kernel.metadata import name_problem
from shared.warehouse.documents.vocabulary import DocumentKind

type CellType = Literal["text", "list", "decimal", "integer", "date", "datetime", "boolean"]
"""Type of the cells of a column. A `list` is several texts in one cell."""

LINE_PREFIX = "line_"
"""Begins the name of the column of a line's field, if the document has a field of its name."""

_ZERO_DECIMALS = re.compile(r"[.,]0+$")
_NOT_LETTERS_OR_DIGITS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an import file.

    Attributes:
        words: Header, description and example of the columns that the kind of import may have.
        field: The field of the request body that the cell fills; `line_external_ref` fills the
            field `external_ref` of a line, `ship_to_address.city` the part `city` of an object.
        cell_type: How the cell is converted.
        required: Whether the file must have the column.
        is_line_field: Whether `field` belongs to a line of the document, not to its head.
        choices: The values of the template's drop-down list.
        keys: The values of the body that `choices` stand for, in their order; empty if the model of
            the body accepts the choices.
        synonyms: Further headers that mean the same. In a file that has several of them, or one
            beside the header, the cells of a row must be equal.
        aliases: Further headers, which count only in a file without the headers above. The first
            one that the file has counts.
    """

    words: Mapping[str, ColumnWords] = field(repr=False, compare=False)
    field: str
    cell_type: CellType = "text"
    required: bool = False
    is_line_field: bool = False
    choices: Sequence[BilingualText] = ()
    keys: Sequence[str] = ()
    synonyms: Sequence[str] = ()
    aliases: Sequence[str] = ()

    @property
    def header(self) -> BilingualText:
        """The header in the template."""
        return self.words[self.field].header

    @property
    def description(self) -> BilingualText:
        """What the column contains, for the instructions and the documentation."""
        return self.words[self.field].description

    @property
    def example(self) -> BilingualText:
        """The cell of the template's sample row."""
        return self.words[self.field].example

    @property
    def body_field(self) -> str:
        """The name of the field in the body or in its line."""
        if not self.is_line_field:
            return self.field
        return self.field.removeprefix(LINE_PREFIX).removeprefix("lines.")

    def documented_headers(self) -> set[str]:
        """Return the name of the field and both headers, as `normalize_header` writes them."""
        return {normalize_header(name) for name in (self.field, self.header.en, self.header.es)}

    def key_of(self, value: object) -> object:
        """Return the key that a text stands for, in either language; any other value as it is.

        A whole number may be written `1.0`.
        """
        if not isinstance(value, str):
            return value
        if (whole := _ZERO_DECIMALS.sub("", value)) in self.keys:
            return whole
        for key, choice in zip(self.keys, self.choices, strict=False):
            names = map(normalize_header, (key, choice.en, choice.es))
            if normalize_header(value) in names:
                return key
        return value


@dataclass(frozen=True, slots=True)
class AmbiguousHeader:
    """A header that is an alias of `field` only in a file with a column of one of `beside`.

    In another file it may as well mean the column `other`, and the file is rejected.
    """

    header: str
    field: str
    other: str
    beside: Sequence[str]


METADATA, LINE_METADATA = "metadata.", "lines.metadata."
"""Prefixes of the headers of columns of metadata, which a name follows."""


def metadata_column(field: str) -> Column:
    """Return the column of a name of metadata."""
    title = BilingualText(field, field)
    words = {field: ColumnWords(title, title, title)}
    return Column(words, field, is_line_field=field.startswith(LINE_METADATA))


def metadata_name(field: str) -> str | None:
    """Return the name of metadata that a field of a row is; None for another field."""
    name = field.removeprefix("lines.").removeprefix(METADATA)
    return name if field in {METADATA + name, LINE_METADATA + name} else None


@dataclass(frozen=True)
class FileLayout:
    """The columns of the files of one import kind.

    Attributes:
        title: Name of the kind, and of the template's sheet.
        columns: The columns in the order of the template.
        group_by: Fields that the rows of one document have in common; empty if each row stands
            for itself.
        unique_fields: Fields whose combination must be unique within a file without `group_by`: of
            several rows with the same values, the first one is accepted.
        distinct_fields: Fields whose combination must differ in all rows of a file without
            `group_by`: rows with the same values are all rejected. A blank cell counts as the given
            value; without one, the field is required.
        document_kind: The kind of document whose types the column `type` accepts.
        ambiguous: Headers that mean a column only beside other columns.
        has_metadata: Whether what the rows create has metadata, and its lines, too.
    """

    title: BilingualText
    columns: Sequence[Column]
    group_by: Sequence[str] = ()
    unique_fields: Sequence[str] = ()
    distinct_fields: Mapping[str, str | None] = field(default_factory=dict)
    document_kind: DocumentKind | None = None
    ambiguous: Sequence[AmbiguousHeader] = ()
    has_metadata: bool = True

    @cached_property
    def by_header(self) -> Mapping[str, Column]:
        """The columns by documented header, as `normalize_header` writes it."""
        return {name: column for column in self.columns for name in column.documented_headers()}

    @cached_property
    def by_field(self) -> Mapping[str, Column]:
        """The columns by field."""
        return {column.field: column for column in self.columns}


@dataclass(slots=True)
class FoundColumns:
    """The columns that a header has.

    Attributes:
        columns: Index and column of the recognized cells, in their order. Columns whose cells must
            be equal to those of an earlier column of the same field are at the end.
        repeated: The columns that are there more than once, with the indexes.
        ambiguous: The ambiguous headers that the file does not determine, with their indexes.
        misnamed: The indexes of the columns whose names metadata cannot have, with the reason.
    """

    columns: list[tuple[int, Column]] = field(default_factory=list)
    repeated: list[tuple[Column, Sequence[int]]] = field(default_factory=list)
    ambiguous: list[tuple[int, AmbiguousHeader]] = field(default_factory=list)
    misnamed: list[tuple[int, str]] = field(default_factory=list)

    @property
    def fields(self) -> set[str]:
        """The fields of the recognized columns."""
        return {column.field for _, column in self.columns}


def find_columns(header: Sequence[str], layout: FileLayout) -> FoundColumns:
    """Return the columns of a header; documented headers take precedence over all others."""
    at: dict[str, list[int]] = {}
    for index, title in enumerate(header):
        at.setdefault(normalize_header(title), []).append(index)
    found, equal = FoundColumns(), list[tuple[int, Column]]()
    for column in layout.columns:
        documented = sorted(
            index for name in column.documented_headers() for index in at.get(name, ())
        )
        synonyms = [at[name] for name in map(normalize_header, column.synonyms) if name in at]
        aliases = [at[name] for name in map(normalize_header, column.aliases) if name in at]
        read = [documented, *synonyms] if documented else synonyms or aliases[:1]
        if not read:
            continue
        found.columns.append((read[0][0], column))
        equal += [(indexes[0], column) for indexes in read[1:]]
        found.repeated += [(column, indexes) for indexes in read if len(indexes) > 1]
    for one in layout.ambiguous:
        indexes = at.get(normalize_header(one.header), ())
        if not indexes or one.field in found.fields:
            continue
        if not found.fields.intersection(one.beside):
            found.ambiguous += [(index, one) for index in indexes]
            continue
        column = layout.by_field[one.field]
        found.columns.append((indexes[0], column))
        found.repeated += [(column, indexes)] if len(indexes) > 1 else []
    if layout.has_metadata:
        _find_metadata(header, layout, found)
    found.columns = [*sorted(found.columns, key=itemgetter(0)), *equal]
    return found


def _find_metadata(header: Sequence[str], layout: FileLayout, found: FoundColumns) -> None:
    """Add the columns of metadata: `metadata.NAME`, and `lines.metadata.NAME` of lines."""
    at: dict[str, list[int]] = {}
    for index, title in enumerate(header):
        for prefix in (METADATA, LINE_METADATA) if layout.group_by else (METADATA,):
            if title.lower().startswith(prefix):
                at.setdefault(prefix + title[len(prefix) :].strip(), []).append(index)
    for name, indexes in at.items():
        column = metadata_column(name)
        if problem := name_problem(metadata_name(name) or ""):
            found.misnamed.append((indexes[0], problem))
        else:
            found.columns.append((indexes[0], column))
            found.repeated += [(column, indexes)] if len(indexes) > 1 else []


def indexes_of(columns: Sequence[tuple[int, Column]]) -> dict[str, int]:
    """Return the index of the first column of each field."""
    return {column.field: index for index, column in reversed(columns)}


def normalize_header(header: str) -> str:
    """Return `header` without case, accents, spaces and punctuation."""
    return _NOT_LETTERS_OR_DIGITS.sub("", fold(header))
