"""What each import kind defines: the columns of its files, and how its row groups are applied.

An importer calls the same use cases as a single request, so that both follow the same rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from shared.integration.imports.files.columns import FileLayout
from shared.integration.imports.models import OnDuplicate
from shared.kernel.db.items import Item, Key
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import Input


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """The import that applies a row group, and its choice for what exists already."""

    import_id: int
    on_duplicate: OnDuplicate | None


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


class Importer(ABC):
    """One import kind.

    Attributes:
        layout: The columns of its files.
        model: The request body that a row group is converted to.
        id_sequence: The item kind whose ids new entities take.
        max_actions: The largest number of actions that one row group adds to a transaction; see
            `actions`.
        further_actions: Actions of a transaction above MAX_PLANNED_ACTIONS. Greater than 0 only if
            `actions` is exact, so that what a later version adds takes row groups out of a step.
        prefetch_groups: For how many row groups the items of `keys` are read ahead of the
            transactions. Greater than 0 only if the transaction is conditioned on all of them.
    """

    layout: ClassVar[FileLayout]
    model: ClassVar[type[Input]]
    id_sequence: ClassVar[str]
    max_actions: ClassVar[int]
    further_actions: ClassVar[int] = 0
    prefetch_groups: ClassVar[int] = 0

    def add_fence(self, tx: Transaction) -> None:
        """Add the fence of the master data that the row groups refer to, before it is read."""
        del tx

    def resolve(
        self, store: Store, bodies: Sequence[dict[str, object]]
    ) -> Sequence[Sequence[Problem]]:
        """Replace values of raw bodies that only files have; return the problems of each body."""
        del store
        return [[] for _ in bodies]

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
        """Return the problems of a row group other than those of its fields.

        `draft` is the model, or an `InvalidBody`.
        """

    def differences(self, store: Store, drafts: Mapping[int, Any]) -> Mapping[int, Sequence[str]]:
        """Return the fields in which drafts differ from the entities for which they are skipped.

        `drafts` has valid drafts by the ids of the entities.
        """
        del store, drafts
        return {}

    @abstractmethod
    def apply(self, tx: Transaction, draft: Any, options: ApplyOptions) -> bool | Skipped:
        """Add the changes of one row group, and return whether there were any.

        A row group that differs from an entity that exists and is not changed is `Skipped`.

        Raises:
            ServiceError: The row group is refused. Nothing has been added.
        """


class ReferencedImporter(Importer):
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
