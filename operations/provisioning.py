"""Creation of tenants, and changes to their items in the control table.

The command line and the local run use it; there is no route, because creating a table needs rights
that no function should have. Every function can be run again after any failure, and
may run concurrently with itself.
"""

from collections.abc import Collection, Mapping
from typing import Any

from operations.control_table import scan_items
from operations.operator_identity import run_as_operator
from operations.progress import ReportProgress, no_progress
from operations.tenant_changes import (
    IMPORT_PENDING,
    ControlTableUpdate,
    change_tenant,
    show_tenant,
)
from operations.tenant_rules import (
    NewTenant,
    check_moved_to,
    check_plan,
    check_requests_per_minute,
)
from operations.tenant_tables import (
    ensure_table,
    ensure_version,
    find_own_table,
    protect_stack_tables,
    set_maxima,
    table_of,
    write_version,
)
from shared.identity.audit.models import AuditAction
from shared.identity.tenancy.access import operator_store_of
from shared.identity.tenancy.directory import (
    SHARED_ADDRESS_KEY,
    existing_tenant,
    host_key,
    read_item,
    tenant_key,
)
from shared.identity.tenancy.tenant import State, Tenant
from shared.identity.users.repository import count_users
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.company import Company
from shared.kernel.config import config
from shared.kernel.db import schema
from shared.kernel.db.schema import served
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict
from shared.warehouse.settings.service import get_settings, update_settings

_AUDIT_ACTIONS: Mapping[State, AuditAction] = {
    "active": "tenant.resumed",
    "suspended": "tenant.suspended",
    "cancelled": "tenant.cancelled",
    "moved": "tenant.moved",
}


def create_tenant(settings: NewTenant, *, progress: ReportProgress = no_progress) -> Tenant:
    """Create a tenant, or complete its creation: its item, its address and its table.

    Requests for the tenant are refused until all of them exist. The first one also protects the
    tables of the stack, which hold nothing of value before.

    Args:
        settings: The tenant's name, plan, address, modules and time zone.
        progress: Receives a description of each step.

    Returns:
        The tenant, also if it already existed with the same settings.

    Raises:
        ValidationFailed: Settings are invalid; lists every problem.
        Conflict: The name belongs to a tenant with other settings or belonged to a deleted one,
            the host belongs to another tenant, or another deployment created the table.
        UnservedTable: The table was restored from a backup, and this release does not serve it.
        ServiceUnavailable: The table did not become ready in time; run it again.
    """
    settings.check()
    known = read_item(tenant_key(settings.slug))
    is_completed = known is not None and known["state"]["S"] != "creating"
    # A foreign table is refused before the name and the host are reserved.
    exists = find_own_table(settings.slug, is_completed=is_completed)
    protect_stack_tables(progress)
    progress(f"registering {settings.slug}")
    _register_tenant(settings)
    item = read_item(tenant_key(settings.slug))
    if item and item["state"]["S"] in {"deleting", "deleted"}:
        raise Conflict(
            f"The name {settings.slug} belonged to a tenant that was deleted, and cannot be used "
            "again: tokens and messages of that company may still exist. Choose another name."
        )
    if item and IMPORT_PENDING in item:
        raise Conflict(
            f"The tenant {settings.slug} is being imported. Complete that (stowage tenant import), "
            f"or give it up (stowage tenant delete {settings.slug})."
        )
    if item is None or not _has_settings(item, settings):
        raise Conflict(
            f"The tenant {settings.slug} already exists with other settings. Compare them (stowage "
            f"tenant show {settings.slug}), and change its plan, modules or address instead."
        )
    ensure_table(settings.slug, progress, exists=exists)
    if item["state"]["S"] == "creating":
        _activate(settings.slug, int(item["table_version"]["N"]), exists=exists)
    progress("ready")
    return show_tenant(settings.slug)


def _register_tenant(settings: NewTenant) -> None:
    """Reserve slug and host in one transaction; an existing item is left unchanged."""
    item = {
        "pk": {"S": tenant_key(settings.slug)},
        "state": {"S": "creating"},
        "plan": {"S": settings.plan},
        "base_url": {"S": settings.full_base_url},
        "timezone": {"S": settings.timezone},
        "revoked": {"M": {}},
        "created_at": {"S": instant(now_ms())},
        "table_version": {"N": str(schema.SCHEMA_VERSION)},
    }
    if settings.modules:
        item["modules"] = {"SS": sorted(settings.modules)}
    insert_tenant(settings, item)


class _SlugTaken(Exception):
    """A tenant of this name exists, with the same or with other settings."""


def insert_tenant(settings: NewTenant, item: Mapping[str, Any], dynamodb: Any = None) -> bool:
    """Insert a tenant's item and reserve its host in one transaction; False if the name is taken.

    `dynamodb` is the client to use instead of that with the default credentials.

    Raises:
        Conflict: The host belongs to another tenant.
    """
    slug, host = settings.slug, settings.host

    def insert(tx: Transaction) -> None:
        if host:
            tx.add_action("Update", _host_update(slug, host), lambda: host_taken(host))
        put = {"Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
        tx.add_action("Put", {"TableName": config().control_table, **put}, _SlugTaken)

    try:
        run_as_operator(slug, insert, dynamodb)
    except _SlugTaken:
        return False
    return True


def _host_update(slug: str, host: str) -> dict[str, Any]:
    """Return the Update that reserves a host for a tenant."""
    return {  # An Update, because it keeps the attributes that `operations.domains` has written.
        "TableName": config().control_table,
        "Key": {"pk": {"S": host_key(host)}},
        "UpdateExpression": "SET tenant = :slug",
        "ConditionExpression": "attribute_not_exists(pk) OR tenant = :slug",
        "ExpressionAttributeValues": {":slug": {"S": slug}},
    }


def host_taken(host: str) -> Conflict:
    """Return the error of a host that belongs to another tenant."""
    return Conflict(f"The host {host} belongs to another tenant.")


def domain_missing(host: str) -> Conflict:
    """Return the error of a host that was removed at the same time."""
    return Conflict(
        f"The host {host} was removed by another command at the same time. Check the hosts "
        "(stowage domain list), then run the command again."
    )


def set_shared_address(base_url: str) -> None:
    """Store the deployment's own address, which tenants without a host share. Safe to repeat.

    The OAuth metadata returns it as the issuer at that address.
    """
    client("dynamodb").update_item(
        TableName=config().control_table,
        Key={"pk": {"S": SHARED_ADDRESS_KEY}},
        UpdateExpression="SET base_url = :address",
        ExpressionAttributeValues={":address": {"S": base_url}},
    )


def _has_settings(item: Mapping[str, Any], settings: NewTenant) -> bool:
    return (
        item["plan"]["S"] == settings.plan
        and item["base_url"]["S"] == settings.full_base_url
        and item["timezone"]["S"] == settings.timezone
        and frozenset(item.get("modules", {}).get("SS", ())) == settings.modules
    )


def _activate(slug: str, new_version: int, *, exists: bool) -> None:
    """Make a tenant active, with the version and the number of users that its table has.

    A table that existed is from an interrupted creation, or was restored from a backup.
    """
    if exists:
        version = served(slug, ensure_version(slug, new_version))
        users = count_users(operator_store_of(Company(slug), table_of(slug), version))
    else:
        version, users = write_version(slug, new_version), 0
    dynamodb = client("dynamodb")
    try:
        dynamodb.update_item(
            TableName=config().control_table,
            Key={"pk": {"S": tenant_key(slug)}},
            UpdateExpression="SET #state = :active, table_version = :version, #users = :users",
            ConditionExpression="#state = :creating",
            ExpressionAttributeNames={"#state": "state", "#users": "users"},
            ExpressionAttributeValues={
                ":active": {"S": "active"},
                ":creating": {"S": "creating"},
                ":version": {"N": str(version.complete)},
                ":users": {"N": str(users)},
            },
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return  # Already active, or suspended since then; the state stays unchanged.


def list_tenants() -> list[Tenant]:
    """Return all tenants sorted by slug, without those being created or deleted."""
    found = [existing_tenant(item) for item in scan_items(tenant_key(""))]
    return sorted((tenant for tenant in found if tenant), key=lambda tenant: tenant.slug)


def set_state(
    slug: str, state: State, *, moved_to: str | None = None, for_move: bool = False
) -> Tenant:
    """Suspend, cancel, move or resume a tenant; takes effect within 10 s.

    Args:
        slug: The tenant.
        state: The new state; `active` resumes the tenant.
        moved_to: For the state `moved`, the https address of the company's own server.
        for_move: For the state `suspended`, whether the company is being moved; refused requests
            then get Retry-After.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: `moved_to` is missing, invalid, or given with another state.
    """
    check_moved_to(state, moved_to)
    wanted = {
        "state": {"S": state},
        "moved_to": {"S": moved_to} if moved_to else None,
        "suspended_for": {"S": "move"} if for_move else None,
    }
    return change_tenant(slug, _AUDIT_ACTIONS[state], wanted)


def set_plan(slug: str, plan: str) -> Tenant:
    """Change the plan. Clients above the limit of a smaller plan stay; new ones are refused.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: There is no such plan.
    """
    check_plan(plan)
    tenant = change_tenant(slug, "tenant.changed", {"plan": {"S": plan}})
    set_maxima(slug)
    return tenant


def set_requests_per_minute(slug: str, number: int | None) -> Tenant:
    """Set the tenant's own limit of requests per minute and credential; None removes it.

    The tenant's own limit stays when the plan changes. A change takes effect within 10 s.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: The number is out of range.
    """
    if number is not None:
        check_requests_per_minute(number)
    value = None if number is None else {"N": str(number)}
    tenant = change_tenant(slug, "tenant.changed", {"requests_per_minute": value})
    set_maxima(slug)
    return tenant


def switch_modules(slug: str, *, on: Collection[str] = (), off: Collection[str] = ()) -> Tenant:
    """Switch modules on and off; other modules stay unchanged, and `on` wins over `off`.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: There is no such module.
    """

    def use_case(tx: Transaction) -> Tenant:
        current = get_settings(tx.store).tenant.modules
        return update_settings(tx, {"modules": current - {*off} | {*on}}).tenant

    return run_as_operator(slug, use_case)


def set_settings(slug: str, changes: Mapping[str, Any]) -> Tenant:
    """Change settings of a company; other settings stay unchanged.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: A value is invalid; lists every problem.
    """
    return run_as_operator(slug, lambda tx: update_settings(tx, changes)).tenant


def set_address(
    slug: str,
    *,
    base_url: str | None = None,
    host: str | None = None,
    needs_domain: bool = False,
) -> Tenant:
    """Change the address of a tenant; tokens issued for the old address expire within minutes.

    Args:
        slug: The tenant.
        base_url: The address, for a tenant without its own host.
        host: The tenant's own host name. Hosts registered before stay registered.
        needs_domain: Change it only while the host has a custom domain of its own.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: The address is invalid.
        Conflict: The host belongs to another tenant, or lacks the domain that it needs.
    """
    current = show_tenant(slug)
    wanted = NewTenant(slug, plan=current.plan, base_url=base_url, host=host)
    wanted.check()
    update = None
    if host and needs_domain:
        body = {
            **_host_update(slug, host),
            "ConditionExpression": "tenant = :slug AND attribute_exists(target)",
        }
        update = ControlTableUpdate(body, lambda: domain_missing(host))
    elif host:
        update = ControlTableUpdate(_host_update(slug, host), lambda: host_taken(host))
    return change_tenant(slug, "tenant.changed", {"base_url": {"S": wanted.full_base_url}}, update)
