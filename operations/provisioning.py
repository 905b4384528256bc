"""Creating tenants and changing what the control table says about them.

For operators: the command line, the local run, and a function behind IAM. Every function can
be run again after any failure, and by two at once.
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from operations.api_clients import (
    Credentials,
    create_client,
    list_clients,
    revoke_client,
    rotate_client,
)
from operations.tenant_changes import ControlTableUpdate, change_tenant, show_tenant
from operations.tenant_tables import ensure_table
from shared.identity.audit.models import AuditAction
from shared.identity.auth.clients import Client
from shared.identity.tenancy.access import operators_store, store_for
from shared.identity.tenancy.directory import (
    SHARED_ADDRESS_KEY,
    host_key,
    read,
    scan,
    tenant_key,
    tenant_of,
)
from shared.identity.tenancy.settings import (
    TenantSettings,
    check_moved_to,
    check_plan,
    check_requests_per_minute,
)
from shared.identity.tenancy.tenant import State, Tenant
from shared.kernel.aws import client
from shared.kernel.clock import instant, now_ms
from shared.kernel.config import config
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict
from shared.warehouse.settings.configuration import configure, read_configuration

__all__ = [
    "Client",
    "Credentials",
    "create_client",
    "create_tenant",
    "list_clients",
    "list_tenants",
    "revoke_client",
    "rotate_client",
    "set_address",
    "set_modules",
    "set_plan",
    "set_requests_per_minute",
    "set_settings",
    "set_state",
    "share_address",
    "show_tenant",
    "switch_modules",
]


_AUDIT_ACTIONS: Mapping[State, AuditAction] = {
    "active": "tenant.resumed",
    "suspended": "tenant.suspended",
    "cancelled": "tenant.cancelled",
    "moved": "tenant.moved",
}


def create_tenant(
    settings: TenantSettings, *, progress: Callable[[str], None] = lambda _: None
) -> Tenant:
    """Create a tenant, or finish creating it: its item, its address, its table.

    The tenant answers requests only when everything is there.

    Args:
        settings: What it shall be.
        progress: Is told each step, in a few words.

    Returns:
        The tenant; also when it existed before with the same settings.

    Raises:
        ValidationFailed: Settings that cannot be; every problem at once.
        Conflict: The slug is taken by a tenant with other settings, or was that of a deleted
            one, or the host is another's.
        ServiceUnavailable: The table did not become ready in time; run it again.
    """
    settings.check()
    progress(f"registering {settings.slug}")
    _register_tenant(settings)
    item = read(tenant_key(settings.slug))
    if item and item["state"]["S"] in {"deleting", "deleted"}:
        raise Conflict(
            f"The name {settings.slug} belonged to a tenant that was deleted. It is not given "
            "again: tokens and messages of that company may still be about."
        )
    if item is None or not _has_settings(item, settings):
        raise Conflict(
            f"The tenant {settings.slug} exists with other settings; look at it, and change "
            "its plan, modules or address instead."
        )
    ensure_table(settings.slug, progress)
    _activate(settings.slug)
    progress("ready")
    return show_tenant(settings.slug)


def _register_tenant(settings: TenantSettings) -> None:
    """Claim slug and host together; an item that is there already is left as it is."""
    item = {
        "pk": {"S": tenant_key(settings.slug)},
        "state": {"S": "creating"},
        "plan": {"S": settings.plan},
        "base_url": {"S": settings.address},
        "timezone": {"S": settings.timezone},
        "revoked": {"M": {}},
        "created_at": {"S": instant(now_ms())},
    }
    if settings.modules:
        item["modules"] = {"SS": sorted(settings.modules)}

    def claim(tx: Transaction) -> None:
        if settings.host:
            tx.add_action(
                "Update", _host_update(settings.slug, settings.host), _host_taken(settings.host)
            )
        put = {"Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
        tx.add_action("Put", {"TableName": config().control_table, **put}, _SlugTaken)

    with suppress(_SlugTaken):
        run_transaction(operators_store(settings.slug), claim)


class _SlugTaken(Exception):
    """There is a tenant of that name, perhaps the very one."""


def _host_update(slug: str, host: str) -> dict[str, Any]:
    """Write the Update that claims a host for a tenant."""
    return {  # what `operations.domains` keeps there stays
        "TableName": config().control_table,
        "Key": {"pk": {"S": host_key(host)}},
        "UpdateExpression": "SET tenant = :slug",
        "ConditionExpression": "attribute_not_exists(pk) OR tenant = :slug",
        "ExpressionAttributeValues": {":slug": {"S": slug}},
    }


def _host_taken(host: str) -> Callable[[], Exception]:
    return lambda: Conflict(f"The host {host} belongs to another tenant.")


def share_address(base_url: str) -> None:
    """Say which address is the deployment's own, which tenants without a host share.

    It is what the metadata of the token routes tell at that address. Safe to repeat.
    """
    client("dynamodb").update_item(
        TableName=config().control_table,
        Key={"pk": {"S": SHARED_ADDRESS_KEY}},
        UpdateExpression="SET base_url = :address",
        ExpressionAttributeValues={":address": {"S": base_url}},
    )


def _has_settings(item: Mapping[str, Any], settings: TenantSettings) -> bool:
    return (
        item["plan"]["S"] == settings.plan
        and item["base_url"]["S"] == settings.address
        and item["timezone"]["S"] == settings.timezone
        and frozenset(item.get("modules", {}).get("SS", ())) == settings.modules
    )


def _activate(slug: str) -> None:
    dynamodb = client("dynamodb")
    try:
        dynamodb.update_item(
            TableName=config().control_table,
            Key={"pk": {"S": tenant_key(slug)}},
            UpdateExpression="SET #state = :active",
            ConditionExpression="#state = :creating",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={":active": {"S": "active"}, ":creating": {"S": "creating"}},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return  # it was finished before, and may have been suspended since: that stays


def list_tenants() -> list[Tenant]:
    """All tenants by slug, without those that are not there yet, or no more."""
    found = [tenant_of(item) for item in scan(tenant_key(""))]
    return sorted((tenant for tenant in found if tenant), key=lambda tenant: tenant.slug)


def set_state(slug: str, state: State, *, moved_to: str | None = None) -> Tenant:
    """Suspend, cancel, move or resume a tenant; doors follow within 10 s.

    Args:
        slug: The tenant.
        state: The new state; `active` resumes.
        moved_to: With `moved`: https address of the company's own server.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: The address is missing, or given with another state.
    """
    check_moved_to(state, moved_to)
    wanted = {"state": {"S": state}, "moved_to": {"S": moved_to} if moved_to else None}
    return change_tenant(slug, _AUDIT_ACTIONS[state], wanted)


def set_plan(slug: str, plan: str) -> Tenant:
    """Change the plan. Clients beyond a smaller plan's limit stay, new ones are refused.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: There is no such plan.
    """
    check_plan(plan)
    return change_tenant(slug, "tenant.changed", {"plan": {"S": plan}})


def set_requests_per_minute(slug: str, number: int | None) -> Tenant:
    """Agree on a limit of requests per minute and credential, or go back to the plan's (None).

    An agreed limit stays when the plan changes; doors follow within 10 s.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: The number cannot be.
    """
    if number is not None:
        check_requests_per_minute(number)
    value = None if number is None else {"N": str(number)}
    return change_tenant(slug, "tenant.changed", {"requests_per_minute": value})


def set_modules(slug: str, modules: Collection[str]) -> Tenant:
    """Switch exactly these modules on.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: There is no such module.
    """
    return set_settings(slug, {"modules": modules})


def switch_modules(slug: str, *, on: Collection[str] = (), off: Collection[str] = ()) -> Tenant:
    """Switch modules on and off, `on` where both name one; the others stay as they are.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: There is no such module.
    """

    def use_case(tx: Transaction) -> Tenant:
        current = read_configuration(tx.store).tenant.modules
        return configure(tx, {"modules": current - {*off} | {*on}}).tenant

    return run_transaction(store_for(slug), use_case)


def set_settings(slug: str, changes: Mapping[str, Any]) -> Tenant:
    """Change how a company works, as `configure` does; the other settings stay.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: A value cannot be; every problem at once.
    """
    return run_transaction(store_for(slug), lambda tx: configure(tx, changes)).tenant


def set_address(slug: str, *, base_url: str | None = None, host: str | None = None) -> Tenant:
    """Give a tenant another address; tokens issued under the old one end within minutes.

    Args:
        slug: The tenant.
        base_url: The address when the tenant has no host of its own.
        host: Its own host name. Hosts registered before stay its own.

    Raises:
        NotFound: There is no such tenant.
        ValidationFailed: The address cannot be.
        Conflict: The host belongs to another tenant.
    """
    current = show_tenant(slug)
    wanted = TenantSettings(slug, plan=current.plan, base_url=base_url, host=host)
    wanted.check()
    claim = ControlTableUpdate(_host_update(slug, host), _host_taken(host)) if host else None
    return change_tenant(slug, "tenant.changed", {"base_url": {"S": wanted.address}}, claim)
