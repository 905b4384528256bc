"""The keys that sign and verify access tokens: the item `KEYS` of the control table.

Attributes: `version`, and `keys`, a list of {kms_key, signs_from, retired_at}. The item exists from
the first rotation on. Before that, the keys of the deployment are in use and the first one signs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from shared.identity.auth.signing import kid_of
from shared.identity.tenancy.directory import read_item
from shared.kernel.clock import is_fresh, now
from shared.kernel.config import config

KEYS = "KEYS"
"""Key of the item in the control table."""

UNKNOWN_KEY_REREAD = 10.0
"""Minimum seconds between two reads because of an unknown `kid`, however many tokens have one."""

PUBLISH_LEAD = 300
"""Seconds that a key is in the published key set before it starts to sign."""

_CACHE_SECONDS = 300.0
"""Seconds that the keys are cached."""

_CLOCK_DIFFERENCE = 3.0
"""Seconds by which the clocks of two execution environments may differ, and `iat` is rounded."""


class KeysOutdated(Exception):
    """The cached keys may lack the key of a token, and may not be read again yet."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key that signs access tokens."""

    kms_key: str
    """Id of the KMS key."""
    signs_from: int = 0
    """Time in seconds since the epoch from which it signs, until the next key takes over."""
    retired_at: int | None = None
    """Time of its retirement in seconds since the epoch; None while it verifies tokens."""

    @property
    def kid(self) -> str:
        """Its id in token headers and in the key set."""
        return kid_of(self.kms_key)


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """All signing keys, as read at one moment."""

    all: tuple[SigningKey, ...]
    """Including retired keys, oldest first."""
    version: int = 0
    """Incremented with every change; 0 before the first."""

    @property
    def in_use(self) -> tuple[SigningKey, ...]:
        """The keys that verify tokens."""
        return tuple(key for key in self.all if key.retired_at is None)

    def signing_key(self, now: float) -> SigningKey:
        """Return the key that signs at `now`, in seconds since the epoch."""
        started = [key for key in self.in_use if key.signs_from <= now]
        if not started:  # clocks differ: the first key in use has just started
            return min(self.in_use, key=attrgetter("signs_from"))
        return max(started, key=attrgetter("signs_from"))

    def find(self, kid: str) -> SigningKey | None:
        """Return the key in use with this `kid`, or None."""
        return next((key for key in self.in_use if key.kid == kid), None)


class KeyRing:
    """The signing keys, cached in an execution environment."""

    def __init__(self, clock: Callable[[], float] = now) -> None:
        self._clock = clock
        self._cached: SigningKeys | None = None
        self._read_at = 0.0

    def signing_key(self) -> SigningKey:
        """Return the current signing key."""
        return self._keys(_CACHE_SECONDS).signing_key(now())

    def published(self) -> list[SigningKey]:
        """Return the keys of the published key set, at most seconds old."""
        moment = now() + PUBLISH_LEAD
        return [key for key in self._keys(UNKNOWN_KEY_REREAD).in_use if key.signs_from <= moment]

    def find(self, kid: str, issued_at: float) -> SigningKey | None:
        """Return the key in use with this `kid`; read the keys again if none is cached.

        `issued_at` is when a token with this `kid` says it was issued, in seconds since the epoch.

        Returns:
            The key, or None if no listed key has this `kid`. A key is listed before it signs, so
            keys that were read after the token was issued include its key.

        Raises:
            KeysOutdated: There is none, but the key may have been listed since the last read.
        """
        asked_at = self._clock()
        key = self._keys(_CACHE_SECONDS).find(kid) or self._keys(UNKNOWN_KEY_REREAD).find(kid)
        if key is None and self._read_at < min(asked_at, issued_at + _CLOCK_DIFFERENCE):
            raise KeysOutdated
        return key

    def load(self, items: Mapping[str, Mapping[str, Any]]) -> None:
        """Cache the keys found in items of the control table that were just read."""
        self._cached, self._read_at = keys_from_item(items.get(KEYS)), self._clock()

    def clear(self) -> None:
        """Empty the cache."""
        self._cached = None

    def _keys(self, max_age: float) -> SigningKeys:
        keys = self._cached
        if keys is None or not is_fresh(self._read_at, max_age, self._clock()):
            item = read_item(KEYS)
            self.load({KEYS: item} if item else {})
            keys = self._cached or keys_from_item(item)
        return keys


def keys_from_item(item: Mapping[str, Any] | None) -> SigningKeys:
    """Parse the item, given in DynamoDB's JSON; without it, return the keys of the deployment."""
    if item is None:
        return SigningKeys(tuple(SigningKey(each) for each in config().signing_keys))
    return SigningKeys(
        all=tuple(_key_from_attributes(each["M"]) for each in item["keys"]["L"]),
        version=int(item["version"]["N"]),
    )


def _key_from_attributes(attributes: Mapping[str, Any]) -> SigningKey:
    retired = attributes.get("retired_at")
    return SigningKey(
        kms_key=attributes["kms_key"]["S"],
        signs_from=int(attributes["signs_from"]["N"]),
        retired_at=int(retired["N"]) if retired else None,
    )


key_ring = KeyRing()
"""The instance of this execution environment."""
