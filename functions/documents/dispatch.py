"""The dispatch of exit documents."""

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.documents import views
from shared.warehouse.documents.models import DispatchDraft, ExitDocumentDetail
from shared.warehouse.packing.shipping import dispatch_exit_document

routes = Routes()


@routes.write(
    "POST",
    "/exit-documents/{id}/dispatch",
    "Dispatch an exit document",
    scope="pickings:write",
    permission="exits.manage",
    response=ExitDocumentDetail,
    body=DispatchDraft,
    errors=("conflict",),
    description="Picked goods leave the warehouse. Quantities that are not picked are given up and"
    " the document is closed; with `rest` keep, they stay open for further pickings and dispatches,"
    " unless nothing is left. Its packing orders become shipped and their handling units"
    " dispatched; `conflict` while one is still being packed, and with the setting"
    " `packing_required` when goods are not packed.",
)
def dispatch(tx: Transaction, request: Request[Checked[DispatchDraft]]) -> ResourceResponse:
    """Dispatch the staged goods of an exit document."""
    record = dispatch_exit_document(tx, request.id, request.body)
    return ResourceResponse(views.exit_document_in_detail(record))
