"""Counters of what a plan limits, such as users, in the tenant's item of the control table.

Each change is part of the transaction that creates or removes what is counted, so that concurrent
requests cannot exceed a limit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.identity.tenancy.directory import existing_tenant, read_item, tenant_key
from shared.identity.tenancy.tenant import LimitName, limit_reached
from shared.kernel.config import config
from shared.kernel.errors import NotFound

if TYPE_CHECKING:
    from shared.kernel.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class PlanCounterChange:
    """A change of one counter."""

    name: str
    """Attribute of the tenant's item."""
    difference: int
    initial: int = 0
    """Value before the change if the tenant's item has no such counter yet."""

    @property
    def assignment(self) -> str:
        """The change as part of a SET clause; it uses `names` and `values`."""
        return "#counter = if_not_exists(#counter, :initial) + :difference"

    @property
    def names(self) -> dict[str, str]:
        """The attribute names of the assignment."""
        return {"#counter": self.name}

    @property
    def values(self) -> dict[str, Any]:
        """The values of the assignment, in DynamoDB's JSON."""
        return {
            ":initial": {"N": str(self.initial)},
            ":difference": {"N": str(self.difference)},
        }


def count_one_more(
    tx: "Transaction", name: str, limit: LimitName, initial: Callable[[], int] = lambda: 0
) -> None:
    """Add the increment of a counter, on the condition that the limit of the plan is not reached.

    Args:
        tx: The transaction that creates what is counted.
        name: Attribute of the tenant's item.
        limit: The limit of the plan.
        initial: Returns the value of a counter that the tenant's item does not have yet.

    Raises:
        NotFound: The tenant does not exist.
        ServiceError: limit_reached.
    """
    key = tenant_key(tx.store.slug)
    item = read_item(key)
    tenant = existing_tenant(item) if item else None
    if item is None or tenant is None:
        raise NotFound(f"The tenant {tx.store.slug}")
    used = int(item[name]["N"]) if name in item else initial()
    allowed = tenant.limits[limit]
    if used >= allowed:
        raise limit_reached(tenant, limit, used)
    change = PlanCounterChange(name, 1, used)
    tx.add_action(
        "Update",
        {
            "TableName": config().control_table,
            "Key": {"pk": {"S": key}},
            "UpdateExpression": f"SET {change.assignment}",
            "ConditionExpression": "attribute_exists(pk) AND"
            " (attribute_not_exists(#counter) OR #counter < :limit)",
            "ExpressionAttributeNames": change.names,
            "ExpressionAttributeValues": {**change.values, ":limit": {"N": str(allowed)}},
        },
    )
