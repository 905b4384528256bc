"""Responses that show waves."""

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.waves.models import StoredWave, Wave, WaveDetail, WaveOrder
from shared.warehouse.waves.rules import wave_code


def in_list(record: Record[StoredWave]) -> Wave:
    """Return the response for a wave in a list, without its pickings."""
    return Wave.from_stored(record.entity, code=wave_code(record.id))


WAVE_EVENTS = EventResource("wave", "/waves/{record.id}", in_list)


def in_detail(record: Record[StoredWave], orders: list[WaveOrder]) -> WaveDetail:
    """Return the response for one wave, with its pickings."""
    return WaveDetail.from_stored(record.entity, code=wave_code(record.id), orders=orders)
