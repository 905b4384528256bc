"""Access tokens: JWTs in the form of RFC 9068, signed with ES256.

A token is rejected unless it has exactly the form in which this service issues tokens. The header
holds `alg`, `typ` and `kid` and nothing else, so keys, algorithms and extensions named by an
attacker (jwk, jku, x5u, crit, b64 …) are never read.
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
from shared.identity.auth.key_ring import KeysOutdated, key_ring
from shared.identity.tenancy import revocations
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.errors import Unauthenticated

LIFETIME = revocations.TOKEN_LIFETIME
"""Seconds that an access token is valid."""

SERVICE_CLIENT_ID = "stowage"
"""The claim `client_id` of users who signed in without a mobile application. RFC 9068, section 2.2,
requires the claim: the service itself is then the client. It is no registered client."""

_TYPE = "at+jwt"
_MAX_LENGTH = 4096
"""Characters. KMS signs at most 4096 bytes, so no longer token can have been issued."""

_TOKEN_PATTERN = re.compile(
    r"([A-Za-z0-9_-]{1,400})\.([A-Za-z0-9_-]{1,4000})\.[A-Za-z0-9_-]{86}", re.ASCII
)
_KID_PATTERN = re.compile(r"[0-9a-f]{16}", re.ASCII)
_TEXT_CLAIMS = ("iss", "aud", "sub", "jti", "scope", "tenant", "kind")
_KINDS = ("client", "user", "mobile")
_MAX_IAT_AHEAD = 40
"""Seconds that `iat` may lie in the future: clocks differ, and after a revocation new tokens get an
`iat` 30 s ahead (`shared.identity.tenancy.revocations.next_valid_iat`)."""


class InvalidToken(Exception):
    """The token is invalid or expired. The text is for the log, not for callers."""

    message = Unauthenticated.message
    """What the caller learns; why a token is unknown would help an attacker."""


class ExpiredToken(InvalidToken):
    """The time in the token is over. Its signature was not checked."""

    message = Unauthenticated.expired


class UnknownKey(InvalidToken):
    """No key with the token's `kid` is known, but it may be within seconds: do not remember it."""


@dataclass(frozen=True, slots=True)
class UserClaims:
    """The claims of a user's access token about the user."""

    user_id: int
    application: str | None
    """Client id of the mobile application that the user signed in with; None without one."""
    session: str
    permissions: frozenset[str]
    roles: Sequence[int]
    """Ids of the roles that the permissions come from."""
    second_factor: bool
    """False if the user has two-step verification and gave no code."""


def issue_to_client(
    tenant: Tenant, client_id: str, scopes: frozenset[str], *, now: float | None = None
) -> str:
    """Issue an access token to an integration client.

    The token's `iat` is late enough that no present revocation entry of the tenant revokes it. The
    tenant must be read before the client's scopes; its base URL is the issuer and audience. `now`
    is in seconds since the epoch; the current time if omitted.
    """
    own = {"client_id": client_id, "scope": " ".join(sorted(scopes)), "kind": "client"}
    return _issue(tenant, client_id, own, now)


def issue_to_user(tenant: Tenant, user: UserClaims, *, now: float | None = None) -> str:
    """Issue an access token to a user, with or without a mobile application.

    As `issue_to_client`; the tenant must be read before the user's permissions.
    """
    own = {
        "client_id": user.application or SERVICE_CLIENT_ID,
        "scope": "",
        "kind": "mobile" if user.application else "user",
        "sid": user.session,
        "permissions": " ".join(sorted(user.permissions)),
        "roles": " ".join(map(str, sorted(user.roles))),
        "second_factor": user.second_factor,
    }
    return _issue(tenant, str(user.user_id), own, now)


def _issue(tenant: Tenant, subject: str, own: Mapping[str, Any], now: float | None) -> str:
    """Issue a token that no present revocation entry revokes; `own` are claims of its kind."""
    claims = {
        "iss": tenant.base_url,
        "aud": tenant.base_url,
        "sub": subject,
        # revocation entries of tokens are counted per subject
        "jti": f"{subject}-{uuid.uuid4().hex}",
        "tenant": tenant.slug,
        **own,
    }
    keys = revocations.revocation_keys(_caller({**claims, "exp": 0}))
    earliest = revocations.earliest_valid_iat(tenant.revoked, keys)
    issued_at = max(int(time.time() if now is None else now), earliest)
    revocations.wait_until_revocable(issued_at)
    return sign_claims({**claims, "iat": issued_at, "exp": issued_at + LIFETIME})


def sign_claims(claims: Mapping[str, Any]) -> str:
    """Return a token with these claims, signed with the current signing key."""
    key = key_ring.signing_key()
    signed = f"{_part({'alg': 'ES256', 'typ': _TYPE, 'kid': key.kid})}.{_part(claims)}"
    return f"{signed}.{signing.base64url(signing.sign(key.kms_key, signed.encode()))}"


def _part(content: Mapping[str, Any]) -> str:
    return signing.base64url(json.dumps(content, separators=(",", ":")).encode())


def verify(token: str) -> tuple[Caller, str]:
    """Verify the form, header, claims and signature of an access token.

    The signature is checked last, so that an obviously foreign token costs no computation. The
    caller of this function must check that the issuer is the tenant's base URL and that the token
    is not revoked. `token` is the text after `Bearer`.

    Returns:
        The caller and the issuer.

    Raises:
        InvalidToken: The token is not valid.
        ExpiredToken: The same; its time is over.
        UnknownKey: The same; it may be valid once the keys can be read again.
    """
    form = _TOKEN_PATTERN.fullmatch(token) if len(token) <= _MAX_LENGTH else None
    if form is None:
        raise InvalidToken("form")
    header, claims = _json(form[1]), _json(form[2])
    kid = header.get("kid")
    if not isinstance(kid, str) or header != {"alg": "ES256", "typ": _TYPE, "kid": kid}:
        raise InvalidToken("header")
    if not _KID_PATTERN.fullmatch(kid):
        raise InvalidToken("kid")
    _check_claims(claims, time.time())
    caller = _caller(claims)
    try:
        key = key_ring.find(kid, claims["iat"])
    except KeysOutdated:
        raise UnknownKey("kid") from None
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
    if not issued_at - _MAX_IAT_AHEAD <= now or expires_at > issued_at + LIFETIME:
        raise InvalidToken("times")
    if "nbf" in claims or claims["aud"] != claims["iss"] or claims["kind"] not in _KINDS:
        raise InvalidToken("claims")
    if now >= expires_at:
        raise ExpiredToken("expired")


def _check_signature(token: str, kms_key: str, audience: str) -> None:
    import jwt  # noqa: PLC0415  20 ms, only needed for well-formed tokens

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
                # _check_claims has checked the times, against `now`
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
        second_factor = True  # integration clients have no second factor
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
        client_id=None if client_id == SERVICE_CLIENT_ID else client_id,
        scopes=frozenset(claims["scope"].split()),
        permissions=frozenset(permissions.split()),
        second_factor=second_factor,
        token_id=claims["jti"],
        expires_at=claims["exp"],
        session=session,
        roles=frozenset(roles.split()),
    )
