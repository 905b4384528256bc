"""Import of entry documents."""

from shared.integration.imports.files.columns import Column
from shared.integration.imports.kinds.documents import DocumentImporter, document_layout
from shared.integration.imports.kinds.standard_columns import same_text
from shared.integration.imports.languages import BilingualText
from shared.warehouse.documents.models import EntryDraft


class EntryDocumentImporter(DocumentImporter):
    """Creates entry documents."""

    layout = document_layout(
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
    id_sequence = kind = "entry"
