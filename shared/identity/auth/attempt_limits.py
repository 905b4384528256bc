"""Limits on failed authentication attempts of clients and users.

Client secrets of 256 bits cannot be guessed; their limits protect the KMS quota, which every
attempt uses. Passwords and codes can be guessed. Their attempts are counted before the credentials
are checked, so that concurrent attempts cannot exceed a limit. An attempt is in flight until its
result is known; one that is refused only because of attempts in flight may succeed a moment later.

Failures are counted per minute: per IP address, and per client id or user name at an IP address.
User names are also counted in a longer window, per IP address and over all addresses, so that one
address alone cannot use up the limit of all. Client ids are never counted over all addresses:
otherwise anybody could lock out an ERP.
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
"""Lengths of the counting windows, in seconds."""

PER_CLIENT = 10
PER_USER = 10
PER_ADDRESS = 100
"""Allowed failures per window: per client id or user name at an IP address, and per IP address."""

PER_USER_LONG_WINDOW = 20
PER_USER_ALL_ADDRESSES = 50
"""Allowed failures per long window and user name: at one IP address, and over all addresses."""

_RETRY_DELAYS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Longest pauses in seconds before retries while too many attempts are in flight."""


class _AttemptCounts(NamedTuple):
    """The values of a counter."""

    failed: int
    in_flight: int
    """Attempts that are being checked, or whose check was interrupted."""


@dataclass(frozen=True, slots=True)
class AttemptCounter:
    """The counter of one limit in one window: an item of the control table."""

    key: str
    limit: int
    ends_at: int
    """End of the window, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class AttemptCounters:
    """The counters of one authentication attempt."""

    counters: tuple[AttemptCounter, ...]

    @classmethod
    def for_client(cls, client_id: str, address: str, now: float) -> "AttemptCounters":
        """Return the counters of an attempt with a client secret.

        Args:
            client_id: The presented client id, valid or not.
            address: IP address of the caller. An IPv6 address counts as its /64 network, which a
                provider usually assigns to one customer.
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
        """Return the counters of an attempt with a user's password or code.

        Args:
            tenant: The presented slug, valid or not.
            username: The presented user name, valid or not.
            address: IP address of the caller.
            now: Seconds since the epoch.
        """
        network, user = _network(address), _digest(tenant, username)
        return cls(
            (
                _make_counter("user", _digest(user, network), PER_USER, WINDOW, now),
                _make_counter(
                    "name-here", _digest(user, network), PER_USER_LONG_WINDOW, LONG_WINDOW, now
                ),
                _make_counter("name", user, PER_USER_ALL_ADDRESSES, LONG_WINDOW, now),
                _make_counter("address", network, PER_ADDRESS, WINDOW, now),
            )
        )

    @classmethod
    def for_address(cls, address: str, now: float) -> "AttemptCounters":
        """Return the counter per IP address, for credentials that cannot be guessed."""
        return cls((_make_counter("address", _network(address), PER_ADDRESS, WINDOW, now),))

    @property
    def keys(self) -> list[str]:
        """The keys of the counters in the control table."""
        return [counter.key for counter in self.counters]

    def ensure_allowed(self, items: Mapping[str, Mapping[str, Any]], now: float) -> None:
        """Raise an error if a limit of failures is reached.

        Args:
            items: Key → item of the counters that exist.
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
        """Count a failure."""
        map_concurrently(partial(_add_to_counter, failed=1), list(self.counters))

    def begin(self, now: float) -> None:
        """Count the attempt as in flight before its credentials are checked.

        End it with `fail` or `cancel`. While too many other attempts are in flight, wait up to
        about 3 s; as many as the limit proceed.

        Raises:
            ServiceError: rate_limited, with Retry-After. The credentials must not be checked.
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
            self.cancel()  # an attempt that is not checked is not a failure
            _refuse_if_any(
                [counter for counter, count in over if count.failed >= counter.limit], now
            )
            time.sleep(random.uniform(pause / 2, pause))  # noqa: S311  jitter, no secret
        raise rate_limited("Too many concurrent attempts; try again in 1 s.", 1)

    def fail(self) -> None:
        """End an attempt in flight and count it as a failure."""
        map_concurrently(partial(_add_to_counter, failed=1, in_flight=-1), list(self.counters))

    def cancel(self) -> None:
        """End an attempt in flight without counting it."""
        map_concurrently(partial(_add_to_counter, in_flight=-1), list(self.counters))


def _make_counter(kind: str, owner: str, limit: int, window: int, now: float) -> AttemptCounter:
    number = int(now) // window
    return AttemptCounter(f"FAILURES#{number}#{kind}#{owner}", limit, (number + 1) * window)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()


def _refuse_if_any(over: list[AttemptCounter], now: float) -> None:
    if over:
        wait = max(1, max(counter.ends_at for counter in over) - int(now))
        raise rate_limited(f"Too many failed attempts; try again in {wait} s.", wait)


def rate_limited(message: str, wait: int) -> ServiceError:
    """Return the error rate_limited (429), with Retry-After after `wait` seconds."""
    return ServiceError(message, "rate_limited", headers={"Retry-After": str(wait)})


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
