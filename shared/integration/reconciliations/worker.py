"""Compares the quantities of a file with the stock, in steps that a killed worker can repeat.

The first step reads the file, the next ones the stock part by part, and the last one compares. Each
stores what it has read as a file, which a step that was killed has written in vain.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import batched
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from shared.integration.changes.service import feed_head
from shared.integration.imports.file_rows import FileRow, read_quantities
from shared.integration.reconciliations import rules
from shared.integration.reconciliations.comparison import Scope, all_places, compare, kept_place
from shared.integration.reconciliations.context import IN_PROGRESS, ReconciliationContext
from shared.integration.reconciliations.lines import NamedStock, named_stock
from shared.integration.reconciliations.models import (
    MAX_DIFFERENCES,
    MAX_ROWS,
    InvalidRow,
    ReconciliationDraft,
    StoredReconciliation,
)
from shared.integration.reconciliations.rules import SentLine, StockKey
from shared.integration.reconciliations.service import completed
from shared.kernel.clock import now_ms
from shared.kernel.db.records import Record
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, Gone
from shared.kernel.events.feed import FeedHead
from shared.kernel.observability import logger
from shared.kernel.queued_work import QueuedWork, progress
from shared.kernel.tenant_files import FileMissing
from shared.kernel.validation import check
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import Place
from shared.warehouse.stock.service import OnHand

_ROWS = 1_000
"""Rows that are checked at once."""
_PLACES = 2_000
"""Places that are read in a step."""
_TIME_FOR_STEP = 25.0
"""Seconds that must remain for another step."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """The quantities of a file, and the places that are compared."""

    theirs: Mapping[StockKey, Decimal]
    places: Sequence[Place]
    by_batch: set[Place]
    warehouse_id: int | None
    item_codes: Mapping[int, str]

    @classmethod
    def loaded(cls, content: Any) -> Self:
        """Return what `_read_file` has stored."""
        theirs = {
            StockKey(product, warehouse, batch): Decimal(qty)
            for product, warehouse, batch, qty in content["lines"]
        }
        return cls(
            theirs,
            [(product, warehouse) for product, warehouse in content["places"]],
            rules.places_by_batch(theirs),
            content["warehouse_id"],
            {int(number): code for number, code in content["item_codes"].items()},
        )


type _Record = Record[StoredReconciliation]


def process_reconciliation(
    context: ReconciliationContext, number: int, *, last_delivery: bool
) -> None:
    """Compare a file with the stock, if the reconciliation exists; see `QueuedWork.take_up`."""
    work = QueuedWork(
        IN_PROGRESS,
        context.update,
        context.enqueue,
        lambda record: _process(context, record),
        lambda record, reason: context.fail(record.id, f"{reason} Upload the file again."),
    )
    record = work.take_up(number, last_delivery=last_delivery)
    if record:
        logger.info(
            "reconciliation progress",
            reconciliation_id=record.id,
            status=record.entity.status,
            places=record.entity.done,
            invocations=record.entity.invocations,
        )


def _process(context: ReconciliationContext, record: _Record) -> _Record:
    first = True
    sent: _Sent | None = None
    while record.entity.status in IN_PROGRESS:
        if not first and context.store.deadline.remaining < _TIME_FOR_STEP:
            return record
        first = False
        try:
            before = record.entity
            if sent is None and before.parts:
                sent = _Sent.loaded(context.part(before.parts[0]))
            after = _step(context, record, sent)
        except FileMissing:
            return context.fail(record.id, "The file was deleted in storage. Upload it again.")
        except (Gone, Conflict) as error:
            return context.fail(record.id, error.message)
        if after.entity.status in IN_PROGRESS and after.entity.parts == before.parts:
            return after  # another worker has taken it further
        record = after
    return record


def _step(context: ReconciliationContext, record: _Record, sent: _Sent | None) -> _Record:
    stored = record.entity
    if sent is None:
        return _read_file(context, record)
    if stored.done < len(sent.places):
        return _read_stock(context, record, sent)
    scope = Scope(
        FeedHead(stored.epoch, stored.position, checksums={}),
        stored.started_ms,
        sent.warehouse_id,
        is_complete=stored.complete,
        after=kept_place(context.store, feed_head(context.store), stored.after_position),
    )
    read = {place: one for name in stored.parts[1:] for place, one in _loaded(context.part(name))}
    outcome = compare(context.store, scope, sent.theirs, read, sent.item_codes)
    result = completed(context, stored, outcome)
    return context.update(
        record.id,
        lambda now: None if now.status not in IN_PROGRESS else {
            **result.model_dump(include={"status", "position", "compared", "equal", "total"}),
            "differences": result.differences, "workbook": result.workbook, "busy_until": 0,
        },
    )  # fmt: skip


def _save(context: ReconciliationContext, record: _Record, part: str, **values: object) -> _Record:
    """Add what a step has read, unless another worker has done so."""
    before = record.entity.parts

    def add(stored: StoredReconciliation) -> dict[str, object] | None:
        if stored.status not in IN_PROGRESS or stored.parts != before:
            return None
        return {"status": "running", "parts": [*before, part], **values, **progress()}

    return context.update(record.id, add)


# The file


def _read_file(context: ReconciliationContext, record: _Record) -> _Record:
    stored = record.entity
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        context.files.download(stored.source or "", path)
        found = read_quantities(
            path,
            stored.file or "",
            timezone=context.tenant.timezone,
            max_rows=MAX_ROWS,
        )
    if found.errors:
        return context.fail(record.id, " ".join(found.errors))
    named, problems = _named(context, stored, found.rows)
    if problems:
        return _reject(context, record, problems)
    head, started_ms = feed_head(context.store), now_ms()
    places = [line.key.place for line in named.lines]
    if stored.complete:
        places += all_places(context.store, named.warehouse_id)
    part = context.put_part(
        {
            "lines": [[*line.key, str(line.qty)] for line in named.lines],
            "places": list(dict.fromkeys(places)),
            "warehouse_id": named.warehouse_id,
            "item_codes": named.item_codes,
        }
    )
    return _save(
        context, record, part, position=head.position, epoch=head.epoch, started_ms=started_ms
    )


def _named(
    context: ReconciliationContext, stored: StoredReconciliation, rows: Sequence[FileRow]
) -> tuple[NamedStock, list[InvalidRow]]:
    """Return the stock that rows name, with the row of a line as its path, and all problems."""
    lines: list[SentLine] = []
    codes: dict[int, str] = {}
    problems = [
        InvalidRow(row=row.number, field=one.field, message=one.message)
        for row in rows
        for one in row.problems
    ]
    warehouse_id = None
    for part in [*batched(rows, _ROWS, strict=False)] or [()]:
        found = _check_rows(context, stored, part)
        warehouse_id = found.warehouse_id
        codes |= found.item_codes
        lines += [
            SentLine(f"row {part[_line_of(one.path)].number}", one.key, one.qty)
            for one in found.lines
        ]
        unread = {(row.number, one.field) for row in part for one in row.problems}
        for one in found.problems:
            path, _, name = one.field.removeprefix("lines.").partition(".")
            number = part[int(path)].number if path.isdecimal() else 0
            if (number, name) not in unread:
                problems.append(
                    InvalidRow(row=number, field=name or one.field, message=one.message)
                )
    for one in rules.doubled_lines(lines):
        path, _, name = one.field.removeprefix("row ").partition(".")
        problems.append(InvalidRow(row=int(path), field=name, message=one.message))
    problems.sort(key=lambda one: one.row)
    return NamedStock(lines, [], warehouse_id, codes), problems


def _check_rows(
    context: ReconciliationContext, stored: StoredReconciliation, rows: Sequence[FileRow]
) -> NamedStock:
    body = check(
        ReconciliationDraft,
        {
            "warehouse_code": stored.warehouse_code,
            "complete": stored.complete,
            "lines": [row.body for row in rows],
        },
    )
    return run_transaction(context.store, lambda tx: named_stock(tx, body))


def _line_of(path: str) -> int:
    return int(path.removeprefix("lines."))


def _reject(
    context: ReconciliationContext, record: _Record, problems: Sequence[InvalidRow]
) -> _Record:
    book = None
    if len(problems) > MAX_DIFFERENCES:
        from shared.integration.reconciliations.workbook import problem_book  # noqa: PLC0415

        book = context.put_workbook(problem_book(problems))
    rows = len({one.row for one in problems})
    return context.fail(
        record.id,
        f"Invalid rows: {rows}. Nothing was compared.",
        problems=[*problems[:MAX_DIFFERENCES]],
        problems_total=len(problems),
        workbook=book,
    )


# The stock


def _read_stock(context: ReconciliationContext, record: _Record, sent: _Sent) -> _Record:
    done = record.entity.done
    part = sent.places[done : done + _PLACES]
    read = stock.read_on_hand(context.store, part, by_batch=sent.by_batch.intersection(part))
    content = [_dumped(place, one) for place, one in read.items() if one.version]
    return _save(context, record, context.put_part(content), done=done + len(part))


def _dumped(place: Place, one: OnHand) -> list[Any]:
    written_by = one.written_by.hex() if one.written_by else None
    batches = [[batch, str(qty)] for batch, qty in one.batches.items()]
    return [*place, str(one.qty), one.version, one.item_code, written_by, batches]


def _loaded(content: Any) -> Iterable[tuple[Place, OnHand]]:
    for product, warehouse, qty, version, item_code, written_by, batches in content:
        yield (
            (product, warehouse),
            OnHand(
                Decimal(qty),
                version,
                item_code,
                bytes.fromhex(written_by) if written_by else None,
                {batch: Decimal(amount) for batch, amount in batches},
            ),
        )
