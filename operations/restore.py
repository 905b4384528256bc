"""Restore of a tenant's data of an earlier moment into a new table, which replaces the present one.

1. The restore is recorded, and DynamoDB begins to restore the table of the moment into a new one.
2. Requests are refused (503) from now on, or from step 5 on after `prepare_only`.
3. The new table gets tags, deletion protection, backups and expiry, which a restore leaves out.
4. The new table is checked.
5. The restore waits until every invocation that uses the present table has ended.
6. Given ids and ended access are carried over from the present table. What goes back gets a
   version that it never had. Imports that were running are set to `failed`.
7. A new feed of changes begins, because its followers have seen other changes.
8. One transaction makes the new table the tenant's, deactivates the subscriptions that are not
   active in the earlier one, and ends every token. The earlier table stays.

The attribute `restoring` of the tenant's item says which restore is in progress, so that another
run goes on where one died.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from operations.draining import wait_for_running_invocations
from operations.feed import begin_feed
from operations.operator_identity import operator_name
from operations.progress import ReportProgress, no_progress
from operations.restore_carry_over import (
    fail_queued_work,
    keep_access_ended,
    keep_webhooks_inactive,
    raise_sequences,
)
from operations.restored_versions import raise_versions
from operations.table_lease import Lease, leased
from operations.tenant_changes import tenant_item
from operations.tenant_tables import (
    complete_restored_table,
    describe_table,
    find_own,
    new_table_name,
    recorded_version,
    start_restore,
    tables_of,
)
from operations.verify import Findings
from shared.identity.audit import service as audit
from shared.identity.tenancy.access import operator_store_of
from shared.identity.tenancy.directory import TABLE_NAME, current_table
from shared.identity.tenancy.expiry_days import EXPIRY_DAY
from shared.identity.tenancy.revocations import ALL_TOKENS, TOKEN_LIFETIME
from shared.identity.users.repository import count_users
from shared.kernel.aws import client
from shared.kernel.clock import Deadline, now_ms
from shared.kernel.company import Company
from shared.kernel.db.outbox_item import CHANGES_SINCE
from shared.kernel.db.schema import TableVersion, served
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, Problem, ValidationFailed

type Verify = Callable[[Lease, Store, ReportProgress], Findings]
"""Checks the new table before the switch: `operations.verify.verify_table`."""

_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What a restore would do."""

    tenant: str
    at: str | None
    """The moment whose data is restored; None to switch to an existing table."""
    table: str
    """The present table."""
    new_table: str | None
    """The table that replaces it, if an earlier run has recorded it."""
    is_done: bool
    """Whether an earlier run has completed exactly this restore."""


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of a restore."""

    tenant: str
    at: str | None
    table: str
    """The tenant's table; after `prepare_only` the prepared one."""
    previous_table: str
    version: int
    """The version of the schema of the table."""
    is_switched: bool
    locked_users: tuple[str, ...] = ()
    """Users who cannot sign in until their password is reset."""
    deactivated_webhooks: tuple[int, ...] = ()


# Checks


def plan_restore(slug: str, at: str) -> RestorePlan:
    """Return what a restore of the tenant to the time `at` would do.

    Raises:
        NotFound: There is no such tenant, or it is being created, being deleted or deleted.
        ValidationFailed: The time is malformed, has no time zone, or cannot be restored.
        Conflict: Another restore is not finished, or point-in-time recovery is disabled.
    """
    moment = parse_moment(at)
    item = tenant_item(slug)
    table, text = current_table(slug, item), _text(moment)
    if _has_completed(item, text, table):
        return RestorePlan(slug, text, table, None, is_done=True)
    new_table = _new_table_of(item, slug, at=text)
    if new_table is None or describe_table(new_table) is None:
        _ensure_restorable(slug, table, moment)
    return RestorePlan(slug, text, table, new_table, is_done=False)


def plan_switch(slug: str, table: str) -> RestorePlan:
    """Return what the switch to another table of the tenant would do.

    Raises:
        NotFound: There is no such tenant, or it is being created, being deleted or deleted.
        ValidationFailed: The tenant has no such table.
        Conflict: A restore is not finished, or another deployment created the table.
    """
    item = tenant_item(slug)
    known = tables_of(slug)
    if table not in known:
        message = f"{table} is not a table of {slug}; its tables are {', '.join(known)}"
        raise ValidationFailed([Problem("to_table", message)])
    find_own(table, is_completed=True)
    present = current_table(slug, item)
    recorded = _new_table_of(item, slug, table=table)
    return RestorePlan(slug, None, present, recorded, is_done=present == table)


def parse_moment(text: str) -> datetime:
    """Return a time with a time zone, in UTC and full seconds.

    Raises:
        ValidationFailed: It is malformed or has no time zone.
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        message = f"{text} is not a time; write it like 2026-11-23T02:10:00Z"
        raise ValidationFailed([Problem("at", message)]) from None
    message = (
        f"{text} has no time zone; add Z for UTC or an offset, as in 2026-11-23T03:10:00+01:00"
    )
    raise ValidationFailed([Problem("at", message)])


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _has_completed(item: Mapping[str, Any], at: str, table: str) -> bool:
    last = item.get("restored", {}).get("M", {})
    return bool(last) and (last["at"]["S"], last["table"]["S"]) == (at, table)


def _new_table_of(
    item: Mapping[str, Any], slug: str, *, at: str | None = None, table: str | None = None
) -> str | None:
    """Return the new table of the restore in progress; None if none is.

    Raises:
        Conflict: It is another one than that to `at`, or to `table`.
    """
    restoring = item.get("restoring", {}).get("M")
    if restoring is None:
        return None
    known_at = restoring["at"]["S"] if "at" in restoring else None
    known: str = restoring["table"]["S"]
    if known_at == at and (at or known == table):
        return known
    option = f"--at {known_at}" if known_at else f"--to-table {known}"
    raise Conflict(
        f"Another restore of {slug} is not finished. Finish it (stowage tenant restore {slug} "
        f"{option}) or end it without a change (stowage tenant restore {slug} --cancel) first."
    )


def _ensure_restorable(slug: str, table: str, moment: datetime) -> None:
    recovery = client("dynamodb").describe_continuous_backups(TableName=table)
    window = recovery["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    if window.get("PointInTimeRecoveryStatus") != "ENABLED":
        raise Conflict(
            f"Point-in-time recovery of the table {table} is disabled: no moment can be restored. "
            "Enable it for the future: aws dynamodb update-continuous-backups --table-name "
            f"{table} --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true"
        )
    earliest, latest = window["EarliestRestorableDateTime"], window["LatestRestorableDateTime"]
    if problem := _window_problem(slug, table, moment, earliest.astimezone(UTC), latest):
        raise ValidationFailed([Problem("at", f"{_text(moment)} {problem}")])


def _window_problem(
    slug: str, table: str, moment: datetime, earliest: datetime, latest: datetime
) -> str | None:
    possible = f"possible is {_text(earliest)} to {_text(latest.astimezone(UTC))}"
    if moment.timestamp() > now_ms() / 1000:
        return f"is in the future; {possible}"
    if moment > latest:
        return f"is later than DynamoDB can restore yet; {possible}"
    if moment >= earliest.replace(microsecond=0):
        return None
    earlier = [name for name in tables_of(slug) if name != table]
    created = (describe_table(table) or {})["CreationDateTime"].astimezone(UTC)
    if moment < created:
        problem = f"is before the table {table} was created ({_text(created)}); {possible}"
    else:
        problem = f"is earlier than the backups go back; {possible}"
    if earlier:
        problem += (
            f". {', '.join(earlier)} may have the moment: switch to it first (stowage tenant "
            f"restore {slug} --to-table {earlier[-1]})"
        )
    return problem


# The restore


def restore_tenant(
    slug: str,
    at: str,
    *,
    prepare_only: bool = False,
    verify: Verify | None = None,
    progress: ReportProgress = no_progress,
) -> Restored:
    """Restore the tenant's data of the time `at` into a new table and switch to it.

    Safe to repeat: another run goes on where one died.

    Args:
        slug: The tenant.
        at: ISO 8601 time with a time zone.
        prepare_only: Only restore and check the new table, while requests are served.
        verify: Checks the new table before the switch.
        progress: Receives a description of each step.

    Raises:
        NotFound, ValidationFailed: See `plan_restore`.
        Conflict: See `plan_restore`; or another run has the lease, or the check has failed.
        UnservedTable: This release does not serve the version that the table had at that time.
    """
    plan = plan_restore(slug, at)
    if plan.is_done:
        return _completed(plan)
    with leased(slug, "restore", progress) as lease:
        plan = plan_restore(slug, at)  # what another run has done until it gave the lease back
        if plan.is_done:
            return _completed(plan)
        report = lease.keeping(progress)
        new_table = plan.new_table or _free_table_name(slug)
        if plan.new_table is None:
            _save(lease, {"table": {"S": new_table}, "at": {"S": plan.at}})
        if describe_table(new_table) is None:
            report(f"{slug}: restoring {plan.table} of {plan.at} into {new_table}")
            start_restore(plan.table, new_table, parse_moment(at))
        if not prepare_only:
            _refuse_requests(lease)
        return _complete(lease, plan, new_table, prepare_only, verify, report)


def switch_table(
    slug: str,
    table: str,
    *,
    verify: Verify | None = None,
    progress: ReportProgress = no_progress,
) -> Restored:
    """Switch to another table of the tenant, such as the one before a restore. Safe to repeat.

    Raises:
        NotFound, ValidationFailed: See `plan_switch`.
        Conflict: See `plan_switch`; or another run has the lease, or the check has failed.
        UnservedTable: This release does not serve the version of the table.
    """
    plan = plan_switch(slug, table)
    if plan.is_done:
        return _completed(plan)
    with leased(slug, "restore", progress) as lease:
        plan = plan_switch(slug, table)
        if plan.is_done:
            return _completed(plan)
        if plan.new_table is None:
            _save(lease, {"table": {"S": table}})
        _refuse_requests(lease)
        return _complete(lease, plan, table, False, verify, lease.keeping(progress))


def cancel_restore(slug: str, *, progress: ReportProgress = no_progress) -> str | None:
    """End a restore without a change: requests are served from the present table again.

    Returns:
        The name of the new table, which stays; None if no restore was in progress.

    Raises:
        NotFound: There is no such tenant, or it is being created, being deleted or deleted.
        Conflict: Another run of the restore is alive.
    """
    with leased(slug, "restore", progress) as lease:
        restoring = tenant_item(slug).get("restoring", {}).get("M")
        if restoring is None:
            return None
        lease.save("REMOVE restoring", {})
        table: str = restoring["table"]["S"]
        return table


def _free_table_name(slug: str) -> str:
    while True:
        name = new_table_name(slug, datetime.fromtimestamp(now_ms() / 1000, UTC))
        if describe_table(name) is None:
            return name
        time.sleep(1)


def _refuse_requests(lease: Lease) -> int:
    """Let requests be refused, unless an earlier run has; return since when, in milliseconds."""
    restoring: Mapping[str, Any] = tenant_item(lease.slug)["restoring"]["M"]
    if "refused_at" not in restoring:
        restoring = {**restoring, "refused_at": {"N": str(now_ms())}}
        _save(lease, restoring)
    return int(restoring["refused_at"]["N"])


def _save(lease: Lease, restoring: Mapping[str, Any]) -> None:
    lease.save("SET restoring = :restoring", {":restoring": {"M": restoring}})


def _complete(  # noqa: PLR0913, PLR0917  the facts of one restore
    lease: Lease,
    plan: RestorePlan,
    table: str,
    prepare_only: bool,  # noqa: FBT001
    verify: Verify | None,
    report: ReportProgress,
) -> Restored:
    """Complete and check the new table, then switch to it."""
    slug = lease.slug
    complete_restored_table(table, slug, report)
    version = served(slug, recorded_version(table))
    if verify:
        report(f"{slug}: checking the table {table}")
        found = verify(lease, _store(slug, table, version), report)
        if found.listed:
            first = found.listed[0]
            raise Conflict(
                f"The data of {table} has {found.found} findings, such as {first.kind} of "
                f"{first.subject}; nothing was switched. Serve requests from {plan.table} again "
                f"(stowage tenant restore {slug} --cancel) and choose another time, or repeat the "
                f"command with --unchecked and then repair the data (stowage verify {slug} "
                "--repair)."
            )
    if prepare_only:
        return Restored(slug, plan.at, table, plan.table, version.complete, is_switched=False)
    wait_for_running_invocations(slug, _refuse_requests(lease), report)
    present = _store(slug, plan.table, version)
    restored = _store(slug, table, version)
    report(f"{slug}: carrying over given ids and ended access")
    raise_sequences(present, restored)
    # Before anything else changes the entities, so that an equal version means the same state.
    raise_versions(present, restored, parse_moment(plan.at) if plan.at else None, report)
    locked = keep_access_ended(present, restored)
    fail_queued_work(restored)
    if version.written >= CHANGES_SINCE:
        begin_feed(restored, report)
    lease.keep()
    report(f"{slug}: switching to {table}")
    deactivated = _switch(lease, plan, present, restored)
    return Restored(
        slug,
        plan.at,
        table,
        plan.table,
        version.complete,
        is_switched=True,
        locked_users=tuple(locked),
        deactivated_webhooks=tuple(deactivated),
    )


def _store(slug: str, table: str, version: TableVersion) -> Store:
    return operator_store_of(Company(slug), table, version, Deadline(_DAY_MS))


def _switch(lease: Lease, plan: RestorePlan, present: Store, restored: Store) -> list[int]:
    """Make the restored table that of the tenant, with an entry in its audit log.

    Returns:
        The subscriptions that are deactivated in the same transaction.
    """
    slug, table = lease.slug, restored.table
    last = {"at": {"S": plan.at}, "table": {"S": table}, "previous": {"S": plan.table}}
    remembered, removed = ("restored = :restored, ", "") if plan.at else ("", "restored, ")

    def switch(tx: Transaction) -> list[int]:
        deactivated = keep_webhooks_inactive(tx, present)
        # Requests have been refused for longer than any of them takes, so nobody gets a token of a
        # user until the switch. Clients get tokens again right away: these expire later.
        ended = int(tenant_item(slug)["revoked"]["M"].get(ALL_TOKENS, {"N": "0"})["N"])
        update = lease.update(
            f"SET {remembered}{TABLE_NAME} = :table, table_version = :version, #users = :users, "
            f"revoked.#all = :ended REMOVE {removed}restoring, upgrade, verification, "
            f"{EXPIRY_DAY}, #lease",
            {
                **({":restored": {"M": last}} if plan.at else {}),
                ":table": {"S": table},
                ":version": {"N": str(restored.version.complete)},
                ":users": {"N": str(count_users(restored))},
                ":ended": {"N": str(max(ended, tx.now_ms // 1000 + TOKEN_LIFETIME))},
            },
        )
        update["ExpressionAttributeNames"] |= {"#users": "users", "#all": ALL_TOKENS}
        tx.add_action("Update", update, lease.lost)
        changes = {"table": (plan.table, table)}
        audit.record(tx, "tenant.changed", "tenant", slug, changes=changes)
        return deactivated

    return run_transaction(restored, switch, operator=cache(operator_name))


def _completed(plan: RestorePlan) -> Restored:
    """Return the result of a restore that an earlier run has completed."""
    item = tenant_item(plan.tenant)
    last = item.get("restored", {}).get("M", {})
    previous = last["previous"]["S"] if plan.at else plan.table
    version = int(item["table_version"]["N"])
    return Restored(plan.tenant, plan.at, plan.table, previous, version, is_switched=True)
