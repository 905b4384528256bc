"""Moving stock from one position to another, inside a warehouse or between two."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from shared.kernel.db import references
from shared.kernel.db.collection import Record
from shared.kernel.db.items import Item, Key
from shared.kernel.db.listing import Page
from shared.kernel.db.parallel import run_both
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.validation import Checked, InvalidBody, ensure_valid
from shared.warehouse.catalog import service as catalog
from shared.warehouse.stock.ledger import Ledger, blank_row
from shared.warehouse.stock.models import NONE, MovementCause, StockRow
from shared.warehouse.transfers import repository, rules, views
from shared.warehouse.transfers.models import (
    ErpAnswer,
    StoredTransfer,
    TransferDraft,
    TransferLine,
    TransferMove,
    TransferParameters,
)
from shared.warehouse.transfers.repository import TRANSFERS
from shared.warehouse.transfers.rules import MasterData
from shared.warehouse.warehouses import service as warehouses

_ONE = Decimal(1)

type _Line = Checked[TransferMove] | TransferLine
type _Move = tuple[StockRow, StockRow, Decimal]
"""Where goods lie, where they go, and how much of them; the rows as `blank_row` describes them."""


def create_transfer(tx: Transaction, draft: Checked[TransferDraft]) -> Record[StoredTransfer]:
    """Create a transfer and raise transfer.created; move the goods unless `execute` is false.

    Raises:
        ValidationFailed: The draft or what it names is invalid; with all problems.
        Conflict: The goods are to be moved at once, and too few of them are available.
    """
    tx.fence(TRANSFERS.kind)
    ends = (draft.from_warehouse, draft.to_warehouse)
    keys = _keys(*ends, draft.lines or ())
    items, _ = run_both(
        lambda: tx.store.get_many(keys),
        lambda: None if isinstance(draft, InvalidBody) else tx.reserve_ids(TRANSFERS.kind, 1),
    )
    known = _master_data(tx, *ends, draft.lines or (), items)
    draft = ensure_valid(draft, rules.examine(draft, known))
    number = tx.next_id(TRANSFERS.kind)
    user = tx.caller.user_id if tx.caller else None
    transfer = rules.new_transfer(number, draft, known, user_id=user, now=tx.now)
    if draft.execute is False:
        references.register_references(tx, _holder(number), _named(transfer, known))
    else:
        refusals = _move(tx, transfer, known)
        if refusals:
            raise Conflict(_sentence(refusals))
        transfer = transfer.model_copy(update={"status": "transferred"})
    if transfer.status == "pending":
        record = TRANSFERS.insert(tx, number, transfer)
        raise_record_event(tx, "transfer.created", views.TRANSFER_EVENTS, record)
        return record
    # Two changes in one: whoever is told of both sees which came first.
    record = TRANSFERS.insert(tx, number, transfer, version=2)
    created = transfer.model_copy(update={"status": "pending"})
    raise_record_event(
        tx, "transfer.created", views.TRANSFER_EVENTS, replace(record, version=1, entity=created)
    )
    raise_record_event(tx, "transfer.completed", views.TRANSFER_EVENTS, record)
    return record


def execute_transfer(tx: Transaction, number: int) -> Record[StoredTransfer]:
    """Move the goods of a transfer and raise transfer.completed.

    When they are not there, or may not be put where they are to go, the transfer is in
    `error` with the message and may be executed again. Raises Conflict when it was
    carried out already.
    """
    tx.fence(TRANSFERS.kind)
    record = TRANSFERS.get(tx.store, number)
    transfer = record.entity
    rules.ensure_status(transfer, "pending", "error")
    ends = (transfer.from_whs_code, transfer.to_whs_code)
    items = tx.store.get_many(_keys(*ends, transfer.lines))
    known = _master_data(tx, *ends, transfer.lines, items)
    refusals = list(rules.closed_ends(transfer, known)) or _move(tx, transfer, known)
    if refusals:
        return _changed(tx, record, status="error", message=_sentence(refusals))
    references.release_references(tx, _holder(number))
    changed = _changed(tx, record, status="transferred", message=None)
    raise_record_event(tx, "transfer.completed", views.TRANSFER_EVENTS, changed)
    return changed


def acknowledge_transfer(tx: Transaction, number: int, answer: ErpAnswer) -> Record[StoredTransfer]:
    """Keep what the ERP answered to a transfer. Raises Conflict until it is carried out."""
    record = TRANSFERS.get(tx.store, number)
    rules.ensure_status(record.entity, "transferred")
    return _changed(tx, record, **answer.model_dump())


def _changed(
    tx: Transaction, record: Record[StoredTransfer], **update: object
) -> Record[StoredTransfer]:
    after = record.entity.model_copy(update={**update, "updated_at": tx.now})
    return TRANSFERS.replace(tx, record, after)


def _sentence(refusals: Sequence[str]) -> str:
    text = "; ".join(refusals)
    return f"{text[0].upper()}{text[1:]}."


# Master data


def _pairs(
    from_whs_code: str | None, to_whs_code: str | None, lines: Sequence[_Line]
) -> set[tuple[str, str]]:
    ends = [(from_whs_code, line.from_bin) for line in lines]
    ends += [(to_whs_code, line.to_bin) for line in lines]
    return {(whs, code) for whs, code in ends if whs is not None and code is not None}


def _codes(lines: Sequence[_Line]) -> set[str]:
    codes = {line.item_code for line in lines}
    return {code for code in codes if code is not None}


def _keys(from_whs_code: str | None, to_whs_code: str | None, lines: Sequence[_Line]) -> list[Key]:
    """Return the keys of the master data that a transfer names."""
    keys = [
        warehouses.warehouse_key(code) for code in (from_whs_code, to_whs_code) if code is not None
    ]
    keys += [catalog.product_key(code) for code in _codes(lines)]
    keys += [warehouses.position_key(*pair) for pair in _pairs(from_whs_code, to_whs_code, lines)]
    return keys


def _master_data(
    tx: Transaction,
    from_whs_code: str | None,
    to_whs_code: str | None,
    lines: Sequence[_Line],
    found: dict[Key, Item],
) -> MasterData:
    ends = {code for code in (from_whs_code, to_whs_code) if code is not None}
    return MasterData(
        products=catalog.known_products(tx, _codes(lines), found),
        warehouses=warehouses.known_warehouses(tx, ends, found),
        positions=warehouses.known_positions(tx, _pairs(from_whs_code, to_whs_code, lines), found),
    )


def _holder(number: int) -> str:
    return f"{TRANSFERS.kind}#{number}"


def _named(transfer: StoredTransfer, known: MasterData) -> dict[str, list[int]]:
    return {
        "product": [line.product_id for line in transfer.lines],
        "warehouse": [warehouse.id for warehouse in known.warehouses.values()],
        "position": [position.id for position in known.positions.values()],
    }


# Stock


def _move(tx: Transaction, transfer: StoredTransfer, known: MasterData) -> list[str]:
    """Stage the movements of all lines, or nothing and tell what stands against them."""
    ledger = Ledger(
        tx, cause=MovementCause(type="transfer", id=transfer.id), reason=transfer.reason
    )
    moves = [(at, move) for at, line in enumerate(transfer.lines, start=1)
             for move in _moves(tx, transfer, line, known)]  # fmt: skip
    spots = [spot for _, (source, target, _) in moves for spot in (source, target)]
    ledger.load(targets=spots, movements=len(moves))
    refusals: list[str] = []
    for at, (source, target, qty) in moves:
        row = _row_at(ledger, source)
        free = row.qty - row.allocated if row else NONE
        if row and qty <= free:
            ledger.book.move("transfer", qty, source=row, target=target)
        else:
            refusals.append(f"line {at}: {_missing(source, free)}")
    if not refusals:
        ledger.stage()
    return refusals


def _moves(
    tx: Transaction, transfer: StoredTransfer, line: TransferLine, known: MasterData
) -> Iterator[_Move]:
    def spot(whs_code: str | None, bin_code: str | None, serial: str | None) -> StockRow:
        return blank_row(
            known.products[line.item_code],
            known.warehouses[whs_code or ""],
            known.positions[whs_code or "", bin_code or ""],
            status=line.inventory_status,
            batch=line.batch_num,
            serial=serial,
            now=tx.now,
        )

    serials: Sequence[str | None] = line.serials or [None]
    for serial in serials:
        source = spot(transfer.from_whs_code, line.from_bin, serial)
        target = spot(transfer.to_whs_code, line.to_bin, serial)
        yield source, target, line.qty if serial is None else _ONE


def _row_at(ledger: Ledger, source: StockRow) -> StockRow | None:
    """Find the goods where they are said to lie; a serial may be elsewhere."""
    row = ledger.book.at(source)
    if row is None:
        return None
    facts = ("warehouse_id", "position_id", "batch_num", "inventory_status")
    here = all(getattr(row, fact) == getattr(source, fact) for fact in facts)
    return row if here else None


def _missing(source: StockRow, free: Decimal) -> str:
    place = f"at {source.whs_code} {source.bin_code}"
    if source.serial_number is not None:
        return f"serial {source.serial_number} of {source.item_code} is not free {place}"
    batch = f", batch {source.batch_num}" if source.batch_num else ""
    return f"only {free.normalize():f} of {source.item_code}{batch} is free {place}"


def get_transfer(store: Store, number: int) -> Record[StoredTransfer]:
    """Read a transfer; NotFound when there is none."""
    return TRANSFERS.get(store, number)


def list_transfers(
    store: Store, parameters: TransferParameters, timezone: str
) -> Page[StoredTransfer]:
    """Read a page of transfers; `from` and `to` are days in the time zone."""
    return repository.list_transfers(store, parameters, timezone)
