"""Use cases of transfers: move stock between positions of one warehouse or of two."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby

from shared.kernel import references
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, RuleBlocked
from shared.kernel.events.outbox import raise_record_event
from shared.kernel.fields import ZERO, plain
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, InvalidBody, ensure_valid
from shared.warehouse.catalog.lines import parts_of
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.stock.models import MovementCause, StockRow
from shared.warehouse.stock.posting import StockPosting, empty_row
from shared.warehouse.transfers import replenishments, repository, rules, views
from shared.warehouse.transfers.actions import ACTIONS
from shared.warehouse.transfers.models import (
    ErpAnswer,
    StoredTransfer,
    TransferDraft,
    TransferLine,
    TransferMove,
)
from shared.warehouse.transfers.repository import TRANSFERS
from shared.warehouse.work.operators import operator_from_start, operator_problems, read_operator

type _Line = Checked[TransferMove] | TransferLine
type _Move = tuple[StockRow, StockRow, Decimal]
"""Source row, target row and quantity of a movement; the rows are made by `empty_row`."""


def create_transfer(tx: Transaction, draft: Checked[TransferDraft]) -> Record[StoredTransfer]:
    """Create a transfer and raise transfer.created; move the goods unless `execute` is false.

    Raises:
        Conflict: The goods are to be moved at once, and too few of them are available.
        RuleBlocked: They are to be moved at once, and do not fit at their destination.
    """
    tx.fence(TRANSFERS.kind)
    ends = (draft.from_warehouse, draft.to_warehouse)
    codes = _codes(*ends, draft.lines or ())
    items, _, operator = run_all(
        lambda: tx.store.get_many(codes.keys),
        lambda: None if isinstance(draft, InvalidBody) else tx.reserve_ids(TRANSFERS.kind, 1),
        lambda: read_operator(tx, draft.operator_id),
    )
    known = codes.known(tx, items)
    draft = lines_in_base_units(draft, items)
    problems = [
        *rules.examine(draft, known),
        *operator_problems("operator_id", draft.operator_id, operator),
    ]
    draft = ensure_valid(draft, problems)
    number = tx.next_id(TRANSFERS.kind)
    user = tx.caller.user_id if tx.caller else None
    transfer = rules.new_transfer(number, draft, known, user_id=user, operator=operator, now=tx.now)
    if draft.execute is False:
        record = replenishments.insert_waiting(tx, transfer, known)
    else:
        refused, blocked = _move(tx, transfer, known)
        if refused:
            raise Conflict(_sentence([*refused, *_texts(blocked)]))
        if blocked:
            raise RuleBlocked([Problem(f"lines.{at}.qty", text) for at, text in blocked.items()])
        # Two changes in one transaction: their versions show receivers which event came first.
        moved = transfer.model_copy(update={"status": "transferred"})
        record = TRANSFERS.insert(tx, number, moved, version=2)
        created = replace(record, version=1, entity=transfer)
        raise_record_event(tx, "transfer.created", views.TRANSFER_EVENTS, created)
        raise_record_event(tx, "transfer.completed", views.TRANSFER_EVENTS, record)
    references.record_use(tx, items.values())
    return record


def execute_transfer(tx: Transaction, number: int) -> Record[StoredTransfer]:
    """Move the goods of a transfer that is not executed, and raise transfer.completed.

    When the goods are not there, or may not be put at their destination, the status becomes
    `error`, with the reason in `message`; the transfer can be executed again.
    """
    tx.fence(TRANSFERS.kind)
    record, acting = run_all(lambda: TRANSFERS.get(tx.store, number), lambda: read_operator(tx))
    transfer = record.entity
    ACTIONS.ensure(transfer, "execute")
    ends = (transfer.from_whs_code, transfer.to_whs_code)
    codes = _codes(*ends, transfer.lines)
    items = tx.store.get_many([*codes.keys, *replenishments.waiting_key(transfer)])
    known = codes.known(tx, items)
    refusals = list(rules.unusable_targets(transfer, known))
    if not refusals:
        refused, blocked = _move(tx, transfer, known)
        refusals = [*refused, *_texts(blocked)]
    if refusals:
        return TRANSFERS.save(tx, record, transfer, status="error", message=_sentence(refusals))
    references.release_references(tx, TRANSFERS.kind, number)
    replenishments.end_waiting(tx, transfer)
    operator = operator_from_start(transfer.operator, transfer.user_id, acting)
    changed = TRANSFERS.save(
        tx, record, transfer, status="transferred", message=None, operator=operator
    )
    raise_record_event(tx, "transfer.completed", views.TRANSFER_EVENTS, changed)
    return changed


def delete_transfer(tx: Transaction, number: int) -> Record[StoredTransfer]:
    """Delete a transfer that could still be executed, and return it as it was.

    Its products and positions are no longer referred to.
    """
    record = TRANSFERS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "execute")
    references.release_references(tx, TRANSFERS.kind, number)
    replenishments.end_waiting(tx, record.entity)
    TRANSFERS.remove(tx, record)
    return record


def acknowledge_transfer(
    tx: Transaction, number: int, checked: Checked[ErpAnswer]
) -> Record[StoredTransfer]:
    """Store the answer of the ERP to an executed transfer; a later answer replaces it.

    A refusal does not move goods back: `sap_status` is the ERP's, `status` the warehouse's.
    """
    record = TRANSFERS.get(tx.store, number)
    ACTIONS.ensure(record.entity, "acknowledge")
    answer = ensure_valid(checked)
    return TRANSFERS.save(tx, record, record.entity, **answer.model_dump())


def _sentence(refusals: Sequence[str]) -> str:
    text = "; ".join(refusals)
    return f"{text[0].upper()}{text[1:]}."


# Master data


def _codes(
    from_whs_code: str | None, to_whs_code: str | None, lines: Sequence[_Line]
) -> NamedCodes:
    """Return the codes that a transfer names."""
    return NamedCodes(
        products=(line.item_code for line in lines),
        warehouses=(from_whs_code, to_whs_code),
        positions=[
            *((from_whs_code, line.from_bin) for line in lines),
            *((to_whs_code, line.to_bin) for line in lines),
        ],
    )


# Stock


def _move(
    tx: Transaction, transfer: StoredTransfer, known: MasterData
) -> tuple[list[str], dict[int, str]]:
    """Add the movements of all lines; if one is impossible, add nothing and return why.

    The second value says of lines, by index, that their goods do not fit.
    """
    posting = StockPosting(
        tx, cause=MovementCause(type="transfer", id=transfer.id), reason=transfer.reason
    )
    moves = [(at, move) for at, line in enumerate(transfer.lines)
             for move in _moves(tx, transfer, line, known)]  # fmt: skip
    keys = [row.key for _, (source, target, _) in moves for row in (source, target)]
    posting.load(targets=keys, movements=len(moves))
    posting.load_room(target for _, (_, target, _) in moves)
    refused: list[str] = []
    blocked: dict[int, str] = {}
    for at, of_line in groupby(moves, lambda one: one[0]):
        parts = [move for _, move in of_line]
        if refusal := posting.room_refusal(parts[0][1], sum((qty for *_, qty in parts), ZERO)):
            blocked[at] = refusal
        for source, target, qty in parts:
            row = _row_at(posting, source)
            free = row.qty - row.allocated if row else ZERO
            if row and qty <= free:
                posting.changes.move("transfer", qty, source=row, target=target)
            else:
                reason = posting.serial_refusal(source) if row is None else None
                refused.append(f"line {at + 1}: {reason or _shortage(source, qty, free)}")
    if not refused and not blocked:
        posting.post()
    return refused, blocked


def _texts(blocked: Mapping[int, str]) -> list[str]:
    return [f"line {at + 1}: {refusal}" for at, refusal in blocked.items()]


def _moves(
    tx: Transaction, transfer: StoredTransfer, line: TransferLine, known: MasterData
) -> Iterator[_Move]:
    def place(whs_code: str | None, bin_code: str | None, serial: str | None) -> StockRow:
        return empty_row(
            known.products[line.item_code],
            known.warehouses[whs_code or ""],
            known.positions[whs_code or "", bin_code or ""],
            status=line.inventory_status,
            batch=line.batch_num,
            serial=serial,
            now=tx.now,
        )

    for serial, qty in parts_of(line.qty, line.serials):
        source = place(transfer.from_whs_code, line.from_bin, serial)
        target = place(transfer.to_whs_code, line.to_bin, serial)
        yield source, target, qty


def _row_at(posting: StockPosting, source: StockRow) -> StockRow | None:
    """Return the row of the goods at their source; None when a serial is somewhere else."""
    row = posting.changes.find(source.key)
    if row is None:
        return None
    facts = ("warehouse_id", "position_id", "batch_num", "inventory_status")
    here = all(getattr(row, fact) == getattr(source, fact) for fact in facts)
    return row if here else None


def _shortage(source: StockRow, qty: Decimal, free: Decimal) -> str:
    place = f"at {source.whs_code} {source.bin_code}"
    if source.serial_number is not None:
        return f"serial {source.serial_number} of {source.item_code} is not free {place}"
    batch = f", batch {source.batch_num}" if source.batch_num else ""
    numbers = f"{plain(qty)} requested, {plain(free)} free"
    return f"{numbers} of {source.item_code}{batch} {place}"


def fence_master_data(tx: Transaction) -> None:
    """Make the commit fail when master data that a transfer names is deleted from now on."""
    tx.fence(TRANSFERS.kind)


def reserve_transfers(tx: Transaction, count: int) -> None:
    """Reserve the ids of the next transfers in one call."""
    tx.reserve_ids(TRANSFERS.kind, count)


get_transfer = TRANSFERS.get
get_transfers = TRANSFERS.get_many
fit_one_transfer = rules.fit_one_transfer
create_replenishment = replenishments.create
record_waiting_replenishments = replenishments.record_waiting
waiting_replenishments = replenishments.waiting
waiting_replenishments_key = repository.replenished_key
list_transfers = list_of(TRANSFERS)
