"""The day for which the expired goods of a company were blocked last: in the control table.

A company is due when its day is later than that. So a day that was missed, or not completed, is
made up by the next run, in every time zone.
"""

from collections.abc import Iterator

from shared.identity.tenancy.access import dynamodb_for
from shared.identity.tenancy.directory import tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.aws import client, read_pages
from shared.kernel.calendar_days import day_of
from shared.kernel.clock import now_ms
from shared.kernel.config import config

EXPIRY_DAY = "expiry_day"
"""Attribute of a tenant's item: the day, in its time zone, whose expired goods are blocked."""


def due_tenants() -> Iterator[str]:
    """Yield the slugs of the active tenants that block expired goods and are due.

    Only the named attributes are read, which is all that the function of this run may read.
    """
    pages = read_pages(
        client("dynamodb"),
        "scan",
        "Items",
        TableName=config().control_table,
        ProjectionExpression=f"pk, #timezone, {EXPIRY_DAY}",
        FilterExpression="begins_with(pk, :prefix) AND #state = :active"
        " AND (attribute_not_exists(expired_stock) OR expired_stock = :block)",
        ExpressionAttributeNames={"#state": "state", "#timezone": "timezone"},
        ExpressionAttributeValues={
            ":prefix": {"S": tenant_key("")}, ":active": {"S": "active"}, ":block": {"S": "block"},
        },
    )  # fmt: skip
    moment = now_ms()
    for item in pages:
        done = item[EXPIRY_DAY]["S"] if EXPIRY_DAY in item else ""
        if done < day_of(moment, item["timezone"]["S"]):
            yield item["pk"]["S"].removeprefix(tenant_key(""))


def expiry_day(tenant: Tenant) -> str:
    """Return the last day whose expired goods are blocked; empty if there is none."""
    return str(tenant.item[EXPIRY_DAY]["S"]) if EXPIRY_DAY in tenant.item else ""


def save_expiry_day(tenant: Tenant, day: str) -> None:
    """Store that the expired goods of a day are blocked."""
    dynamodb_for(tenant.slug, tenant.table).update_item(
        TableName=config().control_table,
        Key={"pk": {"S": tenant_key(tenant.slug)}},
        UpdateExpression=f"SET {EXPIRY_DAY} = :day",
        ConditionExpression="attribute_exists(pk)",
        ExpressionAttributeValues={":day": {"S": day}},
    )
