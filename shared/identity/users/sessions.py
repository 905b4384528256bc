"""What goes on after a sign-in: sessions, each with one refresh token that changes at every use.

An item `session#SID` / `HEAD` of the tenant's table. The text of a token is
`str_SLUG.SID.FAMILYSECRET`: FAMILY, 128 random bits, stays the same as long as the session
lasts, and SECRET, 256, is new in every token. Whoever shows the right FAMILY with a SECRET that
is not the current one has a token of the session that was used already; whoever shows a wrong
FAMILY has none at all, and knowing the session's id, as every access token tells it, is not
enough to end it. Only digests are stored: there is nothing to guess such texts by.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field, replace

from shared.identity.tenancy.tenant import SLUG
from shared.kernel.db.items import Item, Key
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import ErrorFactory, Transaction

LIFETIME = 30 * 24 * 3600
"""Seconds from its last use until a session has ended."""

_TOKEN_PATTERN = re.compile(
    rf"str_({SLUG})\.(([1-9][0-9]{{0,11}})-[0-9a-f]{{24}})\."
    r"([A-Za-z0-9_-]{22})([A-Za-z0-9_-]{43})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """The parts of a refresh token's text, true or not."""

    tenant: str
    session: str
    user_id: int
    family: str = field(repr=False)
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """The token as its holder has it."""
        return f"str_{self.tenant}.{self.session}.{self.family}{self.secret}"

    def rotated(self) -> "RefreshToken":
        """Make the token that replaces this one."""
        return replace(self, secret=secrets.token_urlsafe(32))


def parse_refresh_token(text: str) -> RefreshToken | None:
    """Read a refresh token's text; None when it is none."""
    form = _TOKEN_PATTERN.fullmatch(text)
    return RefreshToken(form[1], form[2], int(form[3]), form[4], form[5]) if form else None


def new_token(tenant: str, user_id: int) -> RefreshToken:
    """Make the first token of a new session."""
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
    """The mobile application that the user signed in by, None without one."""
    second_factor: bool
    """Whether a code was given besides the password."""
    epoch: int
    """Of the login, when it began; see `Login.admits`."""
    generation: int
    """How many tokens it has had."""
    created_at: int
    expires_at: int
    """Seconds since the epoch."""
    family: bytes = field(repr=False)
    secret: bytes = field(repr=False)
    """Digests of the parts of its current token."""

    def has_family_of(self, token: RefreshToken) -> bool:
        """Tell whether a token is or was one of this session."""
        return hmac.compare_digest(self.family, _digest(token.family))

    def is_current(self, token: RefreshToken) -> bool:
        """Tell whether a token is the one that may be used."""
        return hmac.compare_digest(self.secret, _digest(token.secret))


def session_key(session_id: str) -> Key:
    """Key of a session."""
    return (f"session#{session_id}", "HEAD")


def session_from_item(item: Item | None) -> Session | None:
    """Read a session's item."""
    if item is None:
        return None
    return Session(
        id=item[PARTITION_KEY].removeprefix("session#"),
        user_id=item["user_id"],
        client_id=item.get("client_id"),
        second_factor=item["second_factor"],
        epoch=item["epoch"],
        generation=item["generation"],
        created_at=item["created_at"],
        expires_at=item[EXPIRY],
        family=item["family"],
        secret=item["secret"],
    )


def create(  # noqa: PLR0913  what a session is begun with
    tx: Transaction,
    token: RefreshToken,
    *,
    client_id: str | None,
    second_factor: bool,
    epoch: int,
    now: int,
) -> None:
    """Stage a new session with its first token; `now` in seconds since the epoch."""
    partition, sort = session_key(token.session)
    tx.insert(
        {
            PARTITION_KEY: partition,
            SORT_KEY: sort,
            "user_id": token.user_id,
            "client_id": client_id,
            "second_factor": second_factor,
            "epoch": epoch,
            "generation": 1,
            "created_at": now,
            EXPIRY: now + LIFETIME,
            "family": _digest(token.family),
            "secret": _digest(token.secret),
        }
    )


def rotate(
    tx: Transaction,
    session: Session,
    new: RefreshToken,
    *,
    now: int,
    on_condition_failed: ErrorFactory,
) -> None:
    """Stage that a new token takes the place of the session's, unless it is not as seen."""
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
    """Stage the end of a session; overtaken when it has ended."""
    tx.delete(session_key(session_id), condition=f"attribute_exists({PARTITION_KEY})")


def _digest(part: str) -> bytes:
    return hashlib.sha256(part.encode()).digest()
