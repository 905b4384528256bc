"""Decisions about settings on plain data."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from shared.identity.tenancy.rules import module_problems, timezone_problems
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.errors import Problem, ValidationFailed
from shared.kernel.validation import Checked
from shared.warehouse.settings.models import SettingsChange
from shared.warehouse.settings.values import Settings, setting_problems

_MIN_WAREHOUSES = 2
"""Transfer orders move stock between two warehouses."""


def check_settings(timezone: str | None, modules: Collection[str], settings: Settings) -> None:
    """Raise ValidationFailed with every invalid setting; `timezone` None is not checked."""
    problems = [
        *(timezone_problems(timezone) if timezone is not None else ()),
        *module_problems(modules),
        *setting_problems(settings),
    ]
    if problems:
        raise ValidationFailed(problems)


def requested_settings(tenant: Tenant, change: SettingsChange) -> Mapping[str, Any]:
    """Return name → new value of the settings that were sent."""
    requested = {name: getattr(change, name) for name in change.model_fields_set}
    if "modules" in requested:
        switches = change.modules.model_dump(exclude_unset=True)
        enabled = {name for name, is_enabled in switches.items() if is_enabled}
        requested["modules"] = tenant.modules - switches.keys() | enabled
    return requested


def enables_transfer_orders(tenant: Tenant, change: Checked[SettingsChange]) -> bool:
    """Return whether a change enables transfer orders, which are disabled."""
    modules = change.modules
    return (
        modules is not None and modules.transfer_orders and "transfer_orders" not in tenant.modules
    )


def transfer_order_problems(active_warehouses: int) -> Iterator[Problem]:
    """Yield the problems that prevent transfer orders from being enabled."""
    if active_warehouses < _MIN_WAREHOUSES:
        message = (
            f"transfer orders need {_MIN_WAREHOUSES} active warehouses;"
            f" there {'is' if active_warehouses == 1 else 'are'} {active_warehouses}"
        )
        yield Problem("modules.transfer_orders", message)
