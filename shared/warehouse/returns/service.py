"""Use cases of returns: create, receive, finish, cancel, read and list them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby

from shared.kernel import references
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import Item, Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import CreatedRecord, Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.fields import ZERO
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, InvalidBody, problems_of
from shared.warehouse.catalog.drafts import more_problems
from shared.warehouse.catalog.gtins import line_gtins_resolved
from shared.warehouse.catalog.lines import LineProblems, ensure_no_problems, parts_of
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.partners import codes as partner_codes
from shared.warehouse.picking import service as picking
from shared.warehouse.returns import arrival_rules, limits, repository, rules, views
from shared.warehouse.returns.actions import ACTIONS
from shared.warehouse.returns.models import (
    ReturnArrival,
    ReturnDraft,
    ReturnedGoods,
    StoredReturn,
)
from shared.warehouse.returns.repository import RETURNED, RETURNS
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import MovementCause, StockRow
from shared.warehouse.stock.posting import StockPosting, empty_row, fence_master_data
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.work.operators import read_operator
from shared.warehouse.work.sources import source_of

type _Part = tuple[int, int, Decimal, StockRow]
"""Index of a line of an arrival, number of a part of it, its quantity, and the row it increases."""


def create_return(
    tx: Transaction,
    draft: Checked[ReturnDraft],
    *,
    import_id: int | None = None,
) -> CreatedRecord[StoredReturn]:
    """Create a return, or return the one that has its reference.

    It reserves the announced goods of its exit document. `import_id` is the import that creates it,
    if an import does.

    Raises:
        RuleBlocked: The draft is valid, but rules forbid it: more than was dispatched, for example.
    """
    with line_gtins_resolved(tx.store, draft) as named:
        lines = 0 if isinstance(named, InvalidBody) else len(named.lines)
        _, document = run_all(
            lambda: tx.fence(RETURNS.kind), lambda: _document(tx.store, named.exit_document_id)
        )
        origin, found, _, _ = run_all(
            lambda: _origin(tx.store, document, with_lots=_names_lots(named)),
            lambda: tx.store.get_many(return_keys(named, document)),
            lambda: tx.reserve_ids(RETURNS.kind, 1) if lines else None,
            lambda: tx.reserve_ids(repository.LINE_SEQUENCE, lines) if lines else None,
        )
        if not isinstance(named, InvalidBody):
            existing = repository.REFERENCES.holder(found, named.external_ref)
            if existing:
                record = RETURNS.get(tx.store, existing)
                differing = rules.differences(named, record.entity)
                return CreatedRecord(record, new=False, differing=differing)
        known, found = _known(tx, named, document, found)
        counted = lines_in_base_units(named, found)
        findings = _findings(tx.store, counted, known, origin)
        if findings.all and not isinstance(named, InvalidBody):
            _ensure_not_created_meanwhile(tx.store, counted.external_ref)
        draft = ensure_no_problems(counted, findings)
    number = tx.next_id(RETURNS.kind)
    line_ids = [tx.next_id(repository.LINE_SEQUENCE) for _ in draft.lines]
    one = rules.new_return(
        number, line_ids, draft, known, origin, tx.now,
        partner_name=partner_codes.name_of(found, "client", draft.partner_code or ""),
        source=source_of(tx, import_id),
        import_id=import_id,
    )  # fmt: skip
    record = RETURNS.insert(tx, number, one)
    repository.REFERENCES.put(tx, draft.external_ref, number)
    stored = origin.stored if origin else None
    _put_taken(tx, one.exit_document_id, stored, ReturnedGoods(), limits.taken_by(one))
    references.register_references(
        tx,
        RETURNS.kind,
        number,
        {"product": (line.product_id for line in one.lines), "warehouse": [one.warehouse_id]},
    )
    references.record_use(tx, found.values())
    return CreatedRecord(record, new=True)


def examine_return(
    tx: Transaction, draft: Checked[ReturnDraft]
) -> tuple[int | None, list[Problem]]:
    """Return the problems of a draft other than those of its fields; nothing is written.

    The first value is the id of the return that already has the reference of the draft, or None.
    """
    with line_gtins_resolved(tx.store, draft) as named:
        document = _document(tx.store, named.exit_document_id)
        found, origin = run_all(
            lambda: tx.store.get_many(return_keys(named, document)),
            lambda: _origin(tx.store, document, with_lots=_names_lots(named)),
        )
        known, found = _known(tx, named, document, found)
        counted = lines_in_base_units(named, found)
        findings = _findings(tx.store, counted, known, origin)
        existing = repository.REFERENCES.holder(found, counted.external_ref)
        if findings.all and existing is None:
            _ensure_not_created_meanwhile(tx.store, counted.external_ref)
        return existing, [*more_problems(counted, draft), *findings.all]


def _findings(
    store: Store,
    draft: Checked[ReturnDraft],
    known: MasterData,
    origin: limits.Origin | None,
) -> LineProblems:
    """Return every problem of a return other than those of its fields."""
    found = rules.examine(draft, known, origin, settings_of(store.company))
    named = rules.limited_goods(draft, known, origin) if origin else []
    serials = {(goods.product_id, serial) for goods in named for serial in goods.serials}
    if origin is None or not serials:
        return found
    rows = stock.serial_rows(store, serials)
    departed = limits.departure_problems(
        origin, named, lambda *serial: rows.get(serial), found.blocked
    )
    return LineProblems(found.invalid, [*found.blocked, *departed])


def return_differences(
    store: Store, drafts: Mapping[int, ReturnDraft]
) -> Mapping[int, Sequence[str]]:
    """Return the fields in which drafts differ from the returns with their ids."""
    records = RETURNS.get_many(store, drafts)
    return {one.id: rules.differences(drafts[one.id], one.entity) for one in records}


def _ensure_not_created_meanwhile(store: Store, reference: str | None) -> None:
    """Raise StaleRead if a return has the reference now: its goods may be what is missing."""
    keys = repository.REFERENCES.keys(reference)
    if store.get_many(keys, uncached=True):
        raise StaleRead


def _document(store: Store, number: int | None) -> Record[Document] | None:
    wanted = [] if number is None else [number]
    return next(iter(documents.get_documents(store, "exit", wanted)), None)


def _names_lots(draft: Checked[ReturnDraft] | Checked[ReturnArrival]) -> bool:
    return any(line.batch is not None or line.serials for line in draft.lines or ())


def _origin(
    store: Store, document: Record[Document] | None, *, with_lots: bool
) -> limits.Origin | None:
    """Read what left with an exit document, lots only if asked for, and what was returned."""
    if document is None:
        return None
    returned, pickings = run_all(
        lambda: RETURNED.get_many(store, [document.id]),
        lambda: picking.get_pickings(store, document.entity.gone_works) if with_lots else None,
    )
    goods = None if pickings is None else [one.entity for one in pickings]
    return limits.origin_of(document.id, document.entity, goods, next(iter(returned), None))


def return_keys(draft: Checked[ReturnDraft], document: Record[Document] | None) -> list[Key]:
    """Return the keys of the aliases that `create_return` reads for a draft."""
    of_document = document.entity.card_code if document else None
    named = None if draft.partner_code == of_document else draft.partner_code
    keys = [*_codes(draft, document).keys, *partner_codes.name_keys("client", named)]
    return [*keys, *repository.REFERENCES.keys(draft.external_ref)]


def _codes(draft: Checked[ReturnDraft], document: Record[Document] | None) -> NamedCodes:
    code = rules.warehouse_code(draft, document.entity if document else None)
    items = (line.item_code for line in draft.lines or ())
    return NamedCodes(products=items, warehouses=[code])


def _known(
    tx: Transaction,
    draft: Checked[ReturnDraft],
    document: Record[Document] | None,
    found: dict[Key, Item],
) -> tuple[MasterData, dict[Key, Item]]:
    """Return the master data that a draft names, and its aliases, of which `found` were read.

    The code of the document's warehouse leads to that warehouse also if it has another code now.
    """
    known = _codes(draft, document).known(tx, found)
    if document is None or draft.warehouse_code is not None:
        return known, found
    former = document.entity.whs_code
    if former in known.warehouses:
        return known, found
    code = warehouses.present_code(tx.store, document.entity.named["warehouse"][0])
    codes = NamedCodes(warehouses=[code])
    aliases = tx.store.get_many(codes.keys)
    present = codes.known(tx, aliases).warehouses
    if code is not None and code in present:
        known = replace(known, warehouses={former: present[code]})
    return known, found | aliases


def _put_taken(
    tx: Transaction,
    number: int | None,
    stored: Record[ReturnedGoods] | None,
    before: ReturnedGoods,
    after: ReturnedGoods,
) -> None:
    """Record what a return takes of the goods of the exit document `number`, if that changes."""
    if number is None or before == after:
        return
    returned = limits.with_change(stored.entity if stored else ReturnedGoods(), before, after)
    if stored is None:
        RETURNED.insert(tx, number, returned)
    else:
        RETURNED.replace(tx, stored, returned)


# Receiving


def receive_goods(
    tx: Transaction, number: int, arrival: Checked[ReturnArrival]
) -> Record[StoredReturn]:
    """Receive goods of a return into stock, in quarantine, until its receiving is finished.

    Raises:
        RuleBlocked: More arrives than left with the exit document and was not returned so far, or
            than fits.
    """
    with line_gtins_resolved(tx.store, arrival) as named:
        record, operator, _ = run_all(
            lambda: RETURNS.get(tx.store, number),
            lambda: read_operator(tx),
            lambda: fence_master_data(tx),
        )
        posting = StockPosting(tx, cause=MovementCause(type="return", id=number))
        one = record.entity
        ACTIONS.ensure(one, "lines")
        codes = NamedCodes.of_lines(one.whs_code, named.lines)
        origin, found = run_all(
            lambda: _origin_of_arrival(tx.store, one, named),
            lambda: tx.store.get_many(codes.keys),
        )
        known = codes.known(tx, found)
        counted = lines_in_base_units(named, found)
        findings = arrival_rules.examine_arrival(counted, one, known, origin)
        parts = _parts(tx, one, counted, known, [*problems_of(counted), *findings.invalid])
        is_refused = isinstance(counted, InvalidBody) or bool(findings.all)
        posting.load(
            targets=[row.key for *_, row in parts], movements=0 if is_refused else len(parts)
        )
        invalid = [*findings.invalid, *_stock_problems(posting, parts)]
        blocked = list(findings.blocked)
        if origin:
            goods = arrival_rules.limited_goods(counted, one, known)
            rows = _serial_rows(posting, parts)
            blocked += limits.departure_problems(
                origin, goods, lambda *serial: rows.get(serial), [*invalid, *blocked]
            )
        if not is_refused and not invalid:
            blocked += _room_problems(posting, parts)
        arrival = ensure_no_problems(counted, LineProblems(invalid, blocked))
    for _, _, qty, row in parts:
        target = posting.with_age(posting.batches.with_date(row))
        posting.changes.move("return_receipt", qty, target=target)
    posting.post()
    after = arrival_rules.with_arrival(one, arrival, known)
    if origin:
        taken = limits.taken_by(one), limits.taken_by(after)
        _put_taken(tx, one.exit_document_id, origin.stored, *taken)
    received = RETURNS.save(tx, record, after, operator=one.operator or operator)
    references.record_use(tx, found.values())
    return received


def _origin_of_arrival(
    store: Store, one: StoredReturn, arrival: Checked[ReturnArrival]
) -> limits.Origin | None:
    """Read the origin of a return if it limits an arrival."""
    if one.exit_document_id is None or not arrival_rules.is_limited(one, arrival):
        return None
    document = _document(store, one.exit_document_id)
    return _origin(store, document, with_lots=_names_lots(arrival))


def _parts(
    tx: Transaction,
    one: StoredReturn,
    arrival: Checked[ReturnArrival],
    known: MasterData,
    found: Sequence[Problem],
) -> list[_Part]:
    """Return the goods of an arrival; leave out lines with a problem, but not of the position.

    `found` are the problems of the arrival. A serial has one row at any position.
    """
    parts: list[_Part] = []
    for at, line in arrival_rules.lines_without_problems(arrival.lines, found):
        for number, (serial, qty) in enumerate(parts_of(line.qty, line.serials)):
            row = empty_row(
                known.products[line.item_code],
                known.warehouses[one.whs_code],
                known.positions.get((one.whs_code, line.bin_code)),
                status="quarantine",
                batch=line.batch,
                serial=serial,
                expiry_date=line.expiry_date,
                now=tx.now,
            )
            parts.append((at, number, qty, row))
    return parts


def _stock_problems(posting: StockPosting, parts: Sequence[_Part]) -> Iterator[Problem]:
    """Yield a problem for each serial in stock, and for each date that differs from the batch's."""
    refused = set[int]()
    for at, number, _, row in parts:
        if refusal := posting.serial_refusal(row):
            yield Problem(f"lines.{at}.serials.{number}", refusal)
        if at not in refused and (refusal := posting.batches.join(row)):
            refused.add(at)
            yield Problem(f"lines.{at}.expiry_date", refusal)


def _room_problems(posting: StockPosting, parts: Sequence[_Part]) -> list[Problem]:
    """Return a problem for each line whose goods do not fit beside those of the lines before."""
    posting.load_room(row for *_, row in parts)
    roll_back, problems = posting.changes.savepoint(), list[Problem]()
    for at, of_line in groupby(parts, lambda part: part[0]):
        goods = [*of_line]
        total = sum((qty for _, _, qty, _ in goods), ZERO)
        if refusal := posting.room_refusal(goods[0][3], total):
            problems.append(Problem(f"lines.{at}.qty", refusal))
            continue
        for _, _, qty, row in goods:
            posting.changes.move("return_receipt", qty, target=row)
    roll_back()
    return problems


def _serial_rows(posting: StockPosting, parts: Sequence[_Part]) -> dict[tuple[int, str], StockRow]:
    """Return the rows that hold or held the serials of an arrival, by product and serial."""
    found = (posting.changes.find(row.key) for *_, row in parts if row.serial_number)
    return {(row.product_id, row.serial_number or ""): row for row in found if row}


def finish_return(tx: Transaction, number: int) -> Record[StoredReturn]:
    """End the receiving of a return and raise return.received.

    What was announced and did not arrive is no longer reserved.
    """
    record = RETURNS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "finish")
    ended = _end(tx, record, status="received", received_at=tx.now)
    raise_record_event(tx, "return.received", views.RETURN_EVENTS, ended)
    return ended


def cancel_return(tx: Transaction, number: int) -> Record[StoredReturn]:
    """Cancel a return of which nothing has arrived; its goods are no longer reserved."""
    record = RETURNS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "cancel")
    references.release_references(tx, RETURNS.kind, number)
    return _end(tx, record, status="cancelled")


def _end(tx: Transaction, record: Record[StoredReturn], **update: object) -> Record[StoredReturn]:
    """Change the fields in `update` of a return, which takes no more than before."""
    return save_taking_less(tx, record, record.entity.model_copy(update=update))


def save_taking_less(
    tx: Transaction, record: Record[StoredReturn], after: StoredReturn
) -> Record[StoredReturn]:
    """Save a return that takes no more of its exit document than before."""
    before = limits.taken_by(record.entity)
    taken, document = limits.taken_by(after), record.entity.exit_document_id
    if document is not None and taken != before:
        stored = next(iter(RETURNED.get_many(tx.store, [document])), None)
        _put_taken(tx, document, stored, before, taken)
    return RETURNS.save(tx, record, after)


get_return = RETURNS.get
list_returns = list_of(RETURNS)


LINE_SEQUENCE = repository.LINE_SEQUENCE
