"""The OAuth endpoints for integration clients."""

import base64
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus

import jwt
import pytest

from functions.oauth import app as oauth
from operations.api_clients import Credentials, create_client, revoke_client
from shared.identity.auth import attempt_limits
from shared.identity.auth.attempt_limits import PER_CLIENT
from shared.identity.auth.scopes import SCOPES
from tests.clock import Clock
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.integration.user_grants.oauth_requests import client_form, request_token, send
from tests.stack import ADDRESS, clear_caches_except_clients

pytestmark = pytest.mark.usefixtures("aws_faults")

TOKEN = "/v1/oauth/token"
WRONG_CLIENT = "The client is unknown or its secret is wrong."


def basic(client_id: str, secret: str) -> str:
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def test_published_keys_verify_an_access_token(acme: Credentials) -> None:
    status, headers, answer = request_token(client_form(acme, scope="products:read stocks:read"))
    assert status == 200
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Request-Id"] == "req-1"
    assert answer["token_type"] == "Bearer"
    assert answer["expires_in"] == 3600
    assert answer["scope"] == "products:read stocks:read"
    _, _, keys = send("GET", "/v1/.well-known/jwks.json")
    head = jwt.get_unverified_header(answer["access_token"])
    key = jwt.PyJWKSet.from_dict(keys)[head["kid"]]
    claims = jwt.decode(
        answer["access_token"], key, algorithms=["ES256"], audience=ADDRESS, issuer=ADDRESS
    )
    assert head["typ"] == "at+jwt"
    assert claims["sub"] == claims["client_id"] == acme.client_id
    assert claims["tenant"] == "acme"
    assert claims["kind"] == "client"
    assert claims["exp"] - claims["iat"] == 3600


def test_every_token_has_a_unique_jti(acme: Credentials) -> None:
    tokens = [request_token(client_form(acme))[2]["access_token"] for _ in range(3)]
    ids = {jwt.decode(token, options={"verify_signature": False})["jti"] for token in tokens}
    assert len(ids) == 3


@pytest.mark.parametrize("scope", [{}, {"scope": ""}])
def test_token_without_requested_scope_has_all_scopes_of_the_client(scope: dict[str, str]) -> None:
    client = create_client("acme", "shop", ["products:read", "stocks:read"])
    assert request_token(client_form(client, **scope))[2]["scope"] == "products:read stocks:read"


def test_client_can_authenticate_with_percent_encoded_basic(acme: Credentials) -> None:
    form = {"grant_type": "client_credentials"}
    odd = "".join(f"%{ord(char):02X}" for char in acme.client_secret)
    pair = base64.b64encode(f"{acme.client_id}:{odd}".encode()).decode()
    assert request_token(form, authorization=basic(*acme))[0] == 200
    assert request_token(form, authorization=f"bAsIc {pair}")[0] == 200
    assert (
        request_token({**form, "client_id": acme.client_id}, authorization=basic(*acme))[0] == 200
    )


def test_json_body_is_accepted(acme: Credentials) -> None:
    body = json.dumps(client_form(acme))
    assert send("POST", TOKEN, body, content_type="application/json; charset=utf-8")[0] == 200
    assert send("POST", TOKEN, body.encode(), content_type="application/json")[0] == 200


def test_credentials_in_basic_and_body_are_an_invalid_request(acme: Credentials) -> None:
    for extra in ({"client_secret": acme.client_secret}, {"client_id": "stw_other"}):
        form = {"grant_type": "client_credentials", **extra}
        status, _, answer = request_token(form, authorization=basic(*acme))
        assert (status, answer["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    "name",
    ["authorization_code", "Password", "urn:ietf:params:oauth:grant-type:device_code", "x" * 999],
)
def test_unknown_grant_types_are_unsupported(name: str) -> None:
    status, _, answer = request_token({"grant_type": name})
    assert (status, answer["error"]) == (400, "unsupported_grant_type")


@pytest.mark.parametrize("scope", ["stocks:read", "nonsense", "products:read stocks:read", "é\0"])
def test_scope_that_the_client_lacks_is_refused(scope: str) -> None:
    client = create_client("acme", "shop", ["products:read"])
    status, _, answer = request_token(client_form(client, scope=scope))
    assert (status, answer["error"]) == (400, "invalid_scope")


def test_refused_credentials_take_a_multiple_of_the_refusal_step(
    acme: Credentials, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    clock.freeze()
    monkeypatch.setattr(oauth, "time", clock)
    monkeypatch.setattr(oauth, "REFUSAL_STEP_MS", 100)

    def take_30_ms(_call: Call, forward: Forward) -> Answer:
        clock.advance(0.03)
        return forward()

    def duration_ms(form: Mapping[str, str], expected: int) -> int:
        before = clock.monotonic()
        assert request_token(form)[0] == expected
        return round((clock.monotonic() - before) * 1000)

    with aws_faults.faulty(take_30_ms):
        assert duration_ms(client_form(acme) | {"client_secret": "wrong"}, 401) == 200
        assert duration_ms(client_form(acme) | {"client_id": "unknown"}, 401) == 200
        assert duration_ms(client_form(acme), 200) < 200


def wrong_credentials(client: Credentials) -> dict[str, dict[str, Any]]:
    """Return requests that must get the same response."""
    other = client._replace(client_id="stw_" + "0" * 24)
    revoked = create_client("acme", "shop")
    revoke_client(revoked.client_id)
    hostile = client._replace(client_id="CLIENT#\0\ud7ff é" * 20)
    return {
        "wrong secret": {"form": client_form(client._replace(client_secret="sws_no"))},
        "unknown client": {"form": client_form(other)},
        "hostile client id": {"form": client_form(hostile)},
        "empty client id by Basic": {"authorization": basic("", client.client_secret)},
        "empty secret by Basic": {"authorization": basic(client.client_id, "")},
        "revoked client": {"form": client_form(revoked)},
        "secret of 10 kB": {"form": client_form(client._replace(client_secret="x" * 10_000))},
        "address of another tenant": {
            "form": client_form(client),
            "host": "wms.gamma.test",
        },
        "the same with the root's dot": {
            "form": client_form(client),
            "host": "wms.gamma.test.",
        },
    }


def test_every_failed_authentication_gets_the_same_response_after_the_same_calls(
    acme: Credentials, aws_faults: AwsFaults
) -> None:
    seen = {}
    for name, request in wrong_credentials(acme).items():
        form = request.pop("form", {"grant_type": "client_credentials"})
        clear_caches_except_clients()
        with aws_faults.recorded() as calls:
            status, headers, answer = request_token(form, **request)
        assert headers["WWW-Authenticate"].startswith("Basic ")
        seen[name] = (status, json.dumps(answer), tuple(calls.operations))
    assert set(seen.values()) == {
        (
            401,
            json.dumps({"error": "invalid_client", "error_description": WRONG_CLIENT}),
            ("BatchGetItem", "GenerateMac", "GetItem", "UpdateItem", "UpdateItem"),
        )
    }, seen


def test_client_can_authenticate_at_the_host_of_its_tenant() -> None:
    client = create_client("gamma", "ERP")
    assert request_token(client_form(client), host="WMS.Gamma.test:443")[0] == 200


def test_warm_token_request_makes_four_calls(acme: Credentials, aws_faults: AwsFaults) -> None:
    request_token(client_form(acme))
    with aws_faults.recorded() as calls:
        request_token(client_form(acme))
    # the token is counted while it is signed
    assert sorted(calls.operations) == ["BatchGetItem", "GenerateMac", "Sign", "UpdateItem"]


@pytest.fixture
def _stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock one second into a minute, because limits count per minute."""
    now = time.time() // attempt_limits.WINDOW * attempt_limits.WINDOW + 1
    monkeypatch.setattr(time, "time", lambda: now)


@pytest.mark.usefixtures("_stopped_clock")
def test_failures_are_limited_per_client_and_address(
    acme: Credentials, aws_faults: AwsFaults
) -> None:
    guess = acme._replace(client_secret="sws_no")
    assert [request_token(client_form(guess))[0] for _ in range(12)] == [401] * PER_CLIENT + [
        429,
        429,
    ]
    with aws_faults.recorded() as calls:
        status, headers, answer = request_token(client_form(acme))
    assert status == 429
    assert answer["error"]["code"] == "rate_limited"
    assert 1 <= int(headers["Retry-After"]) <= 60
    assert calls.operations == ["BatchGetItem"], "no KMS call"
    # other clients at this address and this client at other addresses are not limited
    assert request_token(client_form(create_client("acme", "shop")))[0] == 200
    assert request_token(client_form(acme), address="203.0.113.8")[0] == 200


@pytest.mark.usefixtures("_stopped_clock")
def test_failures_are_limited_per_address(
    acme: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 5)
    guesses = [acme._replace(client_id=f"stw_acme_{number:024}") for number in range(6)]
    answers = [
        request_token(client_form(guess), address=f"2001:db8:1:2::{number}")[0]
        for number, guess in enumerate(guesses)
    ]
    assert answers == [401] * 5 + [429]
    assert request_token(client_form(acme), address="2001:db8:1:2:ffff::1")[0] == 429
    assert request_token(client_form(acme), address="2001:db8:1:3::1")[0] == 200


@pytest.mark.usefixtures("_stopped_clock")
def test_clients_of_made_up_tenants_share_the_limit_of_an_address(
    acme: Credentials, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, one address could use up the quota of KMS."""
    monkeypatch.setattr(attempt_limits, "PER_ADDRESS", 3)
    guesses = [acme._replace(client_id=f"stw_made-up-{n}_{n:024}") for n in range(4)]
    for guess in guesses[:3]:
        assert request_token(client_form(guess))[0] == 401
    with aws_faults.recorded() as calls:
        assert request_token(client_form(guesses[3]))[0] == 429
    assert calls.operations == ["BatchGetItem"], "no KMS call"
    assert request_token(client_form(acme))[0] == 200


@pytest.mark.usefixtures("_stopped_clock")
def test_limit_on_failures_ends_with_its_minute(
    acme: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempt_limits, "PER_CLIENT", 1)
    request_token(client_form(acme._replace(client_secret="sws_no")))
    assert request_token(client_form(acme))[0] == 429
    later = time.time() + attempt_limits.WINDOW
    monkeypatch.setattr(time, "time", lambda: later)
    assert request_token(client_form(acme))[0] == 200


def test_successful_authentications_are_not_limited(acme: Credentials) -> None:
    assert {request_token(client_form(acme))[0] for _ in range(PER_CLIENT + 5)} == {200}


def test_metadata_and_key_set_contain_only_public_data() -> None:
    _, _, metadata = send("GET", "/v1/.well-known/oauth-authorization-server")
    assert metadata["issuer"] == ADDRESS
    assert metadata["token_endpoint"] == f"{ADDRESS}/oauth/token"
    assert metadata["scopes_supported"] == list(SCOPES)
    status, _, keys = send("GET", "/api/v1/.well-known/jwks.json")
    assert status == 200
    assert [set(key) for key in keys["keys"]] == [
        {"kty", "crv", "use", "alg", "kid", "x", "y"},
        {"kty", "crv", "use", "alg", "kid", "x", "y"},
    ]
    for host in ("wms.gamma.test", "WMS.gamma.test.:443"):
        own = send("GET", "/v1/.well-known/oauth-authorization-server", host=host)[2]
        assert own["issuer"] == "https://wms.gamma.test/api/v1"


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", TOKEN, 405, "POST"),
        ("DELETE", "/v1/oauth/revoke", 405, "POST"),
        ("POST", "/v1/.well-known/jwks.json", 405, "GET, HEAD"),
        ("POST", "/v1/oauth/tokens", 404, None),
        ("POST", "/v1/oauth/token/", 404, None),
        ("GET", "/v1/.well-known/../oauth", 404, None),
        ("GET", "/v2", 404, None),
    ],
)
def test_unknown_routes_and_methods_are_refused(
    method: str, path: str, status: int, allow: str | None
) -> None:
    got, headers, answer = send(method, path)
    assert got == status
    assert headers.get("Allow") == allow
    assert answer["error"]["code"] == ("not_found" if status == 404 else "method_not_allowed")
