"""The entities in a tenant's table, read from all its items, to compare with lists and counters."""

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shared.identity.tenancy.directory import tenant_key
from shared.kernel.db.alias_entries import alias_entries
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import Item, from_attributes, item_at, unpack
from shared.kernel.db.records import HEAD, SCHEMA, Record
from shared.kernel.db.search import SEARCH_ATTRIBUTES, SEARCH_ITEM
from tests.stack import Stack

if TYPE_CHECKING:
    from shared.kernel.db.store import Store

_SHARED = Path(__file__).parents[2] / "shared"


@cache
def collections() -> Sequence[Collection[Any]]:
    """Return every collection that a repository declares."""
    found: dict[str, Collection[Any]] = {}
    for path in sorted(_SHARED.rglob("*repository.py")):
        name = path.relative_to(_SHARED.parent).with_suffix("").as_posix().replace("/", ".")
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, Collection):
                found.setdefault(value.kind, value)
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class StoredEntities:
    """Kind → its entities, without deleted ones (tombstones)."""

    entities: Mapping[str, list[Any]]

    def growth_since(self, before: "StoredEntities") -> dict[str, int]:
        """Return the change of the number of entities since `before`, for kinds that changed."""
        changes = {
            kind: len(found) - len(before.entities[kind]) for kind, found in self.entities.items()
        }
        return {kind: change for kind, change in changes.items() if change}


def read_stored_entities(stack: Stack) -> StoredEntities:
    """Read all entities of acme."""
    known = {collection.kind: collection for collection in collections()}
    entities: dict[str, list[Any]] = {kind: [] for kind in known}
    for attributes in stack.items():
        item = from_attributes(attributes)
        kind = item["PK"].partition("#")[0]
        if kind in known and item["SK"] == HEAD and not item.get("deleted"):
            assert item["parts"] == 1
            entity = known[kind].model.model_validate_json(unpack([item["data"]]))
            assert getattr(entity, "id", item["id"]) == item["id"]
            entities[kind].append(entity)
    return StoredEntities(entities)


def assert_derived_items_match(stack: Stack) -> None:
    """Assert that exactly the lookups and search entries exist that follow from the entities."""
    known = {collection.kind: collection for collection in collections()}
    items = [from_attributes(attributes) for attributes in stack.items()]
    wanted = [
        derived
        for item in items
        if item["SK"] == HEAD and "data" in item and item["PK"].partition("#")[0] in known
        for derived in _derived(known[item["PK"].partition("#")[0]], item)
    ]
    found = [item for item in items if item["SK"].startswith(("LOOKUP#", SEARCH_ITEM))]
    found += [_entries(item) for item in items if item["SK"] == "ALIAS" and "facets" in item]
    assert sorted(found, key=_key) == sorted(wanted, key=_key)


def _derived(collection: Collection[Any], head: Item) -> list[Item]:
    entity = collection.model.model_validate_json(unpack([head["data"]]))
    record = Record(int(head["id"]), int(head["version"]), entity, schema=int(head[SCHEMA]))
    derived = collection.derived_items(record)
    if collection.search_alias:
        entries = alias_entries(collection, record)
        derived.append(_entries(item_at(collection.search_alias(entity), **entries)))
    return derived


def _entries(alias: Item) -> Item:
    """Return the search entries of an alias with its key."""
    names = ("PK", "SK", *SEARCH_ATTRIBUTES)
    return {name: alias[name] for name in names if alias.get(name) is not None}


def _key(item: Item) -> tuple[str, str]:
    return item["PK"], item["SK"]


class _Shards:
    """Substitute for a store that returns the shards of counters only."""

    def __init__(self, stack: Stack) -> None:
        self._shards: dict[str, list[Item]] = {}
        for item in stack.items():
            if item["PK"]["S"].startswith("count#"):
                self._shards.setdefault(item["PK"]["S"], []).append(from_attributes(item))

    def query_all(self, *, values: Mapping[str, str], **_: object) -> list[Item]:
        return self._shards.get(values[":kind"], [])


def assert_counters_match(stack: Stack, stored: StoredEntities) -> None:
    """Assert that every counter equals the number of entities."""
    shards = _Shards(stack)
    for collection in collections():
        wanted: Counter[str] = Counter()
        for entity in stored.entities[collection.kind]:
            facets = collection.facets(entity)
            wanted["n"] += 1
            wanted.update(f"{facet}={facets[facet] or ''}" for facet in collection.partitions)
        own = [name for name in wanted if collection.own_shards(name)]
        counts = collection.totals(cast("Store", shards), own).counts
        assert {name: n for name, n in counts.items() if n} == dict(wanted), collection.kind


def assert_plan_counters_match(stack: Stack, stored: StoredEntities) -> None:
    """Assert that the counters of what the plan limits equal the users and clients of acme."""
    items = [from_attributes(item) for item in stack.control_items()]
    [tenant] = [item for item in items if item["pk"] == tenant_key("acme")]
    total = stack.erp().get("/api-clients").json()["meta"]["total"]
    assert tenant.get("clients", 0) + tenant.get("mobile_clients", 0) == total
    assert tenant.get("users", 0) == len(stored.entities["user"])
