"""Demo of access control: users, two-step verification, API clients and the rate limit."""

import base64
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from local.demo_session import Demo
from shared.identity.users.totp import PERIOD, code_at

_TIMEOUT_SECONDS = 60
"""Seconds to wait for a change that takes effect within 10 s; more for a busy machine."""

_CONCURRENCY = 10
_CREDENTIALS = {"grant_type": "client_credentials"}


def run_access_demo(
    demo: Demo, run: str, http: httpx.Client, slug: str, essentials_tenant: Mapping[str, str] | None
) -> None:
    """Create a user and an API client, show what each may do, and remove them.

    Args:
        demo: The demo, as a client with all scopes.
        run: Id of this run, part of every new name.
        http: Client for requests with other tokens.
        slug: The tenant.
        essentials_tenant: Address and credentials of a tenant with the smallest plan, whose rate
            limit is exceeded; None to skip this.
    """
    api = ApiCaller(http, demo.stowage.base_url)
    with _picker(demo, run) as user:
        _sign_in(demo, api, f"{user['username']}@{slug}", user["password"])
    _api_client(demo, run, api)
    demo.step(
        "The audit log has recorded all of this",
        demo.send("GET", "/audit-log", params={"per_page": 4}), 200,
        lambda body: ", ".join(entry["action"] for entry in body["data"])
        + f" … of {body['meta']['total']} entries",
    )  # fmt: skip
    if essentials_tenant:
        _rate_limit(demo, ApiCaller(http, essentials_tenant["base_url"]), essentials_tenant)


class ApiCaller:
    """Sends requests with a given token, or requests a token."""

    def __init__(self, http: httpx.Client, base_url: str) -> None:
        self._http = http
        self._base_url = base_url

    def request_token(
        self, form: Mapping[str, str], auth: tuple[str, str] | None = None
    ) -> httpx.Response:
        """Send a request to the token route."""
        basic = httpx.BasicAuth(*auth) if auth else httpx.Auth()
        return self._http.post(f"{self._base_url}/oauth/token", data=form, auth=basic)

    def send(self, token: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request with a token."""
        headers = {"Authorization": f"Bearer {token}"}
        return self._http.request(method, self._base_url + path, headers=headers, json=body)


@contextmanager
def _picker(demo: Demo, run: str) -> Iterator[dict[str, Any]]:
    """Create a user who picks, with a generated password; delete the user in the end."""
    body = {"name": f"Picker {run}", "permissions": ["exits.manage"]}
    permitted = "{data[permissions][0]}"
    role = demo.post("Create a role for pickers", "/roles", body, permitted, expected=201)
    wanted = {"username": f"ana-{run}", "name": "Ana", "roles": [role["id"]]}
    user = demo.post(
        "Create the user Ana with that role",
        "/users", wanted, "{data[username]}; the password is shown once", expected=201,
    )  # fmt: skip
    yield user
    deleted = demo.send("DELETE", f"/users/{user['id']}")
    demo.step("Delete the user", deleted, 200, "{data[username]}")
    demo.call(f"/roles/{role['id']}", method="DELETE")


def _sign_in(demo: Demo, api: ApiCaller, username: str, password: str) -> None:
    login = {"grant_type": "password", "username": username, "password": password}
    token = demo.step("Ana signs in", api.request_token(login), 200, _describe_token)[
        "access_token"
    ]
    listed = api.send(token, "GET", "/pickings")
    demo.step("Ana lists the pickings", listed, 200, "{meta[total]} pickings")
    demo.step(
        "Ana may not change the settings",
        api.send(token, "PATCH", "/settings", {"timezone": "Europe/Madrid"}), 403,
        "{error[code]}: {message}",
    )  # fmt: skip
    enrolled = demo.step(
        "Ana enrols a second factor",
        api.send(token, "POST", "/users/me/totp", {"password": password}), 200,
        lambda body: body["data"]["otpauth_uri"].partition("?")[0] + "?…",
    )["data"]  # fmt: skip
    code = code_at(base64.b32decode(enrolled["secret"]), int(time.time()) // PERIOD)
    demo.step(
        "Ana confirms it with the code of her authenticator app",
        api.send(token, "POST", "/users/me/totp/confirm", {"code": code}), 200,
        "two-step verification: {data[two_step]}",
    )  # fmt: skip
    password_only = api.request_token(login).json()["access_token"]
    demo.step(
        "With the password alone, Ana may still list products",
        api.send(password_only, "GET", "/products"), 200,
        "{meta[total]} products",
    )  # fmt: skip
    demo.step(
        "With the password alone, Ana may not list pickings",
        api.send(password_only, "GET", "/pickings"), 403, "{error[code]}",
    )  # fmt: skip
    used = api.request_token({**login, "otp": code})
    demo.step("A code that was used before is refused", used, 400, "{error}")
    spare = api.request_token({**login, "otp": enrolled["recovery_codes"][0]})
    title = "Ana signs in with a recovery code, which works once"
    full = demo.step(title, spare, 200, _describe_token)
    _refresh(demo, api, full["refresh_token"])


def _refresh(demo: Demo, api: ApiCaller, first: str) -> None:
    """Use a refresh token twice, as after a theft."""
    renewed = demo.step(
        "The app gets a new access token with the refresh token",
        api.request_token(_refresh_form(first)), 200, _describe_token,
    )  # fmt: skip
    demo.step(
        "A thief presents the used refresh token",
        api.request_token(_refresh_form(first)), 400, "{error}",
    )  # fmt: skip
    demo.step(
        "The reuse shows the theft: the new refresh token is revoked, too",
        api.request_token(_refresh_form(renewed["refresh_token"])), 400, "{error}",
    )  # fmt: skip


def _refresh_form(token: str) -> dict[str, str]:
    return {"grant_type": "refresh_token", "refresh_token": token}


def _api_client(demo: Demo, run: str, api: ApiCaller) -> None:
    """Create an API client, rotate its secret, and revoke it."""
    title = "Create an API client for a shop, with the scope products:read"
    wanted = {"name": f"Shop {run}", "scopes": ["products:read"]}
    created = demo.send("POST", "/api-clients", json=wanted)
    if created.status_code == httpx.codes.PAYMENT_REQUIRED:
        demo.skip(title, created.json()["message"])
        return
    shop = demo.step(
        title, created, 201, "{data[client_id]}; the secret is shown once",
    )["data"]  # fmt: skip
    path = f"/api-clients/{shop['client_id']}"
    old = (shop["client_id"], shop["client_secret"])
    token = api.request_token(_CREDENTIALS, old).json()["access_token"]
    demo.step(
        "The shop may not read stock",
        api.send(token, "GET", "/stocks"), 403,
        "missing scope {error[scope]}",
    )  # fmt: skip
    title, outcome = "Rotate the secret of the shop", "a new secret, shown once"
    rotated = demo.post(title, f"{path}/rotate-secret", None, outcome)
    new = (shop["client_id"], rotated["client_secret"])
    statuses = [api.request_token(_CREDENTIALS, one).status_code
                for one in (old, new)]  # fmt: skip
    demo.check(
        "Old and new secret work until the next rotation",
        "token requests answered {}".format(" and ".join(map(str, statuses))),
        passed=statuses == [200, 200],
    )
    demo.step("Revoke the API client", demo.send("DELETE", path), 200, "{data[name]}")
    began = time.monotonic()
    while api.send(token, "GET", "/products").status_code == httpx.codes.OK:
        if time.monotonic() > began + _TIMEOUT_SECONDS:
            break
        time.sleep(0.5)
    demo.step(
        "Its access token stops working within 10 s",
        api.send(token, "GET", "/products"), 401,
        lambda body: f"{body['error']['code']} after {time.monotonic() - began:.0f} s",
    )  # fmt: skip


def _rate_limit(demo: Demo, api: ApiCaller, essentials_tenant: Mapping[str, str]) -> None:
    """Send more requests than the smallest plan allows."""
    auth = (essentials_tenant["client_id"], essentials_tenant["client_secret"])
    token = api.request_token(_CREDENTIALS, auth).json()["access_token"]

    def ask(_: int) -> httpx.Response:
        return api.send(token, "GET", "/products")

    limit = int(ask(0).headers["RateLimit-Limit"])
    answers: list[httpx.Response] = []
    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        for _ in range(2):  # The first round may be split by the beginning of a new minute.
            answers += pool.map(ask, range(limit + _CONCURRENCY))
            refused = [one for one in answers if one.status_code == httpx.codes.TOO_MANY_REQUESTS]
            if refused:
                break
    served = sum(answer.status_code == httpx.codes.OK for answer in answers)
    waits = {int(one.headers["Retry-After"]) for one in refused}
    demo.check(
        f"The plan essentials allows {limit} requests per minute",
        f"{1 + served} served, {len(refused)} refused with 429 and"
        f" Retry-After {max(waits, default=0)} s",
        passed=bool(refused) and served + len(refused) == len(answers),
    )


def _describe_token(body: Mapping[str, Any]) -> str:
    return f"an access token for {body['expires_in'] // 60} minutes and a refresh token"
