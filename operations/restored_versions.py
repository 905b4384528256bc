"""The versions of entities that go back to an earlier state.

An entity that was changed since the moment of a restore gets the next version after today's, and
the time of the restore as `updated_at`. So no version, ETag or `sequence` of an event ever stands
for two states: `If-Match` with an old ETag is refused, receivers of webhooks do not take new events
for old ones, and the sync loop of an integration reads what has gone back.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import batched, groupby
from typing import Any

from operations.progress import ReportProgress
from operations.stored_collections import COLLECTIONS
from shared.kernel.clock import instant_of
from shared.kernel.db.collection import Collection
from shared.kernel.db.entity_items import UPDATED_AT
from shared.kernel.db.items import encode
from shared.kernel.db.records import HEAD
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY, UPDATES, index_keys
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction

_NEVER_CHANGED = {"audit", "movement"}
"""Kinds whose entities are written once."""
_LATE = timedelta(minutes=5)
"""A change carries the time at which it was decided, and is committed later, at most 29 s."""
_SEGMENTS = 8
"""Parts of the table that are read at the same time, because requests are refused meanwhile."""
_CHUNK = 10
"""Entities that are written in one transaction, of up to 0.36 MB each."""

type _Versions = dict[tuple[str, int], int]
"""Kind and id of entities → version."""


def raise_versions(
    present: Store, restored: Store, since: datetime | None, report: ReportProgress
) -> int:
    """Raise the versions of entities that differ in the two tables. Safe to repeat.

    Args:
        present: The present table, which no request changes any more.
        restored: The table that is to replace it.
        since: The moment of the restored table; None to compare all entities.
        report: Receives the number of raised versions.

    Returns:
        The number of raised versions.
    """
    raised = 0
    for changed in _changed_entities(present, since):
        for kind, numbers in _by_kind(changed):
            collection = COLLECTIONS[kind]
            # What an entity gets in a table that was being upgraded may fill a transaction.
            is_upgraded = restored.version.complete == restored.version.written
            is_small = is_upgraded and not collection.more_lookups
            size = _CHUNK if is_small else 1
            for chunk in batched(numbers, size, strict=False):
                raised += _raise(restored, collection, {n: changed[kind, n] for n in chunk})
                report(f"{restored.slug}: {raised} versions raised")
        report(f"{restored.slug}: {raised} versions raised")
    return raised


def _by_kind(changed: _Versions) -> Iterator[tuple[str, list[int]]]:
    for kind, found in groupby(sorted(changed), lambda entity: entity[0]):
        yield kind, [number for _, number in found]


def _raise[E: Any](restored: Store, collection: Collection[E], versions: Mapping[int, int]) -> int:
    """Raise the versions of entities above `versions`, as far as they are lower."""

    def use_case(tx: Transaction) -> int:
        raised = 0
        for record in collection.get_many(tx.store, versions):
            # Equal: unchanged since. Higher: an earlier run has raised it.
            if record.version < versions[record.id]:
                has_time = UPDATED_AT in collection.model.model_fields
                update = {UPDATED_AT: tx.now} if has_time else {}
                entity = record.entity.model_copy(update=update)
                collection.replace(tx, record, entity, version=versions[record.id] + 1)
                raised += 1
        return raised

    return run_transaction(restored, use_case)


def _changed_entities(present: Store, since: datetime | None) -> Iterator[_Versions]:
    """Yield the entities that were changed or deleted since a moment, page by page."""
    # The threads of `map_concurrently` are used by what is done with a page.
    with ThreadPoolExecutor(_SEGMENTS) as pool:
        starts: dict[int, Mapping[str, Any] | None] = dict.fromkeys(range(_SEGMENTS))
        while starts:
            answers = pool.map(lambda part: _scan(present, since, *part), starts.items())
            pages = dict(zip(starts, answers, strict=True))
            yield _versions_of(item for page in pages.values() for item in page["Items"])
            starts = {
                segment: page["LastEvaluatedKey"]
                for segment, page in pages.items()
                if "LastEvaluatedKey" in page
            }


def _scan(
    present: Store, since: datetime | None, segment: int, start: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    kinds = [kind for kind in COLLECTIONS if kind not in _NEVER_CHANGED]
    prefixes = {f":k{number}": encode(f"{kind}#") for number, kind in enumerate(kinds)}
    is_known = " OR ".join(f"begins_with(#pk, {name})" for name in prefixes)
    condition = f"#sk = :head AND ({is_known})"
    names = {"#pk": PARTITION_KEY, "#sk": SORT_KEY, "#id": "id", "#version": "version"}
    values = {":head": encode(HEAD), **prefixes}
    if since is not None:
        # Neither maps nor deleted entities are in the index.
        condition += " AND (attribute_not_exists(#updated) OR #updated >= :since)"
        names["#updated"] = index_keys(UPDATES)[1]
        values[":since"] = encode(instant_of(since - _LATE))
    begin: dict[str, Any] = {"ExclusiveStartKey": start} if start else {}
    return present.client.scan(
        TableName=present.table,
        Segment=segment,
        TotalSegments=_SEGMENTS,
        FilterExpression=condition,
        ProjectionExpression="#pk, #id, #version",
        ExpressionAttributeNames=names,
        ExpressionAttributeValues=values,
        **begin,
    )


def _versions_of(items: Iterable[Mapping[str, Any]]) -> _Versions:
    return {
        (item[PARTITION_KEY]["S"].partition("#")[0], int(item["id"]["N"])): int(
            item["version"]["N"]
        )
        for item in items
    }
