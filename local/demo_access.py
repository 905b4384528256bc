"""The story of who may do what: users, a second factor, API clients, and the limit of requests."""

import base64
import hmac
import struct
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from local.demo_session import Story

_TIMEOUT_SECONDS = 15
"""Seconds for what takes effect within ten."""

_CONCURRENCY = 10
_CREDENTIALS = {"grant_type": "client_credentials"}


def run_access_demo(
    story: Story, run: str, http: httpx.Client, slug: str, essentials_tenant: Mapping[str, str]
) -> None:
    """Let people and programs in, each as far as they may go, and lock them out again.

    Args:
        story: Told by an administrator's client.
        run: Makes names that are new.
        http: For requests that others send.
        slug: The tenant.
        small: Address and credentials of a tenant with the smallest plan.
    """
    doors = _ApiCaller(http, story.stowage.base_url)
    with _picker(story, run) as user:
        _sign_in(story, doors, f"{user['username']}@{slug}", user["password"])
    _api_client(story, run, doors)
    story.tell(
        "Who did all this is written down",
        story.send("GET", "/audit-log", params={"per_page": 4}), 200,
        lambda body: ", ".join(one["action"] for one in body["data"])
        + f" … of {body['meta']['total']}",
    )  # fmt: skip
    _rate_limit(story, _ApiCaller(http, essentials_tenant["base_url"]), essentials_tenant)


class _ApiCaller:
    """The interface as somebody meets it who has a token, or wants one."""

    def __init__(self, http: httpx.Client, base_url: str) -> None:
        self._http = http
        self._base_url = base_url

    def request_token(self, form: Mapping[str, str], auth: tuple[str, str] | None = None) -> httpx.Response:
        """Ask for a token."""
        basic = httpx.BasicAuth(*auth) if auth else httpx.Auth()
        return self._http.post(f"{self._base_url}/oauth/token", data=form, auth=basic)

    def send(self, token: str, method: str, path: str, body: Any = None) -> httpx.Response:
        """Send a request with a token."""
        headers = {"Authorization": f"Bearer {token}"}
        return self._http.request(method, self._base_url + path, headers=headers, json=body)


@contextmanager
def _picker(story: Story, run: str) -> Iterator[dict[str, Any]]:
    """Somebody who picks, with the password that they got; they leave in the end."""
    role = story.tell(
        "A role for those who pick",
        story.send(
            "POST", "/roles", json={"name": f"Picker {run}", "permissions": ["exits.manage"]}
        ),
        201,
        lambda body: ", ".join(body["data"]["permissions"]),
    )["data"]
    wanted = {"username": f"ana-{run}", "name": "Ana", "roles": [role["id"]]}
    user = story.tell(
        "Ana gets a login",
        story.send("POST", "/users", json=wanted), 201,
        lambda body: f"{body['data']['username']}, her password shown this once",
    )["data"]  # fmt: skip
    yield user
    story.tell(
        "Ana leaves",
        story.send("DELETE", f"/users/{user['id']}"), 200, lambda body: body["data"]["username"],
    )  # fmt: skip
    story.do("DELETE", f"/roles/{role['id']}")


def _sign_in(story: Story, doors: _ApiCaller, username: str, password: str) -> None:
    login = {"grant_type": "password", "username": username, "password": password}
    token = story.tell("She signs in", doors.request_token(login), 200, _describe_token)["access_token"]
    story.tell(
        "She sees the pickings",
        doors.send(token, "GET", "/pickings"), 200, lambda body: f"{body['meta']['total']} of them",
    )  # fmt: skip
    story.tell(
        "The settings are not hers to change",
        doors.send(token, "PATCH", "/settings", {"timezone": "Europe/Madrid"}), 403,
        lambda body: f"{body['error']['code']}: {body['message']}",
    )  # fmt: skip
    enrolled = story.tell(
        "She wants a second factor",
        doors.send(token, "POST", "/users/me/totp"), 200,
        lambda body: body["data"]["otpauth_uri"].partition("?")[0] + "?…",
    )["data"]  # fmt: skip
    code = _totp_code(enrolled["secret"])
    story.tell(
        "The code that her telephone shows",
        doors.send(token, "POST", "/users/me/totp/confirm", {"code": code}), 200,
        lambda body: "two steps from now on" if body["data"]["two_step"] else "NOTHING CHANGED",
    )  # fmt: skip
    halfway = doors.request_token(login).json()["access_token"]
    story.tell(
        "The password alone still opens the list of products",
        doors.send(halfway, "GET", "/products"), 200, lambda body: f"{len(body['data'])} of them",
    )  # fmt: skip
    story.tell(
        "… and nothing else",
        doors.send(halfway, "GET", "/pickings"), 403, lambda body: body["error"]["code"],
    )  # fmt: skip
    story.tell(
        "A code that was used", doors.request_token({**login, "otp": code}), 400, lambda body: body["error"]
    )
    spare = enrolled["recovery_codes"][0]
    full = story.tell(
        "A recovery code instead, which works once",
        doors.request_token({**login, "otp": spare}),
        200,
        _describe_token,
    )
    _refresh(story, doors, full["refresh_token"])


def _refresh(story: Story, doors: _ApiCaller, first: str) -> None:
    """Use a refresh token, then have a thief use it again."""
    renewed = story.tell(
        "An hour later: a new token without a password",
        doors.request_token(_refresh_form(first)), 200, _describe_token,
    )  # fmt: skip
    story.tell(
        "Somebody comes with the old refresh token",
        doors.request_token(_refresh_form(first)), 400,
        lambda body: body["error"],
    )  # fmt: skip
    story.tell(
        "It was stolen, so the new one ends with it",
        doors.request_token(_refresh_form(renewed["refresh_token"])), 400,
        lambda body: body["error"],
    )  # fmt: skip


def _refresh_form(token: str) -> dict[str, str]:
    return {"grant_type": "refresh_token", "refresh_token": token}


def _api_client(story: Story, run: str, doors: _ApiCaller) -> None:
    """Give a shop credentials, replace its secret, and take them back."""
    wanted = {"name": f"Shop {run}", "scopes": ["products:read"]}
    shop = story.tell(
        "A shop gets credentials of its own",
        story.send("POST", "/api-clients", json=wanted), 201,
        lambda body: f"{body['data']['client_id']}, its secret shown this once",
    )["data"]  # fmt: skip
    path = f"/api-clients/{shop['client_id']}"
    old = (shop["client_id"], shop["client_secret"])
    token = doors.request_token(_CREDENTIALS, old).json()["access_token"]
    story.tell(
        "It may read products and nothing else",
        doors.send(token, "GET", "/stocks"), 403, lambda body: body["error"]["scope"],
    )  # fmt: skip
    rotated = story.tell(
        "Its secret is replaced", story.send("POST", f"{path}/rotate-secret"), 200,
        lambda _: "a new one, shown this once",
    )["data"]  # fmt: skip
    new = (shop["client_id"], rotated["client_secret"])
    statuses = [doors.request_token(_CREDENTIALS, one).status_code
                for one in (old, new)]  # fmt: skip
    story.fact(
        "Until it has changed over, either works", str(statuses), fine=statuses == [200, 200]
    )
    story.tell(
        "The shop is closed", story.send("DELETE", path), 200, lambda body: body["data"]["name"]
    )
    began = time.monotonic()
    while doors.send(token, "GET", "/products").status_code == httpx.codes.OK:
        if time.monotonic() > began + _TIMEOUT_SECONDS:
            break
        time.sleep(0.5)
    story.tell(
        "Its token ends within ten seconds",
        doors.send(token, "GET", "/products"), 401,
        lambda body: f"{body['error']['code']} after {time.monotonic() - began:.0f} s",
    )  # fmt: skip


def _rate_limit(story: Story, doors: _ApiCaller, essentials_tenant: Mapping[str, str]) -> None:
    """Ask more often than the smallest plan allows."""
    auth = (essentials_tenant["client_id"], essentials_tenant["client_secret"])
    token = doors.request_token(_CREDENTIALS, auth).json()["access_token"]

    def ask(_: int) -> httpx.Response:
        return doors.send(token, "GET", "/products")

    limit = int(ask(0).headers["RateLimit-Limit"])
    answers: list[httpx.Response] = []
    with ThreadPoolExecutor(_CONCURRENCY) as pool:
        for _ in range(2):  # a new minute may begin in between
            answers += pool.map(ask, range(limit + _CONCURRENCY))
            refused = [one for one in answers if one.status_code == httpx.codes.TOO_MANY_REQUESTS]
            if refused:
                break
    served = sum(answer.status_code == httpx.codes.OK for answer in answers)
    waits = {int(one.headers["Retry-After"]) for one in refused}
    story.fact(
        f"The smallest plan allows {limit} requests a minute",
        f"{1 + served} were answered, {len(refused)} told to wait {max(waits, default=0)} s",
        fine=bool(refused) and served + len(refused) == len(answers),
    )


def _describe_token(body: Mapping[str, Any]) -> str:
    return f"a token for {body['expires_in'] // 60} minutes, and one to renew it"


def _totp_code(secret: str) -> str:
    """Return what an authenticator app shows now (RFC 6238)."""
    step = struct.pack(">Q", int(time.time()) // 30)
    digest = hmac.digest(base64.b32decode(secret), step, "sha1")
    start = digest[-1] & 15
    (number,) = struct.unpack(">I", digest[start : start + 4])
    return f"{(number & 0x7FFFFFFF) % 1_000_000:06d}"
