"""The limit of requests per minute of each integration client and each user, by plan.

Windows are the minutes of the clock. An item of the tenant's table counts the requests of a window.
Execution environments lease tokens from it (`shared.http.rate_limit_leases`), so most requests need
no write.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from shared.http.rate_limit_leases import LeaseRequest, LeaseResult, LocalBudget, WindowState
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.items import encode, from_attributes
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY
from shared.kernel.errors import ServiceError
from shared.kernel.observability import count, logger

WINDOW_MS = 60_000

_CAPACITY = 5_000
"""Credentials that an execution environment caches; each takes about 0.5 kB."""

_KEPT_MS = 60_000
"""How long an item is kept after its window, for environments whose clock is late."""


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

        Args:
            store: The tenant's table.
            tenant: The caller's tenant.
            caller: Who sends the request.

        Raises:
            ServiceError: rate_limited with Retry-After; the requests of the minute are used up.
        """
        limit = tenant.limits["requests_per_minute"]
        budget = self._budget(tenant, caller)

        def lease(request: LeaseRequest) -> LeaseResult:
            return _lease(store, _subject(caller), budget.window, request)

        try:
            admitted = budget.take(limit, lease)
        except (BotoCoreError, ClientError):
            logger.warning("rate limit not counted", exc_info=True)
            count("rate_limit_not_counted")
            return
        if not admitted:
            raise ServiceError(
                f"The limit of {limit} requests per minute is reached; wait the seconds in "
                "Retry-After.",
                "rate_limited",
                headers={"Retry-After": str(self._seconds_left(budget))},
            )

    def headers(self, tenant: Tenant, caller: Caller) -> dict[str, str]:
        """Return the RateLimit headers of a response."""
        limit = tenant.limits["requests_per_minute"]
        budget = self._budget(tenant, caller)
        return {
            "RateLimit-Limit": str(limit),
            "RateLimit-Remaining": str(budget.remaining(limit)),
            "RateLimit-Reset": str(self._seconds_left(budget)),
        }

    def forget(self) -> None:
        """Drop leased tokens; they count as used until the minute ends."""
        self._budgets.clear()

    def _budget(self, tenant: Tenant, caller: Caller) -> LocalBudget:
        key, window = (tenant.slug, _subject(caller)), self._clock() // WINDOW_MS
        with self._lock:
            budget = self._budgets.get(key)
            if budget is None or budget.window != window:
                budget = budget.next_window(window) if budget else LocalBudget(window)
                self._budgets[key] = budget
            self._budgets.move_to_end(key)
            if len(self._budgets) > _CAPACITY:
                self._budgets.popitem(last=False)
        return budget

    def _seconds_left(self, budget: LocalBudget) -> int:
        """Return the whole seconds until the window ends: 1 to 60."""
        milliseconds = (budget.window + 1) * WINDOW_MS - self._clock()
        return max(1, -(-milliseconds // 1000))


def _subject(caller: Caller) -> str:
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
        ":expiry": (began + WINDOW_MS + _KEPT_MS) // 1000,
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


def _window_state(item: Mapping[str, Any]) -> WindowState:
    return WindowState(item["leased"], item["spare"], item["environments"])


limiter = RateLimiter()
"""The execution environment's own."""
