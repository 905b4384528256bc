"""Responses that show waves."""

from typing import Any

from shared.kernel.db.collection import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.waves.models import StoredWave, Wave, WaveDetail, WaveOrder
from shared.warehouse.waves.rules import wave_code


def in_list(record: Record[StoredWave]) -> Wave:
    """Return the response for a wave in a list, without its pickings."""
    return Wave.model_construct(**_head(record.entity))


WAVE_EVENTS = EventResource("wave", "/waves/{record.id}", in_list)


def in_detail(record: Record[StoredWave], orders: list[WaveOrder]) -> WaveDetail:
    """Return the response for one wave, with its pickings."""
    return WaveDetail.model_construct(**_head(record.entity), orders=orders)


def _head(wave: StoredWave) -> dict[str, Any]:
    return {
        "id": wave.id,
        "code": wave_code(wave.id),
        "warehouse_code": wave.warehouse_code,
        "strategy": wave.strategy,
        "status": wave.status,
        "carrier_code": wave.carrier_code,
        "cutoff_at": wave.cutoff_at,
        "released_at": wave.released_at,
        "metrics": wave.metrics,
        "created_at": wave.created_at,
        "updated_at": wave.updated_at,
    }
