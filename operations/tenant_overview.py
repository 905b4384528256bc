"""What operators see of tenants: also of those that are not there yet, or not any more."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from operations.domains import list_domains
from shared.identity.tenancy.directory import described, read, scan, tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.errors import NotFound


@dataclass(frozen=True, slots=True)
class TenantOverview:
    """A tenant as the control table has it."""

    slug: str
    state: str
    """active, suspended, cancelled, moved; creating or deleting when that was not finished;
    deleted."""
    tenant: Tenant | None
    """How it is set up; None once it is deleted."""
    created_at: str | None
    deleted_at: str | None
    clients: int
    """Integration clients that are not revoked."""
    mobile_clients: int
    hosts: tuple[str, ...] = ()
    """Host names of its own; only where one tenant is looked at."""


def get_overview(slug: str) -> TenantOverview:
    """Look at one tenant, whatever its state.

    Raises:
        NotFound: There never was one of this name.
    """
    item = read(tenant_key(slug))
    if item is None:
        raise NotFound(f"The tenant {slug}")
    hosts = tuple(domain.host for domain in list_domains(slug))
    return replace(_overview(item), hosts=hosts)


def list_overviews(*, deleted: bool = False) -> list[TenantOverview]:
    """Look at all tenants, by slug; `deleted`: also at those."""
    found = [_overview(item) for item in scan(tenant_key(""))]
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
        tenant=None if state == "deleted" else described(item),
        created_at=text("created_at"),
        deleted_at=text("deleted_at"),
        clients=number("clients"),
        mobile_clients=number("mobile_clients"),
    )
