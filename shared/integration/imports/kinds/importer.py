"""What each import kind defines: the columns of its files, and how its row groups are applied.

An importer calls the same use cases as a single request, so that both follow the same rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from shared.integration.imports.files.columns import FileLayout
from shared.integration.imports.kinds.reads_ahead import GroupReads, ReadsAhead
from shared.integration.imports.models import OnDuplicate
from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.db.items import Item, Key
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, ServiceError, ValidationFailed
from shared.kernel.fields import Input
from shared.kernel.validation import Checked, InvalidBody

_IMPORT_ACTIONS = 2
"""Actions of each transaction for the import record and for the counters of imports."""
_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """The import that applies a row group, and its choice for what exists already.

    `may_approve` is whether the caller who commits may grant approvals. `ahead` is the result of
    `Importer.reads_ahead`, whose items the cache of the transaction has; None in a retry.
    """

    import_id: int
    on_duplicate: OnDuplicate | None
    may_approve: bool = False
    ahead: ReadsAhead | None = None


@dataclass(frozen=True, slots=True)
class CheckedGroup:
    """What the validation finds of a row group.

    `existing` is the id of the entity for which the row group is skipped, if there is one.
    """

    problems: Sequence[Problem]
    existing: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entity that is left as it is: its id, and the fields of the row group that differ."""

    existing: int
    differing: Sequence[str]

    @property
    def problems(self) -> Sequence[Problem]:
        """A problem of each field that differs."""
        message = f"differs from what exists with the id {self.existing}"
        return [Problem(field, message) for field in self.differing]


type Applied = bool | Skipped | Sequence[Problem]
"""The result of a row group: whether it changes anything, that it is skipped, or its problems."""


class Importer(ABC):
    """One import kind.

    Attributes:
        layout: The columns of its files.
        model: The request body that a row group is converted to.
        most_groups: For how many row groups a transaction may have room.
    """

    layout: ClassVar[FileLayout]
    model: ClassVar[type[Input]]

    @property
    @abstractmethod
    def most_groups(self) -> int:
        """See above."""

    def resolve(
        self, store: Store, bodies: Sequence[dict[str, object]]
    ) -> Sequence[Sequence[Problem]]:
        """Replace values of raw bodies that only files have; return the problems of each body."""
        del store
        return [[] for _ in bodies]

    @abstractmethod
    def validate_all(
        self, tx: Transaction, drafts: Sequence[Any], options: ApplyOptions
    ) -> Sequence[CheckedGroup]:
        """Return the problems of row groups other than those of their fields.

        Each draft is the model, or an `InvalidBody`.
        """

    def differences(self, store: Store, drafts: Mapping[int, Any]) -> Mapping[int, Sequence[str]]:
        """Return the fields in which drafts differ from the entities for which they are skipped.

        `drafts` has valid drafts by the ids of the entities.
        """
        del store, drafts
        return {}

    def reads_ahead(
        self, store: Store, bodies: Sequence[Mapping[str, object]]
    ) -> ReadsAhead | None:
        """Return the object that reads the items of the row groups of these raw bodies together.

        None if each transaction reads its own.
        """
        del store, bodies
        return None

    @abstractmethod
    def apply_leading(
        self, tx: Transaction, drafts: Sequence[Checked[Any]], options: ApplyOptions
    ) -> Sequence[Applied]:
        """Apply the leading row groups for which the transaction has room; return their results."""


class GroupImporter(Importer):
    """An import kind whose row groups are checked and applied one by one.

    Attributes:
        id_sequence: The item kind whose ids new entities take.
        max_actions: The largest number of actions that one row group adds to a transaction; see
            `actions`.
        further_actions: Actions of a transaction above MAX_PLANNED_ACTIONS. Greater than 0 only if
            `actions` is exact, so that what a later version adds takes row groups out of a step.
        prefetch_groups: For how many row groups the items of `keys` are read ahead of the
            transactions. Greater than 0 only if the transaction is conditioned on all of them.
    """

    id_sequence: ClassVar[str]
    max_actions: ClassVar[int]
    further_actions: ClassVar[int] = 0
    prefetch_groups: ClassVar[int] = 0

    @property
    def most_groups(self) -> int:
        """See Importer."""
        room = MAX_PLANNED_ACTIONS + self.further_actions - _IMPORT_ACTIONS
        return room // self.max_actions

    def add_fence(self, tx: Transaction) -> None:
        """Add the fence of the master data that the row groups refer to, before it is read."""
        del tx

    @abstractmethod
    def keys(self, draft: Any) -> list[Key]:
        """Return the keys that `apply` reads first."""

    def keys_to_validate(self, draft: Any, options: ApplyOptions) -> list[Key]:
        """Return the keys that `validate` reads first."""
        del options
        return self.keys(draft)

    def dependent_keys(self, draft: Any, found: Mapping[Key, Item]) -> list[Key]:
        """Return the keys that are read next, given the items `found` under `keys`."""
        del draft, found
        return []

    def read(self, store: Store, drafts: Sequence[Any], keys: Iterable[Key]) -> None:
        """Read the items with these keys, then the dependent ones, into the cache of the store."""
        found = store.get_many(keys)
        store.get_many(chain.from_iterable(self.dependent_keys(one, found) for one in drafts))

    def more_ids(self, drafts: Sequence[Any]) -> Mapping[str, int]:
        """Return how many ids `apply` takes of other sequences, to allocate them together."""
        del drafts
        return {}

    def actions(self, tx: Transaction, draft: Any) -> int:
        """Return how many actions the row group of a valid draft adds to `tx` at most."""
        del tx, draft
        return self.max_actions

    @abstractmethod
    def validate(self, tx: Transaction, draft: Any, options: ApplyOptions) -> CheckedGroup:
        """Return the problems of a row group; see `validate_all`."""

    @abstractmethod
    def apply(self, tx: Transaction, draft: Any, options: ApplyOptions) -> bool | Skipped:
        """Add the changes of one row group, and return whether there were any.

        A row group that differs from an entity that exists and is not changed is `Skipped`.

        Raises:
            ServiceError: The row group is refused. Nothing has been added.
        """

    def validate_all(
        self, tx: Transaction, drafts: Sequence[Any], options: ApplyOptions
    ) -> Sequence[CheckedGroup]:
        """See Importer. The items that the rules need are read for all row groups together."""
        keys = chain.from_iterable(self.keys_to_validate(draft, options) for draft in drafts)
        self.read(tx.store, drafts, keys)
        return [self.validate(tx, draft, options) for draft in drafts]

    def reads_ahead(
        self, store: Store, bodies: Sequence[Mapping[str, object]]
    ) -> ReadsAhead | None:
        """See Importer."""
        return GroupReads(store, self, bodies) if self.prefetch_groups else None

    def apply_leading(
        self, tx: Transaction, drafts: Sequence[Checked[Any]], options: ApplyOptions
    ) -> Sequence[Applied]:
        """See Importer."""
        self.add_fence(tx)
        if options.ahead is None:
            self._read_all(tx, [one for one in drafts if not isinstance(one, InvalidBody)])
        return list(self._apply_fitting(tx, drafts, options))

    def _read_all(self, tx: Transaction, drafts: Sequence[Any]) -> None:
        """Read the items for all drafts together, into the cache of the transaction."""
        self.read(tx.store, drafts, chain.from_iterable(map(self.keys, drafts)))
        tx.reserve_ids(self.id_sequence, len(drafts))
        for sequence, count in self.more_ids(drafts).items():
            tx.reserve_ids(sequence, count)

    def _apply_fitting(
        self, tx: Transaction, drafts: Sequence[Checked[Any]], options: ApplyOptions
    ) -> Iterator[Applied]:
        for draft in drafts:
            free = tx.free_actions + self.further_actions - _IMPORT_ACTIONS
            if isinstance(draft, InvalidBody):
                yield draft.problems
            elif free < self.actions(tx, draft):
                return
            else:
                yield self._result(tx, draft, options)

    def _result(self, tx: Transaction, draft: Any, options: ApplyOptions) -> Applied:
        try:
            return self.apply(tx, draft, options)
        except ServiceError as error:
            if error.status == _TOO_MANY_REQUESTS or error.status >= _SERVER_ERROR:
                raise  # temporary, and not caused by this row
            return error.problems or [Problem("", error.message)]


class ReferencedImporter(GroupImporter):
    """An import kind whose row groups create entities with an `external_ref`.

    It never changes an existing entity: one with the reference of a row group is skipped, or
    refused if the import must fail on it.

    Attributes:
        line_sequence: The sequence of the ids of lines; None if lines have no ids.
    """

    line_sequence: ClassVar[str | None] = None

    @abstractmethod
    def examine(self, tx: Transaction, draft: Any) -> tuple[int | None, Sequence[Problem]]:
        """Return the id of the entity with the reference of a draft, and the other problems."""

    @abstractmethod
    def create(self, tx: Transaction, draft: Any, import_id: int) -> CreatedRecord[Any]:
        """Create the entity, or return the one with the reference of the draft."""

    def add_fence(self, tx: Transaction) -> None:
        """See Importer."""
        tx.fence(self.id_sequence)

    def more_ids(self, drafts: Sequence[Any]) -> Mapping[str, int]:
        """See Importer."""
        lines = sum(len(draft.lines) for draft in drafts)
        return {self.line_sequence: lines} if self.line_sequence else {}

    def validate(self, tx: Transaction, draft: Any, options: ApplyOptions) -> CheckedGroup:
        """See Importer. An existing entity that is skipped has no problems."""
        existing, problems = self.examine(tx, draft)
        if existing is None:
            return CheckedGroup(problems)
        if options.on_duplicate == "fail":
            return CheckedGroup([*already_exists(existing), *problems])
        return CheckedGroup([], existing)

    def apply(self, tx: Transaction, draft: Any, options: ApplyOptions) -> bool | Skipped:
        """See Importer."""
        created = self.create(tx, draft, options.import_id)
        if not created.new and options.on_duplicate == "fail":
            raise ValidationFailed(already_exists(created.record.id))
        if created.differing:
            return Skipped(created.record.id, created.differing)
        return created.new


def already_exists(entity_id: int | None, field: str = "external_ref") -> list[Problem]:
    """Return the problem that an entity already exists."""
    return [
        Problem(field, f"already exists with the id {entity_id}" if entity_id else "already exists")
    ]
