"""Tokens on the deployed stack: issue, refusal and revocation."""

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

from operations import api_clients
from operations.api_clients import Credentials
from shared.identity.auth import tokens
from shared.identity.auth.key_ring import key_ring
from shared.identity.auth.scopes import SCOPES
from shared.identity.auth.signing import base64url
from tests.e2e.conftest import TIMEOUT, Deployed
from tests.e2e.responses import data, refused

_GRANT = {"grant_type": "client_credentials"}
_TAKES_EFFECT = 10
"""Maximum seconds until a revocation takes effect."""


@pytest.fixture
def acme_client(operator: None) -> Iterator[Credentials]:
    """A client of acme for this test with the scope to read products."""
    assert operator is None
    credentials = api_clients.create_client("acme", "Shop", ["products:read"])
    yield credentials
    api_clients.revoke_client(credentials.client_id)


def _request_token(stack: Deployed, **request: Any) -> httpx.Response:
    return httpx.post(f"{stack.base_url}/oauth/token", timeout=TIMEOUT, **request)


@pytest.fixture
def caller(stack: Deployed, acme_client: Credentials) -> Iterator[httpx.Client]:
    """A caller with a token of `acme_client`, which is accepted."""
    token = _request_token(stack, data=_GRANT, auth=acme_client).json()["access_token"]
    with stack.tenants["acme"].client(token) as caller:
        data(caller.get("/products/1"))
        yield caller


def test_token_is_issued_for_credentials_in_basic_or_body(stack: Deployed) -> None:
    acme = stack.tenants["acme"]
    in_body = {"client_id": acme.client_id, "client_secret": acme.client_secret}
    for answer in (
        acme.ask_token(),
        _request_token(stack, data=_GRANT | in_body),
        _request_token(stack, json=_GRANT | in_body),
    ):
        assert answer.status_code == 200, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        token = answer.json()
        assert token["token_type"] == "Bearer"
        assert token["expires_in"] == 3600
        assert set(token["scope"].split()) == set(SCOPES)
        with acme.client(token["access_token"]) as erp:
            assert erp.get("/warehouses").status_code == 200


@pytest.mark.parametrize("slug", ["acme", "beta", "mini"])
def test_administrators_of_the_demo_tenants_can_sign_in(stack: Deployed, slug: str) -> None:
    tenant = stack.tenants[slug]
    answer = tenant.sign_in()
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    with tenant.client(answer.json()["access_token"]) as admin:
        shown = data(admin.get("/settings"))
        assert (shown["tenant"], shown["base_url"]) == (slug, stack.base_url)
        assert data(admin.get("/users/me"))["username"] == tenant.username.partition("@")[0]


def test_public_keys_verify_a_token(stack: Deployed) -> None:
    published = httpx.get(f"{stack.base_url}/.well-known/jwks.json", timeout=TIMEOUT).json()["keys"]
    head, claims, signature = stack.tenants["acme"].token.split(".")
    (found,) = (key for key in published if key["kid"] == json.loads(_decoded(head))["kid"])
    assert json.loads(_decoded(head)) == {"alg": "ES256", "typ": "at+jwt", "kid": found["kid"]}
    x, y = (int.from_bytes(_decoded(found[name])) for name in ("x", "y"))
    r, s = (int.from_bytes(half) for half in (_decoded(signature)[:32], _decoded(signature)[32:]))
    ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key().verify(
        utils.encode_dss_signature(r, s), f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256())
    )


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def test_revoked_client_is_refused_within_ten_seconds(
    stack: Deployed, acme_client: Credentials, caller: httpx.Client
) -> None:
    api_clients.revoke_client(acme_client.client_id)

    refusal = _request_token(stack, data=_GRANT, auth=acme_client)
    assert refusal.status_code == 401, refusal.text
    _assert_refused_in_time(caller)


def test_revoked_token_is_refused_within_ten_seconds(
    stack: Deployed, acme_client: Credentials, caller: httpx.Client
) -> None:
    token = caller.headers["Authorization"].removeprefix("Bearer ")
    url = f"{stack.base_url}/oauth/revoke"
    answer = httpx.post(url, data={"token": token}, auth=acme_client, timeout=TIMEOUT)

    assert answer.status_code == 200, answer.text
    _assert_refused_in_time(caller)


def _assert_refused_in_time(caller: httpx.Client) -> None:
    revoked_at = time.monotonic()
    while time.monotonic() - revoked_at < _TAKES_EFFECT:
        asked_at = time.monotonic()
        answer = caller.get("/products/1")
        if answer.status_code == 401:
            refused(answer, 401, "unauthenticated")
            return
        time.sleep(max(0, asked_at + 0.5 - time.monotonic()))
    refused(caller.get("/products/1"), 401, "unauthenticated")


# Invalid tokens: the gateway responds, in the same envelope

type _Forge = Callable[[Mapping[str, Any]], str]


def _unsigned(header: Mapping[str, Any], claims: Mapping[str, Any]) -> str:
    return "".join(f"{base64url(json.dumps(part).encode())}." for part in (header, claims))


def _kid() -> str:
    return key_ring.signing_key().kid


def _without_signature(claims: Mapping[str, Any]) -> str:
    return _unsigned({"alg": "none", "typ": "at+jwt"}, claims)


def _with_foreign_key(claims: Mapping[str, Any]) -> str:
    own = ec.generate_private_key(ec.SECP256R1())
    unsigned = _unsigned({"alg": "ES256", "typ": "at+jwt", "kid": _kid()}, claims)
    der = own.sign(unsigned.rstrip(".").encode(), ec.ECDSA(hashes.SHA256()))
    signature = b"".join(number.to_bytes(32) for number in utils.decode_dss_signature(der))
    return unsigned + base64url(signature)


def _with_other_claims(**changed: Any) -> _Forge:
    return lambda claims: tokens.sign_claims({**claims, **changed})


_INVALID_TOKENS: Mapping[str, _Forge] = {
    "not a token": lambda _: "x",
    "alg none": _without_signature,
    "signed with a foreign key": _with_foreign_key,
    "expired": lambda claims: tokens.sign_claims(
        {**claims, "iat": claims["iat"] - 7200, "exp": claims["exp"] - 7200}
    ),
    "issued by another issuer": _with_other_claims(
        iss="https://wms.beta.example/api/v1", aud="https://wms.beta.example/api/v1"
    ),
    "of an unknown tenant": _with_other_claims(tenant="nobody"),
}


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("fault", _INVALID_TOKENS)
def test_invalid_token_is_401_in_the_envelope(stack: Deployed, fault: str) -> None:
    acme = stack.tenants["acme"]
    claims = json.loads(_decoded(acme.token.split(".")[1]))
    assert httpx.get(  # the unchanged claims are accepted
        f"{stack.base_url}/products/1",
        headers={"Authorization": f"Bearer {tokens.sign_claims(claims)}"},
        timeout=TIMEOUT,
    ).is_success
    with acme.client(_INVALID_TOKENS[fault](claims)) as caller:
        for answer in (caller.get("/products/1"), caller.post("/products", json={})):
            refused(answer, 401, "unauthenticated")
            assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
            state = "has expired" if fault == "expired" else "is unknown"
            assert answer.json()["message"] == f"The access token {state}; get a new one."


@pytest.mark.parametrize("headers", [{}, {"Authorization": ""}, {"Authorization": "Basic YTpi"}])
def test_missing_token_is_401_in_the_envelope(stack: Deployed, headers: dict[str, str]) -> None:
    for path in ("/products", "/products/1", "/warehouses", "/entry-documents"):
        answer = httpx.get(stack.base_url + path, headers=headers, timeout=TIMEOUT)
        refused(answer, 401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
