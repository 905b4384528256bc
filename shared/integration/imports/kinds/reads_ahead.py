"""Reads ahead: the items and ids that several transactions of a commit need, read in few calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from shared.kernel.db.items import Item, Key
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched
from shared.kernel.fields import Input
from shared.kernel.validation import Checked, InvalidBody, check

_SAMPLE_GROUPS = 100
"""Groups whose items show whether the others are probably new; DynamoDB reads them in one call."""


class ReadsAhead(Protocol):
    """What is read for all row groups of a part file.

    It is used in the first attempt of a transaction only: a retry reads current items.
    """

    def for_step(self, start: int) -> Prefetched:
        """Return what the transaction with the row groups from `start` on may need."""

    def end_step(self, tx: Transaction, *, retried: bool) -> None:
        """Take note of a transaction that was committed, and whether in the first attempt."""


class ReadingImporter(Protocol):
    """What tells the keys of row groups that are applied one by one; see `GroupImporter`."""

    model: ClassVar[type[Input]]
    id_sequence: ClassVar[str]
    prefetch_groups: ClassVar[int]

    @property
    def most_groups(self) -> int:
        """For how many row groups a transaction may have room."""

    def keys(self, draft: Any) -> list[Key]:
        """Return the keys that are read first."""

    def dependent_keys(self, draft: Any, found: Mapping[Key, Item]) -> list[Key]:
        """Return the keys that are read next."""


@dataclass(slots=True)
class GroupReads:
    """The items and ids of row groups that are applied one by one: for all groups before `end`.

    It reads the items of a few groups first. While none of them exists (`is_all_new`), it takes the
    others as new without a read: the transactions are conditioned on that.
    """

    store: Store
    importer: ReadingImporter
    bodies: Sequence[Mapping[str, object]]
    end: int = 0
    found: dict[Key, Item | None] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    spare_ids: int = 0
    """How many of `ids` the groups before `end` do not need."""
    is_all_new: bool = False

    def for_step(self, start: int) -> Prefetched:
        """See ReadsAhead."""
        last = min(len(self.bodies), start + self.importer.most_groups)
        self.end = max(self.end, start)
        while self.end < last:
            self._read(self.importer.prefetch_groups if self.found else _SAMPLE_GROUPS)
        return Prefetched(self.found, {self.importer.id_sequence: list(self.ids)})

    def _read(self, size: int) -> None:
        bodies = self.bodies[self.end : self.end + size]
        drafts = _valid(check(self.importer.model, body) for body in bodies)
        keys = [key for draft in drafts for key in self.importer.keys(draft)]
        existing = {} if self.is_all_new else self.store.get_many(keys)
        dependent = [
            key for draft in drafts for key in self.importer.dependent_keys(draft, existing)
        ]
        self.found |= dict.fromkeys([*keys, *dependent])
        self.found |= {**existing, **self.store.get_many(dependent)}
        self.is_all_new = not existing
        self.end += len(bodies)
        missing = len(keys) - len(existing) - self.spare_ids
        self.spare_ids = max(0, -missing)
        if missing > 0:
            first = allocate_ids(self.store, self.importer.id_sequence, missing)
            self.ids += range(first, first + missing)

    def end_step(self, tx: Transaction, *, retried: bool) -> None:
        """See ReadsAhead."""
        del self.ids[: tx.ids_taken(self.importer.id_sequence)]
        if retried:  # probably something exists that was taken as new
            self.end, self.is_all_new = 0, False
            self.found.clear()
            self.spare_ids = len(self.ids)


def _valid(drafts: Iterable[Checked[Input]]) -> list[Input]:
    return [draft for draft in drafts if not isinstance(draft, InvalidBody)]
