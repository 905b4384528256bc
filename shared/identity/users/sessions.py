"""Sessions of users, each with one refresh token that is rotated at every use.

A session is the item `session#SID` / `HEAD` of the tenant's table. A refresh token has the form
`str_SLUG.SID.FAMILYSECRET`. FAMILY identifies the token family: 128 random bits, the same in all
refresh tokens of a session. SECRET has 256 random bits and is new in every token. A token with the
right FAMILY and another SECRET than the current one has been used before. A token with a wrong
FAMILY is forged; the id of the session, which every access token contains, is therefore not enough
to end it. Only digests are stored, because random values of this length cannot be guessed.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field, replace
from typing import Any

from shared.identity.tenancy.tenant import SLUG
from shared.kernel.db.actions import ErrorFactory
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.table import EXPIRY, PARTITION_KEY
from shared.kernel.db.transaction import Transaction

LIFETIME = 30 * 24 * 3600
"""Seconds after its last use at which a session expires."""

_TOKEN_PATTERN = re.compile(
    rf"str_({SLUG})\.(([1-9][0-9]{{0,11}})-[0-9a-f]{{24}})\."
    r"([A-Za-z0-9_-]{22})([A-Za-z0-9_-]{43})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """The parts of a refresh token, genuine or forged."""

    tenant: str
    session: str
    user_id: int
    family: str = field(repr=False)
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """The text of the token."""
        return f"str_{self.tenant}.{self.session}.{self.family}{self.secret}"

    def rotated(self) -> "RefreshToken":
        """Return the token that replaces this one."""
        return replace(self, secret=secrets.token_urlsafe(32))


def parse_refresh_token(text: str) -> RefreshToken | None:
    """Parse a refresh token; return None if `text` does not have its form."""
    match = _TOKEN_PATTERN.fullmatch(text)
    return RefreshToken(match[1], match[2], int(match[3]), match[4], match[5]) if match else None


def new_refresh_token(tenant: str, user_id: int) -> RefreshToken:
    """Return the first refresh token of a new session."""
    return RefreshToken(
        tenant=tenant,
        session=f"{user_id}-{secrets.token_hex(12)}",
        user_id=user_id,
        family=secrets.token_urlsafe(16),
        secret=secrets.token_urlsafe(32),
    )


@dataclass(frozen=True, slots=True)
class Session:
    """A session as stored."""

    id: str
    user_id: int
    client_id: str | None
    """The mobile application that the user signed in with; None without one."""
    second_factor: bool
    """Whether the user gave a code when signing in."""
    epoch: int
    """The epoch of the login when the session began; see `Login.allows_session`."""
    generation: int
    """Number of refresh tokens issued in the session."""
    created_at: int
    expires_at: int
    """Seconds since the epoch."""
    family: bytes = field(repr=False)
    secret: bytes = field(repr=False)
    """Digests of FAMILY and of the current SECRET."""

    def has_family_of(self, token: RefreshToken) -> bool:
        """Return whether a token belongs to the token family of this session."""
        return hmac.compare_digest(self.family, _digest(token.family))

    def is_current(self, token: RefreshToken) -> bool:
        """Return whether a token of the family is the current one."""
        return hmac.compare_digest(self.secret, _digest(token.secret))


def session_key(session_id: str) -> Key:
    """Return the key of a session."""
    return (f"session#{session_id}", "HEAD")


def session_from_item(item: Item | None) -> Session | None:
    """Parse a session's item; return None without an item."""
    if item is None:
        return None
    values: dict[str, Any] = {name: item.get(name) for name in Session.__slots__}
    values |= {"id": item[PARTITION_KEY].removeprefix("session#"), "expires_at": item[EXPIRY]}
    return Session(**values)


def create(  # noqa: PLR0913  the properties of a session
    tx: Transaction,
    token: RefreshToken,
    *,
    client_id: str | None,
    second_factor: bool,
    epoch: int,
    now: int,
) -> None:
    """Add a new session with its first refresh token; `now` is in seconds since the epoch."""
    item = item_at(
        session_key(token.session),
        user_id=token.user_id,
        client_id=client_id,
        second_factor=second_factor,
        epoch=epoch,
        generation=1,
        created_at=now,
        family=_digest(token.family),
        secret=_digest(token.secret),
        **{EXPIRY: now + LIFETIME},
    )
    tx.insert(item)


def rotate(
    tx: Transaction,
    session: Session,
    new: RefreshToken,
    *,
    now: int,
    on_condition_failed: ErrorFactory,
) -> None:
    """Add the replacement of the session's refresh token, on the condition that it is unchanged."""
    tx.update(
        session_key(session.id),
        "SET #secret = :new, #generation = :next, #expiry = :expires_at",
        names={"#secret": "secret", "#generation": "generation", "#expiry": EXPIRY},
        condition="#secret = :seen AND #generation = :generation",
        values={
            ":new": _digest(new.secret),
            ":next": session.generation + 1,
            ":expires_at": now + LIFETIME,
            ":seen": session.secret,
            ":generation": session.generation,
        },
        on_condition_failed=on_condition_failed,
    )


def delete(tx: Transaction, session_id: str) -> None:
    """Add the deletion of a session, on the condition that it exists."""
    tx.delete(session_key(session_id), condition=f"attribute_exists({PARTITION_KEY})")


def _digest(part: str) -> bytes:
    return hashlib.sha256(part.encode()).digest()
