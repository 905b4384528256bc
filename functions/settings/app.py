"""Handler of the settings, API clients, users, roles and the audit log."""

from functions.settings import api_clients, audit_log, roles, settings, users
from shared.http.api_handler import ApiHandler

lambda_handler = ApiHandler(
    settings.routes, api_clients.routes, users.routes, roles.routes, audit_log.routes
)
