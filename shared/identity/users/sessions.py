"""Sessions of users, each with one refresh token that is rotated at every use.

A session is the item `session#SID` / `HEAD` of the tenant's table. A refresh token has the form
`str_SLUG.SID.FAMILYSECRET`. FAMILY identifies the token family: 128 random bits, the same in all
refresh tokens of a session. SECRET has 256 random bits and is new in every token. A token with the
right FAMILY and another SECRET than the current one has been used before. A token with a wrong
FAMILY is forged; the id of the session, which every access token contains, is therefore not enough
to end it. Only digests are stored, because random values of this length cannot be guessed.

The sessions of a user are in index 1, under `session#USER`, by the time of the sign-in.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field, replace
from typing import Any

from shared.identity.tenancy import revocations
from shared.identity.tenancy.tenant import SLUG
from shared.identity.users.repository import UserAccount
from shared.kernel.clock import instant
from shared.kernel.db.actions import ErrorFactory
from shared.kernel.db.facets import id_text
from shared.kernel.db.items import Item, Key, item_at, key_of
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, index_keys, index_name
from shared.kernel.db.transaction import Transaction

LIFETIME = 30 * 24 * 3600
"""Seconds after its last use at which a session expires."""

LONGEST = 90 * 24 * 3600
LONGEST_OF_ADMINISTRATOR = 12 * 3600
"""Seconds after the sign-in at which a session ends, however often it is used."""

_INDEX = 1

MOST_LISTED = 100
"""Most sessions of a user that are listed, the newest ones."""

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
    used_at: int | None
    """When the last refresh token was issued; None for a session that an earlier release used
    last."""
    expires_at: int
    """Seconds since the epoch."""
    family: bytes = field(repr=False)
    secret: bytes = field(repr=False)
    """Digests of FAMILY and of the current SECRET."""

    def has_family_of(self, token: RefreshToken) -> bool:
        """Return whether a token belongs to the token family of this session."""
        return hmac.compare_digest(self.family, _digest(token.family))

    @property
    def last_use(self) -> int:
        """When the last refresh token was issued, in seconds since the epoch."""
        return self.used_at or self.expires_at - LIFETIME

    def end(self, *, administrator: bool) -> int:
        """Return when the session ends if it is not used again, in seconds since the epoch.

        `administrator` is whether the user has the permission `users.manage` now.
        """
        longest = LONGEST_OF_ADMINISTRATOR if administrator else LONGEST
        return min(self.expires_at, self.created_at + longest)

    def is_current(self, token: RefreshToken) -> bool:
        """Return whether a token of the family is the current one."""
        return hmac.compare_digest(self.secret, _digest(token.secret))


def is_session_id(text: str, user_id: int) -> bool:
    """Return whether a text has the form of an id of a session of a user."""
    return re.fullmatch(rf"{user_id}-[0-9a-f]{{24}}", text, re.ASCII) is not None


def is_usable(
    session: Session, account: UserAccount, now: float, *, administrator: bool = False
) -> bool:
    """Return whether a session has not ended; DynamoDB deletes expired sessions late.

    `account` is that of its user, `administrator` whether the user has the permission
    `users.manage`; `now` is in seconds since the epoch.
    """
    return (
        now < session.end(administrator=administrator)
        and account.record.entity.is_active
        and account.login.allows_session(session.id, session.epoch, with_code=session.second_factor)
    )


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
    session = Session(
        id=token.session,
        user_id=token.user_id,
        client_id=client_id,
        second_factor=second_factor,
        epoch=epoch,
        generation=1,
        created_at=now,
        used_at=now,
        expires_at=now + LIFETIME,
        family=_digest(token.family),
        secret=_digest(token.secret),
    )
    values = {name: getattr(session, name) for name in Session.__slots__ if name != "id"}
    tx.insert(item_at(session_key(session.id), **values, **index_entry(session)))


def rotate(
    tx: Transaction,
    session: Session,
    new: RefreshToken,
    *,
    now: int,
    on_condition_failed: ErrorFactory,
) -> None:
    """Add the replacement of the session's refresh token, on the condition that it is unchanged.

    A session of an earlier release enters the index.
    """
    partition, sort = index_keys(_INDEX)
    tx.update(
        session_key(session.id),
        "SET #secret = :new, #generation = :next, #used = :now, #expiry = :expires_at,"
        " #partition = :user, #sort = :session",
        names={
            "#secret": "secret",
            "#generation": "generation",
            "#used": "used_at",
            "#expiry": EXPIRY,
            "#partition": partition,
            "#sort": sort,
        },
        condition="#secret = :seen AND #generation = :generation",
        values={
            ":new": _digest(new.secret),
            ":next": session.generation + 1,
            ":now": now,
            ":expires_at": min(now + LIFETIME, session.created_at + LONGEST),
            ":user": _index_partition(session.user_id),
            ":session": _index_sort(session.created_at, session.id),
            ":seen": session.secret,
            ":generation": session.generation,
        },
        on_condition_failed=on_condition_failed,
    )


def end(tx: Transaction, session: Session) -> None:
    """Add the end of a session, on the condition that it exists, and revoke its access tokens."""
    tx.delete(session_key(session.id), condition=f"attribute_exists({PARTITION_KEY})")
    # entries of users are bounded by the number of users, entries of sessions are not
    revocations.revoke_in(tx, f"session:{session.id}", fallback=f"user:{session.user_id}")


def newest_sessions(store: Store, user_id: int) -> list[Session]:
    """Return the newest sessions of a user, newest first, also those that have ended since."""
    partition, _ = index_keys(_INDEX)
    entries = store.query(
        IndexName=index_name(_INDEX),
        KeyConditionExpression=f"{partition} = :user",
        values={":user": _index_partition(user_id)},
        ScanIndexForward=False,
        Limit=MOST_LISTED,
    ).items
    keys = [key_of(entry) for entry in entries]
    found = store.get_many(keys)
    return [session for key in keys if (session := session_from_item(found.get(key)))]


def index_entry(session: Session) -> Item:
    """Return the index keys of a session."""
    partition, sort = index_keys(_INDEX)
    return {
        partition: _index_partition(session.user_id),
        sort: _index_sort(session.created_at, session.id),
    }


def _index_partition(user_id: int) -> str:
    return f"session#{id_text(user_id)}"


def _index_sort(created_at: int, session_id: str) -> str:
    return f"{instant(created_at * 1000)}#{session_id}"


def _digest(part: str) -> bytes:
    return hashlib.sha256(part.encode()).digest()
