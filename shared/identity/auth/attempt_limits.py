"""Limits on failed attempts to prove who one is.

Client secrets of 256 bits cannot be guessed; what their limits protect is the quota of KMS, which
every attempt draws on and which the honest clients need. Passwords and codes can be guessed: their
attempts are counted before they are judged, so that no number of them at once passes a limit.
They are in flight until it is known whether they failed: what is refused because of those alone
may be let in a moment later.

Counted is per minute, per network address, and per client id or user name at an address; for
user names also in a longer window, at an address and over all of them, so that no single address
can use up what there is. Counted per client id alone, a stranger could lock out an ERP.
"""

import hashlib
import ipaddress
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.errors import ServiceError

WINDOW = 60
LONG_WINDOW = 15 * 60
"""Seconds."""

PER_CLIENT = 10
PER_USER = 10
PER_ADDRESS = 100
"""Failed attempts per window: with a client id or a user name at an address, and there in all."""

PER_USER_LONG_WINDOW = 20
PER_USER_ALL_ADDRESSES = 50
"""Failed attempts per long window with a user name, at an address and from all together."""

_RETRY_DELAYS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds at most between looks for whether attempts in flight have ended."""


class _AttemptCounts(NamedTuple):
    """What a counter holds."""

    failed: int
    in_flight: int
    """Attempts that are being judged, or whose judge died."""


@dataclass(frozen=True, slots=True)
class AttemptCounter:
    """Failed attempts of one kind in one window: an item of the control table."""

    key: str
    limit: int
    ends_at: int
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class AttemptCounters:
    """The counters that an attempt belongs to."""

    counters: tuple[AttemptCounter, ...]

    @classmethod
    def for_client(cls, client_id: str, address: str, now: float) -> "AttemptCounters":
        """Find the counters of an attempt with a client's secret.

        Args:
            client_id: Whatever was presented as client id.
            address: Network address of the caller; IPv6 counts by its /64 network, which is
                what one customer of a provider has.
            now: Seconds since the epoch.
        """
        network = _network(address)
        return cls(
            (
                _make_counter("client", _digest(client_id, network), PER_CLIENT, WINDOW, now),
                _make_counter("address", network, PER_ADDRESS, WINDOW, now),
            )
        )

    @classmethod
    def for_user(cls, tenant: str, username: str, address: str, now: float) -> "AttemptCounters":
        """Find the counters of an attempt with a user's password or code.

        Args:
            tenant: Whatever was presented as the tenant's name.
            username: Whatever was presented as user name.
            address: Network address of the caller.
            now: Seconds since the epoch.
        """
        network, who = _network(address), _digest(tenant, username)
        return cls(
            (
                _make_counter("user", _digest(who, network), PER_USER, WINDOW, now),
                _make_counter(
                    "name-here", _digest(who, network), PER_USER_LONG_WINDOW, LONG_WINDOW, now
                ),
                _make_counter("name", who, PER_USER_ALL_ADDRESSES, LONG_WINDOW, now),
                _make_counter("address", network, PER_ADDRESS, WINDOW, now),
            )
        )

    @classmethod
    def for_address(cls, address: str, now: float) -> "AttemptCounters":
        """Find the counter of attempts with what cannot be guessed, by network address."""
        return cls((_make_counter("address", _network(address), PER_ADDRESS, WINDOW, now),))

    @property
    def keys(self) -> list[str]:
        """Keys of the counters in the control table."""
        return [counter.key for counter in self.counters]

    def ensure_allowed(self, items: Mapping[str, Mapping[str, Any]], now: float) -> None:
        """Refuse the attempt when too many failed before it.

        Args:
            items: The items of the counters, as far as they exist, by key.
            now: Seconds since the epoch.

        Raises:
            ServiceError: rate_limited, with Retry-After.
        """
        _refuse_if_any(
            [
                counter
                for counter in self.counters
                if counter.key in items
                and _counts_of_item(items[counter.key]).failed >= counter.limit
            ],
            now,
        )

    def record_failure(self) -> None:
        """Count one more failure."""
        map_concurrently(partial(_add_to_counter, failed=1), list(self.counters))

    def begin(self, now: float) -> None:
        """Count the attempt before it is judged; `fail` or `withdraw` ends it.

        Where too many others are in flight it waits for a moment; as many as the limit go on.

        Raises:
            ServiceError: rate_limited, with Retry-After; the attempt must not be judged.
        """
        for pause in (*_RETRY_DELAYS, 0):
            counts = map_concurrently(partial(_add_to_counter, in_flight=1), list(self.counters))
            over = [
                (counter, count)
                for counter, count in zip(self.counters, counts, strict=True)
                if count.failed + count.in_flight > counter.limit
            ]
            if not over:
                return
            self.cancel()  # what is not judged is no failure
            _refuse_if_any(
                [counter for counter, count in over if count.failed >= counter.limit], now
            )
            time.sleep(random.uniform(pause / 2, pause))  # noqa: S311  jitter, no secret
        raise _rate_limited("Too many attempts at this moment; try again.", 1)

    def fail(self) -> None:
        """End an attempt that was begun and turned out to be wrong."""
        map_concurrently(partial(_add_to_counter, failed=1, in_flight=-1), list(self.counters))

    def cancel(self) -> None:
        """Take an attempt back that was begun."""
        map_concurrently(partial(_add_to_counter, in_flight=-1), list(self.counters))


def _make_counter(kind: str, whose: str, limit: int, window: int, now: float) -> AttemptCounter:
    number = int(now) // window
    return AttemptCounter(f"FAILURES#{number}#{kind}#{whose}", limit, (number + 1) * window)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()


def _refuse_if_any(over: list[AttemptCounter], now: float) -> None:
    if over:
        wait = max(counter.ends_at for counter in over) - int(now)
        raise _rate_limited("Too many failed attempts; wait the seconds in Retry-After.", wait)


def _rate_limited(message: str, wait: int) -> ServiceError:
    return ServiceError(message, "rate_limited", headers={"Retry-After": str(max(1, wait))})


def _add_to_counter(
    counter: AttemptCounter, *, failed: int = 0, in_flight: int = 0
) -> _AttemptCounts:
    answer = client("dynamodb").update_item(
        TableName=config().control_table,
        Key={"pk": {"S": counter.key}},
        UpdateExpression="ADD failures :failed, in_flight :in_flight SET expires_at = :ends",
        ExpressionAttributeValues={
            ":failed": {"N": str(failed)},
            ":in_flight": {"N": str(in_flight)},
            ":ends": {"N": str(counter.ends_at)},
        },
        ReturnValues="ALL_NEW",
    )
    return _counts_of_item(answer["Attributes"])


def _counts_of_item(item: Mapping[str, Any]) -> _AttemptCounts:
    return _AttemptCounts(int(item["failures"]["N"]), int(item["in_flight"]["N"]))


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if parsed.version == 4:  # noqa: PLR2004  IPv4
        return str(parsed)
    return str(ipaddress.ip_network((parsed, 64), strict=False).network_address)
