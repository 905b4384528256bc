"""Logins: the item `login#ID` of each user, with credentials that no response contains.

Attributes: `version`, `password` (argon2id), `tokens_from`, `epoch`, `code_epoch`, `kept_session`,
`totp`, the second factor, and `wrong_codes` and `wrong_code_at`, the wrong codes. Every change
writes them all, on the condition that the version is unchanged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from shared.kernel.db.actions import ErrorFactory
from shared.kernel.db.facets import id_text
from shared.kernel.db.items import Item, Key, item_at
from shared.kernel.db.table import PARTITION_KEY
from shared.kernel.db.transaction import Transaction

_OF_A_FACTOR = frozenset({"sealed", "confirmed", "last_step", "salt", "codes", "response"})


class StoredResponse(NamedTuple):
    """The response of an enrolment, which holds the secret, under the request's Idempotency-Key."""

    partition: str
    """Partition key of the idempotency record."""
    until: int
    """Seconds since the epoch; from then on the key may be used by another request."""


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """The secret of an authenticator app, and the recovery codes that can replace its codes."""

    sealed_secret: bytes
    """The secret of the app, encrypted with a KMS key."""
    confirmed: bool
    """False while the enrolment is pending: until then, signing in needs no code."""
    last_step: int
    """Time step of the last accepted code; codes of this and earlier steps are rejected."""
    salt: bytes
    recovery_code_hashes: frozenset[str] = field(repr=False)
    """Hashes of the unused recovery codes."""
    stored_response: StoredResponse | None = None
    """Where the response of a pending enrolment is stored; None without an Idempotency-Key."""
    unknown: Mapping[str, Any] = field(default_factory=dict)
    """Attributes that only another release knows."""


@dataclass(frozen=True, slots=True)
class Login:
    """The credentials of a user, and from when the user's tokens and sessions are valid."""

    user_id: int
    password: str = field(repr=False)
    """The result of `passwords.hash_password`."""
    version: int = 0
    tokens_from: int = 0
    """Earliest `iat` of the user's tokens, in seconds since the epoch."""
    epoch: int = 0
    """Incremented to end sessions. A session stores the epoch in which it began."""
    code_epoch: int = 0
    """First epoch whose sessions are valid if they began with a code. All others are valid in
    their own epoch only."""
    kept_session: str | None = None
    """Id of a session of an epoch before `code_epoch` that stays valid: the one that changed the
    password. If it began without a code, it ends with the next epoch."""
    second_factor: SecondFactor | None = None
    wrong_codes: int = 0
    """Wrong codes since the last right one; see `code_checks`."""
    wrong_code_at: int = 0
    """When the last of them was sent, in seconds since the epoch."""

    @property
    def two_step(self) -> bool:
        """Whether two-step verification is enabled."""
        return self.second_factor is not None and self.second_factor.confirmed

    def allows_session(self, session: str, epoch: int, *, with_code: bool) -> bool:
        """Return whether a session is still valid.

        It began in `epoch`; `with_code` is whether the user gave a code when signing in.
        """
        if session == self.kept_session:
            epoch = self.code_epoch
        return epoch == self.epoch or (with_code and epoch >= self.code_epoch)

    def without_wrong_codes(self) -> "Login":
        """Return the login with no wrong codes."""
        return replace(self, wrong_codes=0, wrong_code_at=0)

    def with_password(self, password: str) -> "Login":
        """Return the login with another password, the result of `passwords.hash_password`.

        It has no wrong codes: whoever sent them knew the former password.
        """
        return replace(self.without_wrong_codes(), password=password)

    def end_sessions(self, keep: str | None = None) -> "Login":
        """Return the login with all sessions ended, except the session `keep`."""
        epoch = self.epoch + 1
        return replace(self, epoch=epoch, code_epoch=epoch, kept_session=keep)

    def end_sessions_without_code(self) -> "Login":
        """Return the login with every session ended that began without a code."""
        return replace(self, epoch=self.epoch + 1)


def login_key(user_id: int) -> Key:
    """Return the key of a user's login."""
    return (f"login#{id_text(user_id)}", "LOGIN")


def login_from_items(found: Mapping[Key, Item], user_id: int) -> Login | None:
    """Return a user's login from items that were read together; None if it is not among them."""
    item = found.get(login_key(user_id))
    if item is None:
        return None
    totp = item.get("totp")
    return Login(
        user_id=user_id,
        version=item["version"],
        password=item["password"],
        tokens_from=item["tokens_from"],
        epoch=item["epoch"],
        code_epoch=item["code_epoch"],
        kept_session=item.get("kept_session"),
        second_factor=_second_factor(totp) if totp else None,
        wrong_codes=item.get("wrong_codes", 0),
        wrong_code_at=item.get("wrong_code_at", 0),
    )


def _second_factor(totp: Mapping[str, Any]) -> SecondFactor:
    response = totp.get("response")
    return SecondFactor(
        sealed_secret=totp["sealed"],
        confirmed=totp["confirmed"],
        last_step=totp["last_step"],
        salt=totp["salt"],
        recovery_code_hashes=frozenset(totp["codes"]),
        stored_response=StoredResponse(response["partition"], response["until"])
        if response
        else None,
        unknown={name: value for name, value in totp.items() if name not in _OF_A_FACTOR},
    )


def save(tx: Transaction, before: Login | None, after: Login) -> None:
    """Add the write of a changed login, on the condition that it is still as in `before`.

    The condition also ensures that a code is used only once by concurrent sign-ins. `before` is the
    login as it was read; None for a new user.
    """
    seen = before.version if before else 0
    tx.replace(_login_item(after, seen + 1), version=seen)


def check_unchanged(tx: Transaction, login: Login) -> None:
    """Add the condition that a login is unchanged since it was read.

    A new session needs it: a concurrent change that ends all sessions must end this one, too.
    """
    tx.check(login_key(login.user_id), version=login.version)


def check_exists(tx: Transaction, user_id: int, *, on_condition_failed: ErrorFactory) -> None:
    """Add the condition that a user has a login."""
    condition = f"attribute_exists({PARTITION_KEY})"
    tx.check(login_key(user_id), condition=condition, on_condition_failed=on_condition_failed)


def delete(tx: Transaction, user_id: int) -> None:
    """Add the deletion of a user's login."""
    tx.delete(login_key(user_id))


def _login_item(login: Login, version: int) -> Item:
    factor = login.second_factor
    return item_at(
        login_key(login.user_id),
        version=version,
        password=login.password,
        tokens_from=login.tokens_from,
        epoch=login.epoch,
        code_epoch=login.code_epoch,
        kept_session=login.kept_session,
        wrong_codes=login.wrong_codes,
        wrong_code_at=login.wrong_code_at,
        totp=factor
        and {
            **factor.unknown,
            "sealed": factor.sealed_secret,
            "confirmed": factor.confirmed,
            "last_step": factor.last_step,
            "salt": factor.salt,
            "codes": dict.fromkeys(sorted(factor.recovery_code_hashes), True),
            "response": factor.stored_response and factor.stored_response._asdict(),
        },
    )
