"""The version of the schema of tables."""

from pydantic import BaseModel

from operations.stored_collections import COLLECTIONS
from shared.kernel.db import schema
from shared.kernel.db.collection import Collection
from shared.kernel.db.schema import oldest_served
from tests.template import Template


def test_template_names_the_version_of_the_schema() -> None:
    """The command line compares its version with that of the deployed release."""
    assert int(Template({}).output("SchemaVersion")) == schema.SCHEMA_VERSION


def test_collections_name_only_what_a_served_table_may_lack() -> None:
    """What every served table has is removed from `since`, when the version is raised."""
    for collection in COLLECTIONS.values():
        for name, since in collection.since.items():
            assert oldest_served() < since <= schema.SCHEMA_VERSION, (collection.kind, name)


def test_new_facet_is_not_looked_up_by_aliases() -> None:
    """An upgrade writes heads and further lookups again, not the items of a subject."""
    for collection in COLLECTIONS.values():
        assert collection.since.keys().isdisjoint(collection.lookup_aliases), collection.kind


class _Crate(BaseModel):
    name: str
    color: str


CRATES = Collection(
    kind="crate",
    noun="Crate",
    model=_Crate,
    facets=lambda crate: {"name": crate.name, "color": crate.color},
    sorts={"name": 1, "color": 7},
    partitions={"color": {"name": 3, "color": 4}, "name": {"name": 5}},
    lookup_indexes={"name": 6},
    work_queues={"color": (8, "name"), "name": (9, "color")},
    since={4: 3, 6: 2, 7: 2, "color": 2, 8: 3},
)


def test_collection_of_an_older_table_lacks_what_is_newer() -> None:
    crate = _Crate(name="A", color="red")
    assert CRATES.at(3) is CRATES
    second = CRATES.at(2)
    assert second.sorts == CRATES.sorts
    assert second.partitions == {"color": {"name": 3}, "name": {"name": 5}}
    assert second.work_queues == {"name": (9, "color")}
    assert second.facets(crate) == {"name": "A", "color": "red"}
    first = CRATES.at(1)
    assert first.sorts == {"name": 1}
    assert first.partitions == {"name": {"name": 5}}
    assert first.lookup_indexes == {}
    assert first.work_queues == {}
    assert first.facets(crate) == {"name": "A"}
    assert [CRATES.differs(1, 2), CRATES.differs(2, 3), CRATES.differs(3, 4)] == [True, True, False]
