"""Counters of what a plan limits, such as users, in the tenant's item of the control table.

Each change is part of the transaction that creates or removes what is counted, so that concurrent
requests cannot exceed a limit.
"""

from typing import TYPE_CHECKING

from shared.identity.tenancy.directory import existing_tenant, read_item, tenant_key
from shared.identity.tenancy.tenant import LimitName, limit_reached
from shared.kernel.config import config
from shared.kernel.errors import NotFound

if TYPE_CHECKING:
    from shared.kernel.db.transaction import Transaction


def count_one_more(tx: "Transaction", name: str, limit: LimitName) -> None:
    """Add the increment of a counter, on the condition that the limit of the plan is not reached.

    `name` is the attribute of the tenant's item, which is missing before the first one.

    Raises:
        ServiceError: limit_reached.
    """
    key = tenant_key(tx.store.slug)
    item = read_item(key)
    tenant = existing_tenant(item) if item else None
    if item is None or tenant is None:
        raise NotFound(f"The tenant {tx.store.slug}")
    used = int(item[name]["N"]) if name in item else 0
    allowed = tenant.limits[limit]
    if used >= allowed:
        raise limit_reached(tenant, limit, used)
    tx.add_action(
        "Update",
        {
            "TableName": config().control_table,
            "Key": {"pk": {"S": key}},
            "UpdateExpression": "ADD #counter :one",
            "ConditionExpression": "attribute_exists(pk) AND"
            " (attribute_not_exists(#counter) OR #counter < :limit)",
            "ExpressionAttributeNames": {"#counter": name},
            "ExpressionAttributeValues": {":one": {"N": "1"}, ":limit": {"N": str(allowed)}},
        },
    )
