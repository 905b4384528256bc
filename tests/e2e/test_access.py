"""Users, roles, API clients and settings on the deployed stack."""

import base64
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from shared.identity.users.totp import PERIOD, code_at
from tests.e2e.answers import data, fields, refused, walk
from tests.e2e.conftest import TIMEOUT, Deployed, Tenant

_TAKES_EFFECT = 10
"""Seconds that a change of rights or settings may take."""
_MARGIN = 5
"""Extra seconds for a busy machine."""


@pytest.fixture
def boss(stack: Deployed) -> Iterator[httpx.Client]:
    """The administrator of acme, signed in."""
    acme = stack.tenants["acme"]
    with acme.client(_token(acme.sign_in())) as client:
        yield client


@dataclass(frozen=True, slots=True)
class ExampleUser:
    """A user of acme with a role for picking."""

    tenant: Tenant
    id: int
    username: str
    password: str

    def sign_in(self, **form: str) -> httpx.Response:
        """Request a token."""
        login = {"username": f"{self.username}@{self.tenant.slug}", "password": self.password}
        return self.tenant.sign_in(**login, **form)


@pytest.fixture
def ana(stack: Deployed, boss: httpx.Client, run: str) -> Iterator[ExampleUser]:
    """A user with a role for picking, deleted after the test."""
    permissions = {"name": f"Picker {run}", "permissions": ["exits.manage"]}
    role = data(boss.post("/roles", json=permissions), 201)
    wanted = {"username": f"ana-{run.lower()}", "name": "Ana", "roles": [role["id"]]}
    user = data(boss.post("/users", json=wanted), 201)
    yield ExampleUser(stack.tenants["acme"], user["id"], user["username"], user["password"])
    assert boss.delete(f"/users/{user['id']}").status_code in {200, 410}
    data(boss.delete(f"/roles/{role['id']}"))


def _token(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    token: str = answer.json()["access_token"]
    return token


def _assert_invalid_grant(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant"), answer.text


def _wait_until(look: Callable[[], bool]) -> None:
    """Wait until a condition holds, which must happen within ten seconds."""
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


@pytest.mark.parametrize(
    ("slug", "status", "code"),
    [
        ("suspended", 402, "tenant_suspended"),
        ("cancelled", 402, "tenant_cancelled"),
        ("moved", 410, "tenant_moved"),
    ],
)
def test_sign_in_to_an_inactive_tenant_returns_its_state(
    stack: Deployed, slug: str, status: int, code: str
) -> None:
    refused(stack.tenants[slug].sign_in(), status, code)
    _assert_invalid_grant(stack.tenants[slug].sign_in(password="not the password"))


def test_mobile_token_can_only_list_products(stack: Deployed) -> None:
    acme = stack.tenants["acme"]
    token = _token(acme.sign_in(client_id=acme.mobile_client_id))
    with acme.client(token) as scanner:
        assert scanner.get("/products").status_code == 200
        for path in ("/products/1", "/stocks", "/settings", "/users/me"):
            refused(scanner.get(path), 403, "client_not_allowed")
        refused(scanner.post("/products", json={}), 403, "client_not_allowed")


def test_user_can_do_what_the_roles_permit_until_disabled(
    ana: ExampleUser, boss: httpx.Client
) -> None:
    with ana.tenant.client(_token(ana.sign_in())) as picker:
        assert picker.get("/pickings").status_code == 200
        assert "exits.manage" not in picker.get("/products").text
        message = refused(picker.post("/products", json={}), 403, "forbidden")["message"]
        assert "inventory.manage" in message
        assert fields(picker.post("/pickings", json={}))
        refused(picker.get("/users"), 403, "forbidden")
        assert data(picker.get("/users/me"))["id"] == ana.id

        data(boss.patch(f"/users/{ana.id}", json={"is_active": False}))

        _assert_invalid_grant(ana.sign_in())
        _wait_until(lambda: picker.get("/pickings").status_code == 401)
    data(boss.patch(f"/users/{ana.id}", json={"is_active": True}))
    with ana.tenant.client(_token(ana.sign_in())) as picker:
        assert picker.get("/pickings").status_code == 200


def test_wrong_password_and_unknown_user_get_the_same_response(ana: ExampleUser, run: str) -> None:
    wrong = ana.sign_in()
    assert wrong.status_code == 200
    answers = [
        ana.tenant.sign_in(username=name, password="quite another one")
        for name in (f"{ana.username}@acme", f"nobody-{run.lower()}@acme", f"{ana.username}@beta")
    ]
    for answer in answers:
        _assert_invalid_grant(answer)
    assert len({answer.text for answer in answers}) == 1


def test_two_step_verification_requires_a_code(ana: ExampleUser) -> None:
    with ana.tenant.client(_token(ana.sign_in())) as client:
        enrolled = data(client.post("/users/me/totp"))
        secret = base64.b32decode(enrolled["secret"])
        code = code_at(secret, int(time.time()) // PERIOD)
        assert fields(client.post("/users/me/totp/confirm", json={"code": "000000"})) == ["code"]
        assert data(client.post("/users/me/totp/confirm", json={"code": code}))["two_step"]

    with ana.tenant.client(_token(ana.sign_in())) as halfway:
        assert halfway.get("/products").status_code == 200
        refused(halfway.get("/pickings"), 403, "client_not_allowed")
        refused(halfway.delete("/users/me/totp"), 403, "client_not_allowed")
    _assert_invalid_grant(ana.sign_in(otp=code))
    _assert_invalid_grant(ana.sign_in(otp="123456"))
    spare = enrolled["recovery_codes"][0]
    with ana.tenant.client(_token(ana.sign_in(otp=spare))) as client:
        assert client.get("/pickings").status_code == 200
    _assert_invalid_grant(ana.sign_in(otp=spare))


def test_reused_refresh_token_ends_the_session(ana: ExampleUser) -> None:
    def refresh(token: str) -> httpx.Response:
        return httpx.post(
            f"{ana.tenant.base_url}/oauth/token",
            data={"grant_type": "refresh_token", "refresh_token": token},
            timeout=TIMEOUT,
        )

    first = ana.sign_in().json()["refresh_token"]
    answer = refresh(first)
    with ana.tenant.client(_token(answer)) as client:
        assert client.get("/pickings").status_code == 200
        _assert_invalid_grant(refresh(first))
        _assert_invalid_grant(refresh(answer.json()["refresh_token"]))
        _wait_until(lambda: client.get("/pickings").status_code == 401)


def test_api_client_is_created_rotated_and_revoked(
    stack: Deployed, boss: httpx.Client, run: str
) -> None:
    acme = stack.tenants["acme"]
    wanted = {"name": f"Shop {run}", "scopes": ["products:read"]}
    made = data(boss.post("/api-clients", json=wanted), 201)
    path = f"/api-clients/{made['client_id']}"
    assert "client_secret" not in data(boss.get(path))

    def ask(secret: str) -> httpx.Response:
        return httpx.post(
            f"{stack.base_url}/oauth/token",
            data={"grant_type": "client_credentials"},
            auth=(made["client_id"], secret),
            timeout=TIMEOUT,
        )

    rotated = data(boss.post(f"{path}/rotate-secret"))["client_secret"]
    assert [ask(one).status_code for one in (made["client_secret"], rotated)] == [200, 200]
    with acme.client(_token(ask(rotated))) as shop:
        assert shop.get("/products").status_code == 200
        refused(shop.get("/api-clients"), 403, "missing_scope")
        data(boss.delete(path))
        refused(boss.get(path), 410, "gone")
        assert ask(rotated).status_code == 401
        _wait_until(lambda: shop.get("/products").status_code == 401)


def test_plan_limits_the_number_of_clients(stack: Deployed, run: str) -> None:
    mini = stack.tenants["mini"]
    with mini.client(_token(mini.sign_in())) as admin:
        wanted = {"name": f"Shop {run}", "scopes": ["products:read"]}
        second = data(admin.post("/api-clients", json=wanted), 201)
        try:
            envelope = refused(admin.post("/api-clients", json=wanted), 402, "limit_reached")
            offer = envelope["error"]["offer"]
            assert (offer["limit"], offer["used"]) == (2, 2)
            assert (offer["plan"], offer["next_plan"]) == ("essentials", "professional")
        finally:
            data(admin.delete(f"/api-clients/{second['client_id']}"))


def test_changed_settings_take_effect(stack: Deployed, boss: httpx.Client) -> None:
    before = data(boss.get("/settings"))
    changed = data(boss.patch("/settings", json={"receipt_tolerance": 7.5}))
    assert changed == data(boss.get("/settings"))
    assert changed["receipt_tolerance"] == 7.5
    bad: dict[str, Any] = {"timezone": "Mars/Olympus", "receipt_tolerance": 101, "modules": 5}
    assert set(fields(boss.patch("/settings", json=bad))) == set(bad)
    data(boss.patch("/settings", json={"receipt_tolerance": before["receipt_tolerance"]}))
    beta = stack.tenants["beta"]
    with beta.client(_token(beta.sign_in())) as admin:
        assert admin.get("/waves").status_code == 200
        data(admin.patch("/settings", json={"modules": {"waves": False}}))
        _wait_until(lambda: admin.get("/waves").status_code == 404)
        data(admin.patch("/settings", json={"modules": {"waves": True}}))
        _wait_until(lambda: admin.get("/waves").status_code == 200)


def test_audit_log_contains_the_creation_of_a_user(ana: ExampleUser, boss: httpx.Client) -> None:
    about = [
        entry
        for entry in walk(boss, "/audit-log", action="user.created")
        if entry["target"] == {"type": "user", "id": str(ana.id)}
    ]
    assert len(about) == 1
    assert about[0]["actor"]["type"] == "user"
    assert ana.password not in boss.get("/audit-log", params={"per_page": 100}).text
    assert boss.delete(f"/audit-log/{about[0]['id']}").status_code in {404, 405}
