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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.identity.auth import signing
from shared.identity.auth.key_ring import key_ring
from shared.identity.tenancy import revocations
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller

LIFETIME = 3600
"""Seconds."""

_TYPE = "at+jwt"
_MAX_LENGTH = 4096
"""Characters; also the most that KMS signs, so that none longer can have been issued."""

_TOKEN_PATTERN = re.compile(
    r"([A-Za-z0-9_-]{1,400})\.([A-Za-z0-9_-]{1,4000})\.[A-Za-z0-9_-]{86}", re.ASCII
)
_TEXT_CLAIMS = ("iss", "aud", "sub", "jti", "scope", "tenant", "kind")
_KINDS = ("client", "user", "mobile")
_MAX_IAT_AHEAD = 40
"""Seconds by which a token may be ahead of the clock: clocks differ, and after a revocation new
tokens count from half a minute later (`shared.identity.tenancy.revocations.next_valid_iat`)."""


class InvalidToken(Exception):
    """Not a token of this service, or no longer valid; the text is for logs, not for callers."""


@dataclass(frozen=True, slots=True)
class UserClaims:
    """What a user's token says of the user."""

    user_id: int
    application: str | None
    """Client id of the mobile application that they signed in by, None without one."""
    session: str
    permissions: frozenset[str]
    roles: Sequence[int]
    """Ids of the roles that the permissions come from."""
    second_factor: bool
    """False: two-step verification is on, and no code was given."""


def issue(
    tenant: Tenant, client_id: str, scopes: frozenset[str], *, now: float | None = None
) -> str:
    """Issue the token of an integration client; no mark of the tenant's so far stops it.

    Args:
        tenant: The client's tenant, read before the client's rights; its base address is issuer
            and audience.
        client_id: The integration client.
        scopes: What the token allows.
        now: Seconds since the epoch; the clock's when left out.
    """
    claims = {
        **_common_claims(tenant, client_id),
        "client_id": client_id,
        "scope": " ".join(sorted(scopes)),
        "kind": "client",
    }
    return sign_claims(claims | _lifetime_claims(tenant, claims, now))


def issue_to_user(tenant: Tenant, user: UserClaims, *, now: float | None = None) -> str:
    """Issue the token of a user, or of the mobile application that they use, as `issue` does.

    Args:
        tenant: The user's tenant, read before the user's rights; its base address is issuer and
            audience.
        grant: Who the user is and what they may do.
        now: Seconds since the epoch; the clock's when left out.
    """
    claims = {
        **_common_claims(tenant, str(user.user_id)),
        "scope": "",
        "kind": "mobile" if user.application else "user",
        "sid": user.session,
        "permissions": " ".join(sorted(user.permissions)),
        "roles": " ".join(map(str, sorted(user.roles))),
        "second_factor": user.second_factor,
    }
    if user.application:
        claims["client_id"] = user.application
    return sign_claims(claims | _lifetime_claims(tenant, claims, now))


def _common_claims(tenant: Tenant, subject: str) -> dict[str, Any]:
    return {
        "iss": tenant.base_url,
        "aud": tenant.base_url,
        "sub": subject,
        "jti": uuid.uuid4().hex,
        "tenant": tenant.slug,
    }


def _lifetime_claims(
    tenant: Tenant, claims: Mapping[str, Any], now: float | None
) -> dict[str, int]:
    """Return when a token begins and ends: after what the marks that it bears stop."""
    marks = revocations.revocation_keys(_caller({**claims, "exp": 0}))
    counts_from = revocations.earliest_valid_iat(tenant.revoked, marks)
    issued_at = max(int(time.time() if now is None else now), counts_from)
    revocations.wait_until_revocable(issued_at)
    return {"iat": issued_at, "exp": issued_at + LIFETIME}


def sign_claims(claims: Mapping[str, Any]) -> str:
    """Write the token of these claims, signed with the key whose turn it is."""
    key = key_ring.signing_key()
    signed = f"{_part({'alg': 'ES256', 'typ': _TYPE, 'kid': key.kid})}.{_part(claims)}"
    return f"{signed}.{signing.base64url(signing.sign(key.kms_key, signed.encode()))}"


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
    form = _TOKEN_PATTERN.fullmatch(token) if len(token) <= _MAX_LENGTH else None
    if form is None:
        raise InvalidToken("form")
    header, claims = _json(form[1]), _json(form[2])
    kid = header.get("kid")
    if not isinstance(kid, str) or header != {"alg": "ES256", "typ": _TYPE, "kid": kid}:
        raise InvalidToken("header")
    _check_claims(claims, time.time() if now is None else now)
    caller = _caller(claims)
    key = key_ring.find(kid)
    if key is None:
        raise InvalidToken("kid")
    _check_signature(token, key.kms_key, claims["aud"])
    return caller, claims["iss"]


def _json(part: str) -> dict[str, Any]:
    try:
        text = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()
        content = json.loads(text, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise InvalidToken("json") from error
    if not isinstance(content, dict):
        raise InvalidToken("json")
    return content


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise InvalidToken("duplicate keys")
    return content


def _check_claims(claims: Mapping[str, Any], now: float) -> None:
    if not all(type(claims.get(name)) is str for name in _TEXT_CLAIMS):
        raise InvalidToken("claims")
    issued_at, expires_at = claims.get("iat"), claims.get("exp")
    if type(issued_at) is not int or type(expires_at) is not int:
        raise InvalidToken("times")
    if not issued_at - _MAX_IAT_AHEAD <= now < expires_at <= issued_at + LIFETIME:
        raise InvalidToken("times")
    if "nbf" in claims or claims["aud"] != claims["iss"] or claims["kind"] not in _KINDS:
        raise InvalidToken("claims")


def _check_signature(token: str, kms_key: str, audience: str) -> None:
    import jwt  # noqa: PLC0415  20 ms, and only for tokens that have our form

    try:
        jwt.decode(
            token,
            signing.public_key(kms_key),
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
    client_id, session = claims.get("client_id"), claims.get("sid")
    permissions, roles = claims.get("permissions", ""), claims.get("roles", "")
    second_factor = claims.get("second_factor")
    if claims["kind"] == "client":
        second_factor = True  # there is none to ask a client for
    if (
        not isinstance(client_id, str | None)
        or not isinstance(session, str | None)
        or not isinstance(permissions, str)
        or not isinstance(roles, str)
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
        session=session,
        roles=frozenset(roles.split()),
    )
