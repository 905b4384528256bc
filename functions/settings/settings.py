"""How a company works."""

from shared.http.request import Request
from shared.http.routes import OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.warehouse.settings import service, views
from shared.warehouse.settings.models import CompanySettings, SettingsChange

routes = Routes()

_ALL: OperationOptions = {
    "scope": "settings:manage",
    "permission": "users.manage",
    "response": CompanySettings,
}


@routes.declare("GET", "/settings", "Get the settings", _ALL)
def get_settings(store: Store, _request: Request) -> ResourceResponse:
    """Read how the company works."""
    return ResourceResponse(views.settings(service.get_settings(store)))


@routes.declare(
    "PATCH",
    "/settings",
    "Change the settings",
    _ALL,
    body=SettingsChange,
    errors=("rule_blocked",),
    description="Only the fields sent change; plan, address, features and limits are for the"
    " operator to change. Every route follows within 10 s.",
)
def change_settings(tx: Transaction, request: Request[SettingsChange]) -> ResourceResponse:
    """Change how the company works."""
    return ResourceResponse(views.settings(service.change_settings(tx, request.body)))
