"""The share of a table's capacity that a verification may use, and its measurement."""

import threading
from collections.abc import Callable
from typing import Any

from operations.pace import Pace
from operations.tenant_changes import tenant_item
from operations.tenant_tables import ON_DEMAND_UNITS, describe_table
from shared.identity.tenancy.directory import current_table

_SHARE = 0.01
_LEAST_UNITS = 1.0
_METERED = (
    "batch_get_item", "get_item", "query", "scan", "transact_write_items", "update_item",
)  # fmt: skip


def default_rate(slug: str) -> float:
    """Return 1 % of the capacity units per second that a tenant's table has.

    That is the least of what is provisioned for the table and its indexes, or of the limits that
    are set for them. A table on demand without a limit has the default quota of an account.
    """
    described = describe_table(current_table(slug, tenant_item(slug))) or {}
    parts = [described, *described.get("GlobalSecondaryIndexes", ())]
    billing = described.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
    units = [float(ON_DEMAND_UNITS)]
    for part in parts:
        if billing == "PROVISIONED":
            found = part.get("ProvisionedThroughput", {})
            units += [float(found.get(f"{way}CapacityUnits") or 0) for way in ("Read", "Write")]
        else:
            limits = part.get("OnDemandThroughput", {})
            units += [float(limits.get(f"Max{way}RequestUnits") or 0) for way in ("Read", "Write")]
    return max(_LEAST_UNITS, _SHARE * min(each for each in units if each > 0))


class MeteredClient:
    """A client of DynamoDB whose calls report the units that they consume, and wait accordingly.

    Args:
        client: The client.
        pace: The limit of units per second.
        after_call: Called after each call, by one thread at a time.
    """

    def __init__(self, client: Any, pace: Pace, after_call: Callable[[], None]) -> None:
        self._client = client
        self._pace = pace
        self._after_call = after_call
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        """Return a member of the client; calls that consume units are metered."""
        member = getattr(self._client, name)
        if name not in _METERED:
            return member

        def metered(**request: Any) -> Any:
            answer = member(**request, ReturnConsumedCapacity="TOTAL")
            self._pace.spend(_units(answer))
            with self._lock:
                self._after_call()
            return answer

        return metered


def _units(answer: Any) -> float:
    """Return the consumed units; at least one, also where an emulator reports none."""
    consumed: Any = answer.get("ConsumedCapacity") or []
    parts: list[Any] = consumed if isinstance(consumed, list) else [consumed]
    units: float = sum(float(part.get("CapacityUnits") or 0) for part in parts)
    return max(1.0, units)
