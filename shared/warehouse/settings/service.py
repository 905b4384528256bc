"""Use cases of settings, which are stored in the tenant's item of the control table.

Requests and operators change settings in the same way: in one transaction with the audit entry, on
the condition that the version of the settings is unchanged since it was read.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from shared.identity.audit import service as audit
from shared.identity.audit.models import changed_values
from shared.identity.tenancy.directory import existing_tenant, read_item, tenant_key
from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.kernel.config import config
from shared.kernel.db.items import Item, update_of
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import NotFound, Problem, RuleBlocked, ValidationFailed
from shared.kernel.validation import Checked, InvalidBody
from shared.warehouse.settings import rules
from shared.warehouse.settings.models import SettingsChange
from shared.warehouse.settings.values import (
    REFUSE_SINCE,
    SETTING_NAMES,
    Settings,
    SettingsSnapshot,
    setting_attribute,
    settings_of,
)
from shared.warehouse.warehouses import service as warehouses


def get_settings(store: Store) -> SettingsSnapshot:
    """Read the tenant and its settings without the cache of tenants."""
    key = tenant_key(store.slug)
    item = store.get_cached((config().control_table, key), lambda: read_item(key))
    tenant = existing_tenant(item) if item else None
    if item is None or tenant is None:
        raise NotFound(f"The tenant {store.slug}")
    version = int(item.get("settings_version", {"N": "0"})["N"])
    updated_at = item.get("settings_updated_at", {"S": None})["S"]
    return SettingsSnapshot(tenant, version, updated_at)


def change_settings(tx: Transaction, change: Checked[SettingsChange]) -> SettingsSnapshot:
    """Change the settings that were sent. Handlers apply them within 10 s.

    Raises:
        RuleBlocked: Transfer orders cannot be enabled, because warehouses are missing.
    """
    tenant = get_settings(tx.store).tenant
    problems: list[Problem] = []
    if rules.enables_transfer_orders(tenant, change):
        problems += rules.transfer_order_problems(len(warehouses.all_warehouses(tx.store)))
    if isinstance(change, InvalidBody):
        raise ValidationFailed([*change.problems, *problems])
    if problems:
        raise RuleBlocked(problems)
    return update_settings(tx, rules.requested_settings(tenant, change))


def update_settings(tx: Transaction, requested: Mapping[str, Any]) -> SettingsSnapshot:
    """Change settings of the tenant; write nothing if all values are as before.

    `requested` has the values of `timezone`, `modules` (the complete set of enabled modules) and
    fields of `Settings` by name, numbers as Decimals.

    Raises:
        UnservedTable: `oversell` would be `refuse` before an upgrade of the table.
    """
    values = {name: requested[name] for name in SETTING_NAMES & requested.keys()}
    rules.check_settings(
        requested.get("timezone"), requested.get("modules", ()), Settings.model_construct(**values)
    )
    if values.get("oversell") == "refuse":
        tx.store.ensure_version(REFUSE_SINCE, "The setting oversell: refuse")
    seen = get_settings(tx.store)
    before = seen.tenant
    stored = {name: setting_attribute(value) for name, value in values.items()}
    after = replace(
        before,
        timezone=requested.get("timezone", before.timezone),
        modules=frozenset(requested.get("modules", before.modules)),
        item={**before.item, **stored},
    )
    changes = changed_values(_audited_values(before), _audited_values(after))
    if not changes:
        return seen
    changed = SettingsSnapshot(after, seen.version + 1, tx.now)
    _add_update(tx, seen, changed, {name.partition(".")[0] for name in changes})
    audit.record(tx, "settings.changed", "settings", None, changes=changes)
    return changed


def _audited_values(tenant: Tenant) -> dict[str, Any]:
    settings = settings_of(tenant.company)
    return {
        "timezone": tenant.timezone,
        **{f"modules.{name}": name in tenant.modules for name in sorted(MODULES)},
        **{name: getattr(settings, name) for name in sorted(SETTING_NAMES)},
    }


def _add_update(
    tx: Transaction, seen: SettingsSnapshot, changed: SettingsSnapshot, names: Collection[str]
) -> None:
    """Add the update of the settings `names`, on the condition that the version is unchanged.

    The settings have a version of their own: plan, state and revocation entries change in the same
    item all the time. A setting that was never changed has the default of the release.
    """
    tenant = changed.tenant
    attributes: Item = {
        "settings_version": {"N": str(changed.version)},
        "settings_updated_at": {"S": tx.now},
        **{name: tenant.item[name] for name in SETTING_NAMES & {*names}},
    }
    if "timezone" in names:
        attributes["timezone"] = {"S": tenant.timezone}
    if "modules" in names:
        # DynamoDB has no empty sets: the attribute is removed.
        attributes["modules"] = {"SS": sorted(tenant.modules)} if tenant.modules else None
    expression, placeholders, values = update_of(attributes)
    condition = "attribute_exists(pk) AND attribute_not_exists(settings_version)"
    if seen.version:
        condition = "settings_version = :seen"
        values[":seen"] = {"N": str(seen.version)}
    tx.add_action(
        "Update",
        {
            "TableName": config().control_table,
            "Key": {"pk": {"S": tenant_key(tenant.slug)}},
            "UpdateExpression": expression,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": placeholders,
            "ExpressionAttributeValues": values,
        },
    )
