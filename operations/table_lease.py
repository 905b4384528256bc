"""The lease of a tenant's table: one upgrade, verification or import runs at a time."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from operations.operator_identity import operator_name
from operations.progress import ReportProgress
from operations.retries import retry_transient_errors
from operations.tenant_changes import tenant_item
from shared.identity.tenancy.directory import HIDDEN_STATES, read_item, tenant_key
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.errors import Conflict

LEASE_SECONDS = 60
"""Seconds until another run may go on after the last sign of life of one that died."""
_KEEP_SECONDS = 15
"""Age at which the lease is renewed."""
_POLL_SECONDS = 2.0

_LEASE = "table_lease"
"""Attribute of the tenant's item: {work, run, by, since, until}."""
_IS_MINE = "#lease.#run = :run"


type Work = Literal["upgrade", "verification", "restore", "import"]


@dataclass(slots=True)
class Lease:
    """The right of this run to work on the table of a tenant."""

    slug: str
    work: Work
    run: str = field(default_factory=lambda: uuid.uuid4().hex)
    by: str = field(default_factory=operator_name)
    since: str = field(default_factory=lambda: instant(now_ms()))
    dynamodb: Callable[[], Any] = lambda: client("dynamodb")
    """Returns the DynamoDB client that changes the tenant's item."""
    _renewed_ms: int = 0

    @property
    def barred(self) -> frozenset[str]:
        """States of the tenant in which nobody gets the lease; an import creates the tenant."""
        return HIDDEN_STATES - {"creating"} if self.work == "import" else HIDDEN_STATES

    def keep(self) -> None:
        """Renew the lease if it is time.

        Raises:
            Conflict: Another run has taken it over, or the tenant was deleted.
        """
        if now_ms() - self._renewed_ms >= _KEEP_SECONDS * 1000 and not self.take():
            raise self.lost()

    def keeping(self, progress: ReportProgress) -> ReportProgress:
        """Return a callback that reports progress and keeps the lease."""

        def report(step: str) -> None:
            self.keep()
            progress(step)

        return report

    def take(self) -> bool:
        """Take or renew the lease; return False if another run has it."""
        now = now_ms()
        hidden = {f":{state}": {"S": state} for state in sorted(self.barred)}
        lease = {
            "work": {"S": self.work},
            "run": {"S": self.run},
            "by": {"S": self.by},
            "since": {"S": self.since},
            "until": {"N": str(now + LEASE_SECONDS * 1000)},
        }
        dynamodb = self.dynamodb()
        request = {
            "TableName": config().control_table,
            "Key": {"pk": {"S": tenant_key(self.slug)}},
            "UpdateExpression": "SET #lease = :lease",
            "ConditionExpression": (
                f"attribute_exists(pk) AND NOT #state IN ({', '.join(hidden)}) AND "
                f"(attribute_not_exists(#lease) OR {_IS_MINE} OR #lease.#until < :now)"
            ),
            "ExpressionAttributeNames": {
                "#lease": _LEASE, "#run": "run", "#until": "until", "#state": "state",
            },
            "ExpressionAttributeValues": {
                ":lease": {"M": lease}, ":run": lease["run"], ":now": {"N": str(now)}, **hidden,
            },
        }  # fmt: skip
        try:
            retry_transient_errors(lambda: dynamodb.update_item(**request))
        except dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        self._renewed_ms = now
        return True

    def update(self, expression: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of an Update of the tenant's item by this run."""
        return {
            "TableName": config().control_table,
            "Key": {"pk": {"S": tenant_key(self.slug)}},
            "UpdateExpression": expression,
            "ConditionExpression": _IS_MINE,
            "ExpressionAttributeNames": {"#lease": _LEASE, "#run": "run"},
            "ExpressionAttributeValues": {":run": {"S": self.run}, **values},
        }

    def save(self, expression: str, values: Mapping[str, Any]) -> None:
        """Change the tenant's item.

        Raises:
            Conflict: Another run has taken over the lease, or the tenant was deleted.
        """
        dynamodb = self.dynamodb()
        request = self.update(expression, values)
        try:
            retry_transient_errors(lambda: dynamodb.update_item(**request))
        except dynamodb.exceptions.ConditionalCheckFailedException:
            raise self.lost() from None

    def release(self) -> None:
        """Give the lease back, if this run still has it."""
        dynamodb = self.dynamodb()
        request = self.update("REMOVE #lease", {})
        try:
            retry_transient_errors(lambda: dynamodb.update_item(**request))
        except dynamodb.exceptions.ConditionalCheckFailedException:
            return

    def lost(self) -> Conflict:
        """Return the error of a run that has lost its lease."""
        return Conflict(
            f"Another run has taken over the {self.work} of {self.slug}, or the tenant was "
            "deleted. Nothing is lost; check the tenant (stowage tenant list)."
        )


@contextmanager
def leased(
    slug: str, work: Work, progress: ReportProgress, dynamodb: Callable[[], Any] | None = None
) -> Iterator[Lease]:
    """Hold the lease of a tenant's table inside the block.

    A lease whose run has died is taken over when it ends, after at most LEASE_SECONDS. `dynamodb`
    returns the client to use instead of that with the default credentials.

    Raises:
        NotFound: There is no such tenant, or it is being created or deleted.
        Conflict: Another run has the lease and is alive; the message says who.
    """
    lease = Lease(slug, work)
    if dynamodb:
        lease.dynamodb = dynamodb
    _wait_for(lease, progress)
    try:
        if work == "upgrade":
            ensure_no_restore(slug)
        yield lease
    except (Exception, KeyboardInterrupt):
        lease.release()
        raise
    lease.release()


def ensure_no_restore(slug: str) -> None:
    """Raise Conflict if a restore of the tenant is not finished."""
    if "restoring" in tenant_item(slug):
        raise Conflict(
            f"The restore of {slug} is not finished. Run it again, or end it (stowage tenant "
            f"restore {slug} --cancel); then upgrade the table."
        )


def _wait_for(lease: Lease, progress: ReportProgress) -> None:
    slug = lease.slug
    seen: Mapping[str, Any] | None = None
    while not lease.take():
        found = read_item(tenant_key(slug))
        is_there = found is not None and found["state"]["S"] not in lease.barred
        item = found if found and is_there else tenant_item(slug)
        other = item.get(_LEASE, {}).get("M")
        if other is None:
            continue
        who = f"{other['by']['S']} has been running since {other['since']['S']}"
        if seen and other != seen:
            raise Conflict(
                f"The {other['work']['S']} of {slug}, which {who}, is still in progress."
            )
        seen = other
        progress(f"{slug}: waiting to see whether the {other['work']['S']} that {who} is alive")
        time.sleep(_POLL_SECONDS)
