"""The demo tenants of the local run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.server import LocalRunFailed
from operations.api_clients import (
    create_client,
    create_mobile_client,
    list_clients,
    revoke_client,
)
from operations.operator_identity import run_as_operator
from operations.provisioning import (
    create_tenant,
    set_address,
    set_settings,
    set_shared_address,
    set_state,
)
from operations.tenant_changes import show_tenant
from operations.tenant_rules import NewTenant
from shared.identity.auth.scopes import PERMISSIONS
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.tenant import MODULES, PlanName, State, Tenant
from shared.identity.users import passwords, repository, roles
from shared.identity.users import service as users
from shared.identity.users.models import PasswordReset, RoleCreate, UserCreate
from shared.kernel.db.schema import served
from shared.kernel.errors import NotFound, UnservedTable


@dataclass(frozen=True, slots=True)
class DemoTenant:
    """A demo tenant: its plan, its modules, the state it is in."""

    slug: str
    plan: PlanName = "enterprise"
    modules: frozenset[str] = MODULES
    state: State = "active"
    moved_to: str | None = None
    gs1_company_prefix: str | None = None


DEMO_TENANTS = (
    DemoTenant("acme", gs1_company_prefix="5012345"),
    DemoTenant("beta"),
    DemoTenant("mini", plan="essentials", modules=frozenset()),
    DemoTenant("suspended", state="suspended"),
    DemoTenant("cancelled", state="cancelled"),
    DemoTenant("moved", state="moved", moved_to="https://wms.moved.example/api/v1"),
)


ADMIN = "admin"
"""Name of the user with all permissions in every demo tenant."""

_ADMINISTRATOR = RoleCreate(name="Administrator", permissions=list(PERMISSIONS))
_CLIENT_NAME = "Local run"
_MOBILE_CLIENT_NAME = "Scanners of the local run"


def provision(
    base_url: str, previous: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, str]]:
    """Create missing demo tenants, each with an API client, a mobile client and a user.

    Args:
        base_url: Address that the tenants share.
        previous: Result of an earlier run. Its credentials are kept if they still work, because a
            secret is shown only once.

    Returns:
        Slug → base_url, plan, client_id, client_secret, username, password, mobile_client_id.
    """
    set_shared_address(base_url)
    return {
        demo.slug: _provision_tenant(demo, base_url, previous.get(demo.slug, {}))
        for demo in DEMO_TENANTS
    }


def _provision_tenant(
    demo: DemoTenant, base_url: str, previous: Mapping[str, Any]
) -> dict[str, str]:
    tenant = _ensure_tenant(demo, base_url)
    made = {
        "base_url": base_url,
        "plan": tenant.plan,
        **_ensure_client(demo.slug, previous),
        **_ensure_admin(demo.slug, previous),
        "mobile_client_id": _ensure_mobile_client(demo.slug),
    }
    if tenant.state != demo.state:
        set_state(demo.slug, demo.state, moved_to=demo.moved_to)
    return made


def _ensure_client(slug: str, previous: Mapping[str, Any]) -> dict[str, str]:
    credentials = {name: str(previous.get(name, "")) for name in ("client_id", "client_secret")}
    working = [client for client in list_clients(slug) if client.active]
    if any(client.client_id == credentials["client_id"] for client in working):
        return credentials
    for client in working:
        # Nobody knows the secret of a run that was killed; the plan limits the number of clients.
        if client.name == _CLIENT_NAME:
            revoke_client(client.client_id)
    return create_client(slug, _CLIENT_NAME)._asdict()


def _ensure_mobile_client(slug: str) -> str:
    for client in list_clients(slug):
        if client.active and client.name == _MOBILE_CLIENT_NAME:
            return client.client_id
    return create_mobile_client(slug, _MOBILE_CLIENT_NAME).client_id


def _ensure_admin(slug: str, previous: Mapping[str, Any]) -> dict[str, str]:
    """Create the administrator if missing; set a new password unless the one of `previous` works.

    After a crash the saved data and `previous` may be of different runs.
    """
    store, password = operator_store(slug), str(previous.get("password", ""))
    account = repository.find_account(store, ADMIN)
    if account is None:
        password = str(_create_admin(slug))
    elif not passwords.verify(password, account.login.password):
        number = account.record.id
        _, new = run_as_operator(
            store.slug, lambda tx: users.reset_password(tx, number, PasswordReset())
        )
        password = str(new)
    return {"username": f"{ADMIN}@{slug}", "password": password}


def _create_admin(slug: str) -> str | None:
    store = operator_store(slug)
    try:
        role = roles.get_role_by_name(store, _ADMINISTRATOR.name).id
    except NotFound:
        role = run_as_operator(store.slug, lambda tx: roles.create_role(tx, _ADMINISTRATOR)).id
    draft = UserCreate(username=ADMIN, name="Administrator of the local run", roles=[role])
    _, password = run_as_operator(store.slug, lambda tx: users.create_user(tx, draft))
    return password


def _ensure_tenant(demo: DemoTenant, base_url: str) -> Tenant:
    try:
        tenant = show_tenant(demo.slug)
    except NotFound:
        new = NewTenant(demo.slug, plan=demo.plan, base_url=base_url, modules=demo.modules)
        tenant = create_tenant(new)
        if demo.gs1_company_prefix is None:
            return tenant
        return set_settings(demo.slug, {"gs1_company_prefix": demo.gs1_company_prefix})
    try:
        served(demo.slug, tenant.table_version)
    except UnservedTable as error:
        message = f"{error.message} Remove the saved data with `make clean`."
        raise LocalRunFailed(message) from error
    # The address contains the port and the id of the API, which may have changed.
    return tenant if tenant.base_url == base_url else set_address(demo.slug, base_url=base_url)
