"""Verification of a tenant's table while requests run: passes, confirmation, repair, progress.

The progress is recorded in the tenant's item after each chunk, so that another run goes on where
one died.
"""

import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

from operations.operator_identity import operator_name, run_as_operator
from operations.pace import Pace
from operations.progress import ReportProgress, no_progress
from operations.table_lease import Lease, leased
from operations.tenant_changes import show_tenant, tenant_item
from operations.verify.counters_pass import CountersPass
from operations.verify.feed_pass import FeedPass
from operations.verify.findings import Drift, Drifts, Finding, Findings, Fix
from operations.verify.items_pass import ItemsPass
from operations.verify.metering import MeteredClient, default_rate
from operations.verify.positions_pass import PositionsPass
from operations.verify.settling import Settled, settle
from operations.verify.shares_pass import SharesPass
from operations.verify.stock_pass import StockPass
from operations.verify.work_pass import WorkPass
from shared.identity.audit import service as audit
from shared.identity.tenancy.access import operator_store
from shared.kernel.clock import Deadline, instant, now_ms
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import inflate
from shared.kernel.db.schema import TableVersion, served
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict

_PROGRESS = "verification"
"""Attribute of the tenant's item with the progress."""
_LONGEST_MS = 30 * 86_400_000
_RESUMED_MS = 86_400_000
"""Age up to which an interrupted verification is continued; an older one starts over."""
_ROUNDS = 5
"""Attempts to repair what requests change at the same time."""
_KEPT_FINDINGS = 200
"""Findings that are kept for the next run if this one is interrupted; others are only counted."""
_PASSES = ("items", "stock", "positions", "work", "shares", "counters", "feed")


class _Pass[S: Hashable](Protocol):
    """A pass over one part of the table."""

    def chunks(self, position: Any) -> Iterator[tuple[Sequence[S], Any]]:
        """Yield subjects, and the position after them; None begins."""

    def look(self, subjects: Sequence[S]) -> Drifts[S]:
        """Return the drifts of subjects."""


def verify_tenant(
    tenant: str,
    *,
    repair: bool = False,
    rate: float | None = None,
    report: ReportProgress = no_progress,
) -> Findings:
    """Compare everything that a tenant's table derives with what it is derived from.

    Safe while requests run, and safe to repeat: an interrupted run is continued.

    Args:
        tenant: The slug; the tenant may be suspended, cancelled or moved.
        repair: Whether to write derived data as it should be. What is not derived never changes.
        rate: Capacity units per second, at most; by default 1 % of what the table has.
        report: Receives a description of each step.

    Raises:
        NotFound: There is no such tenant, or it is being created or deleted.
        UnservedTable: This release does not serve the version of the table.
        Conflict: An upgrade or another verification is in progress; the message says whose.
    """
    version = served(tenant, show_tenant(tenant).table_version)
    if version != TableVersion.of(version.complete):
        raise Conflict(
            f"The table of {tenant} is being upgraded to version {version.announced}. Complete the "
            f"upgrade first (stowage tenant upgrade {tenant})."
        )
    with leased(tenant, "verification", report) as lease:
        return _Run.begin(lease, repair=repair, rate=rate, report=report).complete()


def verify_table(
    lease: Lease, store: Store, report: ReportProgress, *, repair: bool = False
) -> Findings:
    """Compare everything that a table derives, such as a restored one that serves no requests.

    No progress is recorded: another run starts over. The caller holds the lease. `repair` is that
    of `verify_tenant`.
    """
    store.deadline = Deadline(_LONGEST_MS)
    store.client = MeteredClient(store.client, Pace(math.inf), lease.keep)  # type: ignore[assignment]
    run = _Run(lease, store, report, repair, Findings(lease.slug), is_recorded=False)
    return run.complete()


@dataclass(slots=True)
class _Run:
    """One run of a verification; its fields that are not its options are its progress."""

    lease: Lease
    store: Store
    report: ReportProgress
    repair: bool
    findings: Findings
    is_recorded: bool = True
    """Whether the progress is recorded in the tenant's item, so that another run continues it."""
    started_ms: int = field(default_factory=now_ms)
    at: str = _PASSES[0]
    position: Any = None
    pending: list[Finding] = field(default_factory=list)
    """Findings of the present chunk that are being repaired."""
    greatest: dict[str, int] = field(default_factory=dict)
    strays: dict[str, set[int]] = field(default_factory=lambda: {"stock": set(), "movement": set()})
    level_marks: set[str] = field(default_factory=set)

    @classmethod
    def begin(
        cls, lease: Lease, *, repair: bool, rate: float | None, report: ReportProgress
    ) -> "_Run":
        """Return a new run, or an interrupted one of the same kind where it was."""
        slug = lease.slug
        store = operator_store(slug, Deadline(_LONGEST_MS))
        pace = Pace(default_rate(slug) if rate is None else rate)
        store.client = MeteredClient(store.client, pace, lease.keep)  # type: ignore[assignment]
        run = cls(lease, store, report, repair, Findings(slug))
        stored = tenant_item(slug).get(_PROGRESS, {}).get("B")
        progress = json.loads(inflate(stored)) if stored else None
        if progress and progress["repair"] == repair:
            run._continue(progress)
        return run

    def _continue(self, progress: Mapping[str, Any]) -> None:
        if progress["started_ms"] < now_ms() - _RESUMED_MS:
            return
        self.started_ms, self.at = progress["started_ms"], progress["at"]
        self.position, self.greatest = progress["position"], progress["greatest"]
        self.strays = {kind: set(numbers) for kind, numbers in progress["strays"].items()}
        self.level_marks = set(progress.get("level_marks", ()))
        found = self.findings
        self.pending = [Finding(**each) for each in progress["pending"]]
        found.listed = [Finding(**each) for each in progress["listed"]]
        found.counts = Counter(progress["counts"])
        found.not_derived = Counter(progress.get("not_derived", {}))
        found.repaired = progress["repaired"]
        found.checked = Counter(progress["checked"])
        found.unsettled = progress["unsettled"]
        self.report(f"{found.tenant}: going on with the verification of {instant(self.started_ms)}")

    def complete(self) -> Findings:
        """Run the passes that are left, and forget the progress."""
        for name in _PASSES[_PASSES.index(self.at) :]:
            self.at = name
            found = self._pass(name)
            for subjects, position in found.chunks(self.position):
                if subjects:
                    self._check(found, subjects)
                self.position = position
                self._save()
            self.position = None
        self._finish()
        return self.findings

    def _pass(self, name: str) -> _Pass[Any]:
        last = self.greatest.get
        passes: Mapping[str, Callable[[], _Pass[Any]]] = {
            "items": lambda: ItemsPass(self.store, self.greatest, self.level_marks),
            "stock": lambda: StockPass(
                self.store, last("product", 0), last("picking", 0), self.strays
            ),
            "positions": lambda: PositionsPass(self.store, last("position", 0)),
            "work": lambda: WorkPass(self.store, self.greatest),
            "shares": lambda: SharesPass(self.store, last("product", 0), self.level_marks),
            "counters": lambda: CountersPass(self.store),
            "feed": lambda: FeedPass(self.store),
        }
        return passes[name]()

    def _check[S: Hashable](self, found: _Pass[S], subjects: Sequence[S]) -> None:
        """Look at subjects, and record and repair what is confirmed."""
        self.findings.checked[self.at] += len(subjects)
        checked = self.findings.checked[self.at]
        self.report(
            f"{self.findings.tenant}: {self.at}, {checked} checked, {self.findings.found} findings"
        )
        settled = settle(found.look, found.look(subjects), self.lease.keep)
        self._note_unsettled(settled)
        self._complete_pending(settled.confirmed)
        repaired = self._repair(found, settled.confirmed) if self.repair else set()
        for drifts in settled.confirmed.values():
            for drift in drifts:
                self._note_stray(drift, is_repaired=drift.name in repaired)
                self.findings.add(Finding.of(drift, repaired=drift.name in repaired))

    def _complete_pending(self, confirmed: Mapping[Any, list[Drift]]) -> None:
        """Add the findings that the run before has confirmed, and repaired before it died."""
        names = {drift.name for drifts in confirmed.values() for drift in drifts}
        for finding in self.pending:
            if (finding.kind, finding.subject, finding.field) not in names:
                self.findings.add(replace(finding, repaired=True))
        self.pending = []

    def _note_unsettled(self, settled: Settled[Any]) -> None:
        for subject in settled.unsettled:
            text = subject if isinstance(subject, str) else " ".join(map(str, _parts(subject)))
            self.findings.unsettled.append(f"{self.at}: {text}".replace("\x1f", "/"))

    def _note_stray(self, drift: Drift, *, is_repaired: bool) -> None:
        """Remember a row or movement that the index of products does not show."""
        kind, _, number = drift.subject.partition(" ")
        if drift.kind.startswith("index.") and kind in self.strays and not is_repaired:
            self.strays[kind].add(int(number))

    # Repair

    def _repair[S: Hashable](
        self, found: _Pass[S], confirmed: Mapping[S, list[Drift]]
    ) -> set[tuple[str, str, str]]:
        """Repair drifts; return the names of those that are gone."""
        drifts = [drift for several in confirmed.values() for drift in several if drift.fix]
        if not drifts:
            return set()
        self.pending = [Finding.of(drift, repaired=False) for drift in drifts]
        self._save()
        self.pending = []
        gone = set[tuple[str, str, str]]()
        left: Mapping[S, list[Drift]] = confirmed
        for _ in range(_ROUNDS):
            stale: dict[S, list[Drift]] = {}
            for subject, drifts in left.items():
                fixes = {drift.fix for drift in drifts if drift.fix}
                for fix in sorted(fixes, key=lambda one: str(one.name)):
                    about = [drift for drift in drifts if drift.fix == fix]
                    if self._apply(fix):
                        gone |= {drift.name for drift in about}
                    else:
                        stale.setdefault(subject, []).extend(about)
            if not stale:
                return gone
            settled = settle(found.look, found.look(list(stale)), self.lease.keep)
            again = {drift.name for drifts in settled.confirmed.values() for drift in drifts} | {
                drift.name for subject in settled.unsettled for drift in stale.get(subject, ())
            }
            gone |= {
                drift.name for drifts in stale.values() for drift in drifts
                if drift.name not in again
            }  # fmt: skip
            left = settled.confirmed
        return gone

    def _apply(self, fix: Fix) -> bool:
        """Write one repair; return False if something has changed since it was derived."""
        tx = Transaction(self.store, operator=operator_name)
        try:
            fix.apply(tx)
            tx.commit()
        except StaleRead:
            return False
        return True

    # Progress

    def _save(self) -> None:
        if not self.is_recorded:
            return
        found = self.findings
        progress = {
            "repair": self.repair,
            "started_ms": self.started_ms,
            "at": self.at,
            "position": self.position,
            "pending": [asdict(each) for each in self.pending],
            "greatest": self.greatest,
            "level_marks": sorted(self.level_marks),
            "strays": {kind: sorted(numbers) for kind, numbers in self.strays.items()},
            "listed": [asdict(each) for each in found.listed[:_KEPT_FINDINGS]],
            "counts": found.counts,
            "not_derived": found.not_derived,
            "repaired": found.repaired,
            "checked": found.checked,
            "unsettled": found.unsettled[:_KEPT_FINDINGS],
        }
        packed = zlib.compress(json.dumps(progress).encode())
        self.lease.save(f"SET {_PROGRESS} = :progress", {":progress": {"B": packed}})

    def _finish(self) -> None:
        """Remove the progress; record repairs in the tenant's audit log."""
        if not self.is_recorded:
            return
        slug, found = self.findings.tenant, self.findings

        def finish(tx: Transaction) -> None:
            update = self.lease.update(f"REMOVE {_PROGRESS}, #lease", {})
            tx.add_action("Update", update, self.lease.lost)
            if found.repaired:
                details = {"repaired": found.repaired, "found": dict(found.counts)}
                audit.record(tx, "tenant.changed", "tenant", slug, details=details)

        run_as_operator(slug, finish)


def _parts(subject: Any) -> tuple[Any, ...]:
    return subject if isinstance(subject, tuple) else (subject,)
