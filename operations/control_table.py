"""What only operators read: items of the control table, and the objects of a tenant."""

from collections.abc import Iterator, Mapping
from typing import Any

from shared.identity.tenancy.directory import query_by_holder, revoked_partition
from shared.kernel.aws import client, read_pages
from shared.kernel.config import config


def scan_items(prefix: str) -> Iterator[Mapping[str, Any]]:
    """Yield the items of all tenants whose keys begin with `prefix`, in no particular order."""
    return read_pages(
        client("dynamodb"),
        "scan",
        "Items",
        TableName=config().control_table,
        FilterExpression="begins_with(pk, :prefix)",
        ExpressionAttributeValues={":prefix": {"S": prefix}},
    )


def read_items_of_tenant(slug: str, prefix: str = "") -> Iterator[Mapping[str, Any]]:
    """Yield the clients and addresses of a tenant, ordered by key.

    They are read from an index, which lags behind the table by milliseconds.

    Args:
        slug: Slug of the tenant.
        prefix: Prefix of the keys; empty for all.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for holder in (slug, revoked_partition(slug)):  # an item revoked in between is read twice
        items = query_by_holder(holder, prefix, client("dynamodb"))
        found |= {item["pk"]["S"]: item for item in items}
    for key in sorted(found):
        yield found[key]


def list_objects(slug: str, bucket: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a tenant in a bucket, as S3 lists them."""
    return read_pages(client("s3"), "list_objects_v2", "Contents", Bucket=bucket, Prefix=f"{slug}/")
