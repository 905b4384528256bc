"""Exports: requests, the stored entity, and the responses."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.kernel.fields import Input, Stored, Timestamp, Word, distinct
from shared.kernel.list_parameters import OneOf, PeriodParameters

MAX_OBJECTS = 30
FILE_DAYS = 90
"""Days for which files are kept, as the rule of the bucket says. Changes are kept longer, so that
a copy can be made of every export whose files exist."""

type ExportStatus = Literal["pending", "running", "completed", "failed", "cancelled"]
type ExportFormat = Literal["jsonl", "csv"]
type ExportLanguage = Literal["en", "es"]


def _known(name: str) -> str:
    if name not in LISTED_OBJECTS:
        shown = {"name": name, "known": ", ".join(LISTED_OBJECTS)}
        raise PydanticCustomError("object", "no object is called {name}; known: {known}", shown)
    return name


type _Objects = Annotated[
    list[Annotated[Word, AfterValidator(_known)]],
    Field(min_length=1, max_length=MAX_OBJECTS),
    distinct(MAX_OBJECTS),
]


class ExportDraft(Input):
    """The lists to export, and how."""

    objects: _Objects
    format: ExportFormat = "jsonl"
    language: ExportLanguage = "en"


class ExportParameters(PeriodParameters):
    """Query parameters of the list of exports."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: OneOf[ExportStatus] | None = None


class ExportAuthor(Stored):
    """Who has requested an export, with the rights of the request: its rows are what they see."""

    subject: str
    kind: Literal["client", "user", "mobile"]
    client_id: str | None
    scopes: list[str]
    permissions: list[str]


class StoredFile(Stored):
    """A file of rows of one object; `bytes` and `sha256` are those of the compressed file."""

    object: str
    name: str
    rows: int
    bytes: int
    sha256: str


class StoredExport(Stored):
    """An export as stored.

    `last_ids` are the last ids of each sequence, read after the position. `objects` before `done`
    are in `files`, and of the next one what precedes the place `next`.
    """

    id: int
    status: ExportStatus
    objects: list[str]
    format: ExportFormat
    language: ExportLanguage
    position: int
    epoch: int
    last_ids: dict[str, int]
    done: int = 0
    next: int = 0
    files: list[StoredFile] = Field(default_factory=list)
    failure: str | None = None
    author: ExportAuthor
    request: str | None = None
    """Idempotency record of the request."""
    expires_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp
    busy_until: int = 0
    stalled: int = 0
    invocations: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """How far it has come; a step takes it further."""
        return self.done, self.next


class ExportFile(Stored):
    """A file of an export, compressed with gzip. `url` is a link that is valid for minutes."""

    object: str
    url: Annotated[
        str | None,
        WithJsonSchema({"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]}),
    ]
    rows: int
    bytes: int
    sha256: str


class Export(Stored):
    """An export in a list."""

    id: int
    object: Literal["export"] = "export"
    code: str
    status: ExportStatus
    objects: list[str]
    format: ExportFormat
    language: ExportLanguage
    rows: int
    position: int
    epoch: int
    failure: str | None
    expires_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


class ExportDetail(Export):
    """One export, with its files and the actions that its status admits."""

    files: list[ExportFile]
    actions: list[str]


def rows_of(stored: StoredExport) -> int:
    """Return the number of rows that are written."""
    return sum(one.rows for one in stored.files)


def export_code(number: int) -> str:
    """Return how people call an export."""
    return f"XP-{number}"
