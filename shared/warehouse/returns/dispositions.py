"""Dispositions of received goods: restock, keep in quarantine, scrap, write off, or send back."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from shared.kernel import references
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, RuleBlocked
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked, ensure_valid, problems_of
from shared.warehouse.catalog.gtins import line_gtins_resolved
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.partners import codes as partner_codes
from shared.warehouse.returns import disposition_rules as rules
from shared.warehouse.returns import provider, views
from shared.warehouse.returns.actions import ACTIONS
from shared.warehouse.returns.models import (
    DEFAULT_PROVIDER,
    LOST,
    Disposition,
    DispositionDraft,
    DispositionsDraft,
    Part,
    StoredReturn,
)
from shared.warehouse.returns.repository import RETURNS
from shared.warehouse.stock.expiry import ensure_not_expired
from shared.warehouse.stock.models import (
    InventoryStatus,
    MovementCause,
    MovementType,
    RowKey,
    StockRefused,
    StockRow,
)
from shared.warehouse.stock.posting import StockPosting, fence_master_data


def decide(
    tx: Transaction, number: int, checked: Checked[DispositionsDraft]
) -> Record[StoredReturn]:
    """Decide what happens to received goods; with the last of them, raise return.dispositioned.

    Goods for `return_to_provider` get an exit document, with a picking that they are allocated to.
    Goods have expired, and are not restocked, when their day has passed.

    Raises:
        Conflict: The goods are no longer in quarantine where they were received.
        RuleBlocked: They do not fit at the position where they are put.
    """
    with line_gtins_resolved(tx.store, checked) as named:
        record, _ = run_all(lambda: RETURNS.get(tx.store, number), lambda: fence_master_data(tx))
        posting = StockPosting(tx, cause=MovementCause(type="return", id=number))
        one = record.entity
        ACTIONS.ensure(one, "dispositions")
        is_for_provider = any(line.action == "return_to_provider" for line in named.lines or ())
        codes = NamedCodes.of_lines(one.whs_code, named.lines)
        provider_code = named.partner_code or DEFAULT_PROVIDER
        partner = partner_codes.name_keys("provider", provider_code) if is_for_provider else []
        external_ref, found = run_all(
            lambda: provider.prepare(tx, one) if is_for_provider else None,
            lambda: tx.store.get_many([*codes.keys, *partner]),
        )
        known = codes.known(tx, found)
        counted = lines_in_base_units(named, found)
        problems = list(rules.examine(counted, one, known))
        lines = rules.valid_lines(counted, [*problems_of(counted), *problems])
        after, parts, more = rules.take_goods(one, lines)
        draft = ensure_valid(counted, [*problems, *more])
    today = tx.company.today
    moved = _move(posting, one, draft, parts, known, today)
    if external_ref is not None:
        goods = [each for each in moved if each.draft.action == "return_to_provider"]
        name = partner_codes.name_of(found, "provider", provider_code)
        exit_draft = provider.ProviderExit(provider_code, name, external_ref, today)
        document = provider.create_exit_document(tx, one, goods, exit_draft, known)
        numbers = [*one.provider_documents, document]
        after = after.model_copy(update={"provider_documents": numbers})
    after = rules.decided(after, tx.now)
    changed = RETURNS.save(tx, record, after)
    if after.status == "dispositioned":
        references.release_references(tx, RETURNS.kind, number)
        raise_record_event(tx, "return.dispositioned", views.RETURN_EVENTS, changed)
    references.record_use(tx, found.values())
    return changed


def _move(  # noqa: PLR0913, PLR0917 - the facts of a change
    posting: StockPosting,
    one: StoredReturn,
    draft: DispositionsDraft,
    parts: Sequence[Part],
    known: MasterData,
    today: str,
) -> list[provider.MovedGoods]:
    """Make the stock changes of dispositions, and return the goods that became available.

    Those that go back to the provider are allocated. Of lost goods, those leave the stock that are
    still in quarantine after the others.
    """
    by_action: dict[Disposition, list[Part]] = {}
    for part in parts:
        by_action.setdefault(draft.lines[part.at].action, []).append(part)
    restocked = by_action.get("restock", [])
    available = [*restocked, *by_action.get("return_to_provider", [])]
    scrapped, kept = by_action.get("scrap", []), by_action.get("quarantine", [])
    lost = by_action.get("lost", [])
    places = {part: _target_place(one, part, draft.lines[part.at], known) for part in available}
    sources = {part: row_key(one, part, part.bin_code, "quarantine") for part in parts}
    targets = [row_key(one, part, place[1], "available") for part, place in places.items()]
    posting.load(
        targets=[*sources.values(), *targets], movements=len(available) + len(scrapped) + len(lost)
    )
    rows = {part: quarantined(posting, part, sources[part]) for part in parts if part not in lost}
    ensure_not_expired(
        ((f"lines.{part.at}.action", rows[part].expiry_date, "available") for part in restocked),
        today,
    )
    _ensure_room(posting, {part: (rows[part], places[part]) for part in available})
    moved: list[tuple[Part, StockRow]] = []
    for part in available:
        after = _book(posting, part, rows[part], places[part])
        if draft.lines[part.at].action == "return_to_provider":
            posting.changes.allocate(after, part.qty)
        moved.append((part, after))
    for part in scrapped:
        _book(posting, part, rows[part], None)
    # What stays has to be there beside what moves, and is not lost.
    roll_back = posting.changes.savepoint()
    for part in kept:
        _book(posting, part, rows[part], None)
    missing = [(part, _write_off(posting, part, sources[part], part.qty)) for part in lost]
    roll_back()
    for part, qty in missing:
        _write_off(posting, part, sources[part], qty)
    posting.post()
    return [
        provider.MovedGoods(part, draft.lines[part.at], row, posting.row_id(row))
        for part, row in moved
    ]


def _ensure_room(
    posting: StockPosting, goods: Mapping[Part, tuple[StockRow, tuple[int, str]]]
) -> None:
    """Raise RuleBlocked if goods do not fit at the positions where they are put.

    Goods that stay where they are fit.
    """
    arriving: dict[int, list[Part]] = {}
    for part, (row, place) in goods.items():
        if row.position_id != place[0]:
            arriving.setdefault(part.at, []).append(part)
    targets = {at: _target(*goods[parts[0]]) for at, parts in arriving.items()}
    posting.load_room(targets.values())
    roll_back, problems = posting.changes.savepoint(), list[Problem]()
    for at, parts in arriving.items():
        total = sum((part.qty for part in parts), ZERO)
        if refusal := posting.room_refusal(targets[at], total):
            problems.append(Problem(f"lines.{at}.qty", refusal))
            continue
        for part in parts:
            _book(posting, part, *goods[part])
    roll_back()
    if problems:
        raise RuleBlocked(problems)


def _target(row: StockRow, place: tuple[int, str]) -> StockRow:
    """Return the row of available stock that goods of a row become at a position."""
    places = {"position_id": place[0], "bin_code": place[1]}
    return row.model_copy(update={"inventory_status": "available", **places})


def _target_place(
    one: StoredReturn, part: Part, draft: DispositionDraft, known: MasterData
) -> tuple[int, str]:
    """Return id and code of the position where goods are put."""
    if draft.bin_code is None:
        return part.position_id, part.bin_code
    position = known.positions[one.whs_code, draft.bin_code]
    return position.id, position.bin_code


def row_key(one: StoredReturn, part: Part, bin_code: str, status: InventoryStatus) -> RowKey:
    """Return the key of the stock row of goods at a position."""
    return RowKey(part.product_id, one.warehouse_id, bin_code, status, part.batch_num, part.serial)


def quarantined(posting: StockPosting, part: Part, source: RowKey) -> StockRow:
    """Return the stock row of goods in quarantine; raise Conflict when they are not there."""
    row = posting.changes.find(source)
    if row is None or not _is_quarantined(row, part):
        goods = f"Serial {part.serial}" if part.serial is not None else "The goods"
        place = ""
        if row is not None and row.qty:
            place = f"; {row.inventory_status} at {row.whs_code} {row.bin_code or 'in transit'}"
        message = f"{goods} of this return are no longer in quarantine at {part.bin_code}{place}."
        raise posting.conflict(message)
    return row


def _is_quarantined(row: StockRow, part: Part) -> bool:
    return (row.position_id, row.inventory_status) == (part.position_id, "quarantine")


def _book(
    posting: StockPosting, part: Part, row: StockRow, place: tuple[int, str] | None
) -> StockRow:
    """Move goods from quarantine to available stock at a position, or out of the books."""
    target = _target(row, place) if place else None
    kind: MovementType = "return_restock" if target else "return_scrap"
    try:
        return posting.changes.move(kind, part.qty, source=row, target=target) or row
    except StockRefused as refused:
        raise posting.conflict(f"The goods are no longer in quarantine: {refused}.") from refused


def _write_off(posting: StockPosting, part: Part, source: RowKey, qty: Decimal) -> Decimal:
    """Take up to `qty` of lost goods out of the books; return how much was there."""
    row = posting.changes.find(source)
    there = min(qty, row.qty) if row and _is_quarantined(row, part) else ZERO
    if there:
        posting.changes.move("return_scrap", there, source=row, reason=LOST)
    return there
