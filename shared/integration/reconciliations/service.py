"""Use cases of reconciliations."""

from collections.abc import Iterator, Sequence

from shared.integration.changes.service import ensure_present_epoch, feed_head, position_problem
from shared.integration.imports.file_rows import ensure_acceptable, safe_file_name
from shared.integration.reconciliations import repository, rules
from shared.integration.reconciliations.comparison import (
    Outcome,
    Scope,
    all_places,
    compare,
    kept_place,
    number_of_places,
)
from shared.integration.reconciliations.context import ReconciliationContext
from shared.integration.reconciliations.lines import named_stock
from shared.integration.reconciliations.models import (
    KEPT_DAYS,
    MAX_FILE_PLACES,
    MAX_PLACES,
    ReconciliationDraft,
    ReconciliationUpload,
    StoredReconciliation,
)
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.events.feed import FeedHead
from shared.kernel.validation import Checked, InvalidBody, ensure_valid
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.stock import service as stock

_DAY_MS = 86_400_000
REQUEST_SECONDS = 30
"""Seconds after which a request has certainly ended."""


def reconcile(
    tx: Transaction, context: ReconciliationContext, body: Checked[ReconciliationDraft]
) -> Record[StoredReconciliation]:
    """Compare the quantities of a request with what is on hand, and store the result.

    Raises:
        Gone: The position is of another epoch, or what follows it is not kept any more.
        UnservedTable: The table has no feed yet.
        ServiceUnavailable: The relay has not appended what was read until the deadline.
    """
    head, started_ms = feed_head(tx.store), now_ms()
    named = named_stock(tx, body)
    problems = [
        *named.problems,
        *rules.doubled_lines(named.lines),
        *_position_problems(head, body),
        *_size_problems(tx.store, body, named.warehouse_id, MAX_PLACES, "send a file"),
    ]
    draft = _valid(body, problems)
    ensure_present_epoch(head, draft.epoch)
    scope = Scope(
        head,
        started_ms,
        named.warehouse_id,
        is_complete=draft.complete,
        after=kept_place(tx.store, head, draft.position),
    )
    theirs = {line.key: line.qty for line in named.lines}
    places = [key.place for key in theirs]
    if draft.complete:
        places += all_places(tx.store, named.warehouse_id)
    by_batch = rules.places_by_batch(theirs)
    read = stock.read_on_hand(tx.store, list(dict.fromkeys(places)), by_batch=by_batch)
    outcome = compare(tx.store, scope, theirs, read, named.item_codes)
    number = tx.next_id(repository.KIND)
    new = new_reconciliation(tx, number, draft, head)
    return repository.put_reconciliation(tx, completed(context, new, outcome), None)


def start_file(
    tx: Transaction, context: ReconciliationContext, body: Checked[ReconciliationUpload]
) -> Record[StoredReconciliation]:
    """Create a reconciliation of a file, which the worker compares.

    Raises:
        ImportRefused: The file is too large for a request (413), or is not a spreadsheet.
        Gone: The position is of another epoch, or what follows it is not kept any more.
        UnservedTable: The table has no feed yet.
    """
    head = feed_head(tx.store)
    code = body.warehouse_code
    codes = NamedCodes(warehouses=[code]).read(tx)
    warehouse = codes.warehouses.get(code or "")
    problems = [
        *codes.warehouse_problems("warehouse_code", code),
        *_position_problems(head, body),
        *_size_problems(
            tx.store, body, warehouse.id if warehouse else None, MAX_FILE_PLACES, "leave it out"
        ),
    ]
    upload = ensure_valid(body, problems)
    ensure_present_epoch(head, upload.epoch)
    kept_place(tx.store, head, upload.position)
    name = safe_file_name(upload.file.name)
    ensure_acceptable(upload.file.content, name)
    number = tx.next_id(repository.KIND)
    source = context.put_file(upload.file.content)
    # Messages about what does not exist are ignored; the second one is for a slow request.
    for delay in (1, REQUEST_SECONDS):
        context.enqueue(number, delay=delay)
    new = new_reconciliation(tx, number, upload, head)
    new = new.model_copy(update={"file": name, "source": source})
    return repository.put_reconciliation(tx, new, None)


def _position_problems(
    head: FeedHead, body: Checked[ReconciliationDraft] | Checked[ReconciliationUpload]
) -> Iterator[Problem]:
    """Yield the problem of the position; one of another epoch is gone, whatever its number."""
    if body.epoch in {None, head.epoch}:
        problem = position_problem(head, "position", body.position or 0)
        if problem:
            yield problem


def _size_problems(
    store: Store,
    body: Checked[ReconciliationDraft] | Checked[ReconciliationUpload],
    warehouse_id: int | None,
    most: int,
    instead: str,
) -> Iterator[Problem]:
    """Yield the problem of a complete list of more stock than can be compared at once."""
    if not body.complete or (body.warehouse_code and warehouse_id is None):
        return
    if (places := number_of_places(store, warehouse_id)) > most:
        yield Problem(
            "complete",
            f"the stock of {places:,} products and warehouses would be read, more than"
            f" {most:,}; name a warehouse, or {instead}",
        )


def _valid(body: Checked[ReconciliationDraft], problems: Sequence[Problem]) -> ReconciliationDraft:
    """Return a body without problems; raise ValidationFailed with them if it has some."""
    if isinstance(body, InvalidBody) or problems:
        raise ValidationFailed(problems)
    return body


def new_reconciliation(
    tx: Transaction, number: int, draft: ReconciliationDraft | ReconciliationUpload, head: FeedHead
) -> StoredReconciliation:
    """Return a reconciliation that is not completed."""
    return StoredReconciliation(
        id=number,
        status="pending",
        after_position=draft.position,
        position=head.position,
        epoch=head.epoch,
        warehouse_code=draft.warehouse_code,
        complete=draft.complete,
        created_at=tx.now,
        updated_at=tx.now,
        expires_at=instant(tx.now_ms + KEPT_DAYS * _DAY_MS),
    )


def completed(
    context: ReconciliationContext, stored: StoredReconciliation, outcome: Outcome
) -> StoredReconciliation:
    """Return a reconciliation with its result; more differences than it shows are in a workbook."""
    book = None
    if len(outcome.found) > len(outcome.shown):
        # Imported here because openpyxl takes 100 ms.
        from shared.integration.reconciliations.workbook import workbook  # noqa: PLC0415

        book = context.put_workbook(workbook(outcome))
    result = {
        "status": "completed",
        "position": outcome.head.position,
        "compared": outcome.compared,
        "equal": outcome.equal,
        "total": len(outcome.found),
        "differences": [*outcome.shown],
        "workbook": book,
    }
    return stored.model_copy(update=result)


get_reconciliation = repository.get_reconciliation
