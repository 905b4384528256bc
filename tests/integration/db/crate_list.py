"""Crates: a test collection with every feature of lists, and the expected lists of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import Facets, fold, id_text
from shared.kernel.db.indexes import Lookup, Partition
from shared.kernel.db.lists.query import ListQuery
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import Stored


class Crate(Stored):
    """An entity with a name, a color, a status, a grade, an optional reference and content."""

    id: int
    name: str
    color: str
    status: str
    grade: str = "a"
    reference: str | None = None
    content: str = ""
    updated_at: str = ""


def facets(crate: Crate) -> Facets:
    """Return the facets that crates are filtered and sorted by."""
    return {
        "id": id_text(crate.id),
        "name": fold(crate.name),
        "color": crate.color,
        "status": crate.status,
        "grade": crate.grade,
        "reference": crate.reference,
        "updated_at": crate.updated_at,
    }


CRATES = Collection(
    kind="crate",
    noun="Crate",
    model=Crate,
    facets=facets,
    sorts={"id": 1, "updated_at": 2, "name": 3},
    partitions={"status": Partition({"id": 4}), "grade": Partition({"name": 6, "updated_at": 7})},
    lookups={"reference": Lookup(5)},
    volatile=frozenset({"color"}),
)

type Draft = Mapping[str, str | None]


@dataclass(slots=True)
class CrateTable:
    """Crates in a table, and the same crates in a dict to compute expected lists."""

    store: Store
    crates: dict[int, Crate] = field(default_factory=dict)

    def add(self, drafts: Iterable[Draft]) -> None:
        wanted = list(drafts)
        first = allocate_ids(self.store, "crate", len(wanted))
        tx = Transaction(self.store)
        for number, draft in enumerate(wanted, first):
            crate = Crate.model_validate({"id": number, "updated_at": tx.now, **draft})
            CRATES.insert(tx, number, crate)
            self.crates[number] = crate
        tx.commit()

    def change(self, number: int, draft: Draft) -> None:
        tx = Transaction(self.store)
        record = CRATES.get(self.store, number)
        crate = record.entity.model_copy(update={**draft, "updated_at": tx.now})
        CRATES.replace(tx, record, crate)
        tx.commit()
        self.crates[number] = crate

    def remove(self, number: int) -> None:
        tx = Transaction(self.store)
        CRATES.remove(tx, CRATES.get(self.store, number))
        tx.commit()
        del self.crates[number]

    def expected(self, query: ListQuery) -> list[int]:
        """Return the ids that a list must show, in order."""

        ranges, moving = query.between, query.moving

        def is_within(text: str, low: str | None, high: str | None) -> bool:
            return (low is None or text >= low) and (high is None or text <= high)

        def wanted(crate: Crate) -> bool:
            mine = facets(crate)
            return (
                (query.ids is None or crate.id in query.ids)
                and all(mine[name] == text for name, text in query.equal.items())
                and all(mine[name] in texts for name, texts in query.among.items())
                and all(
                    text in (mine[name] or "")
                    for name, texts in query.contains.items()
                    for text in texts
                )
                and all(is_within(mine[name] or "", *bounds) for name, bounds in ranges.items())
                and (
                    (query.unless is not None and mine[query.unless[0]] in query.unless[1])
                    or all(is_within(mine[name] or "", *bounds) for name, bounds in moving.items())
                )
            )

        found = [crate for crate in self.crates.values() if wanted(crate)]
        found.sort(key=lambda crate: (facets(crate)[query.sort] or "", crate.id))
        ids = [crate.id for crate in found]
        return ids[::-1] if query.descending else ids
