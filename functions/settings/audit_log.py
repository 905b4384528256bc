"""Who did what to credentials, settings and stock."""

from shared.http.request import Request
from shared.http.routes import ListResponse, Routes
from shared.identity.audit import service, views
from shared.identity.audit.models import AuditEntry, AuditParameters, StoredEntry
from shared.kernel.db.store import Store

routes = Routes()


@routes.declare(
    "GET",
    "/audit-log",
    "List the audit log",
    scope="settings:manage",
    permission="users.manage",
    response=AuditEntry,
    parameters=AuditParameters,
    description="Who did what to credentials, users, roles, settings and stock. An entry is written"
    " together with the change that it tells of; nothing changes or removes one.",
)
def list_audit_log(
    store: Store, request: Request[None, AuditParameters]
) -> ListResponse[StoredEntry]:
    """Page through the audit log."""
    page = service.list_entries(store, request.parameters, request.tenant.timezone)
    return ListResponse(page, views.entry)
