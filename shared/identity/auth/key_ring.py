"""Which keys sign and verify tokens: the item `KEYS` of the control table.

Attributes: version, and `keys`, a list of {kms_key, signs_from, retired_at}. Until the
first rotation there is no such item: the deployment's own keys are in use, and the first signs.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shared.identity.auth.signing import kid_of
from shared.identity.tenancy.directory import read
from shared.kernel.clock import now_ms
from shared.kernel.config import config

KEYS = "KEYS"
"""Key of the item in the control table."""

UNKNOWN_KEY_REREAD = 10.0
"""Seconds between two looks for a key that is not known, however many tokens name one."""

SHOWN_BEFORE = 300
"""Seconds before it signs from which a key is in the published key set."""

_CACHE_SECONDS = 300.0
"""Seconds that known keys are used without looking again."""


@dataclass(frozen=True, slots=True)
class Key:
    """A signing key of the service."""

    kms_key: str
    """Its id in KMS."""
    signs_from: int = 0
    """Second since the epoch from which it signs, until the next one does."""
    retired_at: int | None = None
    """Since when it verifies nothing any more; None while it is in use."""

    @property
    def kid(self) -> str:
        """Its name in tokens and in the key set."""
        return kid_of(self.kms_key)


@dataclass(frozen=True, slots=True)
class Keys:
    """All keys, as they were at one moment."""

    all: tuple[Key, ...]
    """The retired ones too, the oldest first."""
    version: int = 0
    """Rises with every change; 0 before the first."""

    @property
    def in_use(self) -> tuple[Key, ...]:
        """The keys that verify tokens."""
        return tuple(key for key in self.all if key.retired_at is None)

    def signer(self, now: float) -> Key:
        """Return the key that signs at a moment (seconds since the epoch)."""
        begun = [key for key in self.in_use if key.signs_from <= now]
        if not begun:  # clocks differ, and the first one in use has just begun
            return min(self.in_use, key=_signs_from)
        return max(begun, key=_signs_from)

    def find(self, kid: str) -> Key | None:
        """Find a key that verifies."""
        return next((key for key in self.in_use if key.kid == kid), None)


def _signs_from(key: Key) -> int:
    return key.signs_from


class KeyRing:
    """The keys as an execution environment knows them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: Keys | None = None
        self._read_at = 0.0

    def signing_key(self) -> Key:
        """Return the key that signs now."""
        return self._keys(_CACHE_SECONDS).signer(now_ms() / 1000)

    def published(self) -> list[Key]:
        """Return the keys of the published set, as they were seconds ago."""
        moment = now_ms() / 1000 + SHOWN_BEFORE
        return [key for key in self._keys(UNKNOWN_KEY_REREAD).in_use if key.signs_from <= moment]

    def find(self, kid: str) -> Key | None:
        """Find the key that a token names, also one that came into use a moment ago."""
        return self._keys(_CACHE_SECONDS).find(kid) or self._keys(UNKNOWN_KEY_REREAD).find(kid)

    def load(self, items: Mapping[str, Mapping[str, Any]]) -> None:
        """Take note of the keys among items of the control table that were just read with them."""
        self._known, self._read_at = keys_of(items.get(KEYS)), self._clock()

    def forget(self) -> None:
        """Drop what is known."""
        self._known = None

    def _keys(self, max_age: float) -> Keys:
        known = self._known
        if known is None or self._clock() - self._read_at >= max_age:
            item = read(KEYS)
            self.load({KEYS: item} if item else {})
            known = self._known or keys_of(item)
        return known


def keys_of(item: Mapping[str, Any] | None) -> Keys:
    """Read the item, in DynamoDB's JSON; None: there is none."""
    if item is None:
        return Keys(tuple(Key(each) for each in config().signing_keys))
    return Keys(
        all=tuple(_key_from_attributes(each["M"]) for each in item["keys"]["L"]),
        version=int(item["version"]["N"]),
    )


def _key_from_attributes(attributes: Mapping[str, Any]) -> Key:
    retired = attributes.get("retired_at")
    return Key(
        kms_key=attributes["kms_key"]["S"],
        signs_from=int(attributes["signs_from"]["N"]),
        retired_at=int(retired["N"]) if retired else None,
    )


def item_of(keys: Keys) -> dict[str, Any]:
    """Write the item, in DynamoDB's JSON."""
    return {
        "pk": {"S": KEYS},
        "version": {"N": str(keys.version)},
        "keys": {"L": [{"M": _attributes(key)} for key in keys.all]},
    }


def _attributes(key: Key) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "kms_key": {"S": key.kms_key},
        "signs_from": {"N": str(key.signs_from)},
    }
    if key.retired_at is not None:
        attributes["retired_at"] = {"N": str(key.retired_at)}
    return attributes


key_ring = KeyRing()
"""The execution environment's own."""
