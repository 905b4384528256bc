"""Import of transfer orders."""

from collections.abc import Mapping, Sequence

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.importer import ReferencedImporter
from shared.integration.imports.kinds.standard_columns import (
    ADDRESS_COLUMNS,
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    LINE_REFERENCE,
    LINE_UNIT,
    line_batch,
    line_serials,
    reference_column,
    words_of,
)
from shared.integration.imports.kinds.value_words import TITLES
from shared.kernel.db.items import Key
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.transfer_orders import service as transfer_orders
from shared.warehouse.transfer_orders.models import StoredTransferOrder, TransferOrderDraft

_WORDS = words_of("transfer_orders")
_COLUMNS = (
    reference_column(_WORDS, aliases=("order", "orden")),
    Column(_WORDS, "from_warehouse", required=True, aliases=("origin", "origen")),
    Column(_WORDS, "to_warehouse", required=True, aliases=("destination", "destino")),
    Column(_WORDS, "priority", "integer"),
    Column(_WORDS, "reason"),
    Column(_WORDS, "due_at", "datetime", aliases=("due", "fecha de entrega")),
    *ADDRESS_COLUMNS,
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    LINE_UNIT,
    line_batch("batch_num"),
    line_serials("expected_series", synonyms=("serials", "números de serie")),
    Column(_WORDS, "expected_batches", "list", is_line_field=True),
    LINE_REFERENCE,
)


class TransferOrderImporter(ReferencedImporter):
    """Creates transfer orders as drafts."""

    layout = FileLayout(
        TITLES["transfer_orders"],
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
        return transfer_orders.create_transfer_order(
            tx, draft, by_client=False, import_id=import_id
        )
