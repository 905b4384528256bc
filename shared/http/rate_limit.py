"""The limits of requests per minute, by plan: of each integration client and user, and of a tenant.

A request takes one token before it runs. One that took long or read much is charged further tokens
afterwards (`cost_of`), with a write that other requests do not need.

Windows are the minutes of the clock. An item of the tenant's table counts the requests of a window.
Execution environments lease tokens from it (`shared.http.rate_limit_leases`), so most requests need
no write. The items of a credential and of its tenant are written concurrently.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil
from threading import Lock
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from shared.http.rate_limit_leases import LeaseRequest, LeaseResult, LocalBudget, WindowState
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.clock import Deadline, instant, now_ms
from shared.kernel.config import config
from shared.kernel.db.items import encode, from_attributes
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY
from shared.kernel.errors import RateLimited
from shared.kernel.observability import count, logger, read_units

WINDOW_MS = 60_000

_CAPACITY = 5_000
"""Credentials and tenants that an execution environment caches; each takes about 0.5 kB."""

_WHOLE_TENANT = "tenant"
"""Name under which the requests of all credentials of a tenant are counted."""

_KEPT_MS = 60_000
"""How long an item is kept after its window, for environments whose clock is late."""

INCLUDED_MS, INCLUDED_UNITS = 500, 250
"""Duration in milliseconds, and read units, that one token pays for."""
MS_PER_TOKEN, UNITS_PER_TOKEN = 100, 50
"""What each further token pays for."""


def cost_of(milliseconds: float, read_units: float) -> int:
    """Return the tokens that a request costs: 1, and more if it took long or read much."""
    return 1 + max(
        0,
        ceil((milliseconds - INCLUDED_MS) / MS_PER_TOKEN),
        ceil((read_units - INCLUDED_UNITS) / UNITS_PER_TOKEN),
    )


def present_cost(deadline: Deadline) -> int:
    """Return the tokens that the present request costs so far; a local stack counts no time."""
    milliseconds = 0.0 if config().is_local else deadline.elapsed_ms
    return cost_of(milliseconds, read_units())


@dataclass(frozen=True, slots=True)
class _Quota:
    """A limit in the present window, and what this execution environment holds of it."""

    name: str
    """Whose requests are counted: a credential's, or those of the whole tenant."""
    limit: int
    budget: LocalBudget

    @property
    def remaining(self) -> int:
        return self.budget.remaining(self.limit)

    def take(self, store: Store, reserve: int = 0) -> bool:
        """Take the token of one request, and return whether there was one."""
        lease = partial(_lease, store, self.name, self.budget.window)
        return self.budget.take(self.limit, lease, reserve)

    def charge(self, store: Store, tokens: int) -> int:
        """Charge tokens that a request has cost, those beyond the limit to the next window.

        Return how many were within the limits of both windows.
        """
        missing = self.budget.pay(tokens)
        if not missing:
            return tokens
        state = _charge(store, self.name, self.budget.window, missing)
        self.budget.charged(self.limit, state)
        beyond = min(missing, state.leased - self.limit)
        if beyond <= 0:
            return tokens
        following = _charge(store, self.name, self.budget.window + 1, beyond)
        return tokens - max(0, min(beyond, following.leased - self.limit))


class RateLimiter:
    """Counts the requests of callers, as one execution environment sees them.

    Args:
        clock: Milliseconds since the epoch.
    """

    def __init__(self, clock: Callable[[], int] = now_ms) -> None:
        self._clock = clock
        self._budgets: OrderedDict[tuple[str, str], LocalBudget] = OrderedDict()
        self._lock = Lock()

    def admit(self, store: Store, tenant: Tenant, caller: Caller) -> None:
        """Count a request.

        A request that cannot be counted because of an error of AWS is admitted, because
        availability is more important than the limit.

        Raises:
            RateLimited: The requests of the minute are used up.
        """
        own, whole = self._quotas(tenant, caller)
        try:
            refused_by = _take(store, own, whole)
        except (BotoCoreError, ClientError):
            logger.warning("rate limit not counted", exc_info=True)
            count("rate_limit_not_counted")
            return
        if refused_by:
            whose = " of all clients and users together" if refused_by is whole else ""
            raise RateLimited(
                f"The limit of {refused_by.limit} requests per minute{whose} is reached; wait the"
                " seconds in Retry-After.",
                self._seconds_left(refused_by),
            )

    def charge(self, store: Store, tenant: Tenant, caller: Caller, cost: int) -> None:
        """Charge an admitted request what it has cost beyond its first token.

        Tokens beyond the limit are charged to the next minute. The tenant is charged no more than
        the limits of the credential in both minutes, so that one credential leaves some to the
        others. What cannot be charged because of an error of AWS is not charged.
        """
        if cost <= 1:
            return
        own, whole = self._quotas(tenant, caller)
        try:
            whole.charge(store, own.charge(store, cost - 1))
        except (BotoCoreError, ClientError):
            logger.warning("cost of a request not counted", exc_info=True)
            count("rate_limit_not_counted")

    def headers(self, tenant: Tenant, caller: Caller) -> dict[str, str]:
        """Return the RateLimit headers of a response: the limit with fewer remaining requests."""
        own, whole = self._quotas(tenant, caller)
        shown = whole if whole.remaining < own.remaining else own
        return {
            "RateLimit-Limit": str(shown.limit),
            "RateLimit-Remaining": str(shown.remaining),
            "RateLimit-Reset": str(self._seconds_left(shown)),
        }

    def forget(self) -> None:
        """Drop leased tokens; they count as used until the minute ends."""
        self._budgets.clear()

    def _quotas(self, tenant: Tenant, caller: Caller) -> tuple[_Quota, _Quota]:
        """Return the quotas of the caller's credential and of the whole tenant."""
        window, limits = self._clock() // WINDOW_MS, tenant.limits
        with self._lock:
            own, whole = (
                self._budget((tenant.slug, name), window)
                for name in (subject_of(caller), _WHOLE_TENANT)
            )
        return (
            _Quota(subject_of(caller), limits["requests_per_minute"], own),
            _Quota(_WHOLE_TENANT, limits["total_requests_per_minute"], whole),
        )

    def _budget(self, key: tuple[str, str], window: int) -> LocalBudget:
        budget = self._budgets.get(key)
        if budget is None or budget.window != window:
            budget = budget.next_window(window) if budget else LocalBudget(window)
            self._budgets[key] = budget
        self._budgets.move_to_end(key)
        if len(self._budgets) > _CAPACITY:
            self._budgets.popitem(last=False)
        return budget

    def _seconds_left(self, quota: _Quota) -> int:
        """Return the whole seconds until a window begins that has tokens: 1 to 120."""
        free = quota.budget.window + quota.budget.windows_used(quota.limit)
        milliseconds = free * WINDOW_MS - self._clock()
        return max(1, -(-milliseconds // 1000))


def _take(store: Store, own: _Quota, whole: _Quota) -> _Quota | None:
    """Take a token of both quotas; return the quota that has none, or None.

    A request whose credential needs a lease also leases tokens of the tenant, as many as the
    credential may spend until its next lease. Both are then leased in one round trip, and seldom
    is one leased alone.
    """
    for quota in (own, whole):
        if quota.budget.is_exhausted(quota.limit):
            return quota
    own_leases = own.budget.needs_lease(own.limit)
    reserve = own.budget.next_extra(own.limit) if own_leases else 0
    # Every environment of the credential is one of the tenant; the credential's number is newer.
    whole.budget.expect(own.budget.environments)
    if own_leases and whole.budget.needs_lease(whole.limit, reserve):
        has_own, has_whole = run_all(partial(own.take, store), partial(whole.take, store, reserve))
    else:
        has_own, has_whole = own.take(store), whole.take(store)
    if has_own and has_whole:
        return None
    if has_own:
        own.budget.put_back()
    if has_whole:
        whole.budget.put_back()
    return whole if has_own else own


def subject_of(caller: Caller) -> str:
    """Return the name of the credential; a user has one limit across all applications."""
    return f"{'client' if caller.kind == 'client' else 'user'}#{caller.subject}"


def _lease(store: Store, subject: str, window: int, request: LeaseRequest) -> LeaseResult:
    """Lease tokens with one conditional write.

    botocore may repeat the write when its answer was lost. Tokens are then leased twice, which can
    only waste some.
    """
    began = window * WINDOW_MS
    key = (f"rate#{subject}", instant(began))
    room = "leased <= :most_leased"
    values: Mapping[str, Any] = {
        ":tokens": request.tokens,
        ":spare": request.extra - request.returned,
        ":newcomers": int(request.is_first),
        ":most_leased": request.max_leased,
        ":expiry": _expiry(began),
    }
    if request.extra:
        room += " AND spare <= :most_spare"
        values = {**values, ":most_spare": request.max_spare}
    try:
        answer = store.client.update_item(
            TableName=store.table,
            Key=key_attributes(key),
            UpdateExpression=(
                "ADD leased :tokens, spare :spare, environments :newcomers SET #expiry = :expiry"
            ),
            ConditionExpression=f"attribute_not_exists(leased) OR ({room})",
            ExpressionAttributeNames={"#expiry": EXPIRY},
            ExpressionAttributeValues={name: encode(value) for name, value in values.items()},
            ReturnValues="ALL_NEW",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except store.client.exceptions.ConditionalCheckFailedException as error:
        found: Any = error.response.get("Item")
        return LeaseResult(granted=False, state=_window_state(from_attributes(found)))
    return LeaseResult(granted=True, state=_window_state(from_attributes(answer["Attributes"])))


def _charge(store: Store, subject: str, window: int, tokens: int) -> WindowState:
    """Add tokens to those of a window without a condition, and return the window afterwards."""
    began = window * WINDOW_MS
    values = {":tokens": tokens, ":none": 0, ":expiry": _expiry(began)}
    answer = store.client.update_item(
        TableName=store.table,
        Key=key_attributes((f"rate#{subject}", instant(began))),
        UpdateExpression=(
            "ADD leased :tokens, spare :none, environments :none SET #expiry = :expiry"
        ),
        ExpressionAttributeNames={"#expiry": EXPIRY},
        ExpressionAttributeValues={name: encode(value) for name, value in values.items()},
        ReturnValues="ALL_NEW",
    )
    return _window_state(from_attributes(answer["Attributes"]))


def _expiry(began: int) -> int:
    """Return when the item of a window expires, in seconds since the epoch."""
    return (began + WINDOW_MS + _KEPT_MS) // 1000


def _window_state(item: Mapping[str, Any]) -> WindowState:
    return WindowState(item["leased"], item["spare"], item["environments"])


limiter = RateLimiter()
"""The execution environment's own."""
