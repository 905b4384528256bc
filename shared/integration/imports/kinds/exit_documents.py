"""Import of exit documents."""

from shared.integration.imports.files.columns import Column
from shared.integration.imports.kinds.documents import DocumentImporter, document_layout
from shared.integration.imports.languages import BilingualText
from shared.warehouse.documents.models import ExitDraft


class ExitDocumentImporter(DocumentImporter):
    """Creates exit documents."""

    layout = document_layout(
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
    id_sequence = kind = "exit"
