"""Routes of the settings."""

from shared.http.request import Request
from shared.http.routes import OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.settings import service, views
from shared.warehouse.settings.models import CompanySettings, SettingsChange

routes = Routes()

_ALL: OperationOptions = {
    "scope": "settings:manage",
    "permission": "users.manage",
    "response": CompanySettings,
}


@routes.read("/settings", "Get the settings", _ALL)
def get_settings(store: Store, _request: Request) -> ResourceResponse:
    """Return the settings."""
    return ResourceResponse(views.company_settings(service.get_settings(store)))


@routes.write(
    "PATCH",
    "/settings",
    "Change the settings",
    _ALL,
    body=SettingsChange,
    errors=("rule_blocked",),
    description="Fields that are not sent keep their values. Plan, base URL, features and limits"
    " can only be changed by the operator. The changes take effect within 10 s.",
)
def change_settings(tx: Transaction, request: Request[Checked[SettingsChange]]) -> ResourceResponse:
    """Change the settings."""
    return ResourceResponse(views.company_settings(service.change_settings(tx, request.body)))
