"""The version of the schema of tables."""

from dataclasses import replace

from operations.stored_collections import COLLECTIONS
from shared.kernel.db import schema
from shared.kernel.db.collection import Collection
from shared.kernel.db.indexes import Lookup, Partition, counted
from shared.kernel.db.items import Key
from shared.kernel.db.schema import oldest_served
from shared.kernel.fields import Stored
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
        for facet, found in collection.lookups.items():
            assert isinstance(found, Lookup) or facet not in collection.since, collection.kind


class _Crate(Stored):
    name: str
    color: str


_BY_COLOR = Partition({"name": 3, "color": 4}, own_totals=2)


def _aliases(alias: str) -> list[Key]:
    return [("alias", alias)]


CRATES = Collection(
    kind="crate",
    noun="Crate",
    model=_Crate,
    facets=lambda crate: {"name": crate.name, "color": crate.color},
    sorts={"name": 1, "color": 7},
    partitions={"color": _BY_COLOR, "name": Partition({"name": 5}), "shape": Partition()},
    lookups={
        "name": Lookup(6),
        "label": Lookup(8, order="name"),
        "code": Lookup(9, order="color"),
        "alias": _aliases,
    },
    since={4: 3, 6: 2, 7: 2, "color": 2, 8: 3, counted("shape"): 2},
)


def test_collection_of_an_older_table_lacks_what_is_newer() -> None:
    crate = _Crate(name="A", color="red")
    assert CRATES.at(3) is CRATES
    second = CRATES.at(2)
    assert second.sorts == CRATES.sorts
    assert second.partitions == {
        "color": replace(_BY_COLOR, sorts={"name": 3}),
        "name": Partition({"name": 5}),
        "shape": Partition(),
    }
    assert second.lookups == {
        "name": Lookup(6),
        "code": Lookup(9, order="color"),
        "alias": _aliases,
    }
    assert second.facets(crate) == {"name": "A", "color": "red"}
    first = CRATES.at(1)
    assert first.sorts == {"name": 1}
    assert first.partitions == {"name": Partition({"name": 5})}
    assert first.lookups == {"alias": _aliases}
    assert first.facets(crate) == {"name": "A"}
    assert [CRATES.differs(1, 2), CRATES.differs(2, 3), CRATES.differs(3, 4)] == [True, True, False]
