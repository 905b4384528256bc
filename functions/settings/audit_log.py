"""Route of the audit log."""

from shared.http.request import Request
from shared.http.routes import ListResponse, Routes
from shared.identity.audit import service, views
from shared.identity.audit.models import AuditEntry, AuditParameters, StoredEntry
from shared.kernel.db.store import Store

routes = Routes()


@routes.read(
    "/audit-log",
    "List the audit log",
    scope="settings:manage",
    permission="users.manage",
    response=AuditEntry,
    parameters=AuditParameters,
    description="Changes to API clients, users, roles, settings, stock, approvals and webhook"
    " subscriptions, and who made them. An entry is written in the transaction of the change, and"
    " is never changed or deleted.",
)
def list_audit_log(
    store: Store, request: Request[None, AuditParameters]
) -> ListResponse[StoredEntry]:
    """List audit entries."""
    page = service.list_entries(store, request.parameters)
    return ListResponse(page, views.audit_entry)
