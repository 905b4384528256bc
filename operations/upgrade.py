"""Upgrade of tenants' tables to the version of this release, while requests run.

1. Missing indexes are added.
2. The upgrade is announced. From then on, code that does not know the new version refuses the
   table. The upgrade waits until every invocation of such code has ended.
3. Changes write items as in the new version. The upgrade waits until every invocation that does not
   has ended. After that no item of the old version can appear.
4. Every entity that has another form in the new version is rewritten, until a pass over the table
   finds none, and items whose key the new version renames are moved.
5. The table gets a feed of changes, unless it has one.
6. The table gets the new version, so that lists use what is new.

Each step is recorded in the tenant's item, so that another run goes on where one died. Totals are
exact at every moment: the head of an entity says in which version it is counted
(`Collection.bring_up_to_date`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import batched, groupby
from typing import Any

from operations.draining import wait_for_running_invocations
from operations.feed import begin_feed, has_feed
from operations.operator_identity import run_as_operator
from operations.pace import Pace
from operations.progress import ReportProgress, no_progress
from operations.stored_collections import COLLECTIONS
from operations.table_indexes import (
    add_missing_indexes,
    missing_indexes,
    remove_unused_indexes,
    unused_indexes,
)
from operations.table_lease import Lease, leased
from operations.tenant_changes import HiddenTenant, show_tenant, tenant_item
from operations.tenant_tables import describe_table, set_maxima
from shared.identity.audit import service as audit
from shared.identity.tenancy.access import operator_store
from shared.kernel.clock import Deadline, now_ms
from shared.kernel.db import schema
from shared.kernel.db.actions import Cost
from shared.kernel.db.alias_entries import bring_alias_up_to_date
from shared.kernel.db.collection import Collection
from shared.kernel.db.items import item_at
from shared.kernel.db.outbox_item import CHANGES_SINCE
from shared.kernel.db.records import HEAD, SCHEMA
from shared.kernel.db.schema import TableVersion, served
from shared.kernel.db.steps import STEP_ACTIONS, commit_in_steps, fitting_items
from shared.kernel.db.store import Store
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, ServiceError, UnservedTable
from shared.warehouse.stock.level_book import MOST_SMALL, LevelBook

DEFAULT_RATE = 200
"""Entities that are rewritten per second. Each takes some 10 to 40 write units, of the 40 000 that
a table on demand has, and up to 1 000 for each partition."""
_PRODUCTS_PER_ENTITY = 4
"""Products whose levels an entity has shares in, for which as much is written as for an entity: 6
write units for the level and the total, and twice that if the change is prepared."""
_READ_PER_WRITTEN = 10
"""Items that are read per second, for each entity that may be rewritten."""
_PAGE = 500
"""Items of the table between two records of the progress."""
_CHUNK = 10
"""Entities that are rewritten together, in one transaction if it can hold them."""
_LONGEST_MS = 30 * 86_400_000

REFUSALS = (HiddenTenant, UnservedTable, Conflict)
"""Why one table cannot be upgraded, while others can."""


@dataclass(frozen=True, slots=True)
class UpgradePlan:
    """What an upgrade of a tenant's table would do."""

    tenant: str
    version: int
    target: int
    missing_indexes: tuple[str, ...]
    unused_indexes: tuple[str, ...]
    kinds: tuple[str, ...]
    """Kinds of entities that are rewritten."""
    items: int
    """Number of items in the table as DynamoDB reports it; updated about every six hours."""


@dataclass(frozen=True, slots=True)
class Upgraded:
    """The result of an upgrade."""

    tenant: str
    version: int
    rewritten: int
    """Number of entities that were rewritten, also by earlier runs of this upgrade."""


def plan_upgrade(slug: str) -> UpgradePlan:
    """Return what an upgrade of the tenant's table would do.

    Raises:
        NotFound: There is no such tenant.
        UnservedTable: This release does not serve the version of the table.
        Conflict: An index has another key or projection than this release needs.
    """
    version = _version_of(slug)
    described = describe_table(operator_store(slug).table)
    return UpgradePlan(
        tenant=slug,
        version=version.complete,
        target=schema.SCHEMA_VERSION,
        missing_indexes=tuple(missing_indexes(slug)),
        unused_indexes=tuple(unused_indexes(slug)),
        kinds=tuple(sorted(_changed_collections(version.complete))),
        items=int(described["ItemCount"]) if described else 0,
    )


def expand_table(slug: str, *, progress: ReportProgress = no_progress) -> list[str]:
    """Add the indexes that this release needs, before it is deployed. Safe to repeat.

    Returns:
        The names of the added indexes.

    Raises:
        NotFound: There is no such tenant.
        UnservedTable: This release does not serve the version of the table.
        Conflict: Another run has the lease, or an index has another key or projection.
    """
    _version_of(slug)
    with leased(slug, "upgrade", progress) as lease:
        return add_missing_indexes(slug, lease.keeping(progress))


def contract_table(slug: str, *, progress: ReportProgress = no_progress) -> list[str]:
    """Remove the indexes that this release does not use. Safe to repeat.

    Returns:
        The names of the removed indexes.

    Raises:
        NotFound: There is no such tenant.
        UnservedTable: This release does not serve the version of the table.
        Conflict: The table is not upgraded yet, or another run has the lease.
    """
    version = _version_of(slug)
    if version.complete != schema.SCHEMA_VERSION:
        raise Conflict(
            f"The table of {slug} has version {version.complete}, and this release has version "
            f"{schema.SCHEMA_VERSION}. Upgrade it first (stowage tenant upgrade {slug})."
        )
    with leased(slug, "upgrade", progress) as lease:
        return remove_unused_indexes(slug, lease.keeping(progress))


def upgrade_tables(
    slugs: Iterable[str], *, rate: int = DEFAULT_RATE, progress: ReportProgress = no_progress
) -> Iterator[Upgraded]:
    """Upgrade the tables of tenants to the version of this release, and set their maxima.

    It is safe to repeat. All are announced before the first one is rewritten, so that the waits are
    the same for all. A tenant that cannot be upgraded does not stop the others; the error comes
    after their results.

    Args:
        slugs: The tenants.
        rate: Largest number of entities to rewrite per second.
        progress: Receives a description of each step.

    Yields:
        The result of each tenant.

    Raises:
        NotFound: There is no such tenant.
        UnservedTable: This release does not serve the version of a table.
        Conflict: Another run has the lease, a restore is not finished, or an index has another key
            or projection.
    """
    outdated, unfed = list[str](), list[str]()
    refused: list[ServiceError] = []
    for slug in slugs:
        try:
            version = _version_of(slug)
        except REFUSALS as error:
            refused.append(error)
            continue
        if version == schema.current_version():
            if not has_feed(operator_store(slug)):
                unfed.append(slug)
                continue
            set_maxima(slug)
            yield Upgraded(slug, schema.SCHEMA_VERSION, 0)
        else:
            outdated.append(slug)
    run = partial(_run_leased, progress=progress, refused=refused)
    for slug, _ in run(unfed, _ensure_feed):
        set_maxima(slug)
        yield Upgraded(slug, schema.SCHEMA_VERSION, 0)
    announced = [slug for slug, _ in run(outdated, _announce)]
    writing = [slug for slug, _ in run(announced, _begin_writing)]
    for slug, upgraded in run(writing, partial(_complete, rate=rate)):
        set_maxima(slug)
        yield upgraded
    if len(refused) > 1:
        raise Conflict("\n".join(error.message for error in refused))
    if refused:
        raise refused[0]


def _run_leased[R](
    slugs: Iterable[str],
    step: Callable[[Lease, ReportProgress], R],
    progress: ReportProgress,
    refused: list[ServiceError],
) -> Iterator[tuple[str, R]]:
    """Run a step of each tenant with its lease; add the errors of those that refuse to `refused`.

    Yields:
        Tenant and result of the step.
    """
    for slug in slugs:
        try:
            with leased(slug, "upgrade", progress) as lease:
                result = step(lease, lease.keeping(progress))
        except REFUSALS as error:
            refused.append(error)
        else:
            yield slug, result


def _version_of(slug: str) -> TableVersion:
    return served(slug, show_tenant(slug).table_version)


def _changed_collections(version: int) -> dict[str, Collection[Any]]:
    """Return the collections whose items have another form in the version of this release."""
    return {
        kind: collection
        for kind, collection in COLLECTIONS.items()
        if collection.differs(version, schema.SCHEMA_VERSION)
    }


# The steps that change the tenant's item


def _progress_of(slug: str) -> Mapping[str, Any]:
    """Return the recorded progress, in DynamoDB's JSON; empty if none is in progress.

    It has `to` (a version), `announced_at`, `written_at` (milliseconds), `position` (a key) and
    `rewritten`, `found` (numbers of entities, of the whole upgrade and of the present pass).
    """
    found: Mapping[str, Any] = tenant_item(slug).get("upgrade", {}).get("M", {})
    return found


def _save(lease: Lease, progress: Mapping[str, Any]) -> None:
    lease.save("SET upgrade = :upgrade", {":upgrade": {"M": progress}})


def _announce(lease: Lease, report: ReportProgress) -> None:
    """Add the missing indexes and announce the new version, unless an earlier run has."""
    add_missing_indexes(lease.slug, report)
    if not _progress_of(lease.slug):
        _save(lease, {"to": _number(schema.SCHEMA_VERSION), "announced_at": _number(now_ms())})


def _begin_writing(lease: Lease, report: ReportProgress) -> None:
    """Let changes write items as in the new version, unless an earlier run has."""
    progress = _progress_of(lease.slug)
    if progress and "written_at" not in progress:
        wait_for_running_invocations(lease.slug, int(progress["announced_at"]["N"]), report)
        _save(lease, {**progress, "written_at": _number(now_ms())})


def _complete(lease: Lease, report: ReportProgress, *, rate: int) -> Upgraded:
    """Rewrite the entities that have the old form, and give the table the new version."""
    slug, progress = lease.slug, _progress_of(lease.slug)
    if not progress:  # another run has completed it since
        return Upgraded(slug, schema.SCHEMA_VERSION, 0)
    wait_for_running_invocations(slug, int(progress["written_at"]["N"]), report)
    collections = _changed_collections(_version_of(slug).complete)
    if collections:
        progress = _rewrite_all(lease, progress, collections, rate, report)
    _ensure_feed(lease, report)
    _finish(lease)
    return Upgraded(slug, schema.SCHEMA_VERSION, _count_of(progress, "rewritten"))


def _ensure_feed(lease: Lease, report: ReportProgress) -> None:
    """Begin the feed of changes, unless the table has one."""
    store = operator_store(lease.slug, Deadline(_LONGEST_MS))
    if store.version.written >= CHANGES_SINCE and not has_feed(store):
        begin_feed(store, report)


def _finish(lease: Lease) -> None:
    """Set the version of the table, with an entry in the tenant's audit log."""
    slug = lease.slug

    def finish(tx: Transaction) -> None:
        old = _version_of(slug).complete
        update = lease.update(
            "SET table_version = :version REMOVE upgrade, #lease",
            {":version": _number(schema.SCHEMA_VERSION)},
        )
        tx.add_action("Update", update, lease.lost)
        tx.put(item_at(schema.VERSION_KEY, version=schema.SCHEMA_VERSION))
        changes = {"table_version": (old, schema.SCHEMA_VERSION)}
        audit.record(tx, "tenant.changed", "tenant", slug, changes=changes)

    run_as_operator(slug, finish)


def _number(value: int) -> dict[str, str]:
    return {"N": str(value)}


def _count_of(progress: Mapping[str, Any], name: str) -> int:
    return int(progress[name]["N"]) if name in progress else 0


# Rewriting entities


def _rewrite_all(
    lease: Lease,
    progress: Mapping[str, Any],
    collections: Mapping[str, Collection[Any]],
    rate: int,
    report: ReportProgress,
) -> Mapping[str, Any]:
    """Pass over the table until a pass finds no entity of an old form; return the progress."""
    store = operator_store(lease.slug, Deadline(_LONGEST_MS))
    pace = Pace(rate)
    while True:
        numbers, position = _read_page(store, progress.get("position", {}).get("M"), collections)
        pace.spend(_PAGE / _READ_PER_WRITTEN)
        for kind, chunk in _chunks(numbers):
            _rewrite(store, collections[kind], chunk, pace)
            report(f"{lease.slug}: rewriting {collections[kind].noun.lower()} {chunk[-1]}")
        found = _count_of(progress, "found") + len(numbers)
        rewritten = _count_of(progress, "rewritten") + len(numbers)
        progress = {
            **{name: progress[name] for name in ("to", "announced_at", "written_at")},
            "rewritten": _number(rewritten),
            # The next pass counts again.
            "found": _number(found if position else 0),
            **({"position": {"M": position}} if position else {}),
        }
        _save(lease, progress)
        report(f"{lease.slug}: {rewritten} entities rewritten")
        if not position and not found:
            return progress


def _read_page(
    store: Store, position: Mapping[str, Any] | None, collections: Mapping[str, Collection[Any]]
) -> tuple[list[tuple[str, int]], Mapping[str, Any] | None]:
    """Return kind and id of the entities of an old form on a page, and where the next one starts.

    The page is read strongly consistently, so that the last pass proves that none is left.
    """
    kinds = {f":k{number}": {"S": f"{kind}#"} for number, kind in enumerate(collections)}
    is_changed_kind = " OR ".join(f"begins_with(#pk, {name})" for name in kinds)
    start: dict[str, Any] = {"ExclusiveStartKey": position} if position else {}
    page = store.client.scan(
        TableName=store.table,
        ConsistentRead=True,
        Limit=_PAGE,
        FilterExpression=(
            "#sk = :head AND attribute_not_exists(#deleted) AND "
            f"(attribute_not_exists(#schema) OR #schema < :version) AND ({is_changed_kind})"
        ),
        ProjectionExpression="#pk, #id",
        ExpressionAttributeNames={
            "#pk": PARTITION_KEY, "#sk": SORT_KEY, "#id": "id", "#deleted": "deleted",
            "#schema": SCHEMA,
        },
        ExpressionAttributeValues={
            ":head": {"S": HEAD}, ":version": _number(store.version.written), **kinds,
        },
        **start,
    )  # fmt: skip
    found = [
        (str(item[PARTITION_KEY]["S"]).partition("#")[0], int(item["id"]["N"]))
        for item in page["Items"]
    ]
    return sorted(found), page.get("LastEvaluatedKey")


def _chunks(numbers: Iterable[tuple[str, int]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the kind and the ids of the entities that are read together."""
    for kind, found in groupby(numbers, lambda entity: entity[0]):
        for chunk in batched((number for _, number in found), _CHUNK, strict=False):
            yield kind, chunk


def _rewrite[E: Any](
    store: Store, collection: Collection[E], numbers: Sequence[int], pace: Pace
) -> None:
    """Rewrite the entities that still have an old form, as many in a transaction as it can hold.

    Only an entity whose levels alone are more than that has them prepared.
    """
    written = store.version.written

    def use_case(tx: Transaction) -> None:
        def step(left: Sequence[int]) -> int:
            records = {one.id: one for one in collection.get_many(tx.store, left)}
            old = {number: one for number, one in records.items() if one.schema < written}
            if alias := collection.search_alias:
                tx.store.get_many(alias(one.entity) for one in old.values())

            planned = set[str]()

            def cost(number: int) -> Cost:
                if number not in old:
                    return Cost()
                after = collection.derived_items(replace(old[number], schema=written))
                new = _products(tx.store, collection, old[number].entity) - planned
                planned.update(new)
                own = STEP_ACTIONS if len(planned) > MOST_SMALL else 2 * len(new)
                actions = 1 + len(after) + bool(collection.search_alias) + own
                return Cost(actions, old[number].size)

            fitting = fitting_items(tx, left, cost)
            for number in fitting:
                if number in old:
                    collection.bring_up_to_date(tx, old[number])
                    bring_alias_up_to_date(tx, collection, old[number])
            products = len(LevelBook.of(tx).item_codes)
            weight = products / _PRODUCTS_PER_ENTITY * (2 if products > MOST_SMALL else 1)
            tx.after_step(lambda: pace.spend(len(fitting) + weight))
            return len(fitting)

        commit_in_steps(tx, numbers, step)

    run_transaction(store, use_case)


def _products[E: Any](store: Store, collection: Collection[E], entity: E) -> AbstractSet[str]:
    """Return the codes of the products in whose levels an entity has shares."""
    if collection.add_shares is None:
        return frozenset()
    trial = Transaction(store)
    collection.add_shares(trial, None, entity)
    return LevelBook.of(trial).item_codes
