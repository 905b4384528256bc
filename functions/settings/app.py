"""Handler of the settings, API clients, users, roles, the audit log and the request log."""

from shared.http.api_handler import ApiHandler
from shared.http.routes import DeferredRoutes

lambda_handler = ApiHandler(
    DeferredRoutes("functions.settings.settings", ("/settings",)),
    DeferredRoutes("functions.settings.api_clients", ("/api-clients",)),
    DeferredRoutes("functions.settings.users", ("/users",)),
    DeferredRoutes("functions.settings.roles", ("/roles",)),
    DeferredRoutes("functions.settings.audit_log", ("/audit-log",)),
    DeferredRoutes("functions.settings.request_log", ("/request-log",)),
)
