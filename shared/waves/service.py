"""Use cases of waves."""

from shared.db.collection import Record
from shared.db.listing import Page
from shared.db.store import Store
from shared.waves import repository
from shared.waves.models import StoredWave, WaveParameters
from shared.waves.repository import WAVES


def get_wave(store: Store, number: int) -> Record[StoredWave]:
    """Read a wave; NotFound when there is none."""
    return WAVES.get(store, number)


def list_waves(store: Store, parameters: WaveParameters, timezone: str) -> Page[StoredWave]:
    """Read a page of waves; `from` and `to` are days in the time zone."""
    return repository.list_waves(store, parameters, timezone)
