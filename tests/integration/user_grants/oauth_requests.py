"""Users for tests, and their requests to the OAuth endpoints."""

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from functions.authorizer.app import lambda_handler as authorizer
from functions.oauth.app import lambda_handler
from operations.api_clients import Credentials
from operations.tenant_changes import show_tenant
from shared.identity.auth.rules import ensure_not_revoked
from shared.identity.auth.scopes import Permission
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import directory, read_item, tenant_key
from shared.identity.users import credentials, totp
from shared.identity.users.models import (
    PasswordConfirmation,
    RoleCreate,
    TotpConfirmation,
    UserCreate,
)
from shared.identity.users.roles import create_role
from shared.identity.users.service import create_user
from shared.kernel.caller import Caller
from shared.kernel.clock import now_ms
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Unauthenticated
from tests.gateway import Gateway, Response

FORM = "application/x-www-form-urlencoded"
PASSWORD = "correct horse battery staple"
SOURCE_IP = "203.0.113.7"
HOST = "api.stowage.test"
METHOD_ARN = "arn:aws:execute-api:eu-west-1:123456789012:abc123/api/GET/v1/products"
INVALID_GRANT = (400, "invalid_grant")
RATE_LIMITED = (429, "rate_limited")


class OAuthResponse(NamedTuple):
    """A response of an OAuth endpoint."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def outcome(self) -> tuple[int, str]:
        """The status and the error code, empty for a success."""
        error = (self.body or {}).get("error", "")
        return self.status, error["code"] if isinstance(error, dict) else error

    @property
    def access_token(self) -> str:
        """The access token; the request must have succeeded."""
        assert self.status == 200, self.body
        token: str = self.body["access_token"]
        return token

    @property
    def refresh_token(self) -> str:
        """The refresh token; the request must have succeeded."""
        assert self.status == 200, self.body
        token: str = self.body["refresh_token"]
        return token


def send(
    method: str,
    path: str,
    body: str | bytes | None = None,
    *,
    content_type: str | None = FORM,
    authorization: str | None = None,
    host: str = HOST,
    address: str = SOURCE_IP,
) -> OAuthResponse:
    """Send a request to the function of the OAuth endpoints."""
    headers = {"Host": host, "Content-Type": content_type, "authorization": authorization}
    answer = lambda_handler(
        {
            "httpMethod": method,
            "path": path,
            "headers": {name: value for name, value in headers.items() if value is not None},
            "body": base64.b64encode(body).decode() if isinstance(body, bytes) else body,
            "isBase64Encoded": isinstance(body, bytes),
            "requestContext": {"requestId": "req-1", "identity": {"sourceIp": address}},
        },
        None,
    )
    text = answer["body"]
    return OAuthResponse(
        answer["statusCode"], answer["headers"], json.loads(text) if text else None
    )


def post(path: str, body: str, **more: Any) -> OAuthResponse:
    """Post a body to an OAuth endpoint."""
    return send("POST", f"/v1/oauth/{path}", body, **more)


@dataclass(slots=True)
class ExampleUser:
    """A user with the credentials to sign in."""

    id: int
    username: str
    tenant: str
    password: str
    roles: tuple[int, ...]
    secret: bytes | None = field(default=None, repr=False)
    """Secret of the authenticator app."""
    recovery_codes: list[str] = field(default_factory=list, repr=False)

    @property
    def login_name(self) -> str:
        """The user name with the tenant."""
        return f"{self.username}@{self.tenant}"

    def code(self, *, periods: int = 0) -> str:
        """Return the code of the app, `periods` from now."""
        assert self.secret
        return totp.code_at(self.secret, now_ms() // 1000 // totp.PERIOD + periods)

    def form(self, **more: str) -> dict[str, str]:
        """Return the form of a password grant."""
        return {
            "grant_type": "password",
            "username": self.login_name,
            "password": self.password,
            **more,
        }

    def sign_in(self, **more: str) -> OAuthResponse:
        """Request tokens with the password grant."""
        return request_token(self.form(**more))


def request_token(form: Mapping[str, str], **more: Any) -> OAuthResponse:
    """Request a token."""
    return post("token", urlencode(form), **more)


def client_form(client: Credentials, **more: str) -> dict[str, str]:
    """Return the form of a client credentials grant."""
    return {"grant_type": "client_credentials", **client._asdict(), **more}


def token_of(client: Credentials) -> str:
    """Request a token for a client."""
    return request_token(client_form(client)).access_token


def request_token_at(gateway: Gateway, client: Credentials) -> Response:
    """Request a token for a client at the address of a gateway."""
    form, headers = urlencode(client_form(client)), {"Content-Type": FORM}
    return gateway.request("POST", "/v1/oauth/token", headers=headers, body=form)


def guess(user: ExampleUser, address: str = SOURCE_IP, **more: str) -> tuple[int, str]:
    """Try to sign in with a wrong password; return the outcome."""
    return request_token(user.form(**{"password": "wrong", **more}), address=address).outcome


def refresh(
    token: str, *, address: str = SOURCE_IP, host: str = HOST, **more: str
) -> OAuthResponse:
    """Request tokens with the refresh token grant."""
    form = {"grant_type": "refresh_token", "refresh_token": token, **more}
    return request_token(form, address=address, host=host)


def revoke(token: str, *, host: str = HOST, **more: str) -> OAuthResponse:
    """Revoke a token."""
    return post("revoke", urlencode({"token": token, **more}), host=host)


def create_example_user(
    username: str = "anna",
    *,
    tenant: str = "acme",
    permissions: Iterable[Permission] = ("entries.manage", "exits.manage"),
) -> ExampleUser:
    """Create a user with a role that has the permissions."""
    store = operator_store(tenant)
    role = run_transaction(
        store,
        lambda tx: create_role(
            tx, RoleCreate(name=f"Role of {username}", permissions=list(permissions))
        ),
    ).id
    draft = UserCreate(username=username, name="Anna", roles=[role], password=PASSWORD)
    made, _ = run_transaction(store, lambda tx: create_user(tx, draft))
    return ExampleUser(made.id, username, tenant, PASSWORD, (role,))


def enable_two_step(person: ExampleUser) -> None:
    """Enable two-step verification, without using up the current code."""
    store = operator_store(person.tenant)
    password = PasswordConfirmation(password=person.password)
    enrolled = run_transaction(
        store, lambda tx: credentials.enrol_totp(tx, person.id, password, SOURCE_IP)
    )
    person.secret = base64.b32decode(enrolled.secret)
    person.recovery_codes = enrolled.recovery_codes
    code = TotpConfirmation(code=person.code(periods=-1))
    run_transaction(store, lambda tx: credentials.confirm_totp(tx, person.id, code))


def named_goods(token: str) -> dict[str, Any]:
    """Return the claims of an access token, without verifying it."""
    part = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims


def authorize(token: str, host: str = HOST) -> dict[str, Any]:
    """Return the answer of the authorizer to a token."""
    headers = {"authorization": f"Bearer {token}", "host": host}
    return authorizer({"headers": headers, "methodArn": METHOD_ARN}, None)


def caller_of(token: str, host: str = HOST) -> Caller:
    """Return the caller that the authorizer derives from a token."""
    return Caller.from_context(authorize(token, host)["context"])


def revocation_entries(slug: str = "acme") -> dict[str, int]:
    """Return the revocation entries of a tenant, each with its expiry."""
    item = read_item(tenant_key(slug))
    assert item
    return {key: int(expiry["N"]) for key, expiry in item["revoked"]["M"].items()}


def is_accepted(token: str) -> bool:
    """Return whether the API handlers accept a token."""
    directory.clear()
    caller = caller_of(token)
    try:
        ensure_not_revoked(show_tenant(caller.tenant), caller)
    except Unauthenticated:
        return False
    return True
