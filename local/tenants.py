"""The demo tenants of the local run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared.errors import NotFound
from shared.tenancy.provisioning import (
    create_client,
    create_tenant,
    list_clients,
    set_address,
    set_state,
    show_tenant,
)
from shared.tenancy.settings import TenantSettings
from shared.tenancy.tenant import MODULES, PlanName, State, Tenant


@dataclass(frozen=True, slots=True)
class Demo:
    """A demo tenant: its plan, its modules, the state it is in."""

    slug: str
    plan: PlanName = "enterprise"
    modules: frozenset[str] = MODULES
    state: State = "active"
    moved_to: str | None = None


DEMOS = (
    Demo("acme"),
    Demo("beta"),
    Demo("mini", plan="essentials", modules=frozenset()),
    Demo("suspended", state="suspended"),
    Demo("cancelled", state="cancelled"),
    Demo("moved", state="moved", moved_to="https://wms.moved.example/api/v1"),
)


def provision(base_url: str, known: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Make every demo tenant be there, each with one integration client.

    Args:
        base_url: Address that the tenants share.
        known: What this function returned in an earlier run; its credentials are kept where
            they still work, since a secret is shown only once.

    Returns:
        Slug → base_url, plan, client_id and client_secret.
    """
    return {demo.slug: _provision(demo, base_url, known.get(demo.slug, {})) for demo in DEMOS}


def _provision(demo: Demo, base_url: str, known: Mapping[str, Any]) -> dict[str, str]:
    tenant = _tenant(demo, base_url)
    credentials = {name: str(known.get(name, "")) for name in ("client_id", "client_secret")}
    working = {client.client_id for client in list_clients(demo.slug) if client.active}
    if credentials["client_id"] not in working:
        credentials = create_client(demo.slug, "Local run")._asdict()
    if tenant.state != demo.state:
        set_state(demo.slug, demo.state, moved_to=demo.moved_to)
    return {"base_url": base_url, "plan": tenant.plan, **credentials}


def _tenant(demo: Demo, base_url: str) -> Tenant:
    try:
        tenant = show_tenant(demo.slug)
    except NotFound:
        return create_tenant(
            TenantSettings(demo.slug, plan=demo.plan, base_url=base_url, modules=demo.modules)
        )
    # Another port, or an API deployed anew, is another address.
    return tenant if tenant.base_url == base_url else set_address(demo.slug, base_url=base_url)
