"""How the units of each kind of import are examined and applied.

Each is handed to the same use cases as the body of a single request: one set of rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from shared.catalog import service as catalog
from shared.catalog.models import ProductCreate
from shared.db.items import Item, Key
from shared.db.transaction import Transaction
from shared.documents import service as documents
from shared.documents.models import EntryDraft, ExitDraft
from shared.documents.vocabulary import Kind
from shared.errors import Problem, ValidationFailed
from shared.fields import Input
from shared.imports.columns import ImportKind
from shared.imports.models import OnDuplicate
from shared.pick_faces import service as pick_faces
from shared.pick_faces.models import PickFaceDraft
from shared.transfer_orders import service as transfer_orders
from shared.transfer_orders.models import TransferOrderDraft


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
    def examine(
        self, tx: Transaction, draft: Any, choice: Choice, problems: Sequence[Problem]
    ) -> list[Problem]:
        """Return `problems` and all else that stands against a unit; an invalid field is None."""

    @abstractmethod
    def apply(self, tx: Transaction, draft: Any, choice: Choice) -> bool:
        """Stage a unit; whether there was anything to do.

        Raises a ServiceError, before it has staged anything, when it is refused.
        """


class Products(Handling):
    """Products: created, or changed where the code is known."""

    model = ProductCreate
    sequence = "product"
    actions = 3
    prepares = 1000

    def keys(self, draft: ProductCreate, choice: Choice, *, applying: bool) -> list[Key]:
        """See Handling."""
        code = draft.item_code
        wanted = code is not None and (applying or choice.on_duplicate == "fail")
        return [catalog.product_key(code)] if wanted and code is not None else []

    def further_keys(self, draft: ProductCreate, found: Mapping[Key, Item]) -> list[Key]:
        """See Handling."""
        return catalog.product_heads(found, [draft.item_code or ""])

    def examine(
        self,
        tx: Transaction,
        draft: ProductCreate,
        choice: Choice,
        problems: Sequence[Problem],
    ) -> list[Problem]:
        """See Handling."""
        new = choice.on_duplicate == "fail"
        return catalog.examine_product(tx.store, draft, problems, new=new)

    def apply(self, tx: Transaction, draft: ProductCreate, choice: Choice) -> bool:
        """See Handling."""
        known = tx.store.get(catalog.product_key(draft.item_code or "")) is not None
        if known and choice.on_duplicate == "skip":
            return False
        if choice.on_duplicate == "fail":
            catalog.create_product(tx, draft)
        else:
            catalog.put_product(tx, draft)
        return True


class Documents(Handling):
    """Entry or exit documents: created, never changed."""

    actions = 4
    kind: ClassVar[Kind]

    def bind(self, tx: Transaction) -> None:
        """See Handling."""
        tx.guard(self.kind)

    def keys(self, draft: Any, choice: Choice, *, applying: bool) -> list[Key]:
        """See Handling."""
        del choice, applying
        return documents.document_keys(self.kind, draft)

    def examine(
        self, tx: Transaction, draft: Any, choice: Choice, problems: Sequence[Problem]
    ) -> list[Problem]:
        """See Handling."""
        existing, found = documents.examine_document(tx, self.kind, draft)
        return [*problems, *_against(existing, choice, found)]

    def apply(self, tx: Transaction, draft: Any, choice: Choice) -> bool:
        """See Handling."""
        created = documents.create_document(tx, self.kind, draft, import_id=choice.import_id)
        return _is_new(created.record.id, choice, new=created.new)


class EntryDocuments(Documents):
    """Entry documents."""

    model = EntryDraft
    sequence = kind = "entry"


class ExitDocuments(Documents):
    """Exit documents."""

    model = ExitDraft
    sequence = kind = "exit"


class TransferOrders(Handling):
    """Transfer orders: created as drafts, never changed."""

    model = TransferOrderDraft
    sequence = "transfer_order"
    actions = 5

    def bind(self, tx: Transaction) -> None:
        """See Handling."""
        tx.guard(self.sequence)

    def keys(self, draft: TransferOrderDraft, choice: Choice, *, applying: bool) -> list[Key]:
        """See Handling."""
        del choice, applying
        return transfer_orders.transfer_order_keys(draft)

    def examine(
        self,
        tx: Transaction,
        draft: TransferOrderDraft,
        choice: Choice,
        problems: Sequence[Problem],
    ) -> list[Problem]:
        """See Handling."""
        existing, found = transfer_orders.examine_transfer_order(tx, draft)
        return [*problems, *_against(existing, choice, found)]

    def apply(self, tx: Transaction, draft: TransferOrderDraft, choice: Choice) -> bool:
        """See Handling."""
        created = transfer_orders.create_transfer_order(tx, draft, by_client=False, source="import")
        return _is_new(created.record.id, choice, new=created.new)


class PickFaces(Handling):
    """Pick faces: assigned, or their quantities changed."""

    model = PickFaceDraft
    sequence = "pick_face"
    actions = 4

    def bind(self, tx: Transaction) -> None:
        """See Handling."""
        pick_faces.bind(tx)

    def keys(self, draft: PickFaceDraft, choice: Choice, *, applying: bool) -> list[Key]:
        """See Handling."""
        del choice, applying
        return pick_faces.pick_face_keys(draft)

    def further_keys(self, draft: PickFaceDraft, found: Mapping[Key, Item]) -> list[Key]:
        """See Handling."""
        return pick_faces.existing_pick_face_keys(draft, found)

    def examine(
        self,
        tx: Transaction,
        draft: PickFaceDraft,
        choice: Choice,
        problems: Sequence[Problem],
    ) -> list[Problem]:
        """See Handling."""
        found = pick_faces.examine_pick_face(tx, draft, problems)
        existing = self._existing(tx, draft)
        twice = _exists(None, "item_code") if existing and choice.on_duplicate == "fail" else []
        return [*found, *twice]

    def apply(self, tx: Transaction, draft: PickFaceDraft, choice: Choice) -> bool:
        """See Handling."""
        if choice.on_duplicate and self._existing(tx, draft):
            return _is_new(None, choice, new=False)
        pick_faces.assign_pick_face(tx, draft)
        return True

    def _existing(self, tx: Transaction, draft: PickFaceDraft) -> bool:
        found = tx.store.get_many(pick_faces.pick_face_keys(draft))
        return bool(pick_faces.existing_pick_face_keys(draft, found))


def _exists(number: int | None, field: str = "external_ref") -> list[Problem]:
    which = f", with the id {number}" if number else ""
    return [Problem(field, f"exists already{which}")]


def _against(existing: int | None, choice: Choice, found: Sequence[Problem]) -> Sequence[Problem]:
    """Say what stands against a document; one that is there and shall stay may be as it likes."""
    if existing is None:
        return found
    return [*_exists(existing), *found] if choice.on_duplicate == "fail" else []


def _is_new(number: int | None, choice: Choice, *, new: bool) -> bool:
    """Tell whether it was made now; refuse what was there before where that is asked."""
    if not new and choice.on_duplicate == "fail":
        raise ValidationFailed(_exists(number))
    return new


HANDLINGS: Mapping[ImportKind, Handling] = {
    "entry_documents": EntryDocuments(),
    "exit_documents": ExitDocuments(),
    "transfer_orders": TransferOrders(),
    "pick_faces": PickFaces(),
    "products": Products(),
}
"""Kind → how it is handled."""
