"""An invented next version of the schema: collections with new facets, indexes and totals."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import pytest
from pydantic import BaseModel

from shared.kernel.db import schema, table
from shared.kernel.db.collection import Collection
from shared.kernel.db.entity_items import EntityItems
from shared.kernel.db.facets import Facets
from shared.kernel.db.indexes import Lookup, Partition
from tests.integration.stored_entities import collections
from tests.recorded import recorded

TARGET = recorded().version + 1
SHAPE, MARK = "shape", "mark"
"""The new facets: one with totals and sorts of its own, and one with a lookup index."""
FURTHER_MARK = "further"
_CHANGED = ("facets", "sorts", "partitions", "lookups", "more_lookups", "since")


def shape_of(entity: BaseModel) -> str | None:
    """Return the new facet that has totals; a third of the entities have none."""
    number = len(entity.model_dump_json()) % 3
    return str(number) if number else None


def mark_of(entity: BaseModel) -> str | None:
    """Return the new facet that has a lookup index."""
    return "even" if len(entity.model_dump_json()) % 2 == 0 else None


@contextmanager
def invented_version(patch: pytest.MonkeyPatch, *changed: Collection[Any]) -> Iterator[None]:
    """Run the block with the code of a release in which these collections have new facets."""
    first = table.INDEX_COUNT + 1
    with patch.context() as inner:
        inner.setattr(schema, "SCHEMA_VERSION", TARGET)
        inner.setattr(table, "INDEX_COUNT", table.INDEX_COUNT + 3)
        before = [{name: getattr(one, name) for name in _CHANGED} for one in changed]
        for one in changed:
            _set(one, _additions(one, first))
        try:
            yield
        finally:
            for one, old in zip(changed, before, strict=True):
                _set(one, old)


def changed_kinds() -> list[str]:
    """Return the kinds that the next version changes, those of the release and invented ones."""
    return sorted(one.kind for one in collections() if one.differs(TARGET - 1, TARGET))


def copy_of(collection: Collection[Any]) -> Collection[Any]:
    """Return the collection as the code of the previous release has it."""
    return replace(collection.at(recorded().version))


def _set(collection: Collection[Any], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        object.__setattr__(collection, name, value)  # it is frozen
    for name, computed in vars(EntityItems).items():
        if isinstance(computed, cached_property):
            vars(collection).pop(name, None)


def _additions(collection: Collection[Any], first: int) -> dict[str, Any]:
    facets, more_lookups = collection.facets, collection.more_lookups

    def new_facets(entity: BaseModel) -> Facets:
        return {**facets(entity), SHAPE: shape_of(entity), MARK: mark_of(entity)}

    def new_lookups(entity: BaseModel) -> Iterable[Facets]:
        assert more_lookups
        for found in more_lookups(entity):
            yield {**found, MARK: FURTHER_MARK}

    sort = next(iter(collection.sorts), None)
    return {
        "facets": new_facets,
        "sorts": {**collection.sorts, SHAPE: first},
        "partitions": {**collection.partitions, SHAPE: Partition({sort or SHAPE: first + 1})},
        "lookups": {**collection.lookups, MARK: Lookup(first + 2)},
        "more_lookups": new_lookups if more_lookups else None,
        "since": {**collection.since, SHAPE: TARGET, MARK: TARGET},
    }
