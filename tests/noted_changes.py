"""The changes that transactions have noted in the outbox, compared with the table of a tenant."""

from collections.abc import Iterable, Mapping

from operations.api_clients import list_clients
from operations.stored_collections import COLLECTIONS
from shared.kernel.db.items import from_attributes
from shared.kernel.db.outbox_item import CHANGES, NotedChanges, ResourceId, VersionChange
from shared.kernel.db.records import HEAD, decode_entity
from tests.stack import Stack

type Versions = Mapping[tuple[str, ResourceId], int]
"""Object and id of an entity that a list shows → its version."""


def noted_changes(stack: Stack) -> dict[str, NotedChanges]:
    """Return the id of an item of the outbox → its changes, in the order of creation."""
    return {
        item["SK"]["S"]: NotedChanges.unpacked(item[CHANGES]["B"])
        for item in stack.outbox_items("acme")
        if CHANGES in item
    }


def listed_versions(stack: Stack) -> Versions:
    """Return the versions of all entities of acme that lists show."""
    found = [from_attributes(attributes) for attributes in stack.items()]
    by_key = {(item["PK"], item["SK"]): item for item in found}
    versions = dict[tuple[str, ResourceId], int]()
    for item in found:
        collection = COLLECTIONS.get(item["PK"].partition("#")[0])
        is_entity = item["SK"] == HEAD and "data" in item
        if collection is None or collection.listed_as is None or not is_entity:
            continue
        record = decode_entity(collection.model, item, by_key)
        assert record
        number = collection.listed_id(record.entity) if collection.listed_id else record.id
        versions[collection.listed_as, number] = record.version
    for client in list_clients("acme"):
        if client.active:
            versions["api_client", client.client_id] = client.version
    return versions


def applied(before: Versions, changes: Iterable[VersionChange]) -> Versions:
    """Return the versions after some changes, each of which follows from the one before it."""
    versions = dict(before)
    for one in sorted(changes, key=lambda change: change.before or 0):
        key = (one.object, one.id)
        assert versions.pop(key, None) == one.before, one
        if one.after is not None:
            versions[key] = one.after
    return versions
