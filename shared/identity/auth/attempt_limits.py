"""Limits on failed authentication attempts of clients and users.

Client secrets of 256 bits cannot be guessed; their limits protect the KMS quota, which every
attempt uses. Passwords and codes can be guessed. Their attempts are counted before the credentials
are checked, so that concurrent attempts cannot exceed a limit. An attempt is in flight until its
result is known; one that is refused only because of attempts in flight may succeed a moment later.

Failures are counted per minute: per kind of credential, tenant and IP address, and per client id or
user name at an IP address. Each kind of credential has counters of its own, so that failures with
one kind refuse no other kind from the same address. User names are also counted in a longer window,
per IP address and over all addresses, so that one address alone cannot use up the limit of all.
Client ids are never counted over all addresses: otherwise anybody could lock out an ERP. Nor are
sign-ins from an address from which the user has signed in before: otherwise anybody could lock out
a user.
"""

import hashlib
import ipaddress
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

from shared.identity.tenancy.directory import read_item
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.errors import RateLimited
from shared.kernel.observability import count_for_service

MAX_ADDRESSES = 10
"""Known addresses of a user; a further one replaces the one that was used longest ago."""

ADDRESS_LIFETIME = 30 * 24 * 3600
"""Seconds after the last sign-in from it at which an address is forgotten."""

_ADDRESS_RENEWAL = 24 * 3600
"""Seconds after which a sign-in from a known address is written again, so that few are."""


@dataclass(slots=True)
class KnownAddresses:
    """The addresses from which a user has signed in, and whether the present one is among them.

    They are one item of the control table per user name, `ADDRESSES#USER`. USER is a digest of
    tenant and user name, so that the item of any presented name is read in the same call as the
    counters. `networks` holds a digest of user and network → when the user last signed in from it,
    in seconds since the epoch; the item contains no address in plain text.
    """

    user: str
    """Digest of tenant and user name."""
    network: str
    """Digest of user and present network."""
    _networks: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the item in the control table."""
        return f"ADDRESSES#{self.user}"

    def load(self, item: Mapping[str, Any] | None, now: float) -> None:
        """Take over the item as read, without what has expired; DynamoDB deletes late."""
        stored = item["networks"]["M"] if item else {}
        seen = {network: int(at["N"]) for network, at in stored.items()}
        self._networks = {
            network: at for network, at in seen.items() if at + ADDRESS_LIFETIME > now
        }

    @property
    def include_present(self) -> bool:
        """Whether the user has signed in from the present network."""
        return self.network in self._networks

    def add_present(self, now: float) -> None:
        """Store the present network; do nothing if that was done within a day.

        Of concurrent sign-ins from different networks one may be lost, until the next sign-in.
        """
        if self._networks.get(self.network, 0) + _ADDRESS_RENEWAL > now:
            return
        kept = sorted(self._networks.items(), key=lambda each: each[1], reverse=True)
        others = [each for each in kept if each[0] != self.network][: MAX_ADDRESSES - 1]
        known = dict(others) | {self.network: int(now)}
        client("dynamodb").update_item(
            TableName=config().control_table,
            Key={"pk": {"S": self.key}},
            UpdateExpression="SET networks = :networks, expires_at = :expiry",
            ExpressionAttributeValues={
                ":networks": {"M": {network: {"N": str(at)} for network, at in known.items()}},
                ":expiry": {"N": str(int(now) + ADDRESS_LIFETIME)},
            },
        )


WINDOW = 60
LONG_WINDOW = 15 * 60
"""Lengths of the counting windows, in seconds."""

PER_CLIENT = 10
PER_USER = 10
PER_ADDRESS = 100
"""Allowed failures per window: per client id or user name at an IP address, and per kind of
credential, tenant and IP address."""

PER_USER_LONG_WINDOW = 20
PER_USER_ALL_ADDRESSES = 50
"""Allowed failures per long window and user name: at one IP address, and over all addresses from
which the user has not signed in."""

_LOCK_OUTS = {"name-here": "lock_outs_at_address", "name": "lock_outs_everywhere"}
"""Kind of a counter whose limit refuses a user name for the rest of a long window → the metric that
counts it, for an alarm."""

_NO_TENANT = "-"
"""Counted instead of a tenant that does not exist: made-up names give nobody further attempts."""

type _Kind = Literal["client", "user", "name-here", "name", "address"]
type _Credential = Literal["secret", "application", "password", "refresh"]
"""The kind of credential of an attempt: a client secret, the id of a mobile application, the
password or code of a user, a refresh token."""

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

    kind: _Kind
    key: str
    limit: int
    ends_at: int
    """End of the window, in seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """What the counters of a user say after a failure."""

    is_first: bool
    """Whether it is the first one of this user at this address in a long window."""
    reached: tuple[AttemptCounter, ...]
    """The counters whose limits this failure has reached."""


@dataclass(slots=True)
class AttemptCounters:
    """The counters of one authentication attempt.

    The constructors return those of a tenant that exists and of an address that is not known;
    `admit` leaves those that apply.
    """

    counters: tuple[AttemptCounter, ...]
    _without_tenant: AttemptCounter
    """Replaces the counter of the address if the tenant does not exist."""
    _known: KnownAddresses | None = None
    """The known addresses of the user; None for an attempt without a user name."""
    _checks_always: bool = False
    """Whether the credential is checked even if a limit is reached: its check is cheap, and it
    cannot be guessed. Only what fails is refused then, so that nobody can lock out others."""
    _reached: list[AttemptCounter] = field(default_factory=list)
    """The counters whose limits were reached before the attempt."""
    _begun: tuple[_AttemptCounts, ...] = ()
    """The values of the counters when the attempt began."""

    @classmethod
    def for_client(
        cls,
        client_id: str,
        tenant: str | None,
        address: str,
        now: float,
        *,
        credential: Literal["secret", "application"],
    ) -> "AttemptCounters":
        """Return the counters of an attempt with a client secret, or the id of an application.

        Args:
            client_id: The presented client id, valid or not.
            tenant: The presented slug, valid or not; None without one.
            address: IP address of the caller. An IPv6 address counts as its /64 network, which a
                provider usually assigns to one customer.
            now: Seconds since the epoch.
            credential: Whether the secret or only the id of the client is presented.
        """
        network = _network(address)
        owner = _digest(credential, client_id, network)
        return cls(
            (
                _make_counter("client", owner, PER_CLIENT, WINDOW, now),
                _address_counter(credential, tenant, network, now),
            ),
            _address_counter(credential, None, network, now),
            _checks_always=credential == "application",
        )

    @classmethod
    def for_user(cls, tenant: str, username: str, address: str, now: float) -> "AttemptCounters":
        """Return the counters of an attempt with a user's password or code.

        Tenant and user name are as presented, valid or not; `address` is the IP address of the
        caller, `now` is in seconds since the epoch.
        """
        network, user = _network(address), _digest(tenant, username)
        here = _digest(user, network)
        return cls(
            (
                _make_counter("user", here, PER_USER, WINDOW, now),
                _make_counter("name-here", here, PER_USER_LONG_WINDOW, LONG_WINDOW, now),
                _make_counter("name", user, PER_USER_ALL_ADDRESSES, LONG_WINDOW, now),
                _address_counter("password", tenant, network, now),
            ),
            _address_counter("password", None, network, now),
            KnownAddresses(user, here),
        )

    @classmethod
    def for_refresh_token(cls, tenant: str | None, address: str, now: float) -> "AttemptCounters":
        """Return the counter of an attempt with a refresh token, which is one per IP address.

        The arguments are as in `for_client`.
        """
        network = _network(address)
        return cls(
            (_address_counter("refresh", tenant, network, now),),
            _address_counter("refresh", None, network, now),
            _checks_always=True,
        )

    @property
    def keys(self) -> list[str]:
        """The keys of the items in the control table that `admit` needs."""
        known = [self._known.key] if self._known else []
        return [*(each.key for each in self.counters), self._without_tenant.key, *known]

    def admit(
        self, items: Mapping[str, Mapping[str, Any]], now: float, *, tenant_exists: bool
    ) -> None:
        """Leave the counters that apply.

        `items` are those of the `keys` that exist; `now` is in seconds since the epoch.

        Raises:
            RateLimited: A limit of failures is reached, and the credentials must not be checked.
        """
        if not tenant_exists:
            others = [counter for counter in self.counters if counter.kind != "address"]
            self.counters = (*others, self._without_tenant)
        if self._known:
            self._leave_out_known(items.get(self._known.key), now)
        self._reached = [
            counter
            for counter in self.counters
            if counter.key in items and _counts_of_item(items[counter.key]).failed >= counter.limit
        ]
        if not self._checks_always:
            _refuse_if_any(self._reached, now)

    def read_known_address(self, now: float) -> None:
        """Leave the counters that apply to the present address, for an attempt with a token.

        `now` is in seconds since the epoch.
        """
        if self._known:
            self._leave_out_known(read_item(self._known.key), now)

    def _leave_out_known(self, known: Mapping[str, Any] | None, now: float) -> None:
        if self._known:
            self._known.load(known, now)
            if self._known.include_present:
                self.counters = tuple(each for each in self.counters if each.kind != "name")

    def record_failure(self, now: float) -> None:
        """Count a failure; `now` is in seconds since the epoch.

        Raises:
            RateLimited: A limit of failures was reached before; nothing is written.
        """
        _refuse_if_any(self._reached, now)
        map_concurrently(partial(_add_to_counter, failed=1), list(self.counters))

    def begin(self, now: float) -> None:
        """Count the attempt as in flight before its credentials are checked.

        End it with `fail` or `cancel`. While too many other attempts are in flight, wait up to
        about 3 s; as many as the limit proceed.

        Raises:
            RateLimited: The credentials must not be checked.
        """
        for pause in (*_RETRY_DELAYS, 0):
            counts = map_concurrently(partial(_add_to_counter, in_flight=1), list(self.counters))
            over = [
                (counter, count)
                for counter, count in zip(self.counters, counts, strict=True)
                if count.failed + count.in_flight > counter.limit
            ]
            if not over:
                self._begun = tuple(counts)
                return
            self._take_back()  # an attempt that is not checked is not a failure
            _refuse_if_any(
                [counter for counter, count in over if count.failed >= counter.limit], now
            )
            time.sleep(random.uniform(pause / 2, pause))  # noqa: S311  jitter, no secret
        raise RateLimited("Too many concurrent attempts; try again in 1 s.", 1)

    @property
    def will_need_entry(self) -> bool:
        """Whether a failure would be a first one or reach a limit, if no others are in flight."""
        return any(
            (counter.kind == "name-here" and count.failed == 0)
            or (counter.kind != "address" and count.failed + 1 >= counter.limit)
            for counter, count in zip(self.counters, self._begun, strict=True)
        )

    def fail(self) -> FailedAttempt:
        """End an attempt of a user in flight and count it as a failure."""
        counts = map_concurrently(
            partial(_add_to_counter, failed=1, in_flight=-1), list(self.counters)
        )
        each = list(zip(self.counters, counts, strict=True))
        reached = tuple(
            one for one, count in each if one.kind != "address" and count.failed == one.limit
        )
        for one in reached:
            if metric := _LOCK_OUTS.get(one.kind):
                count_for_service(metric)
        return FailedAttempt(
            is_first=any(one.kind == "name-here" and count.failed == 1 for one, count in each),
            reached=reached,
        )

    def cancel(self) -> None:
        """End an attempt in flight without counting it; do nothing if it has not begun."""
        if self._begun:
            self._take_back()

    def _take_back(self) -> None:
        map_concurrently(partial(_add_to_counter, in_flight=-1), list(self.counters))

    def add_known_address(self, now: float) -> None:
        """Store that the user has signed in from the present address.

        Call it only if the user gave all credentials. A user with two-step verification who gave
        no code did not: whoever has the password alone could otherwise guess codes at many
        addresses.
        """
        if self._known:
            self._known.add_present(now)


def _make_counter(kind: _Kind, owner: str, limit: int, window: int, now: float) -> AttemptCounter:
    number = int(now) // window
    key = f"FAILURES#{number}#{kind}#{owner}"
    return AttemptCounter(kind, key, limit, (number + 1) * window)


def _address_counter(
    credential: _Credential, tenant: str | None, network: str, now: float
) -> AttemptCounter:
    owner = _digest(credential, tenant or _NO_TENANT, network)
    return _make_counter("address", owner, PER_ADDRESS, WINDOW, now)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()


def _refuse_if_any(over: list[AttemptCounter], now: float) -> None:
    if over:
        wait = max(1, max(counter.ends_at for counter in over) - int(now))
        raise RateLimited(f"Too many failed attempts; try again in {wait} s.", wait)


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
