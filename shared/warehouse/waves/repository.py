"""The items of waves. Keys and indexes: see docs/storage.md."""

from collections.abc import Collection as Several
from collections.abc import Mapping
from dataclasses import dataclass

from shared.kernel.db.collection import HEAD, Collection, Record
from shared.kernel.db.facets import Facets, id_text
from shared.kernel.db.items import Item, Key
from shared.kernel.db.listing import Page, read_page
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.warehouse.waves.models import StoredWave, WaveParameters

_FORMING_MS = 30_000
"""Longer than any invocation: after that nobody is making the wave any more."""
_KEPT_SECONDS = 3600


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
    partitions={
        "status": {"created_at": 3, "updated_at": 4},
        "warehouse": {"created_at": 5, "updated_at": 6},
    },
)


def list_waves(store: Store, parameters: WaveParameters, timezone: str) -> Page[StoredWave]:
    """Read a page of waves; `from` and `to` are days in the time zone."""
    query = parameters.list_query(
        equal={"status": parameters.status, "warehouse": parameters.warehouse},
        between=parameters.created(timezone),
    )
    return read_page(store, WAVES, query)


# Waves that are being formed


@dataclass(frozen=True, slots=True)
class Forming:
    """A wave to which pickings are being bound, in more than one transaction.

    Nobody sees it before it is a wave. `stirred` counts the pickings bound to it that were
    started or ended meanwhile.
    """

    id: int
    mark: str
    until: int
    stirred: int

    def is_held(self, mark: str, now_ms: int) -> bool:
        """Whether someone else than the run with this mark may still be at it."""
        return self.mark != mark and self.until > now_ms


@dataclass(frozen=True, slots=True)
class Known:
    """What became of some wave ids; what is in neither never will be a wave."""

    waves: Mapping[int, Record[StoredWave]]
    forming: Mapping[int, Forming]


def _key(number: int) -> Key:
    return (f"forming_wave#{id_text(number)}", HEAD)


def begin_forming(tx: Transaction, number: int, mark: str) -> None:
    """Stage that a wave of this id is being formed, by the run of a use case with this mark."""
    partition, sort = _key(number)
    tx.insert(
        {
            PARTITION_KEY: partition,
            SORT_KEY: sort,
            "id": number,
            "mark": mark,
            "until": tx.now_ms + _FORMING_MS,
            "stirred": 0,
            EXPIRY: tx.now_ms // 1000 + _KEPT_SECONDS,
        }
    )


def keep_forming(tx: Transaction, number: int) -> None:
    """Bind a step to it: overtaken when someone has ended it."""
    tx.update(
        _key(number),
        "SET #until = :until",
        condition=f"attribute_exists({PARTITION_KEY})",
        names={"#until": "until"},
        values={":until": tx.now_ms + _FORMING_MS},
    )


def stir(tx: Transaction, number: int) -> None:
    """Stage that one of its pickings was started or ended: it is looked at again."""
    tx.update(
        _key(number),
        "ADD stirred :one",
        condition=f"attribute_exists({PARTITION_KEY})",
        values={":one": 1},
    )


def end_forming(tx: Transaction, forming: Forming) -> None:
    """Stage its end; overtaken when a picking stirred it or someone else has ended it."""
    tx.delete(_key(forming.id), condition="stirred = :seen", values={":seen": forming.stirred})


def overrule_forming(tx: Transaction, number: int) -> None:
    """Stage that it never becomes a wave; overtaken when it has just become one."""
    tx.delete(_key(number), condition=f"attribute_exists({PARTITION_KEY})")


def give_up_forming(tx: Transaction, number: int) -> None:
    """Stage that it never becomes a wave, said by the one who began it."""
    tx.delete(_key(number))


def read_forming(store: Store, numbers: Several[int]) -> dict[int, Forming]:
    """Read those of the waves that are being formed."""
    found = store.get_many(_key(number) for number in numbers)
    return {int(item["id"]): _forming(item) for item in found.values()}


def _forming(item: Item) -> Forming:
    return Forming(
        id=int(item["id"]),
        mark=item["mark"],
        until=int(item["until"]),
        stirred=int(item["stirred"]),
    )


def look_up(store: Store, numbers: Several[int]) -> Known:
    """Read what became of wave ids that pickings bear."""
    waves = _read(store, numbers)
    missing = set(numbers) - set(waves)
    if not missing:
        return Known(waves, {})
    forming = read_forming(store, missing)
    # What is in neither was formed between the two reads, or never will be: look again.
    return Known({**waves, **_read(store.repeatable(), missing - set(forming))}, forming)


def _read(store: Store, numbers: Several[int]) -> dict[int, Record[StoredWave]]:
    return {record.id: record for record in WAVES.get_many(store, numbers)}
