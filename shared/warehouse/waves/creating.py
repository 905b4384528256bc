"""A new wave, and the pickings that are bound to it: each to one active wave at most.

A picking names the wave that took it. Few pickings are taken in the transaction that
creates the wave. More are taken in steps, under the id of a wave that is only being formed
and that nobody sees; the last step makes it a wave. What ends it half way leaves pickings
that name no wave: they are free once nobody can be forming it any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from shared.identity.tenancy.tenant import Settings
from shared.kernel.db.collection import Record
from shared.kernel.db.parallel import run_both
from shared.kernel.db.transaction import StaleRead, Transaction, allocate_ids
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import (
    OrderInWave,
    Problem,
    ServiceError,
    ServiceUnavailable,
    ValidationFailed,
)
from shared.kernel.validation import Checked, ensure_valid
from shared.warehouse.picking import wave_pickings
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.waves import repository, rules
from shared.warehouse.waves.models import StoredWave, WaveDraft, WaveRule
from shared.warehouse.waves.repository import WAVES
from shared.warehouse.waves.service import Opened, opened

_PER_STEP = 40
"""Pickings that one transaction takes: each is written, and may overrule a wave that died."""
_PATIENCE_MS = 3_000
"""How long to wait for a wave that is being formed of some of the same pickings."""

type _Pickings = list[Record[StoredPicking]]


@dataclass(frozen=True, slots=True)
class Company:
    """What the company has settled that a new wave depends on."""

    settings: Settings
    timezone: str


def create_wave(tx: Transaction, draft: Checked[WaveDraft], company: Company) -> Opened:
    """Create a wave in the state `draft`, of the pickings named or of those that match a rule.

    Raises:
        ValidationFailed: The draft or what it names is invalid, or no picking matches the rule.
        Conflict: A picking has ended.
        OrderInWave: A picking is in another active wave.
    """
    chosen, found = _named_pickings(tx, draft)
    draft = ensure_valid(draft, found)
    if draft.rule is not None:
        chosen = _found(tx, draft.rule, draft.warehouse_code, company.timezone)
    else:
        rules.ensure_none_ended(chosen)
    if len(chosen) <= _PER_STEP:
        number = tx.next_id(WAVES.kind)
        _take(tx, chosen, number, tx.attempt_id)
    else:
        number, chosen = _form(tx, chosen)
    pickings = [record.entity for record in chosen]
    rule = draft.rule or WaveRule()
    wave = StoredWave(
        id=number,
        warehouse_code=draft.warehouse_code,
        strategy=draft.strategy,
        status="draft",
        carrier_code=draft.carrier_code or rule.carrier,
        cutoff_at=draft.cutoff_at or rule.cutoff,
        metrics=rules.metrics_of(draft.strategy, pickings, company.settings),
        created_at=tx.now,
        updated_at=tx.now,
        picking_ids=[one.id for one in pickings],
        open_ids=[one.id for one in pickings if one.status not in wave_pickings.ENDED],
        begun=any(one.started_at is not None for one in pickings),
    )
    return opened(WAVES.insert(tx, number, wave), chosen)


# Which pickings


def _named_pickings(tx: Transaction, draft: Checked[WaveDraft]) -> tuple[_Pickings, list[Problem]]:
    """Read the pickings that a draft names; return them and every problem besides its fields'."""
    numbers = list(dict.fromkeys(draft.picking_ids or ()))
    known, records = run_both(
        lambda: warehouses.all_warehouses(tx.store),
        lambda: wave_pickings.read_pickings(tx.store, numbers),
    )
    found = list(rules.draft_problems(draft))
    code = draft.warehouse_code
    is_known = any(one.whs_code == code for one in known.values())
    if code is not None and not is_known:
        found.append(Problem("warehouse_code", f"no warehouse has the code {code}"))
    by_id = {record.id: record.entity for record in records}
    found += rules.picking_problems(draft.picking_ids or (), by_id, code if is_known else None)
    return records, found


def _found(tx: Transaction, rule: WaveRule, whs_code: str, timezone: str) -> _Pickings:
    """Find the pickings that a rule takes: of those that match, the first in no active wave."""
    waiting = wave_pickings.waiting_pickings(tx.store, whs_code)
    matching = rules.in_turn([one for one in waiting if rules.matches(rule, one, timezone)])
    known = repository.look_up(tx.store, {one.wave_id for one in matching if one.wave_id})
    free = [one.id for one in matching if _wave_of(one.wave_id, known) is None]
    most, records = rules.most_of(rule), list[Record[StoredPicking]]()
    while free and len(records) < most:
        part, free = free[: most - len(records)], free[most - len(records) :]
        read = wave_pickings.read_pickings(tx.store, part)
        # The index may lag: those that were started or taken just now are passed over.
        known = repository.look_up(
            tx.store, {one.entity.wave_id for one in read if one.entity.wave_id}
        )
        records += [
            one
            for one in read
            if one.entity.status == "pending" and _wave_of(one.entity.wave_id, known) is None
        ]
    if not records:
        message = f"no pending picking of {whs_code} matches it and is in no other wave"
        raise ValidationFailed([Problem("rule", message)])
    return records


def _wave_of(number: int | None, known: repository.Known) -> int | None:
    """Name the active wave that a picking is in."""
    wave = known.waves.get(number) if number is not None else None
    return wave.id if wave and wave.entity.status != "cancelled" else None


# Taking them


def _take(tx: Transaction, records: _Pickings, wave: int, mark: str) -> None:
    """Stage that pickings belong to a wave. Raises OrderInWave when one is in another."""
    named = {one.entity.wave_id for one in records if one.entity.wave_id is not None}
    known = repository.look_up(tx.store, named)
    taken = [
        f"PKG-{one.id} belongs to {rules.code_of(other)}"
        for one in records
        if (other := _wave_of(one.entity.wave_id, known)) is not None
    ]
    if taken:
        message = f"{', '.join(taken)} already."
        raise OrderInWave(message)
    for forming in known.forming.values():
        if forming.is_held(mark, tx.now_ms):
            if tx.elapsed_ms > _PATIENCE_MS:
                raise ServiceUnavailable(1 + (forming.until - tx.now_ms) // 1000)
            raise StaleRead
        repository.overrule_forming(tx, forming.id)
    for record in records:
        wave_pickings.take_into_wave(tx, record, wave)


def _form(tx: Transaction, chosen: _Pickings) -> tuple[int, _Pickings]:
    """Take many pickings, in steps; stage the end of the forming. The wave's id, and they."""
    store, mark = tx.store, tx.attempt_id
    # Anew each time: what had this id before was perhaps overruled, and must never come back.
    number = allocate_ids(store, WAVES.kind, 1)
    run_transaction(
        store, lambda own: repository.begin_forming(own, number, mark), caller=tx.caller
    )
    # In the order of ids, so that two that want the same pickings never wait for each other.
    wanted = sorted(record.id for record in chosen)

    def take(own: Transaction, part: Sequence[int]) -> None:
        records = wave_pickings.read_pickings(own.store, part)
        rules.ensure_none_ended(records)
        repository.keep_forming(own, number)
        _take(own, records, number, mark)

    try:
        for at in range(0, len(wanted), _PER_STEP):
            part = wanted[at : at + _PER_STEP]
            run_transaction(store, partial(take, part=part), caller=tx.caller)
    except ServiceError:
        run_transaction(
            store, lambda own: repository.give_up_forming(own, number), caller=tx.caller
        )
        raise
    store.clear_cache()
    forming = repository.read_forming(store, [number]).get(number)
    if forming is None:
        raise StaleRead
    # Read after the forming: who starts or ends from now on stirs it.
    records = wave_pickings.read_pickings(store, [record.id for record in chosen])
    repository.end_forming(tx, forming)
    return number, records
