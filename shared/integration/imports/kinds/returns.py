"""Import of returns: what customers have announced to send back."""

from collections.abc import Sequence
from typing import get_args

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
from shared.kernel.db.actions import MAX_PLANNED_ACTIONS
from shared.kernel.db.items import Key
from shared.kernel.db.records import CreatedRecord
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.returns import service as returns
from shared.warehouse.returns.models import ReturnDraft, ReturnReason, StoredReturn
from shared.warehouse.settings import service as settings
from shared.warehouse.settings.values import Settings, settings_of

_REASONS = [same_text(reason) for reason in get_args(ReturnReason.__value__)]
_COLUMNS = (
    reference_column(
        description=BilingualText(
            "Number of the return in your system. Rows with the same reference form one return.",
            "Número de la devolución en su sistema. Las filas con la misma referencia forman una"
            " sola devolución.",
        ),
        aliases=("return", "devolución", "rma"),
    ),
    Column(
        "exit_document_id",
        BilingualText("Exit document", "Documento de salida"),
        BilingualText(
            "Id of the exit document with which the goods left. Empty only where returns without it"
            " are allowed.",
            "Id del documento de salida con el que salió la mercancía. Vacío solo donde se permiten"
            " devoluciones sin él.",
        ),
        same_text("3"),
        "integer",
    ),
    Column(
        "warehouse_code",
        BilingualText("Warehouse", "Almacén"),
        BilingualText(
            "Where the goods arrive; by default the warehouse of the exit document.",
            "Dónde llega la mercancía; por defecto, el almacén del documento de salida.",
        ),
        same_text("WH1"),
        aliases=("whs_code",),
    ),
    Column(
        "partner_code",
        BilingualText("Client code", "Código de cliente"),
        BilingualText(
            "Code of the client in your system; by default that of the exit document.",
            "Código del cliente en su sistema; por defecto, el del documento de salida.",
        ),
        same_text("C-100"),
        aliases=("card code", "client", "cliente"),
    ),
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    Column(
        "reason",
        BilingualText("Reason", "Motivo"),
        BilingualText(
            "Why the customer sends the goods back.", "Por qué devuelve el cliente la mercancía."
        ),
        _REASONS[0],
        choices=_REASONS,
        is_line_field=True,
    ),
    line_batch("batch"),
    line_serials("serials"),
)


class ReturnImporter(ReferencedImporter):
    """Creates expected returns.

    One in a transaction: two of them may take goods of one exit document.
    """

    layout = FileLayout(
        BilingualText("Returns", "Devoluciones"),
        _COLUMNS,
        group_by=("external_ref",),
    )
    model = ReturnDraft
    id_sequence = "return"
    line_sequence = returns.LINE_SEQUENCE
    max_actions = MAX_PLANNED_ACTIONS // 2

    def keys(self, draft: Checked[ReturnDraft]) -> list[Key]:
        """See Importer."""
        return returns.return_keys(draft, None)

    def examine(
        self, tx: Transaction, draft: Checked[ReturnDraft]
    ) -> tuple[int | None, Sequence[Problem]]:
        """See ReferencedImporter."""
        return returns.examine_return(tx, draft, _settings(tx, draft))

    def create(
        self, tx: Transaction, draft: ReturnDraft, import_id: int
    ) -> CreatedRecord[StoredReturn]:
        """See ReferencedImporter."""
        return returns.create_return(tx, draft, _settings(tx, draft), import_id=import_id)


def _settings(tx: Transaction, draft: Checked[ReturnDraft]) -> Settings:
    """Return the settings of the company; only a return without exit document depends on them."""
    if draft.exit_document_id is not None:
        return Settings()
    return settings_of(settings.get_settings(tx.store).tenant)
