"""Changes of a tenant's item by an operator, in one transaction with the audit entry."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from operations.operator_identity import run_as_operator
from shared.identity.audit import service as audit
from shared.identity.audit.models import AuditAction
from shared.identity.tenancy.directory import HIDDEN_STATES, read_item, tenant_from_item, tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.config import config
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import NotFound, ServiceError

IMPORT_PENDING = "import_pending"
"""Attribute of the tenant's item until its import from another deployment is complete."""

_REASONS = {
    IMPORT_PENDING: "was not imported completely; import it again, or delete it",
    "creating": "was not created completely; create it again",
    "deleting": "was not deleted completely; delete it again",
    "deleted": "was deleted",
}

type Attributes = Mapping[str, Mapping[str, Any] | None]
"""Name → value in DynamoDB's JSON; None for an attribute that the item does not have."""


class HiddenTenant(NotFound):
    """404 not_found: only some commands see a tenant that is being created or deleted."""

    def __init__(self, slug: str, reason: str) -> None:
        ServiceError.__init__(self, f"The tenant {slug} {_REASONS[reason]}.")


@dataclass(frozen=True, slots=True)
class ControlTableUpdate:
    """An Update of another item of the control table in the same transaction."""

    body: dict[str, Any]
    on_condition_failed: Callable[[], Exception]


def show_tenant(slug: str) -> Tenant:
    """Return a tenant, read from the control table without a cache.

    Raises:
        NotFound: There is no such tenant, or it is being created, being deleted or deleted.
    """
    return tenant_from_item(tenant_item(slug))


def change_tenant(
    slug: str,
    action: AuditAction,
    new_values: Attributes,
    extra_update: ControlTableUpdate | None = None,
) -> Tenant:
    """Change attributes of a tenant's item; takes effect within 10 s. Safe to repeat.

    Attributes that already have the wanted value are left out of the audit entry.

    Raises:
        NotFound: There is no such tenant, or it is being created, being deleted or deleted.
        Exception: The exception of `extra_update`, if its condition fails.
    """
    run_as_operator(slug, lambda tx: _add_changes(tx, action, new_values, extra_update))
    return show_tenant(slug)


def tenant_item(slug: str) -> Mapping[str, Any]:
    """Return a tenant's item in DynamoDB's JSON, read without a cache.

    Raises:
        NotFound: There is no such tenant, or it is being created, being deleted or deleted.
    """
    item = read_item(tenant_key(slug))
    if item is None:
        raise NotFound(f"The tenant {slug}")
    if item["state"]["S"] in HIDDEN_STATES:
        is_imported = item["state"]["S"] == "creating" and IMPORT_PENDING in item
        raise HiddenTenant(slug, IMPORT_PENDING if is_imported else item["state"]["S"])
    return item


def _add_changes(
    tx: Transaction,
    action: AuditAction,
    new_values: Attributes,
    extra_update: ControlTableUpdate | None,
) -> None:
    slug = tx.store.slug
    item = tenant_item(slug)
    old_values = {name: item.get(name) for name in new_values}
    if extra_update:
        tx.add_action("Update", extra_update.body, extra_update.on_condition_failed)
    if old_values == dict(new_values):
        return
    set_, removed = _split_changes(new_values)
    expression = " ".join(
        word
        for word in (
            "SET " + ", ".join(f"#{name} = :{name}" for name in set_) if set_ else "",
            "REMOVE " + ", ".join(f"#{name}" for name in removed) if removed else "",
        )
        if word
    )
    # Conditioned on the values that were read, so that the audit entry names the right ones.
    unchanged = [
        f"attribute_not_exists(#{name})" if value is None else f"#{name} = :seen_{name}"
        for name, value in {**old_values, "state": item["state"]}.items()
    ]
    tx.add_action(
        "Update",
        {
            "TableName": config().control_table,
            "Key": {"pk": {"S": tenant_key(slug)}},
            "UpdateExpression": expression,
            "ConditionExpression": " AND ".join(unchanged),
            "ExpressionAttributeNames": {f"#{name}": name for name in {*new_values, "state"}},
            "ExpressionAttributeValues": {
                **{f":{name}": new_values[name] for name in set_},
                **{
                    f":seen_{name}": value
                    for name, value in old_values.items()
                    if value is not None
                },
                ":seen_state": item["state"],
            },
        },
    )
    changes = {
        name: (_plain(old_values[name]), _plain(new_values[name]))
        for name in new_values
        if old_values[name] != new_values[name]
    }
    audit.record(tx, action, "tenant", slug, changes=changes)


def _split_changes(new_values: Attributes) -> tuple[list[str], list[str]]:
    """Return the names of the attributes to set, and of those to remove."""
    return (
        [name for name, value in new_values.items() if value is not None],
        [name for name, value in new_values.items() if value is None],
    )


def _plain(value: Mapping[str, Any] | None) -> str | int | None:
    if value is None:
        return None
    return int(value["N"]) if "N" in value else str(value["S"])
