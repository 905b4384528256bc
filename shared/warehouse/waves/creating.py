"""Create waves. Each picking is in one active wave at most, and names it.

Pickings that fit into one transaction are assigned in the transaction that creates the wave.
More are assigned in steps, to a pending wave that requests cannot see; the last step turns it
into a wave. After an interruption the pickings name a wave that does not exist: they can be
assigned again as soon as no request can be creating it any more.
"""

from collections.abc import Sequence

from shared.kernel.db import steps
from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.steps import fitting_items
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import (
    OrderInWave,
    Problem,
    ServiceError,
    ServiceUnavailable,
    ValidationFailed,
)
from shared.kernel.validation import Checked, ensure_valid, valid_entries
from shared.warehouse.picking import service as picking_service
from shared.warehouse.picking.models import ENDED_STATUSES, StoredPicking, picking_code
from shared.warehouse.settings.values import settings_of
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.waves import repository, rules
from shared.warehouse.waves.models import MAX_PICKINGS, StoredWave, WaveDraft, WaveRule
from shared.warehouse.waves.repository import WAVES
from shared.warehouse.waves.service import WaveWithOrders, with_orders

_MAX_WAIT_MS = 3_000
"""How long to wait for a pending wave of some of the same pickings."""

type _Pickings = list[Record[StoredPicking]]


def create_wave(tx: Transaction, draft: Checked[WaveDraft]) -> WaveWithOrders:
    """Create a wave in the state `draft`, of the pickings named or of those that match a rule.

    Raises:
        Conflict: A picking has ended.
        OrderInWave: A picking is in another active wave.
    """
    chosen, found = _named_pickings(tx, draft)
    draft = ensure_valid(draft, found)
    if draft.rule is not None:
        chosen = _matching_pickings(tx, draft.rule, draft.warehouse_code)
    else:
        rules.ensure_none_ended(chosen)
    interrupted = _ensure_free(tx, chosen)
    if len(_fitting(tx, chosen, interrupted)) == len(chosen):
        number = tx.next_id(WAVES.kind)
        _assign(tx, chosen, number, interrupted)
    else:
        number, chosen = _assign_in_steps(tx, chosen)
    pickings = [record.entity for record in chosen]
    rule = draft.rule or WaveRule()
    wave = StoredWave(
        id=number,
        warehouse_code=draft.warehouse_code,
        strategy=draft.strategy,
        status="draft",
        carrier_code=draft.carrier_code or rule.carrier,
        cutoff_at=draft.cutoff_at or rule.cutoff,
        metrics=rules.metrics_of(draft.strategy, pickings, settings_of(tx.company)),
        created_at=tx.now,
        updated_at=tx.now,
        picking_ids=[one.id for one in pickings],
        open_ids=[one.id for one in pickings if one.status not in ENDED_STATUSES],
        begun=any(one.started_at is not None for one in pickings),
    )
    return with_orders(WAVES.insert(tx, number, wave), chosen)


# Which pickings


def _named_pickings(tx: Transaction, draft: Checked[WaveDraft]) -> tuple[_Pickings, list[Problem]]:
    """Read the pickings that a draft names; return them and the problems of the draft."""
    numbers = list(dict.fromkeys(one for _, one in valid_entries(draft.picking_ids)))
    known, records = run_all(
        lambda: warehouses.all_warehouses(tx.store),
        lambda: picking_service.get_pickings(tx.store, numbers),
    )
    found = list(rules.draft_problems(draft))
    code = draft.warehouse_code
    is_known = any(one.whs_code == code for one in known.values())
    if code is not None and not is_known:
        found.append(Problem("warehouse_code", f"no warehouse has the code {code}"))
    by_id = {record.id: record.entity for record in records}
    found += rules.picking_problems(draft.picking_ids, by_id, code if is_known else None)
    return records, found


def _matching_pickings(tx: Transaction, rule: WaveRule, whs_code: str) -> _Pickings:
    """Return the pickings that match a rule and are in no active wave, the most urgent first."""
    waiting = picking_service.pending_pickings(tx.store, whs_code)
    zone = tx.company.timezone
    matching = rules.by_priority([one for one in waiting if rules.matches(rule, one, zone)])
    known = repository.find_waves(tx.store, {one.wave_id for one in matching if one.wave_id})
    free = [one.id for one in matching if not known.is_active(one.wave_id)]
    most, records = rule.max_orders or MAX_PICKINGS, list[Record[StoredPicking]]()
    while free and len(records) < most:
        part, free = free[: most - len(records)], free[most - len(records) :]
        read = picking_service.get_pickings(tx.store, part)
        # The index may lag: skip pickings that were started or assigned since.
        known = repository.find_waves(
            tx.store, {one.entity.wave_id for one in read if one.entity.wave_id}
        )
        records += [
            one
            for one in read
            if one.entity.status == "pending" and not known.is_active(one.entity.wave_id)
        ]
    if not records:
        message = f"matches no pending picking of {whs_code} that is in no other wave"
        raise ValidationFailed([Problem("rule", message)])
    return records


# Assigning them


def _ensure_free(tx: Transaction, records: _Pickings) -> set[int]:
    """Return the ids of interrupted pending waves that some of the pickings name.

    Raises:
        OrderInWave: A picking is in an active wave.
        StaleRead: Another request assigns one of them to a pending wave.
        ServiceUnavailable: It has done so for a few seconds.
    """
    named = {one.entity.wave_id for one in records if one.entity.wave_id is not None}
    found = repository.find_waves(tx.store, named)
    in_waves = [
        f"{picking_code(one.id)} is in {rules.wave_code(one.entity.wave_id)}"
        for one in records
        if one.entity.wave_id is not None and found.is_active(one.entity.wave_id)
    ]
    if in_waves:
        raise OrderInWave(f"{', '.join(in_waves)}; a picking is in one active wave at most.")
    for pending in found.pending.values():
        if pending.is_held_by_other(tx.use_case_id, tx.now_ms):
            if tx.elapsed_ms > _MAX_WAIT_MS:
                raise ServiceUnavailable(1 + (pending.until_ms - tx.now_ms) // 1000)
            raise StaleRead
    return set(found.pending)


def _fitting(tx: Transaction, records: _Pickings, interrupted: set[int]) -> _Pickings:
    """Return the pickings at the front that one step can assign."""
    return fitting_items(
        tx, records, lambda one: one.cost + Cost(one.entity.wave_id in interrupted)
    )


def _assign(tx: Transaction, records: _Pickings, wave: int, interrupted: set[int]) -> None:
    """Record that pickings are in a wave; the interrupted pending waves they name are discarded."""
    for former in interrupted.intersection(one.entity.wave_id for one in records):
        repository.discard_pending(tx, former)
    for record in records:
        picking_service.assign_to_wave(tx, record, wave)


def _assign_in_steps(tx: Transaction, chosen: _Pickings) -> tuple[int, _Pickings]:
    """Assign pickings to a pending wave and complete it; return id and pickings."""
    store, use_case_id = tx.store, tx.use_case_id
    # A new id for every attempt: the id of an earlier one may belong to a discarded pending wave.
    number = allocate_ids(store, WAVES.kind, 1)
    run_transaction(
        store,
        lambda inner_tx: repository.insert_pending(inner_tx, number, use_case_id),
        caller=tx.caller,
    )

    def assign(left: Sequence[int]) -> int:
        # A step has room for no more pickings than it has actions.
        records = picking_service.get_pickings(tx.store, left[: steps.STEP_ACTIONS])
        rules.ensure_none_ended(records)
        interrupted = _ensure_free(tx, records) - {number}
        repository.extend_pending(tx, number)
        fitting = _fitting(tx, records, interrupted)
        _assign(tx, fitting, number, interrupted)
        return len(fitting)

    try:
        # In the order of ids, so that two requests for the same pickings never block each other.
        steps.commit_in_steps(tx, sorted(record.id for record in chosen), assign)
    except ServiceError:
        run_transaction(
            store, lambda inner_tx: repository.abandon_pending(inner_tx, number), caller=tx.caller
        )
        raise
    pending = repository.read_pending(store, [number]).get(number)
    if pending is None:
        raise StaleRead
    # Read after the pending wave: a picking that starts or ends from now on touches that.
    records = picking_service.get_pickings(store, [record.id for record in chosen])
    repository.complete_pending(tx, pending)
    return number, records
