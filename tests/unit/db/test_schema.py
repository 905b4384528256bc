"""The version of the schema of tables."""

from operations.stored_collections import COLLECTIONS
from shared.kernel.db import schema
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
