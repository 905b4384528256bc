"""Forged and altered tokens are denied; requests without a token are Unauthorized."""

import base64
import hashlib
import hmac
import io
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from functions.authorizer.app import lambda_handler
from shared.identity.auth import signing, tokens
from shared.identity.auth.tokens import sign_claims
from shared.kernel.config import config
from tests.cases import each_case
from tests.faults import AwsFaults
from tests.integration.auth.conftest import deployed_with_tenants
from tests.stack import ADDRESS, clear_caches_except_clients

ARN = "arn:aws:execute-api:eu-west-1:123456789012:abc123/api/GET/v1/products/7"


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims(**changes: Any) -> dict[str, Any]:
    """Return valid claims with changes; a claim that is changed to None is left out."""
    now = int(time.time())
    good = {
        "iss": ADDRESS,
        "aud": ADDRESS,
        "sub": "stw_1",
        "client_id": "stw_1",
        "iat": now,
        "exp": now + 3600,
        "jti": "j1",
        "scope": "products:read",
        "tenant": "acme",
        "kind": "client",
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not None}


def user_claims(kind: str = "user", **changes: Any) -> dict[str, Any]:
    """Return the changes that turn valid claims into those of a user."""
    good = {
        "kind": kind,
        "sub": "7",
        "sid": "7-" + "0" * 24,
        "permissions": "entries.manage",
        "roles": "1 2",
        "scope": "",
        "second_factor": True,
    }
    return {**good, **changes}


@dataclass
class TokenForger:
    """Builds tokens like an attacker who can sign anything with the service's key."""

    key: str
    """Id of the KMS key that signs."""

    @property
    def kid(self) -> str:
        return signing.kid_of(self.key)

    def header(self, **changes: Any) -> dict[str, Any]:
        good = {"alg": "ES256", "typ": "at+jwt", "kid": self.kid}
        return {name: value for name, value in {**good, **changes}.items() if value is not None}

    def signed(self, header: str, payload: str) -> str:
        """Return a token with this header and payload, correctly signed."""
        text = f"{b64(header.encode())}.{b64(payload.encode())}"
        return f"{text}.{b64(signing.sign(self.key, text.encode()))}"

    def with_header(self, **changes: Any) -> str:
        return self.signed(json.dumps(self.header(**changes)), json.dumps(claims()))

    def with_claims(self, **changes: Any) -> str:
        return self.signed(json.dumps(self.header()), json.dumps(claims(**changes)))

    def with_signature(self, header: Mapping[str, Any], signature: bytes) -> str:
        return f"{self.unsigned(header)}.{b64(signature)}"

    def unsigned(self, header: Mapping[str, Any]) -> str:
        return f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims()).encode())}"

    def hmac_with(self, key: bytes) -> str:
        text = self.unsigned(self.header(alg="HS256"))
        return f"{text}.{b64(hmac.digest(key, text.encode(), hashlib.sha256))}"

    def pem(self) -> bytes:
        return signing.public_key(self.key).public_bytes(
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
        )

    def jwk(self) -> dict[str, Any]:
        return signing.key_set([self.key])["keys"][0]


@pytest.fixture(scope="module")
def aws_faults() -> Iterator[AwsFaults]:
    """One stack for all attacks, none of which may change anything."""
    with deployed_with_tenants() as aws_faults:
        yield aws_faults


@pytest.fixture
def forge(aws_faults: AwsFaults) -> TokenForger:
    assert aws_faults
    return TokenForger(config().signing_keys[0])


def authorize(token: str, host: str = "api.stowage.test", scheme: str = "Bearer") -> dict[str, Any]:
    headers = {"Authorization": f"{scheme} {token}", "Host": host}
    return lambda_handler({"headers": headers, "methodArn": ARN}, None)


def is_denied(verdict: dict[str, Any]) -> bool:
    (statement,) = verdict["policyDocument"]["Statement"]
    return statement["Effect"] == "Deny" and [*verdict["context"]] == ["refusal"]


def with_changed_signature(token: str) -> str:
    """Return the token with one bit of its signature changed."""
    text, _, signature = token.rpartition(".")
    raw = bytearray(base64.urlsafe_b64decode(signature + "=="))
    raw[0] ^= 1
    return f"{text}.{b64(bytes(raw))}"


HOUR = 3600
ATTACKS: dict[str, Callable[[TokenForger], str]] = {
    # algorithms
    "alg none, no signature": lambda f: f.unsigned(f.header(alg="none")) + ".",
    "alg none, two parts": lambda f: f.unsigned(f.header(alg="none")),
    "alg None": lambda f: f.with_signature(f.header(alg="None"), bytes(64)),
    "alg none with a true signature": lambda f: f.with_header(alg="none"),
    "alg missing": lambda f: f.with_header(alg=None),
    "alg a list": lambda f: f.with_header(alg=["ES256"]),
    "alg ES384": lambda f: f.with_header(alg="ES384"),
    "empty signature": lambda f: f.unsigned(f.header()) + ".",
    "HS256 with the public key as PEM": lambda f: f.hmac_with(f.pem()),
    "HS256 with the public key as JWK": lambda f: f.hmac_with(json.dumps(f.jwk()).encode()),
    "HS256 with a true signature": lambda f: f.with_header(alg="HS256"),
    # signatures
    "r = s = 0": lambda f: f.with_signature(f.header(), bytes(64)),
    "r and s at the order of the curve": lambda f: f.with_signature(
        f.header(),
        bytes.fromhex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") * 2,
    ),
    "one bit of the signature changed": lambda f: with_changed_signature(f.with_claims()),
    "signature in DER": lambda f: f.with_signature(f.header(), b"\x30\x44" + bytes(68)),
    "signature of other claims": lambda f: (
        f.unsigned(f.header()) + "." + f.with_claims(tenant="beta").rpartition(".")[2]
    ),
    "signed by the other key": lambda f: TokenForger(config().signing_keys[1]).signed(
        json.dumps(f.header()), json.dumps(claims())
    ),
    # headers
    "unknown crit": lambda f: f.with_header(crit=["x"], x=1),
    "empty crit": lambda f: f.with_header(crit=[]),
    "b64 false": lambda f: f.with_header(b64=False, crit=["b64"]),
    "b64 false without crit": lambda f: f.with_header(b64=False),
    "embedded jwk": lambda f: f.with_header(jwk=f.jwk()),
    "jku": lambda f: f.with_header(jku="https://evil.test/keys.json"),
    "x5u": lambda f: f.with_header(x5u="https://evil.test/cert.pem"),
    "x5c": lambda f: f.with_header(x5c=["MIIB"]),
    "zip": lambda f: f.with_header(zip="DEF"),
    "kid with a path": lambda f: f.with_header(kid="../../../../dev/null"),
    "kid with SQL": lambda f: f.with_header(kid="x' UNION SELECT 'key"),
    "kid missing": lambda f: f.with_header(kid=None),
    "kid a list": lambda f: f.with_header(kid=[f.kid]),
    "kid a number": lambda f: f.with_header(kid=1),
    "typ JWT": lambda f: f.with_header(typ="JWT"),
    "typ of an id token": lambda f: f.with_header(typ="id+jwt"),
    "typ in capitals": lambda f: f.with_header(typ="AT+JWT"),
    "typ missing": lambda f: f.with_header(typ=None),
    "header an array": lambda f: f.signed("[]", json.dumps(claims())),
    "header nested deeply": lambda f: f.signed("[" * 250, json.dumps(claims())),
    # JSON
    "tenant twice": lambda f: f.signed(
        json.dumps(f.header()), json.dumps(claims())[:-1] + ',"tenant":"beta"}'
    ),
    "alg twice": lambda f: f.signed(
        json.dumps(f.header())[:-1] + ',"alg":"ES256"}', json.dumps(claims())
    ),
    "payload no JSON": lambda f: f.signed(json.dumps(f.header()), "{"),
    "payload an array": lambda f: f.signed(json.dumps(f.header()), "[1]"),
    "payload not UTF-8": lambda f: f.unsigned(f.header()).split(".")[0] + "._w." + "A" * 86,
    "payload nested deeply": lambda f: f.signed(json.dumps(f.header()), '{"a":' * 500),
    # times
    "exp as text": lambda f: f.with_claims(exp=str(int(time.time()) + HOUR)),
    "exp huge": lambda f: f.with_claims(exp=10**300),
    "exp in a year": lambda f: f.with_claims(exp=int(time.time()) + 365 * 24 * HOUR),
    "exp a fraction": lambda f: f.with_claims(exp=time.time() + 60),
    "exp true": lambda f: f.with_claims(exp=True),
    "exp Infinity": lambda f: f.signed(
        json.dumps(f.header()), json.dumps(claims(exp=float("inf")))
    ),
    "exp missing": lambda f: f.with_claims(exp=None),
    "exp past": lambda f: f.with_claims(exp=int(time.time()) - 1, iat=int(time.time()) - 60),
    "iat in the future": lambda f: f.with_claims(
        iat=int(time.time()) + 60, exp=int(time.time()) + 120
    ),
    "iat missing": lambda f: f.with_claims(iat=None),
    "nbf in the future": lambda f: f.with_claims(nbf=int(time.time()) + 60),
    # issuer, audience, tenant and kind
    "aud a list": lambda f: f.with_claims(aud=[ADDRESS]),
    "aud a part of ours": lambda f: f.with_claims(aud=ADDRESS[:-1]),
    "aud longer than ours": lambda f: f.with_claims(aud=ADDRESS + "/x"),
    "aud missing": lambda f: f.with_claims(aud=None),
    "foreign iss": lambda f: f.with_claims(iss="https://evil.test/api/v1"),
    "foreign iss and aud": lambda f: f.with_claims(
        iss="https://evil.test/api/v1", aud="https://evil.test/api/v1"
    ),
    "iss missing": lambda f: f.with_claims(iss=None),
    "tenant of another address": lambda f: f.with_claims(tenant="gamma"),
    "tenant that does not exist": lambda f: f.with_claims(tenant="nobody"),
    "tenant missing": lambda f: f.with_claims(tenant=None),
    "tenant an object": lambda f: f.with_claims(tenant={"S": "acme"}),
    "unknown kind": lambda f: f.with_claims(kind="admin"),
    "user with permissions as a list": lambda f: f.with_claims(
        kind="user", second_factor=True, permissions=["users.manage"]
    ),
    "user without word on the second factor": lambda f: f.with_claims(kind="user"),
    "user with a second factor in words": lambda f: f.with_claims(
        **user_claims(second_factor="true")
    ),
    "user with a second factor of 1": lambda f: f.with_claims(**user_claims(second_factor=1)),
    "user with roles as a list": lambda f: f.with_claims(**user_claims(roles=["1"])),
    "user with a number of roles": lambda f: f.with_claims(**user_claims(roles=1)),
    "user with permissions as an object": lambda f: f.with_claims(
        **user_claims(permissions={"a": 1})
    ),
    "user with a session as a number": lambda f: f.with_claims(**user_claims(sid=1)),
    "user with a session as a list": lambda f: f.with_claims(**user_claims(sid=["1-0"])),
    "mobile with a list of clients": lambda f: f.with_claims(
        **user_claims("mobile", client_id=["a"])
    ),
    "mobile with an object for a client": lambda f: f.with_claims(
        **user_claims("mobile", client_id={})
    ),
    "kind a list": lambda f: f.with_claims(kind=["user"]),
    "scope a list": lambda f: f.with_claims(scope=["products:read"]),
    "subject a number": lambda f: f.with_claims(sub=7),
    "jti missing": lambda f: f.with_claims(jti=None),
    # form
    "no token": lambda _: "hello",
    "four parts": lambda f: f.with_claims() + ".x",
    "five parts, as JWE": lambda _: "a.b.c.d.e",
    "newline at the end": lambda f: f.with_claims() + "\n",
    "padding": lambda f: f.with_claims() + "=",
    "standard base64": lambda f: f.with_claims()[:-1] + "+",
    "a megabyte": lambda f: f.with_claims() + "A" * 1_000_000,
    "a megabyte of dots": lambda _: "." * 1_000_000,
    "text beyond ASCII": lambda f: "é" + f.with_claims(),
    "more spaces": lambda f: "  " + f.with_claims(),
}


def test_genuine_client_token_is_accepted(forge: TokenForger) -> None:
    assert authorize(forge.with_claims())["context"]["tenant"] == "acme"


def test_genuine_user_token_is_accepted(forge: TokenForger) -> None:
    for kind in ("user", "mobile"):
        context = authorize(forge.with_claims(**user_claims(kind)))["context"]
        assert (context["kind"], context["roles"]) == (kind, "1 2")
        assert context["session"] == "7-" + "0" * 24


@each_case("attack", ATTACKS)
def test_forged_token_is_rejected(attack: str, forge: TokenForger) -> None:
    verdict = authorize(ATTACKS[attack](forge))
    assert is_denied(verdict)
    word = "expired" if attack == "exp past" else "unknown"
    assert word in verdict["context"]["refusal"]


@pytest.mark.parametrize("scheme", ["Basic", "", "Token", "Bearer,Bearer"])
def test_token_with_another_scheme_is_rejected(scheme: str, forge: TokenForger) -> None:
    with pytest.raises(Exception, match=r"\AUnauthorized\Z"):
        authorize(forge.with_claims(), scheme=scheme)


@pytest.mark.parametrize(
    "headers", [None, {}, {"host": "x"}, {"authorization": None}, {"authorization": "Bearer "}]
)
def test_request_without_token_is_rejected(
    headers: dict[str, Any] | None, aws_faults: AwsFaults
) -> None:
    assert aws_faults
    with pytest.raises(Exception, match=r"\AUnauthorized\Z"):
        lambda_handler({"headers": headers, "methodArn": ARN}, None)


def test_oversized_token_is_rejected_before_decoding(
    aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_json", lambda _: pytest.fail("it was decoded"))
    with aws_faults.recorded() as calls:
        assert is_denied(authorize("A" * 5000 + "." + "B" * 5000 + "." + "C" * 86))
    assert calls.operations == []


def test_forged_token_causes_no_kms_call(forge: TokenForger, aws_faults: AwsFaults) -> None:
    bad, impossible = forge.with_header(kid="0" * 16), forge.with_header(kid="other")
    clear_caches_except_clients()
    with aws_faults.recorded() as calls:
        assert is_denied(authorize(bad))
    assert calls.operations == ["GetItem"], "one read of the signing keys"
    with (
        aws_faults.recorded() as calls,
        pytest.raises(Exception, match=r"\AUnauthorized\Z"),
    ):
        authorize(bad)  # the key may have been listed meanwhile: not to be cached
    assert calls.operations == []
    with aws_faults.recorded() as calls:
        assert is_denied(authorize(impossible))
    assert calls.operations == [], "no key has such an id"


@pytest.mark.parametrize(
    "host", ["wms.gamma.test", "WMS.gamma.test:443", "wms.gamma.test.", "wms.gamma.test.:443"]
)
def test_tokens_of_other_tenants_are_rejected_at_a_registered_host(
    forge: TokenForger, host: str
) -> None:
    assert is_denied(authorize(forge.with_claims(), host=host))


def test_shared_host_serves_every_tenant_without_own_host(forge: TokenForger) -> None:
    assert authorize(forge.with_claims(tenant="beta"))["context"]["tenant"] == "beta"


def test_log_contains_no_token(forge: TokenForger, log: io.StringIO) -> None:
    token = with_changed_signature(forge.with_claims())
    assert is_denied(authorize(token))
    logged = log.getvalue()
    assert "token rejected" in logged
    assert token not in logged
    assert token.split(".")[1] not in logged


def test_token_signed_with_the_older_key_is_accepted(forge: TokenForger) -> None:
    older = TokenForger(config().signing_keys[1])
    assert authorize(older.with_claims())["context"]["jti"] == "j1"
    assert authorize(sign_claims(claims()))["context"]["jti"] == "j1"
    assert forge.kid != older.kid
