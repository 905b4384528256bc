"""What imports are: what starts one, what is stored, what is answered."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.integration.imports.files.columns import ImportKind, Language
from shared.kernel.fields import Input, Line, Stored, Timestamp
from shared.kernel.list_parameters import PeriodParameters
from shared.kernel.uploaded_file import UploadedFile

type Status = Literal[
    "uploaded",
    "validating",
    "validated",
    "invalid",
    "committing",
    "committed",
    "failed",
    "cancelled",
]
type OnDuplicate = Literal["skip", "fail"]
type Way = Literal["request", "upload", "drop"]
"""How the file came: with the request, through a presigned form, dropped into the bucket."""

MAX_UPLOAD = 5_000_000
"""Bytes of a file that comes with a request."""
MAX_FILE = 25_000_000
"""Bytes of a file that comes through a presigned form or is dropped into the bucket."""


def _flag(value: object) -> object:
    """Read a flag of a form, where everything is text."""
    flags = {"true": True, "1": True, "false": False, "0": False, "": None}
    if isinstance(value, str):
        if value.strip().lower() not in flags:
            raise PydanticCustomError("bool_type", "must be true or false")
        return flags[value.strip().lower()]
    return value


type FormFlag = Annotated[bool | None, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]
"""true or false, as a form or a JSON body gives it."""


class ImportOptions(Input):
    """What to do with the rows of a file.

    `on_duplicate`: with what exists already. Documents and transfer orders are skipped
    unless it says fail; products and pick faces are updated unless it says skip or fail.
    """

    on_duplicate: OnDuplicate | None = None
    auto_allocate: FormFlag = Field(
        default=None, description="Allocate stock to the exit documents that are created."
    )


class ImportUpload(Input):
    """A file to be imported, as a form."""

    kind: ImportKind
    file: UploadedFile
    options: ImportOptions | None = None


class UploadRequest(Input):
    """A file to be imported that will be sent to storage directly."""

    kind: ImportKind
    filename: Annotated[Line, Field(min_length=1, max_length=200)]
    options: ImportOptions | None = None


class RowCounts(Stored):
    """Rows of the file with data: all, those that can be applied, those that are rejected."""

    total: int | None = None
    valid: int | None = None
    error: int | None = None


class DocumentCounts(Stored):
    """Documents, transfer orders, products or pick faces: in the file, valid, applied."""

    total: int | None = None
    valid: int | None = None
    committed: int | None = None


class Source(Stored):
    """Where the file lies. `etag` are the contents that are meant, None: whatever is there."""

    bucket: Literal["arrivals", "work"]
    name: str
    etag: str | None = None


class Requester(Stored):
    """Who is to be named as having made what an import makes."""

    subject: str
    kind: Literal["client", "user", "mobile"]
    client_id: str | None = None


class Part(Stored):
    """A file of valid units, in the order of the import's file."""

    name: str
    units: int


class StoredImport(Stored):
    """An import as stored.

    A unit is what is applied as a whole: a document, a transfer order, a product, a pick
    face. `checked`, `applied` and `allocated` are how many of them have been gone through:
    what a worker that dies leaves behind, the next one goes on from.
    """

    id: int
    kind: ImportKind
    status: Status
    file: str | None = None
    way: Way
    on_duplicate: OnDuplicate | None = None
    auto_allocate: bool = False
    rows: RowCounts = Field(default_factory=RowCounts)
    documents: DocumentCounts = Field(default_factory=DocumentCounts)
    structure_errors: list[str] = Field(default_factory=list)
    committed_at: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp
    source: Source
    digest: str | None = None
    warning: str | None = None
    language: Language = "en"
    header: list[str] = Field(default_factory=list)
    checked: int = 0
    parts: list[Part] = Field(default_factory=list)
    rejected: list[str] = Field(default_factory=list)
    report: str | None = None
    readable: bool = False
    """Every unit has been checked, so that the valid ones can be applied."""
    applied: int = 0
    allocated: int = 0
    requested_by: Requester | None = None
    commit_request: str | None = None
    """Name of the request that began the commit."""
    busy_until: int = 0
    """Milliseconds; until then somebody is at work on it, unless he died."""
    stalled: int = 0
    """How often the worker has taken it up since it last got ahead."""


class Import(Stored):
    """An import as answered."""

    id: int
    kind: ImportKind
    status: Status
    file: str | None
    rows: RowCounts
    documents: DocumentCounts
    structure_errors: list[str]
    error_report_url: Annotated[
        str | None,
        WithJsonSchema({"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]}),
    ]
    committed_at: Timestamp | None


class UploadForm(Stored):
    """Where and how to send the file: POST multipart/form-data, `fields` before `file`."""

    model_config = ConfigDict(json_schema_extra={"required": ["url", "fields"]})

    url: str
    fields: Mapping[str, Any]


class PendingImport(Import):
    """An import that waits for its file."""

    upload: UploadForm


class ImportParameters(PeriodParameters):
    """Parameters of the list of imports."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: Status | None = None
    kind: ImportKind | None = None


class TemplateParameters(BaseModel):
    """Parameters of a template."""

    model_config = ConfigDict(extra="ignore")

    lang: Language = Field(default="en", description="Language of headers and instructions.")
