"""How the units of each kind of import are examined and applied.

Each is handed to the same use cases as the body of a single request: one set of rules.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from shared.integration.imports.columns import ImportKind
from shared.integration.imports.models import OnDuplicate
from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.fields import Input


@dataclass(frozen=True, slots=True)
class Choice:
    """What an import does with its units."""

    import_id: int
    on_duplicate: OnDuplicate | None


class Handling(ABC):
    """One kind.

    `model` is the body of a unit, `sequence` the kind whose ids new ones take, `actions` the
    most that one of them adds to a transaction. `prepares` is for how many of them what they
    read may be got ahead of the transactions: only where these are conditioned on all of it.
    """

    model: ClassVar[type[Input]]
    sequence: ClassVar[str]
    actions: ClassVar[int]
    prepares: ClassVar[int] = 0

    def bind(self, tx: Transaction) -> None:
        """Bind a transaction to the master data that its units will name, before it is read."""
        del tx

    @abstractmethod
    def keys(self, draft: Any, choice: Choice, *, applying: bool) -> list[Key]:
        """Keys of what examining or applying a unit reads, to be read for many at once."""

    def further_keys(self, draft: Any, found: Mapping[Key, Item]) -> list[Key]:
        """Keys of what applying it reads after that, once `keys` are known."""
        del draft, found
        return []

    @abstractmethod
    def examine(self, tx: Transaction, draft: Any, choice: Choice) -> Sequence[Problem]:
        """Return the problems of a unit besides those of its fields; `draft` may be invalid."""

    @abstractmethod
    def apply(self, tx: Transaction, draft: Any, choice: Choice) -> bool:
        """Stage a unit; whether there was anything to do.

        Raises a ServiceError, before it has staged anything, when it is refused.
        """


def exists(number: int | None, field: str = "external_ref") -> list[Problem]:
    """Say that something exists already."""
    which = f", with the id {number}" if number else ""
    return [Problem(field, f"exists already{which}")]


def against(existing: int | None, choice: Choice, found: Sequence[Problem]) -> Sequence[Problem]:
    """Say what stands against a document; one that is there and shall stay may be as it likes."""
    if existing is None:
        return found
    return [*exists(existing), *found] if choice.on_duplicate == "fail" else []


def is_new(number: int | None, choice: Choice, *, new: bool) -> bool:
    """Tell whether it was made now; refuse what was there before where that is asked."""
    if not new and choice.on_duplicate == "fail":
        raise ValidationFailed(exists(number))
    return new


@cache
def handling_of(kind: ImportKind) -> Handling:
    """Return how a kind is handled.

    Only then is its subject imported: all of them would make every cold start longer.
    """
    module, name = _HANDLINGS[kind]
    found: Handling = getattr(
        importlib.import_module(f"shared.integration.imports.{module}"), name
    )()
    return found


_HANDLINGS: Mapping[ImportKind, tuple[str, str]] = {
    "entry_documents": ("document_handling", "EntryDocuments"),
    "exit_documents": ("document_handling", "ExitDocuments"),
    "transfer_orders": ("transfer_order_handling", "TransferOrders"),
    "pick_faces": ("pick_face_handling", "PickFaces"),
    "products": ("product_handling", "Products"),
}
