"""The items of waves. Keys and indexes: see docs/storage.md."""

from shared.db.collection import Collection
from shared.db.facets import Facets
from shared.db.listing import Page, read_page
from shared.db.store import Store
from shared.waves.models import StoredWave, WaveParameters


def _facets(wave: StoredWave) -> Facets:
    return {
        "status": wave.status,
        "warehouse": wave.warehouse_code,
        "created_at": wave.created_at,
        "updated_at": wave.updated_at,
    }


WAVES = Collection(
    kind="wave",
    noun="Wave",
    model=StoredWave,
    facets=_facets,
    sorts={"created_at": 1, "updated_at": 2},
    partitions={"status": {"created_at": 3, "updated_at": 4}},
    finders={"warehouse": 5},
)


def list_waves(store: Store, parameters: WaveParameters, timezone: str) -> Page[StoredWave]:
    """Read a page of waves; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={"status": parameters.status, "warehouse": parameters.warehouse},
        between=parameters.created(timezone),
    )
    return read_page(store, WAVES, query)
