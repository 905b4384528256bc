"""Use cases of holds: create, extend, release, use and list them."""

from collections.abc import Iterable

from shared.kernel.db.items import Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import CreatedRecord, Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, StaleState
from shared.kernel.validation import Checked, InvalidBody, ensure_valid
from shared.warehouse.catalog.lines import LineProblems, ensure_no_problems
from shared.warehouse.catalog.models import UnitGoods
from shared.warehouse.catalog.unit_quantities import lines_in_base_units
from shared.warehouse.holds import repository, rules
from shared.warehouse.holds.actions import ACTIONS
from shared.warehouse.holds.models import HoldDraft, HoldExpiry, StoredHold, hold_code
from shared.warehouse.holds.repository import HOLDS, REFERENCES
from shared.warehouse.master_data.named_codes import MasterData, NamedCodes
from shared.warehouse.stock.level_book import LevelBook
from shared.warehouse.stock.models import SHARES_SINCE


def create_hold(tx: Transaction, draft: Checked[HoldDraft]) -> CreatedRecord[StoredHold]:
    """Hold goods, or return the hold that has the reference of the draft.

    Raises:
        RuleBlocked: Less can be sold than a line would hold, or too much is held already.
        UnservedTable: The levels do not have the shares of all documents yet.
    """
    tx.store.ensure_version(SHARES_SINCE, "A hold")
    # What can be held is in stock, so that nothing deletes or renames its product and warehouse.
    codes = NamedCodes(
        products=(line.item_code for line in draft.lines or ()), warehouses=[draft.warehouse_code]
    )
    wanted = [*codes.keys, *REFERENCES.keys(draft.external_ref)]
    count = 0 if isinstance(draft, InvalidBody) else 1
    found, _ = run_all(lambda: tx.store.get_many(wanted), lambda: tx.reserve_ids(HOLDS.kind, count))
    if not isinstance(draft, InvalidBody):
        existing = REFERENCES.holder(found, draft.external_ref)
        if existing:
            record = HOLDS.get(tx.store, existing)
            differing = rules.differences(draft, record.entity)
            return CreatedRecord(record, new=False, differing=differing)
    known = codes.known(tx, found)
    counted = lines_in_base_units(draft, found)
    problems = rules.examine(counted, known, tx.now_ms)
    taken = LevelBook.of(tx).limit(rules.taken(counted, known), holds=True)
    if taken and draft.external_ref:
        # By a concurrent request with the same reference, maybe: then its hold is the answer.
        tx.read_twice(f"hold {draft.external_ref}")
    valid = ensure_no_problems(counted, LineProblems(problems.invalid, [*problems.blocked, *taken]))
    hold = rules.new_hold(tx.next_id(HOLDS.kind), valid, known, tx.now_ms)
    record = HOLDS.insert(tx, hold.id, hold)
    REFERENCES.put(tx, hold.external_ref, hold.id)
    return CreatedRecord(record, new=True)


def extend_hold(tx: Transaction, number: int, expiry: Checked[HoldExpiry]) -> Record[StoredHold]:
    """Change until when an active hold holds its goods."""
    record = HOLDS.get(tx.store, number)
    valid = ensure_valid(expiry, rules.expiry_problems(expiry, tx.now_ms))
    ACTIONS.ensure((record.entity, tx.now_ms), "extend")
    return HOLDS.update(tx, record, {"expires_at": rules.expiry_of(valid, tx.now_ms)})


def release_hold(tx: Transaction, number: int) -> Record[StoredHold]:
    """End an active hold: its goods can be sold."""
    record = HOLDS.get(tx.store, number)
    ACTIONS.ensure((record.entity, tx.now_ms), "release")
    return HOLDS.save(tx, record, record.entity, stage="released")


get_hold = HOLDS.get
list_holds = repository.list_holds


# What exit documents call


def keys_of(number: int | None) -> list[Key]:
    """Return the key of a hold that a request names, if it names one."""
    return [] if number is None else [HOLDS.key(number)]


def examine_use(
    store: Store,
    number: int,
    whs_code: str | None,
    lines: Iterable[tuple[str, Checked[UnitGoods]]],
    known: MasterData,
) -> LineProblems:
    """Return the problems of a document that takes the goods of a hold, whatever its status."""
    hold = next(iter(HOLDS.get_many(store, [number])), None)
    if hold is None:
        return LineProblems([Problem("hold_id", f"no hold has the id {number}")], [])
    blocked = list(rules.use_problems(hold.entity, lines, known.products))
    warehouse = known.warehouses.get(whs_code or "")
    if warehouse and warehouse.id != hold.entity.warehouse_id:
        message = f"{hold_code(number)} is of warehouse {hold.entity.whs_code}"
        blocked.insert(0, Problem("hold_id", message))
    return LineProblems([], blocked)


def use_hold(tx: Transaction, number: int, document_id: int) -> None:
    """End a hold whose goods an exit document takes; what is left of them can be sold.

    Raises:
        StaleState: The hold was used or released, or has expired.
    """
    hold = HOLDS.get(tx.store, number)
    status = rules.status_at(hold.entity, tx.now_ms)
    if status != "active":
        raise StaleState(f"Hold {hold_code(number)} is {status}; it must be active to be used.")
    HOLDS.save(tx, hold, hold.entity, stage="used", exit_document_id=document_id)
