"""What follows from an entity: its facets are made once."""

from dataclasses import replace

from shared.kernel.db.entity_items import EntityItems
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Partition
from shared.kernel.db.records import Record
from shared.kernel.fields import Stored


class Crate(Stored):
    id: int = 1
    status: str = "open"


class _Crates:
    """Crates that note of which of them facets were made."""

    def __init__(self, *, partitions: bool) -> None:
        self.seen: list[Crate] = []
        self.items = EntityItems(
            "CRATE",
            "crate",
            Crate,
            self._facets,
            sorts={},
            partitions={"status": Partition({"id": 3})} if partitions else {},
        )

    def _facets(self, crate: Crate) -> Facets:
        self.seen.append(crate)
        return {"id": "1", "status": crate.status}

    def use(self, record: Record[Crate]) -> list[str]:
        self.items.derived_attributes(record)
        self.items.derived_items(record)
        return self.items.counted_in(record)


def test_facets_of_a_record_are_made_once() -> None:
    crates, record = _Crates(partitions=True), Record(1, 1, Crate())
    assert crates.use(record) == crates.use(record) == ["status=open"]
    assert crates.seen == [record.entity]


def test_a_copy_of_a_record_has_facets_of_its_own() -> None:
    crates, record = _Crates(partitions=True), Record(1, 1, Crate())
    crates.use(record)
    assert crates.use(replace(record, entity=Crate(status="shut"))) == ["status=shut"]
    crates.use(replace(record, schema=9))
    assert len(crates.seen) == 3
    assert record == Record(1, 1, Crate())


def test_totals_without_partitions_need_no_facets() -> None:
    crates = _Crates(partitions=False)
    assert crates.items.counted_in(Record(1, 1, Crate())) == []
    assert crates.seen == []
