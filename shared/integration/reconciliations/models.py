"""Models of reconciliations: requests, the stored entity, and the responses."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from shared.kernel.fields import (
    WHOLE_NUMBER,
    Code,
    Input,
    Measure,
    Number,
    Stored,
    Timestamp,
    Unit,
)
from shared.kernel.uploaded_file import UploadedFile
from shared.warehouse.stock.models import MovementCause, MovementType

MAX_LINES = 5_000
"""Lines of a request."""
MAX_PLACES = 100_000
"""Pairs of a product and a warehouse of which a request with a complete list reads the stock."""
MAX_FILE_PLACES = 500_000
"""The same of a file. If all differ, the worker takes 700 MB and a minute for the last step."""
MAX_ROWS = 100_000
"""Rows of a file."""
MAX_DIFFERENCES = 1_000
"""Differences that a reconciliation shows; its workbook has all."""
MAX_SHOWN = 20
"""Movements or works of a difference that a reconciliation shows: the newest."""
KEPT_DAYS = 90

type ReconciliationStatus = Literal["pending", "running", "completed", "failed"]

type Position = Annotated[int, Field(ge=0, le=10**15 - 1), WHOLE_NUMBER]
"""A position of the feed of changes, or its epoch."""


class ReconciliationLine(Input):
    """What the other system has of a product in a warehouse, of one batch or of all."""

    item_code: Code
    warehouse_code: Code | None = Field(
        default=None, description="Default is the `warehouse_code` of the request."
    )
    batch: Code | None = Field(
        default=None,
        description="Null counts all batches together. Lines of one product and warehouse all name"
        " a batch, or there is only one.",
    )
    qty: Measure = Field(description="Quantity on hand, allocated and blocked goods included.")
    unit: Unit | None = None


class ReconciliationDraft(Input):
    """The quantities of another system."""

    position: Position | None = Field(
        default=None,
        description="The position of the feed of changes that the quantities include. Differences"
        " then have the movements after it.",
    )
    epoch: Position | None = Field(
        default=None,
        description="The epoch that `position` is of. If a new one has begun since: 410 gone.",
    )
    warehouse_code: Code | None = Field(
        default=None,
        description="The warehouse of lines that name none, and the only one that is compared. Null"
        " compares all.",
    )
    complete: bool = Field(
        default=False,
        description="`true`: the lines are the whole stock; what they do not list is 0. Of at most"
        f" {MAX_PLACES:,} pairs of a product and a warehouse; of a file"
        f" {MAX_FILE_PLACES:,}.",
    )
    lines: Annotated[list[ReconciliationLine], Field(max_length=MAX_LINES)]


def _number(value: object) -> object:
    """Return the number that a field of a form has as text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value[:20])
    return value


def _flag(value: object) -> object:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


class ReconciliationUpload(Input):
    """A form with a file of quantities of another system; the other fields are as in JSON."""

    file: UploadedFile = Field(description="The file, .xlsx or .csv.")
    position: Annotated[Position, BeforeValidator(_number)] | None = Field(
        default=None,
        description="The position of the feed of changes that the quantities include.",
    )
    epoch: Annotated[Position, BeforeValidator(_number)] | None = Field(
        default=None, description="The epoch that `position` is of."
    )
    warehouse_code: Code | None = Field(
        default=None, description="The warehouse of rows that name none, and the only one compared."
    )
    complete: Annotated[bool, BeforeValidator(_flag)] = Field(
        default=False, description="`true`: what the file does not list is 0."
    )


class ExplainingMovement(Stored):
    """A movement that changed what is on hand; `qty` is negative if goods left."""

    id: int
    type: MovementType
    qty: Number
    document: MovementCause | None
    at: Timestamp


class OpenWork(Stored):
    """Work that has changed what is on hand, and that the other system has not acknowledged."""

    object: Literal["receipt", "picking", "transfer"]
    id: int
    code: str | None
    qty: Number


class StockDifference(Stored):
    """A quantity that differs; `difference` is `ours` minus `theirs`.

    `movements` and `open_work` have the newest 20 of `movements_total` and `open_work_total`.
    """

    item_code: str
    warehouse_code: str
    batch: str | None
    theirs: Number
    ours: Number
    difference: Number
    explained: bool
    movements: list[ExplainingMovement] = Field(default_factory=list)
    movements_total: int = 0
    open_work: list[OpenWork] = Field(default_factory=list)
    open_work_total: int = 0


class InvalidRow(Stored):
    """What is wrong with a row of a file."""

    row: int
    field: str
    message: str


class StoredReconciliation(Stored):
    """A reconciliation as stored.

    `after_position` is the position that the quantities of the other system include. `source` is
    the name of the file that is compared, `file` that under which it was uploaded. `parts` are the
    names of what a worker has read: first the quantities of the file, then parts of the stock, read
    since `started_ms` behind `position`; `done` are the places of which stock is read.
    """

    id: int
    status: ReconciliationStatus
    after_position: int | None
    position: int
    epoch: int
    warehouse_code: str | None
    complete: bool
    compared: int = 0
    equal: int = 0
    total: int = 0
    differences: list[StockDifference] = Field(default_factory=list)
    problems_total: int = 0
    problems: list[InvalidRow] = Field(default_factory=list)
    workbook: str | None = None
    failure: str | None = None
    started_ms: int = 0
    file: str | None = None
    source: str | None = None
    parts: list[str] = Field(default_factory=list)
    done: int = 0
    created_at: Timestamp
    updated_at: Timestamp
    expires_at: Timestamp
    busy_until: int = 0
    stalled: int = 0
    invocations: int = 0


class Reconciliation(Stored):
    """A comparison of the quantities of another system with what is on hand.

    `position` is what `ours` includes of the feed of changes, `after_position` what `theirs`
    includes. `total` counts the differences; the largest 1,000 are shown.
    """

    id: int
    object: Literal["reconciliation"] = "reconciliation"
    code: str
    status: ReconciliationStatus
    after_position: int | None
    position: int
    epoch: int
    warehouse_code: str | None
    complete: bool
    compared: int
    equal: int
    total: int
    differences: list[StockDifference]
    problems: list[InvalidRow]
    problems_total: int
    failure: str | None
    workbook_url: Annotated[
        str | None,
        WithJsonSchema({"anyOf": [{"type": "string", "format": "uri"}, {"type": "null"}]}),
    ]
    expires_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


def reconciliation_code(number: int) -> str:
    """Return how people call a reconciliation."""
    return f"RC-{number}"
