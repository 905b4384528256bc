"""The limit of requests per minute: of each integration client and each user, by plan.

Windows are the minutes of the clock. What is left of one stands in an item of the tenant's table,
of which environments lease (`shared.http.rate_limit_leases`), so most requests need no write.
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
"""Credentials that an execution environment remembers; each takes about 0.5 kB."""

_KEPT_MS = 60_000
"""How long an item stays after its window, for environments whose clock is late."""


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

        It passes when it cannot be counted because AWS does not answer as it should: serving
        matters more than the limit.

        Args:
            store: The tenant's table.
            tenant: The caller's tenant.
            caller: Who sends the request.

        Raises:
            ServiceError: rate_limited, with Retry-After: the minute's requests are used up.
        """
        limit = tenant.limits["requests_per_minute"]
        account = self._budget(tenant, caller)

        def lease(ask: LeaseRequest) -> LeaseResult:
            return _lease(store, _subject(caller), account.window, ask)

        try:
            admitted = account.take(limit, lease)
        except (BotoCoreError, ClientError):
            logger.warning("rate limit not counted", exc_info=True)
            count("rate_limit_not_counted")
            return
        if not admitted:
            raise ServiceError(
                f"The limit of {limit} requests per minute is reached; wait the seconds in "
                "Retry-After.",
                "rate_limited",
                headers={"Retry-After": str(self._seconds_left(account))},
            )

    def headers(self, tenant: Tenant, caller: Caller) -> dict[str, str]:
        """Write what the caller is told of its limit with every answer."""
        limit = tenant.limits["requests_per_minute"]
        account = self._budget(tenant, caller)
        return {
            "RateLimit-Limit": str(limit),
            "RateLimit-Remaining": str(account.remaining(limit)),
            "RateLimit-Reset": str(self._seconds_left(account)),
        }

    def forget(self) -> None:
        """Drop what was leased; it counts as used until the minute ends."""
        self._budgets.clear()

    def _budget(self, tenant: Tenant, caller: Caller) -> LocalBudget:
        key, window = (tenant.slug, _subject(caller)), self._clock() // WINDOW_MS
        with self._lock:
            account = self._budgets.get(key)
            if account is None or account.window != window:
                account = account.next_window(window) if account else LocalBudget(window)
                self._budgets[key] = account
            self._budgets.move_to_end(key)
            if len(self._budgets) > _CAPACITY:
                self._budgets.popitem(last=False)
        return account

    def _seconds_left(self, account: LocalBudget) -> int:
        """Whole seconds after which the account's window has ended: 1 to 60."""
        milliseconds = (account.window + 1) * WINDOW_MS - self._clock()
        return max(1, -(-milliseconds // 1000))


def _subject(caller: Caller) -> str:
    """Name of the credential; a user is one, whatever application the token is of."""
    return f"{'client' if caller.kind == 'client' else 'user'}#{caller.subject}"


def _lease(store: Store, subject: str, window: int, ask: LeaseRequest) -> LeaseResult:
    """Carry out an ask with one conditional write.

    botocore may repeat it after an answer was lost, and the tokens are leased twice: that can
    only waste some.
    """
    began = window * WINDOW_MS
    key = (f"rate#{subject}", instant(began))
    room = "leased <= :most_leased"
    values: Mapping[str, Any] = {
        ":tokens": ask.tokens,
        ":spare": ask.extra - ask.returned,
        ":newcomers": int(ask.is_first),
        ":most_leased": ask.most_leased,
        ":expiry": (began + WINDOW_MS + _KEPT_MS) // 1000,
    }
    if ask.extra:
        room += " AND spare <= :most_spare"
        values = {**values, ":most_spare": ask.most_spare}
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
