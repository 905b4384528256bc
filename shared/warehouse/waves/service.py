"""Use cases of waves: read them, and lead them from draft to closed (release: `releasing`)."""

from collections.abc import Iterable
from dataclasses import dataclass

from shared.kernel.db.collection import Record
from shared.kernel.db.listing import Page
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import ServiceUnavailable
from shared.kernel.events.kinds import EventKind
from shared.kernel.events.outbox import raise_record_event
from shared.warehouse.picking import wave_pickings
from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.waves import repository, rules, views
from shared.warehouse.waves.models import StoredWave, WaveOrder, WaveParameters, WaveStatus
from shared.warehouse.waves.repository import WAVES

_TRIES = 5
"""Reads of a wave whose pickings go on meanwhile, before giving up."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A wave with the states of its pickings."""

    record: Record[StoredWave]
    orders: list[WaveOrder]


def opened(record: Record[StoredWave], pickings: Iterable[Record[StoredPicking]]) -> Opened:
    """Put a wave and its pickings together."""
    orders = [WaveOrder(picking_id=one.id, status=one.entity.status) for one in pickings]
    return Opened(record, orders)


def get_wave(store: Store, number: int) -> Opened:
    """Read a wave with its pickings, as they were together; NotFound when there is none."""
    for _ in range(_TRIES):
        record = WAVES.get(store, number)
        pickings = wave_pickings.read_pickings(store, record.entity.picking_ids)
        if rules.agree(record.entity, [picking.entity for picking in pickings]):
            return opened(record, pickings)
        store.clear_cache()
    raise ServiceUnavailable


def list_waves(store: Store, parameters: WaveParameters, timezone: str) -> Page[StoredWave]:
    """Read a page of waves; `from` and `to` are days in the time zone."""
    return repository.list_waves(store, parameters, timezone)


def plan_wave(tx: Transaction, number: int) -> Opened:
    """Settle a wave; raise wave.planned. Raises Conflict unless it is a draft."""
    record = WAVES.get(tx.store, number)
    rules.ensure_status(record.entity, "draft")
    return _lead(tx, record, "planned", "wave.planned")


def cancel_wave(tx: Transaction, number: int) -> Opened:
    """Give a wave up; raise wave.cancelled. Its pickings go on by themselves, free for others.

    Raises Conflict once all of them have been worked.
    """
    record = WAVES.get(tx.store, number)
    rules.ensure_status(record.entity, "draft", "planned", "released", "in_progress")
    return _lead(tx, record, "cancelled", "wave.cancelled")


def complete_wave(tx: Transaction, number: int) -> Opened:
    """Note that a picked wave is done; raise wave.completed. Raises Conflict unless it is."""
    record = WAVES.get(tx.store, number)
    rules.ensure_status(record.entity, "picked")
    return _lead(tx, record, "completed", "wave.completed")


def close_wave(tx: Transaction, number: int) -> Opened:
    """Put a wave away. Raises Conflict unless it is completed."""
    record = WAVES.get(tx.store, number)
    rules.ensure_status(record.entity, "completed")
    return _lead(tx, record, "closed", None)


def _lead(
    tx: Transaction, record: Record[StoredWave], status: WaveStatus, event: EventKind | None
) -> Opened:
    wave = record.entity.model_copy(update={"status": status, "updated_at": tx.now})
    changed = WAVES.replace(tx, record, wave)
    if event:
        raise_record_event(tx, event, views.WAVE_EVENTS, changed)
    return opened(changed, wave_pickings.read_pickings(tx.store, wave.picking_ids))
