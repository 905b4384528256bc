"""How entry and exit documents are imported."""

from collections.abc import Sequence
from typing import Any, ClassVar

from shared.integration.imports.handling import Choice, Handling, against, is_new
from shared.kernel.db.items import Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import EntryDraft, ExitDraft
from shared.warehouse.documents.vocabulary import Kind


class Documents(Handling):
    """Entry or exit documents: created, never changed."""

    actions = 4
    kind: ClassVar[Kind]

    def bind(self, tx: Transaction) -> None:
        """See Handling."""
        tx.fence(self.kind)

    def keys(self, draft: Any, choice: Choice, *, applying: bool) -> list[Key]:
        """See Handling."""
        del choice, applying
        return documents.document_keys(self.kind, draft)

    def examine(self, tx: Transaction, draft: Any, choice: Choice) -> Sequence[Problem]:
        """See Handling."""
        existing, found = documents.examine_document(tx, self.kind, draft)
        return against(existing, choice, found)

    def apply(self, tx: Transaction, draft: Any, choice: Choice) -> bool:
        """See Handling."""
        created = documents.create_document(tx, self.kind, draft, import_id=choice.import_id)
        return is_new(created.record.id, choice, new=created.new)


class EntryDocuments(Documents):
    """Entry documents."""

    model = EntryDraft
    sequence = kind = "entry"


class ExitDocuments(Documents):
    """Exit documents."""

    model = ExitDraft
    sequence = kind = "exit"
