"""The items of waves. Keys and indexes: see docs/internals/storage.md."""

from collections.abc import Collection as Several
from collections.abc import Mapping
from dataclasses import dataclass

from shared.kernel.db.collection import Collection
from shared.kernel.db.counters import SHARDS
from shared.kernel.db.facets import facets_of, id_text
from shared.kernel.db.indexes import Partition
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.records import HEAD, Record
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY
from shared.kernel.db.transaction import Transaction
from shared.warehouse.waves.models import StoredWave

_PENDING_MS = 30_000
"""How long a wave may be pending without a further step: longer than any invocation."""
_KEPT_SECONDS = 3600
"""How long DynamoDB keeps a pending wave whose creation was interrupted."""


WAVES = Collection(
    kind="wave",
    noun="Wave",
    listed_as="wave",
    model=StoredWave,
    facets=facets_of("status", "created_at", "updated_at", warehouse="warehouse_code"),
    sorts={"created_at": 1, "updated_at": 2},
    partitions={
        "status": Partition({"created_at": 3}),
        "warehouse": Partition({"created_at": 4}, own_totals=SHARDS),
    },
)


# Pending waves


@dataclass(frozen=True, slots=True)
class PendingWave:
    """A wave that does not exist yet, while its pickings are assigned in several transactions.

    Requests cannot see it. `use_case_id` names the run of the request that creates it,
    `until_ms` is when that run must have ended, and `touches` counts the assigned pickings that
    were started or ended meanwhile.
    """

    id: int
    use_case_id: str
    until_ms: int
    touches: int

    def is_held_by_other(self, use_case_id: str, now_ms: int) -> bool:
        """Return whether another run than `use_case_id` may still be creating the wave."""
        return self.use_case_id != use_case_id and self.until_ms > now_ms


@dataclass(frozen=True, slots=True)
class FoundWaves:
    """The waves and pending waves among some ids. An id in neither never becomes a wave."""

    waves: Mapping[int, Record[StoredWave]]
    pending: Mapping[int, PendingWave]

    def is_active(self, number: int | None) -> bool:
        """Return whether an id is that of a wave that is not cancelled."""
        wave = self.waves.get(number) if number is not None else None
        return wave is not None and wave.entity.status != "cancelled"


def _key(number: int) -> Key:
    return (f"pending_wave#{id_text(number)}", HEAD)


def insert_pending(tx: Transaction, number: int, use_case_id: str) -> None:
    """Record that the run `use_case_id` begins to create a wave with this id."""
    pending = {
        "id": number,
        "mark": use_case_id,
        "until": tx.now_ms + _PENDING_MS,
        "touches": 0,
        EXPIRY: tx.now_ms // 1000 + _KEPT_SECONDS,
    }
    tx.insert(item_at(_key(number), **pending))


def extend_pending(tx: Transaction, number: int) -> None:
    """Record that a wave is pending for longer; StaleRead when it is not pending any more."""
    tx.update(
        _key(number),
        "SET #until = :until",
        condition=f"attribute_exists({PARTITION_KEY})",
        names={"#until": "until"},
        values={":until": tx.now_ms + _PENDING_MS},
    )


def touch_pending(tx: Transaction, number: int) -> None:
    """Record that a picking of a pending wave was started or has ended."""
    tx.update(
        _key(number),
        "ADD touches :one",
        condition=f"attribute_exists({PARTITION_KEY})",
        values={":one": 1},
    )


def complete_pending(tx: Transaction, pending: PendingWave) -> None:
    """Record that a pending wave becomes a wave; StaleRead when it was touched or ended since."""
    tx.delete(_key(pending.id), condition="touches = :seen", values={":seen": pending.touches})


def discard_pending(tx: Transaction, number: int) -> None:
    """Record that a pending wave of another run never becomes a wave; StaleRead if it just has."""
    tx.delete(_key(number), condition=f"attribute_exists({PARTITION_KEY})")


def abandon_pending(tx: Transaction, number: int) -> None:
    """Record that a pending wave of this run never becomes a wave."""
    tx.delete(_key(number))


def read_pending(store: Store, numbers: Several[int]) -> dict[int, PendingWave]:
    """Read the pending waves among some ids."""
    found = store.get_many(_key(number) for number in numbers)
    return {int(item["id"]): _pending_wave(item) for item in found.values()}


def _pending_wave(item: Item) -> PendingWave:
    return PendingWave(
        id=int(item["id"]),
        use_case_id=item["mark"],
        until_ms=int(item["until"]),
        touches=int(item["touches"]),
    )


def find_waves(store: Store, numbers: Several[int]) -> FoundWaves:
    """Read the waves and pending waves of ids that pickings name."""
    waves = _read(store, numbers)
    missing = set(numbers) - set(waves)
    if not missing:
        return FoundWaves(waves, {})
    pending = read_pending(store, missing)
    # An id that is in neither may have become a wave between the two reads: read it again.
    return FoundWaves({**waves, **_read(store.repeatable(), missing - set(pending))}, pending)


def _read(store: Store, numbers: Several[int]) -> dict[int, Record[StoredWave]]:
    return {record.id: record for record in WAVES.get_many(store, numbers)}
