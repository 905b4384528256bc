"""Import of transfer orders."""

from collections.abc import Mapping, Sequence

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.importer import ReferencedImporter
from shared.integration.imports.kinds.standard_columns import (
    LINE_ITEM_CODE,
    LINE_QUANTITY,
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
from shared.kernel.validation import Checked
from shared.warehouse.transfer_orders import service as transfer_orders
from shared.warehouse.transfer_orders.models import StoredTransferOrder, TransferOrderDraft

_COLUMNS = (
    reference_column(
        description=BilingualText(
            "Number of the order in your system. Rows with the same reference form one order.",
            "Número de la orden en su sistema. Las filas con la misma referencia forman una sola"
            " orden.",
        ),
        aliases=("order", "orden"),
    ),
    Column(
        "from_warehouse",
        BilingualText("From warehouse", "Almacén de origen"),
        BilingualText("Code of the warehouse that sends.", "Código del almacén que envía."),
        same_text("WH1"),
        required=True,
        aliases=("origin", "origen"),
    ),
    Column(
        "to_warehouse",
        BilingualText("To warehouse", "Almacén de destino"),
        BilingualText("Code of the warehouse that receives.", "Código del almacén que recibe."),
        same_text("WH2"),
        required=True,
        aliases=("destination", "destino"),
    ),
    Column(
        "priority",
        BilingualText("Priority", "Prioridad"),
        BilingualText(
            "Whole number; the lowest is handled first.",
            "Número entero; el menor se atiende primero.",
        ),
        same_text("2"),
        "integer",
    ),
    Column(
        "reason",
        BilingualText("Reason", "Motivo"),
        BilingualText("Free text.", "Texto libre."),
        BilingualText("Sample row, ignored", "Fila de ejemplo, se ignora"),
    ),
    Column(
        "due_at",
        BilingualText("Due at", "Fecha límite"),
        BilingualText(
            "Date and time such as 2026-03-01T09:30:00Z or 2026-03-01 09:30, or a date such as"
            " 2026-03-01 for its first instant. Without an offset, the time zone of the company"
            " applies.",
            "Fecha y hora como 2026-03-01T09:30:00Z o 2026-03-01 09:30, o una fecha como 2026-03-01"
            " para su primer instante. Sin desfase horario se aplica la zona horaria de la"
            " empresa.",
        ),
        same_text("2026-03-01T09:30:00Z"),
        "datetime",
        aliases=("due", "fecha de entrega"),
    ),
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    line_batch("batch_num"),
    line_serials("expected_series"),
    Column(
        "expected_batches",
        BilingualText("Expected batches", "Lotes esperados"),
        BilingualText(
            "Batches that the origin warehouse is expected to send, separated by commas.",
            "Lotes que se espera que envíe el almacén de origen, separados por comas.",
        ),
        same_text("L-2026-01, L-2026-02"),
        "list",
        is_line_field=True,
    ),
)


class TransferOrderImporter(ReferencedImporter):
    """Creates transfer orders as drafts."""

    layout = FileLayout(
        BilingualText("Transfer orders", "Órdenes de traslado"),
        _COLUMNS,
        group_by=("external_ref",),
    )
    model = TransferOrderDraft
    id_sequence = "transfer_order"
    line_sequence = transfer_orders.LINE_SEQUENCE
    max_actions = 7

    def keys(self, draft: Checked[TransferOrderDraft]) -> list[Key]:
        """See Importer."""
        return transfer_orders.transfer_order_keys(draft)

    def examine(
        self, tx: Transaction, draft: Checked[TransferOrderDraft]
    ) -> tuple[int | None, Sequence[Problem]]:
        """See ReferencedImporter."""
        return transfer_orders.examine_transfer_order(tx, draft)

    def differences(
        self, store: Store, drafts: Mapping[int, TransferOrderDraft]
    ) -> Mapping[int, Sequence[str]]:
        """See Importer."""
        return transfer_orders.transfer_order_differences(store, drafts)

    def create(
        self, tx: Transaction, draft: TransferOrderDraft, import_id: int
    ) -> CreatedRecord[StoredTransferOrder]:
        """See ReferencedImporter."""
        del import_id
        return transfer_orders.create_transfer_order(tx, draft, by_client=False, source="import")
