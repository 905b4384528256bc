"""The day for which the expired goods of a company were blocked last: in the control table.

A company is due when its day is later than that. So a day that was missed, or not completed, is
made up by the next run, in every time zone.
"""

from shared.identity.tenancy.access import dynamodb_for
from shared.identity.tenancy.directory import tenant_key
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.config import config

EXPIRY_DAY = "expiry_day"
"""Attribute of a tenant's item: the day, in its time zone, whose expired goods are blocked."""


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
