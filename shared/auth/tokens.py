"""Access tokens: RFC 9068 JWTs, signed ES256.

A token is refused unless it has exactly the form in which this service writes tokens. The
header holds `alg`, `typ` and `kid` and nothing else, so that keys, algorithms and extensions
that a forger names (jwk, jku, x5u, crit, b64 …) are never even read.
"""

import base64
import json
import re
import time
import uuid
from collections.abc import Mapping
from typing import Any

from shared.auth import signing
from shared.auth.caller import Caller
from shared.tenancy.tenant import Tenant

LIFETIME = 3600
"""Seconds."""

_TYPE = "at+jwt"
_MAX_LENGTH = 4096
"""Characters; also the most that KMS signs, so that none longer can have been issued."""

_FORM = re.compile(r"([A-Za-z0-9_-]{1,400})\.([A-Za-z0-9_-]{1,4000})\.[A-Za-z0-9_-]{86}", re.ASCII)
_TEXTS = ("iss", "aud", "sub", "jti", "scope", "tenant", "kind")
_KINDS = ("client", "user", "mobile")
_AHEAD = 10
"""Seconds by which a token may be ahead of the clock: clocks differ, and after a revocation new
tokens count from a few seconds later (`shared.tenancy.revocations.tokens_from`)."""


class InvalidToken(Exception):
    """Not a token of this service, or no longer valid; the text is for logs, not for callers."""


def issue(
    tenant: Tenant, client_id: str, scopes: frozenset[str], *, now: float | None = None
) -> str:
    """Issue the token of an integration client.

    Args:
        tenant: The client's tenant; its base address is issuer and audience.
        client_id: The integration client.
        scopes: What the token allows.
        now: Seconds since the epoch; the clock's when left out.
    """
    issued_at = int(time.time() if now is None else now)
    return sign_claims(
        {
            "iss": tenant.base_url,
            "aud": tenant.base_url,
            "sub": client_id,
            "client_id": client_id,
            "iat": issued_at,
            "exp": issued_at + LIFETIME,
            "jti": uuid.uuid4().hex,
            "scope": " ".join(sorted(scopes)),
            "tenant": tenant.slug,
            "kind": "client",
        }
    )


def sign_claims(claims: Mapping[str, Any]) -> str:
    """Write the token of these claims, signed with the first key."""
    kid = next(iter(signing.key_ids()))
    signed = f"{_part({'alg': 'ES256', 'typ': _TYPE, 'kid': kid})}.{_part(claims)}"
    return f"{signed}.{signing.base64url(signing.sign(kid, signed.encode()))}"


def _part(content: Mapping[str, Any]) -> str:
    return signing.base64url(json.dumps(content, separators=(",", ":")).encode())


def verify(token: str, *, now: float | None = None) -> tuple[Caller, str]:
    """Check everything about a token that its text and the public keys can tell.

    Form, header and claims come first, and the signature last: nothing is computed for a
    token that could not be ours. Whether the issuer is the tenant's address, and whether the
    token is revoked, is for those to check who know the tenant.

    Args:
        token: The text after `Bearer`.
        now: Seconds since the epoch; the clock's when left out.

    Returns:
        The caller and the issuer.

    Raises:
        InvalidToken: It is not valid.
    """
    form = _FORM.fullmatch(token) if len(token) <= _MAX_LENGTH else None
    if form is None:
        raise InvalidToken("form")
    header, claims = _json(form[1]), _json(form[2])
    kid = header.get("kid")
    if not isinstance(kid, str) or kid not in signing.key_ids():
        raise InvalidToken("kid")
    if header != {"alg": "ES256", "typ": _TYPE, "kid": kid}:
        raise InvalidToken("header")
    _check_claims(claims, time.time() if now is None else now)
    _check_signature(token, kid, claims["aud"])
    return _caller(claims), claims["iss"]


def _json(part: str) -> dict[str, Any]:
    try:
        text = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
        content = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise InvalidToken("json") from error
    if not isinstance(content, dict):
        raise InvalidToken("json")
    return content


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise InvalidToken("duplicate keys")
    return content


def _check_claims(claims: Mapping[str, Any], now: float) -> None:
    if not all(type(claims.get(name)) is str for name in _TEXTS):
        raise InvalidToken("claims")
    issued_at, expires_at = claims.get("iat"), claims.get("exp")
    if type(issued_at) is not int or type(expires_at) is not int:
        raise InvalidToken("times")
    if not issued_at - _AHEAD <= now < expires_at <= issued_at + LIFETIME:
        raise InvalidToken("times")
    if "nbf" in claims or claims["aud"] != claims["iss"] or claims["kind"] not in _KINDS:
        raise InvalidToken("claims")


def _check_signature(token: str, kid: str, audience: str) -> None:
    import jwt  # noqa: PLC0415  20 ms, and only for tokens that have our form

    try:
        jwt.decode(
            token,
            signing.public_key(kid),
            algorithms=["ES256"],
            audience=audience,
            issuer=audience,
            options={
                "require": ["exp", "iat", "iss", "aud", "sub", "jti"],
                "strict_aud": True,
                # the times were checked against the clock of the caller of verify()
                "verify_exp": False,
                "verify_iat": False,
            },
        )
    except jwt.InvalidTokenError as error:
        raise InvalidToken("signature") from error


def _caller(claims: Mapping[str, Any]) -> Caller:
    client_id, second_factor = claims.get("client_id"), claims.get("second_factor")
    permissions = claims.get("permissions", "")
    if claims["kind"] == "client":
        second_factor = True  # there is none to ask a client for
    if (
        not isinstance(client_id, str | None)
        or not isinstance(permissions, str)
        or not isinstance(second_factor, bool)
    ):
        raise InvalidToken("claims")
    return Caller(
        tenant=claims["tenant"],
        subject=claims["sub"],
        kind=claims["kind"],
        client_id=client_id,
        scopes=frozenset(claims["scope"].split()),
        permissions=frozenset(permissions.split()),
        second_factor=second_factor,
        token_id=claims["jti"],
        expires_at=claims["exp"],
    )
