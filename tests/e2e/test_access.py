"""Users, roles, API clients and settings on the deployed stack."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.e2e.conftest import TIMEOUT, Deployed, Tenant
from tests.e2e.responses import data, fields, refused

_TAKES_EFFECT = 10
"""Seconds that a change of rights or settings may take."""
_MARGIN = 60
"""Additional seconds for a busy machine."""


@pytest.fixture
def administrator(stack: Deployed) -> Iterator[httpx.Client]:
    """acme's administrator, signed in."""
    acme = stack.tenants["acme"]
    with acme.client(_token(acme.sign_in())) as client:
        yield client


@dataclass(frozen=True, slots=True)
class Person:
    """A user of acme with the permission to pick."""

    tenant: Tenant
    id: int
    username: str
    password: str

    def sign_in(self, **form: str) -> httpx.Response:
        """Request a token."""
        login = {"username": f"{self.username}@{self.tenant.slug}", "password": self.password}
        return self.tenant.sign_in(**login, **form)


@pytest.fixture
def picker(stack: Deployed, administrator: httpx.Client, run: str) -> Iterator[Person]:
    permissions = {"name": f"Picker {run}", "permissions": ["exits.manage"]}
    role = data(administrator.post("/roles", json=permissions), 201)
    wanted = {"username": f"ana-{run.lower()}", "name": "Ana", "roles": [role["id"]]}
    user = data(administrator.post("/users", json=wanted), 201)
    yield Person(stack.tenants["acme"], user["id"], user["username"], user["password"])
    assert administrator.delete(f"/users/{user['id']}").status_code in {200, 410}
    data(administrator.delete(f"/roles/{role['id']}"))


def _token(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    token: str = answer.json()["access_token"]
    return token


def _assert_invalid_grant(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant"), answer.text


def _wait_until(look: Callable[[], bool]) -> None:
    """Wait up to the time in which a change must take effect."""
    deadline = time.monotonic() + _TAKES_EFFECT + _MARGIN
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.3)


@pytest.mark.parametrize("slug", ["acme", "beta", "mini"])
def test_administrators_of_the_demo_tenants_can_sign_in(stack: Deployed, slug: str) -> None:
    tenant = stack.tenants[slug]
    with tenant.client(_token(tenant.sign_in())) as admin:
        shown = data(admin.get("/settings"))
        assert (shown["tenant"], shown["base_url"]) == (slug, stack.base_url)
        assert data(admin.get("/users/me"))["username"] == tenant.username.partition("@")[0]


def test_mobile_application_may_only_list_products(stack: Deployed) -> None:
    acme = stack.tenants["acme"]
    token = _token(acme.sign_in(client_id=acme.mobile_client_id))
    with acme.client(token) as scanner:
        assert scanner.get("/products").status_code == 200
        for path in ("/products/1", "/stocks", "/settings", "/users/me"):
            refused(scanner.get(path), 403, "client_not_allowed")
        refused(scanner.post("/products", json={}), 403, "client_not_allowed")


def test_user_has_the_permissions_of_the_roles(picker: Person, administrator: httpx.Client) -> None:
    with picker.tenant.client(_token(picker.sign_in())) as caller:
        assert caller.get("/pickings").status_code == 200
        assert "exits.manage" not in caller.get("/products").text
        message = refused(caller.post("/products", json={}), 403, "forbidden")["message"]
        assert "inventory.manage" in message
        assert fields(caller.post("/pickings", json={}))
        refused(caller.get("/users"), 403, "forbidden")
        assert data(caller.get("/users/me"))["id"] == picker.id

        data(administrator.patch(f"/users/{picker.id}", json={"is_active": False}))

        _assert_invalid_grant(picker.sign_in())
        _wait_until(lambda: caller.get("/pickings").status_code == 401)
    data(administrator.patch(f"/users/{picker.id}", json={"is_active": True}))
    with picker.tenant.client(_token(picker.sign_in())) as caller:
        assert caller.get("/pickings").status_code == 200


def test_api_client_life_cycle(stack: Deployed, administrator: httpx.Client, run: str) -> None:
    acme = stack.tenants["acme"]
    wanted = {"name": f"Shop {run}", "scopes": ["products:read"]}
    made = data(administrator.post("/api-clients", json=wanted), 201)
    path = f"/api-clients/{made['client_id']}"
    assert "client_secret" not in data(administrator.get(path))

    def ask(secret: str) -> httpx.Response:
        return httpx.post(
            f"{stack.base_url}/oauth/token",
            data={"grant_type": "client_credentials"},
            auth=(made["client_id"], secret),
            timeout=TIMEOUT,
        )

    rotated = data(administrator.post(f"{path}/rotate-secret"))["client_secret"]
    assert [ask(one).status_code for one in (made["client_secret"], rotated)] == [200, 200]
    with acme.client(_token(ask(rotated))) as client:
        assert client.get("/products").status_code == 200
        refused(client.get("/api-clients"), 403, "missing_scope")
        data(administrator.delete(path))
        refused(administrator.get(path), 410, "gone")
        assert ask(rotated).status_code == 401
        _wait_until(lambda: client.get("/products").status_code == 401)


def test_switched_module_takes_effect(stack: Deployed) -> None:
    beta = stack.tenants["beta"]
    with beta.client(_token(beta.sign_in())) as admin:
        assert admin.get("/waves").status_code == 200
        data(admin.patch("/settings", json={"modules": {"waves": False}}))
        _wait_until(lambda: admin.get("/waves").status_code == 404)
        data(admin.patch("/settings", json={"modules": {"waves": True}}))
        _wait_until(lambda: admin.get("/waves").status_code == 200)
