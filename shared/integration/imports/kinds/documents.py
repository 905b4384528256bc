"""Imports of entry documents and of exit documents."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar

from shared.integration.imports.files.columns import AmbiguousHeader, Column, FileLayout
from shared.integration.imports.kinds.importer import ApplyOptions, ReferencedImporter
from shared.integration.imports.kinds.standard_columns import (
    ADDRESS_COLUMNS,
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    LINE_REFERENCE,
    LINE_UNIT,
    WAREHOUSE,
    line_batch,
    line_serials,
    reference_column,
    words_of,
)
from shared.integration.imports.kinds.value_words import TITLES
from shared.integration.imports.languages import BilingualText, ColumnWords
from shared.kernel.db.items import Key
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, EntryDraft, ExitDraft
from shared.warehouse.documents.vocabulary import TYPES, DocumentKind
from shared.warehouse.stock.level_book import MOST_SMALL, LevelBook

_ENTRY_WORDS, _EXIT_WORDS = words_of("entry_documents"), words_of("exit_documents")


class _DocumentImporter(ReferencedImporter):
    """Creates documents."""

    max_actions = 5
    id_sequence: ClassVar[DocumentKind]

    def keys(self, draft: Any) -> list[Key]:
        """See Importer."""
        return documents.document_keys(self.id_sequence, draft)

    def actions(self, tx: Transaction, draft: Any) -> int:
        """See Importer."""
        new = {line.item_code for line in draft.lines} - LevelBook.of(tx).item_codes
        return self.max_actions + 2 * min(len(new), MOST_SMALL)

    def keys_to_validate(self, draft: Any, options: ApplyOptions) -> list[Key]:
        """See Importer."""
        del options
        return documents.keys_to_examine(self.id_sequence, draft)

    def examine(self, tx: Transaction, draft: Any) -> tuple[int | None, Sequence[Problem]]:
        """See ReferencedImporter."""
        return documents.examine_document(tx, self.id_sequence, draft)

    def differences(self, store: Store, drafts: Mapping[int, Any]) -> Mapping[int, Sequence[str]]:
        """See Importer."""
        return documents.document_differences(store, self.id_sequence, drafts)

    def create(self, tx: Transaction, draft: Any, import_id: int) -> CreatedRecord[Document]:
        """See ReferencedImporter."""
        return documents.create_document(tx, self.id_sequence, draft, import_id=import_id)


def _document_layout(
    kind: DocumentKind,
    words: Mapping[str, ColumnWords],
    title: BilingualText,
    partner: BilingualText,
    *more: Column,
) -> FileLayout:
    """Return the layout of a kind of document.

    Files call the columns of its `partner` by that word, too; `more` are the columns that only this
    kind has.
    """
    types = [BilingualText(english, spanish) for english, spanish in TYPES[kind].values()]
    columns = (
        reference_column(words, aliases=("document", "documento")),
        Column(words, "type", required=True, choices=types),
        Column(words, "doc_date", "date", required=True, aliases=("date", "fecha")),
        Column(words, "due_date", "date", aliases=("doc due date",)),
        Column(
            words,
            "partner_code",
            required=True,
            synonyms=(f"{partner.en} code", f"código de {partner.es}"),
            aliases=("card code", partner.es, partner.en),
        ),
        Column(
            words,
            "partner_name",
            synonyms=(f"{partner.en} name", f"nombre de {partner.es}"),
            aliases=("card name",),
        ),
        WAREHOUSE,
        *more,
        Column(words, "comments"),
        LINE_ITEM_CODE,
        LINE_QUANTITY,
        LINE_UNIT,
        line_batch("batch"),
        Column(words, "expiry_date", "date", is_line_field=True),
        line_serials("serials"),
        LINE_REFERENCE,
    )
    return FileLayout(
        title,
        columns,
        group_by=("external_ref", "type"),
        document_kind=kind,
        ambiguous=[
            AmbiguousHeader(
                "fecha de vencimiento", "expiry_date", "due_date", beside=("batch", "serials")
            )
        ],
    )


class EntryDocumentImporter(_DocumentImporter):
    """Creates entry documents."""

    layout = _document_layout(
        "entry",
        _ENTRY_WORDS,
        TITLES["entry_documents"],
        BilingualText("provider", "proveedor"),
        Column(
            _ENTRY_WORDS,
            "destination_bin",
            is_line_field=True,
            aliases=("position", "ubicación", "bin"),
        ),
    )
    model = EntryDraft
    id_sequence = "entry"


class ExitDocumentImporter(_DocumentImporter):
    """Creates exit documents."""

    layout = _document_layout(
        "exit",
        _EXIT_WORDS,
        TITLES["exit_documents"],
        BilingualText("client", "cliente"),
        Column(
            _EXIT_WORDS,
            "priority",
            choices=(
                BilingualText("high", "alta"),
                BilingualText("normal", "normal"),
                BilingualText("low", "baja"),
            ),
            keys=("1", "2", "3"),
        ),
        Column(_EXIT_WORDS, "ship_to", aliases=("address", "dirección")),
        *ADDRESS_COLUMNS,
    )
    model = ExitDraft
    id_sequence = "exit"

    def read(self, store: Store, drafts: Sequence[Any], keys: Iterable[Key]) -> None:
        """See GroupImporter. What can be sold is read for all row groups together."""
        found = store.get_many(keys)
        sold = (documents.oversell_keys(store.company, draft, found) for draft in drafts)
        store.get_many(chain.from_iterable(sold))
