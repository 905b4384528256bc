"""Pure decisions about settings."""

from collections.abc import Iterator, Mapping
from typing import Any

from shared.identity.tenancy.tenant import Tenant
from shared.kernel.errors import Problem
from shared.warehouse.settings.models import SettingsChange

_MIN_WAREHOUSES = 2
"""Between which transfer orders move stock."""


def requested_settings(tenant: Tenant, change: SettingsChange) -> Mapping[str, Any]:
    """Work out what a tenant's settings shall be: those that were sent, by name."""
    wanted = {name: getattr(change, name) for name in change.model_fields_set}
    if "modules" in wanted:
        switches = change.modules.model_dump(exclude_unset=True)
        on = {name for name, is_on in switches.items() if is_on}
        wanted["modules"] = tenant.modules - switches.keys() | on
    return wanted


def enables_module(tenant: Tenant, requested: Mapping[str, Any], module: str) -> bool:
    """Tell whether a module is off and shall be on."""
    return module not in tenant.modules and module in requested.get("modules", ())


def transfer_order_problems(active_warehouses: int) -> Iterator[Problem]:
    """Find what stands against transfer orders."""
    if active_warehouses < _MIN_WAREHOUSES:
        message = (
            f"transfer orders need {_MIN_WAREHOUSES} active warehouses;"
            f" there {'is' if active_warehouses == 1 else 'are'} {active_warehouses}"
        )
        yield Problem("modules.transfer_orders", message)
