"""What a verification finds: drifts, and how those of derived data are repaired."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import plain

MAX_LISTED = 1_000
"""Findings that are listed. The others are counted, and repaired, too."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair of derived data. Drifts with the same `name` have the same repair.

    `apply` adds it to a transaction, on the condition that nothing it was derived from has changed.
    """

    name: Hashable
    apply: Callable[[Transaction], None] = dataclasses.field(compare=False)


@dataclass(frozen=True, slots=True)
class Drift:
    """A stored value that differs from what follows from other data.

    `basis` has the versions of what it was read from: two reads with the same basis prove that
    nothing changed between them. `fix` is None if the right value cannot be known.
    """

    kind: str
    subject: str
    field: str
    stored: str | None
    expected: str | None
    basis: Hashable = ()
    fix: Fix | None = dataclasses.field(compare=False, default=None)

    @property
    def name(self) -> tuple[str, str, str]:
        """What the drift is about, whichever values were read."""
        return self.kind, self.subject, self.field


@dataclass(frozen=True, slots=True)
class Finding:
    """A drift that was confirmed, and whether this run has repaired it."""

    kind: str
    subject: str
    field: str
    stored: str | None
    expected: str | None
    repairable: bool
    repaired: bool

    @classmethod
    def of(cls, drift: Drift, *, repaired: bool) -> "Finding":
        """Return the finding about a confirmed drift."""
        return cls(
            drift.kind, drift.subject, drift.field, drift.stored, drift.expected,
            repairable=drift.fix is not None, repaired=repaired,
        )  # fmt: skip


@dataclass(slots=True)
class Findings:
    """The result of a verification, of all its runs if it was interrupted.

    `listed` has the first MAX_LISTED findings, `counts` the number of all by kind, `not_derived`
    that of those which no repair can correct. `unsettled` are the subjects that changed on every
    attempt to read them, so that nothing is known about them.
    """

    tenant: str
    listed: list[Finding] = dataclasses.field(default_factory=list)
    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    not_derived: Counter[str] = dataclasses.field(default_factory=Counter)
    repaired: int = 0
    checked: Counter[str] = dataclasses.field(default_factory=Counter)
    """Number of the checked subjects, by pass."""
    unsettled: list[str] = dataclasses.field(default_factory=list)

    @property
    def found(self) -> int:
        """Number of all findings."""
        return self.counts.total()

    @property
    def left(self) -> int:
        """Number of the findings that were not repaired."""
        return self.found - self.repaired

    def add(self, finding: Finding) -> None:
        """Add a finding."""
        self.counts[finding.kind] += 1
        self.not_derived[finding.kind] += not finding.repairable
        self.repaired += finding.repaired
        if len(self.listed) < MAX_LISTED:
            self.listed.append(finding)


type Drifts[S: Hashable] = Mapping[S, list[Drift]]
"""Subject → its drifts; subjects without drifts are left out."""


def shown(value: Any) -> str | None:
    """Return a stored value as findings show it."""
    match value:
        case None:
            return None
        case bool():
            return "yes" if value else "no"
        case Decimal():
            return plain(value)
        case set() | frozenset():
            return ", ".join(str(each) for each in sorted(value)) or None
        case list() | tuple():
            return ", ".join(str(each) for each in value) or None
        case _:
            return str(value).replace("\x1f", "/")


@dataclass(frozen=True, slots=True)
class ComparedEntity:
    """What the drifts of one entity share: its name, and the basis and the repair of each."""

    subject: str
    basis: Hashable
    fix: Fix | None = None

    def value(self, kind: str, field: str, stored: object, expected: object) -> Iterator[Drift]:
        """Yield a drift if a stored value differs."""
        if stored != expected:
            values = (shown(stored), shown(expected))
            yield Drift(kind, self.subject, field, *values, self.basis, self.fix)

    def attributes(
        self, kinds: Mapping[str, str], stored: object, expected: object, path: str = ""
    ) -> Iterator[Drift]:
        """Yield a drift for each attribute that differs; `kinds` has the kind of its drift."""
        for name, kind in kinds.items():
            values = (getattr(stored, name), getattr(expected, name))
            yield from self.value(kind, f"{path}{name}", *values)
