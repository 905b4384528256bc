"""Imports of entry documents and of exit documents."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from shared.integration.imports.files.columns import AmbiguousHeader, Column, FileLayout
from shared.integration.imports.kinds.importer import ReferencedImporter
from shared.integration.imports.kinds.standard_columns import (
    DATE_DESCRIPTION,
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    WAREHOUSE,
    line_batch,
    line_serials,
    reference_column,
    same_text,
)
from shared.integration.imports.languages import BilingualText
from shared.kernel.db.items import Key
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, EntryDraft, ExitDraft
from shared.warehouse.documents.vocabulary import TYPES, DocumentKind


class _DocumentImporter(ReferencedImporter):
    """Creates documents."""

    max_actions = 5
    id_sequence: ClassVar[DocumentKind]

    def keys(self, draft: Any) -> list[Key]:
        """See Importer."""
        return documents.document_keys(self.id_sequence, draft)

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
    title: BilingualText,
    partner: BilingualText,
    *,
    partner_aliases: Sequence[str],
    more: Sequence[Column],
) -> FileLayout:
    """Return the layout of a kind of document, which names a provider or a client as `partner`.

    `partner_aliases` are further headers of its code, `more` the columns that only this kind has.
    """
    types = [BilingualText(english, spanish) for english, spanish in TYPES[kind].values()]
    columns = (
        reference_column(
            description=BilingualText(
                "Number of the document in your system. Rows with the same reference and type"
                " form one document.",
                "Número del documento en su sistema. Las filas con la misma referencia y tipo"
                " forman un solo documento.",
            ),
            aliases=("document", "documento"),
        ),
        Column(
            "type",
            BilingualText("Type", "Tipo"),
            BilingualText("Type of document.", "Tipo de documento."),
            types[0],
            required=True,
            choices=types,
        ),
        Column(
            "doc_date",
            BilingualText("Document date", "Fecha de documento"),
            DATE_DESCRIPTION,
            same_text("2026-01-31"),
            "date",
            required=True,
            aliases=("date", "fecha"),
        ),
        Column(
            "due_date",
            BilingualText("Due date", "Fecha de entrega"),
            DATE_DESCRIPTION,
            same_text("2026-02-15"),
            "date",
            aliases=("doc due date",),
        ),
        Column(
            "partner_code",
            BilingualText(f"{partner.en} code", f"Código de {partner.es}"),
            BilingualText(
                f"Code of the {partner.en.lower()} in your system.",
                f"Código del {partner.es} en su sistema.",
            ),
            same_text("P-100"),
            required=True,
            aliases=("card code", *partner_aliases),
        ),
        Column(
            "partner_name",
            BilingualText(f"{partner.en} name", f"Nombre de {partner.es}"),
            BilingualText(f"Name of the {partner.en.lower()}.", f"Nombre del {partner.es}."),
            BilingualText("Example company", "Empresa de ejemplo"),
            aliases=("card name",),
        ),
        WAREHOUSE,
        *more,
        Column(
            "comments",
            BilingualText("Comments", "Comentarios"),
            BilingualText("Free text.", "Texto libre."),
            BilingualText("Sample row, ignored", "Fila de ejemplo, se ignora"),
        ),
        LINE_ITEM_CODE,
        LINE_QUANTITY,
        line_batch("batch"),
        Column(
            "expiry_date",
            BilingualText("Expiry date", "Fecha de caducidad"),
            DATE_DESCRIPTION,
            same_text("2027-01-31"),
            "date",
            is_line_field=True,
        ),
        line_serials("serials"),
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
        BilingualText("Entry documents", "Documentos de entrada"),
        BilingualText("Provider", "proveedor"),
        partner_aliases=("proveedor", "provider"),
        more=(
            Column(
                "destination_bin",
                BilingualText("Destination position", "Ubicación de destino"),
                BilingualText(
                    "Position where the goods will be put away.",
                    "Ubicación donde se colocará la mercancía.",
                ),
                same_text("A-01-01"),
                is_line_field=True,
                aliases=("position", "ubicación", "bin"),
            ),
        ),
    )
    model = EntryDraft
    id_sequence = "entry"


class ExitDocumentImporter(_DocumentImporter):
    """Creates exit documents."""

    layout = _document_layout(
        "exit",
        BilingualText("Exit documents", "Documentos de salida"),
        BilingualText("Client", "cliente"),
        partner_aliases=("cliente", "client"),
        more=(
            Column(
                "priority",
                BilingualText("Priority", "Prioridad"),
                BilingualText("high, normal or low.", "alta, normal o baja."),
                BilingualText("normal", "normal"),
                choices=(
                    BilingualText("high", "alta"),
                    BilingualText("normal", "normal"),
                    BilingualText("low", "baja"),
                ),
            ),
            Column(
                "ship_to",
                BilingualText("Ship to", "Enviar a"),
                BilingualText("Delivery address.", "Dirección de entrega."),
                BilingualText("1 Example Street", "Calle Ejemplo 1"),
                aliases=("address", "dirección"),
            ),
        ),
    )
    model = ExitDraft
    id_sequence = "exit"
