"""Models of imports: request bodies, the stored record, responses and parameters."""

import operator
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.integration.imports.languages import Language
from shared.kernel.fields import Input, Line, Parameters, Stored, Timestamp
from shared.kernel.list_parameters import OneOf, PeriodParameters
from shared.kernel.uploaded_file import MAX_FILE_NAME, UploadedFile

type ImportKind = Literal[
    "entry_documents",
    "exit_documents",
    "transfer_orders",
    "returns",
    "stock_counts",
    "pick_faces",
    "products",
]
type ImportStatus = Literal[
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
type UploadChannel = Literal["request", "upload", "drop"]
"""How the file was uploaded: in the request, with a presigned form, or as a bucket drop."""

IMPORT_KINDS: tuple[ImportKind, ...] = get_args(ImportKind.__value__)

MAX_REQUEST_FILE_BYTES = 4_500_000
"""Size of a file in a request. Lambda accepts 6 291 456 bytes, of which base64 takes 6 000 000; the
rest is for the headers and the other fields."""
MAX_FILE_BYTES = 25_000_000
"""Size of a file that is uploaded with a presigned form or dropped into the bucket."""


def megabytes(size: int) -> str:
    """Write a number of bytes in MB, such as `4.5 MB`."""
    return f"{size / 10**6:g} MB"


def _parse_boolean(value: object) -> object:
    """Convert a boolean of a form, where every value is text."""
    booleans = {"true": True, "1": True, "false": False, "0": False, "": None}
    if isinstance(value, str):
        if value.strip().lower() not in booleans:
            raise PydanticCustomError("bool_type", "must be true or false")
        return booleans[value.strip().lower()]
    return value


type FormBoolean = Annotated[
    bool | None, BeforeValidator(_parse_boolean), WithJsonSchema({"type": "boolean"})
]
"""A boolean in a form or in a JSON body."""


class ImportOptions(Input):
    """How the rows of a file are applied.

    `on_duplicate` says what happens to rows whose document, order, product or pick face already
    exists. Without it, documents and transfer orders are skipped, products and pick faces are
    updated.
    """

    # An empty field of a form counts as absent.
    on_duplicate: Annotated[
        OnDuplicate | None, BeforeValidator(lambda value: None if value == "" else value)
    ] = None
    auto_allocate: FormBoolean = Field(
        default=None, description="Allocate stock to the exit documents that are created."
    )


class ImportUpload(Input):
    """A form with the file to import."""

    kind: ImportKind
    file: UploadedFile
    options: ImportOptions | None = None


class UploadRequest(Input):
    """A file to import that will be uploaded directly to storage."""

    kind: ImportKind
    filename: Annotated[Line, Field(min_length=1, max_length=MAX_FILE_NAME)]
    options: ImportOptions | None = None


class RowCounts(Stored):
    """Numbers of rows with data: in the file, valid, rejected."""

    total: int | None = None
    valid: int | None = None
    error: int | None = None


class DocumentCounts(Stored):
    """Numbers of documents, orders, counts, products or pick faces: in the file, valid, applied.

    `skipped` counts those of the valid ones that exist, differ, and are left as they are.
    """

    total: int | None = None
    valid: int | None = None
    committed: int | None = None
    skipped: int | None = None


class FileLocation(Stored):
    """Where the uploaded file is stored.

    `etag` identifies the content; other content is treated as a missing file. None accepts any.
    """

    bucket: Literal["arrivals", "work"]
    name: str
    etag: str | None = None


class Requester(Stored):
    """The caller that is recorded as the author of everything that the import creates.

    `may_approve` is whether they may grant approvals.
    """

    subject: str
    kind: Literal["client", "user", "mobile"]
    client_id: str | None = None
    may_approve: bool = Field(default=False, exclude_if=operator.not_)


class PartFile(Stored):
    """A file with valid row groups, in the order of the uploaded file.

    `units` is the number of row groups.
    """

    name: str
    units: int


class StoredImport(Stored):
    """An import as stored.

    `checked`, `applied` and `allocated` count the row groups that validation, commit and
    allocation have completed. If a worker fails, the next worker resumes from these counts.
    """

    id: int
    kind: ImportKind
    status: ImportStatus
    file: str | None = None
    way: UploadChannel
    on_duplicate: OnDuplicate | None = None
    auto_allocate: bool = False
    rows: RowCounts = Field(default_factory=RowCounts)
    documents: DocumentCounts = Field(default_factory=DocumentCounts)
    structure_errors: list[str] = Field(default_factory=list)
    committed_at: Timestamp | None = None
    created_at: Timestamp
    updated_at: Timestamp
    source: FileLocation
    digest: str | None = None
    warning: str | None = None
    language: Language = "en"
    header: list[str] = Field(default_factory=list)
    checked: int = 0
    parts: list[PartFile] = Field(default_factory=list)
    rejected: list[str] = Field(default_factory=list)
    skipped: list[str] = Field(default_factory=list)
    """Part files of rows that are skipped because they differ from what exists."""
    report: str | None = None
    readable: bool = False
    """The validation is complete and found valid rows, so that a failed commit can be repeated."""
    applied: int = 0
    allocated: int = 0
    requested_by: Requester | None = None
    commit_request: str | None = None
    """Idempotency record of the request that started the commit."""
    busy_until: int = 0
    """End of the lease of the worker or request that processes the import: epoch milliseconds."""
    stalled: int = 0
    """How often a worker has taken up the import since its last progress."""
    invocations: int = 0
    """How often a worker has taken up the import since its upload, or since its commit began."""


class Import(Stored):
    """An import in a list."""

    id: int
    kind: ImportKind
    status: ImportStatus
    file: str | None
    rows: RowCounts
    documents: DocumentCounts
    structure_errors: list[str]
    error_report_url: Annotated[
        str | None,
        WithJsonSchema({"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]}),
    ]
    committed_at: Timestamp | None


class ImportDetail(Import):
    """One import, with the actions that its status admits."""

    actions: list[str]


class UploadForm(Stored):
    """The address and the form fields for uploading the file.

    POST multipart/form-data to `url`, with all `fields` before `file`.
    """

    model_config = ConfigDict(json_schema_extra={"required": ["url", "fields"]})

    url: str
    fields: Mapping[str, Any]


class PendingImport(ImportDetail):
    """An import whose file has not been uploaded yet."""

    upload: UploadForm


class ImportParameters(PeriodParameters):
    """Query parameters of the list of imports."""

    sort: Literal["created_at", "-created_at", "updated_at", "-updated_at"] = "-created_at"
    status: OneOf[ImportStatus] | None = None
    kind: ImportKind | None = None


class TemplateParameters(Parameters):
    """Query parameters of a template."""

    lang: Language = Field(default="en", description="Language of the headers and instructions.")
