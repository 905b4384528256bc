from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from shared.identity.tenancy.directory import directory, tenant_key
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import from_attributes, item_at, to_attributes
from shared.kernel.db.records import decode_entity
from tests import recorded
from tests.clock import Clock
from tests.lists import LISTS
from tests.recorded import recorded as read_recorded
from tests.stack import Stack, set_attributes

type PutTable = Callable[..., None]


def set_version(slug: str, version: int | None) -> None:
    """Set the recorded version of a tenant's table; None removes it."""
    expression = "REMOVE table_version" if version is None else "SET table_version = :version"
    values = {} if version is None else {":version": {"N": str(version)}}
    more = {"ExpressionAttributeValues": values} if values else {}
    aws.client("dynamodb").update_item(
        TableName=config().control_table,
        Key={"pk": {"S": tenant_key(slug)}},
        UpdateExpression=expression,
        **more,
    )
    directory.clear()


def let_write_the_new_form() -> None:
    """Bring the tenant into the state in which an upgrade lets changes write the new form."""
    progress = {name: {"N": "3"} for name in ("to", "announced_at", "written_at")}
    set_attributes(upgrade={"M": progress})


def _missing_aliases(
    collection: Collection[Any], items: Sequence[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the aliases that hold search entries: the rows of a list were recorded without them."""
    for item in items:
        head = from_attributes(item)
        if (
            collection.search_alias
            and head["PK"].startswith(f"{collection.kind}#")
            and "data" in head
        ):
            record = decode_entity(collection.model, head, {})
            assert record
            key = collection.search_alias(record.entity)
            yield to_attributes(item_at(key, id=record.id))


@pytest.fixture
def put_table(stack: Stack, clock: Clock) -> PutTable:
    """Puts recorded tables of the previous release into the table of acme; waits take no time."""
    assert stack
    assert clock

    def put(*names: str) -> None:
        tables, items = read_recorded(), dict[tuple[str, str], dict[str, Any]]()
        for name in names:
            for item in tables.tables[name]:
                # Several kinds have their totals in the same items.
                items.setdefault((item["PK"]["S"], item["SK"]["S"]), {}).update(item)
        recorded.put(items.values())
        for name in names:
            for kind in {"audit", LISTS[name].collection.kind} if name in LISTS else ():
                # The rows of a list were recorded without the sequence of their ids.
                key = {"PK": {"S": "sequence"}, "SK": {"S": kind}}
                recorded.put([{**key, "last": {"N": "1000000"}}])
            if name in LISTS:
                recorded.put(_missing_aliases(LISTS[name].collection, [*items.values()]))
        set_version("acme", tables.version)

    return put
