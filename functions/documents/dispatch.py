"""The dispatch of exit documents."""

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes
from shared.kernel.db.transaction import Transaction
from shared.warehouse.documents import views
from shared.warehouse.documents.models import ExitDocument
from shared.warehouse.picking.dispatch import dispatch_exit_document

routes = Routes()


@routes.declare(
    "POST",
    "/exit-documents/{id}/dispatch",
    "Dispatch an exit document",
    scope="pickings:write",
    permission="exits.manage",
    response=ExitDocument,
    errors=("conflict",),
    description="What was picked leaves the warehouse; what was not is given up, and the document"
    " is closed.",
)
def dispatch(tx: Transaction, request: Request) -> ResourceResponse:
    """Let the staged goods of an exit document leave."""
    return ResourceResponse(views.exit_document(dispatch_exit_document(tx, request.id)))
