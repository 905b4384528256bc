"""Tenants as operators see them, including those being created, being deleted or deleted."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from operations.control_table import scan_items
from operations.domains import list_domains
from shared.identity.tenancy.directory import read_item, tenant_from_item, tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class TenantOverview:
    """A tenant's item in the control table."""

    slug: str
    state: str
    """active, suspended, cancelled, moved or deleted; creating or deleting while that is not
    completed."""
    tenant: Tenant | None
    """Plan, modules, address and settings; None once the tenant is deleted."""
    created_at: str | None
    deleted_at: str | None
    clients: int
    """Number of integration clients that are not revoked."""
    mobile_clients: int
    """Number of mobile clients that are not revoked."""
    hosts: tuple[str, ...] = ()
    """Its own host names; filled by `get_overview` only."""


def get_overview(slug: str) -> TenantOverview:
    """Return one tenant in any state.

    Raises:
        NotFound: There has never been a tenant of this name.
    """
    item = read_item(tenant_key(slug))
    if item is None:
        raise NotFound(f"The tenant {slug}")
    hosts = tuple(domain.host for domain in list_domains(slug))
    return replace(_overview(item), hosts=hosts)


def list_overviews(*, deleted: bool = False) -> list[TenantOverview]:
    """Return all tenants sorted by slug; with `deleted`, include deleted tenants."""
    found = [_overview(item) for item in scan_items(tenant_key(""))]
    wanted = (each for each in found if deleted or each.state != "deleted")
    return sorted(wanted, key=lambda each: each.slug)


def _overview(item: Mapping[str, Any]) -> TenantOverview:
    state = item["state"]["S"]

    def text(name: str) -> str | None:
        return item[name]["S"] if name in item else None

    def number(name: str) -> int:
        return int(item[name]["N"]) if name in item else 0

    return TenantOverview(
        slug=item["pk"]["S"].removeprefix(tenant_key("")),
        state=state,
        tenant=None if state == "deleted" else tenant_from_item(item),
        created_at=text("created_at"),
        deleted_at=text("deleted_at"),
        clients=number("clients"),
        mobile_clients=number("mobile_clients"),
    )
