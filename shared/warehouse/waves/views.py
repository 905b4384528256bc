"""Responses that show waves."""

from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.waves.actions import ACTIONS
from shared.warehouse.waves.models import StoredWave, Wave, WaveDetail, WaveOrder
from shared.warehouse.waves.rules import shown_metrics, wave_code


def in_list(record: Record[StoredWave]) -> Wave:
    """Return the response for a wave in a list, without its pickings."""
    return Wave.from_stored(record.entity, **_others(record.entity))


WAVE_EVENTS = EventResource("wave", "/waves/{record.id}", in_list)


def in_detail(record: Record[StoredWave], orders: list[WaveOrder]) -> WaveDetail:
    """Return the response for one wave, with its pickings."""
    wave = record.entity
    admitted = ACTIONS.admitted(wave)
    return WaveDetail.from_stored(wave, **_others(wave), orders=orders, actions=admitted)


def _others(wave: StoredWave) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    return {"code": wave_code(wave.id), "metrics": shown_metrics(wave)}
