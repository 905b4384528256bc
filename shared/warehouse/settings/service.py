"""Use cases of settings."""

from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem, RuleBlocked, ValidationFailed
from shared.kernel.validation import Checked, InvalidBody
from shared.warehouse.settings import rules
from shared.warehouse.settings.models import SettingsChange
from shared.warehouse.settings.tenant_settings import (
    SettingsSnapshot,
    read_settings,
    update_settings,
)
from shared.warehouse.warehouses import service as warehouses


def get_settings(store: Store) -> SettingsSnapshot:
    """Read the current settings of the tenant, without the cache of tenants."""
    return read_settings(store)


def change_settings(tx: Transaction, change: Checked[SettingsChange]) -> SettingsSnapshot:
    """Change the settings that were sent. Handlers apply them within 10 s.

    Raises:
        ValidationFailed: The change is invalid; with all problems.
        NotFound: The tenant does not exist.
        RuleBlocked: Transfer orders cannot be enabled, because there are too few warehouses.
    """
    tenant = read_settings(tx.store).tenant
    problems: list[Problem] = []
    if rules.enables_transfer_orders(tenant, change):
        problems += rules.transfer_order_problems(len(warehouses.all_warehouses(tx.store)))
    if isinstance(change, InvalidBody):
        raise ValidationFailed([*change.problems, *problems])
    if problems:
        raise RuleBlocked(problems)
    return update_settings(tx, rules.requested_settings(tenant, change))
