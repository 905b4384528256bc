"""How users log in: an item `login#ID` beside each user, with what no answer ever shows.

Attributes: version, password (argon2id), tokens_from, epoch, kept_session, and `totp`, the
second factor. Everything that changes it replaces it, on the condition that nobody else did.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from shared.kernel.db.facets import id_text
from shared.kernel.db.items import Item, Key, encode
from shared.kernel.db.store import key_attributes
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """An authenticator app, and the recovery codes that stand in for it."""

    sealed_secret: bytes
    """The secret, under a key of KMS."""
    confirmed: bool
    """False until the app has shown a right code: nobody is asked for one before that."""
    last_step: int
    """Step of the code that was accepted last; neither it nor an earlier one is again."""
    salt: bytes
    recovery_code_hashes: frozenset[str] = field(repr=False)
    """Hashes of the recovery codes that are left."""


@dataclass(frozen=True, slots=True)
class Login:
    """What a user is recognised by, and since when their tokens and sessions count."""

    user_id: int
    password: str = field(repr=False)
    """What `passwords.hash_password` made."""
    version: int = 0
    tokens_from: int = 0
    """First second (since the epoch) of which tokens count; new ones are issued as of it."""
    epoch: int = 0
    """Rises when every session must end; a session keeps the epoch that it was begun in."""
    kept_session: str | None = None
    """The one session of an earlier epoch that goes on: the one that changed the password."""
    second_factor: SecondFactor | None = None

    @property
    def two_step(self) -> bool:
        """Whether a code is asked for besides the password."""
        return self.second_factor is not None and self.second_factor.confirmed

    def allows_session(self, session: str, epoch: int) -> bool:
        """Tell whether a session that was begun in an epoch goes on."""
        return epoch == self.epoch or session == self.kept_session

    def end_sessions(self, keep: str | None = None) -> "Login":
        """Return the login after all sessions have ended, but perhaps one."""
        return replace(self, epoch=self.epoch + 1, kept_session=keep)


def login_key(user_id: int) -> Key:
    """Key of a user's login."""
    return (f"login#{id_text(user_id)}", "LOGIN")


def pick_login(found: Mapping[Key, Item], user_id: int) -> Login | None:
    """Pick a user's login out of items that were read with others; None when it is not there."""
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
        kept_session=item.get("kept_session"),
        second_factor=_second_factor(totp) if totp else None,
    )


def _second_factor(totp: Mapping[str, Any]) -> SecondFactor:
    return SecondFactor(
        sealed_secret=totp["sealed"],
        confirmed=totp["confirmed"],
        last_step=totp["last_step"],
        salt=totp["salt"],
        recovery_code_hashes=frozenset(totp["codes"]),
    )


def save(tx: Transaction, before: Login | None, after: Login) -> None:
    """Stage a login as it is from now on; overtaken when it is not as seen any more.

    So a code is spent once, however many present it at once. `seen` is None for a new one.
    """
    item = _login_item(after, before.version + 1 if before else 1)
    if before is None:
        tx.insert(item)
    else:
        tx.put(item, condition="version = :seen", values={":seen": before.version})


def check_unchanged(tx: Transaction, login: Login) -> None:
    """Bind the transaction to a login as it was read; overtaken when it has changed.

    For whoever begins a session: what ends all sessions at that moment ends this one too.
    """
    tx.add_action(
        "ConditionCheck",
        {
            "TableName": tx.store.table,
            "Key": key_attributes(login_key(login.user_id)),
            "ConditionExpression": "version = :seen",
            "ExpressionAttributeValues": {":seen": encode(login.version)},
        },
    )


def delete(tx: Transaction, user_id: int) -> None:
    """Stage the end of a login, beside the end of the user."""
    tx.delete(login_key(user_id))


def _login_item(login: Login, version: int) -> Item:
    partition, sort = login_key(login.user_id)
    factor = login.second_factor
    return {
        PARTITION_KEY: partition,
        SORT_KEY: sort,
        "version": version,
        "password": login.password,
        "tokens_from": login.tokens_from,
        "epoch": login.epoch,
        "kept_session": login.kept_session,
        "totp": factor
        and {
            "sealed": factor.sealed_secret,
            "confirmed": factor.confirmed,
            "last_step": factor.last_step,
            "salt": factor.salt,
            "codes": dict.fromkeys(sorted(factor.recovery_code_hashes), True),
        },
    }
