"""The control table as requests read it: tenants and addresses, cached for seconds."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from threading import Lock
from typing import Any

from shared.identity.tenancy.tenant import Settings, Tenant
from shared.kernel.config import config
from shared.kernel.errors import ServiceUnavailable

FRESH = 10.0
"""Seconds within which a change of state, plan or revocation takes effect everywhere."""

_MAX_HOST_LENGTH = 253
"""Characters of a host name (RFC 1035); what is longer is none, and no key either."""

_CAPACITY = 2_000
"""Entries kept per execution environment; a tenant is about 1 kB."""


def tenant_key(slug: str) -> str:
    """Key of a tenant in the control table."""
    return f"TENANT#{slug}"


def host_key(host: str) -> str:
    """Key of a registered address (host name as `host_name` returns it)."""
    return f"HOST#{host}"


def host_name(header: str) -> str:
    """Read the host name out of a header `Host`: lower case, without port and root dot."""
    return header.lower().partition(":")[0].removesuffix(".")


SHARED_ADDRESS_KEY = host_key("*")
"""Key of the address that tenants without a host of their own share."""


BY_TENANT = "by_tenant"
"""Index of the control table: (tenant, pk)."""
_REVOKED = "#revoked"

NOT_THERE = frozenset({"creating", "deleting", "deleted"})
"""States in which there is no tenant for anybody but its operator."""


class Directory:
    """Reads tenants and addresses; keeps each answer, also a "no", for a bounded time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Mapping[str, Any] | None]] = OrderedDict()
        self._lock = Lock()

    def tenant(self, slug: str, max_age: float = FRESH) -> Tenant | None:
        """Find a tenant by its slug.

        Args:
            slug: The tenant's name.
            max_age: Seconds that a kept answer may be old.

        Returns:
            The tenant, or None when there is none, none yet, or none any more.
        """
        item = self._item(tenant_key(slug), max_age)
        return tenant_of(item) if item else None

    def tenant_if(self, slug: str, predicate: Callable[[Tenant], bool]) -> Tenant | None:
        """Find a tenant of which something holds; a kept "no" is not believed, but asked again.

        For what would be lost by a "no": a change of plan or state takes seconds to be known.
        """
        for max_age in (FRESH, 0):
            tenant = self.tenant(slug, max_age)
            if tenant is not None and predicate(tenant):
                return tenant
        return None

    def tenant_for_host(self, host: str, max_age: float = FRESH) -> str | None:
        """Slug of the tenant that the address belongs to, None for an address of no tenant."""
        if len(host) > _MAX_HOST_LENGTH:
            return None
        item = self._item(host_key(host), max_age)
        return item["tenant"]["S"] if item and "tenant" in item else None

    def shared_address(self) -> str | None:
        """Base address of the tenants that have no host of their own."""
        item = self._item(SHARED_ADDRESS_KEY, FRESH)
        return item["base_url"]["S"] if item else None

    def forget(self) -> None:
        """Drop everything that was kept."""
        self._kept.clear()

    def _item(self, key: str, max_age: float) -> Mapping[str, Any] | None:
        now = self._clock()
        kept = self._kept.get(key)
        if kept is not None and now - kept[0] < max_age:
            return kept[1]
        item = read(key)
        with self._lock:
            self._kept[key] = (now, item)
            self._kept.move_to_end(key)
            if len(self._kept) > _CAPACITY:
                self._kept.popitem(last=False)
        return item


def read(key: str, dynamodb: Any = None) -> dict[str, Any] | None:
    """Read one item of the control table, in DynamoDB's JSON, as it is at this moment.

    Args:
        key: Of the item.
        dynamodb: Client with the rights to do it; the function's own when left out.
    """
    from shared.kernel.aws import client  # noqa: PLC0415  botocore only where something is read

    answer = (dynamodb or client("dynamodb")).get_item(
        TableName=config().control_table, Key={"pk": {"S": key}}, ConsistentRead=True
    )
    item: dict[str, Any] | None = answer.get("Item")
    return item


def read_many(keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Read up to 100 items of the control table in one round trip: key → item, if it exists.

    Raises:
        ServiceUnavailable: DynamoDB left some of them unread.
    """
    from shared.kernel.aws import client  # noqa: PLC0415  botocore only where something is read

    table = config().control_table
    request = {"Keys": [{"pk": {"S": key}} for key in keys], "ConsistentRead": True}
    answer = client("dynamodb").batch_get_item(RequestItems={table: request})
    if answer["UnprocessedKeys"]:
        raise ServiceUnavailable
    return {item["pk"]["S"]: item for item in answer["Responses"][table]}


def scan(prefix: str) -> Iterator[Mapping[str, Any]]:
    """Read the items of all tenants whose keys begin with `prefix`, in no order."""
    from shared.kernel.aws import client  # noqa: PLC0415  botocore only where something is read

    pages = (
        client("dynamodb")
        .get_paginator("scan")
        .paginate(
            TableName=config().control_table,
            FilterExpression="begins_with(pk, :prefix)",
            ExpressionAttributeValues={":prefix": {"S": prefix}},
        )
    )
    for page in pages:
        yield from page["Items"]


def read_all_of(slug: str, prefix: str = "") -> Iterator[Mapping[str, Any]]:
    """Read what the control table holds of a tenant beside its own item, by key.

    From an index, which may lag behind a change for a moment. `prefix`: of the keys.
    """
    from shared.kernel.aws import client  # noqa: PLC0415  botocore only where something is read

    found: dict[str, Mapping[str, Any]] = {}
    for holder in (slug, revoked_partition(slug)):  # what is revoked in between is met twice
        items = query_by_holder(holder, prefix, client("dynamodb"))
        found |= {item["pk"]["S"]: item for item in items}
    for key in sorted(found):
        yield found[key]


def query_by_holder(holder: str, prefix: str, dynamodb: Any) -> Iterator[Mapping[str, Any]]:
    """Read a partition of the index of what tenants hold.

    Args:
        holder: Slug of a tenant, or `revoked_of` it.
        prefix: Of the keys; empty: all.
        dynamodb: Client with the rights to do it.
    """
    condition, values = "tenant = :tenant", {":tenant": {"S": holder}}
    if prefix:
        condition += " AND begins_with(pk, :prefix)"
        values[":prefix"] = {"S": prefix}
    pages = dynamodb.get_paginator("query").paginate(
        TableName=config().control_table,
        IndexName=BY_TENANT,
        KeyConditionExpression=condition,
        ExpressionAttributeValues=values,
    )
    for page in pages:
        yield from page["Items"]


def revoked_partition(slug: str) -> str:
    """Where the index has a tenant's revoked clients: nobody has to read past them."""
    return f"{slug}{_REVOKED}"


def holder_of(item: Mapping[str, Any]) -> str:
    """Slug of the tenant that a client or an address belongs to."""
    return str(item["tenant"]["S"]).removesuffix(_REVOKED)


def tenant_of(item: Mapping[str, Any]) -> Tenant | None:
    """Read a tenant's item; None while the tenant is being created, and once it is deleted."""
    return None if item["state"]["S"] in NOT_THERE else described(item)


def described(item: Mapping[str, Any]) -> Tenant:
    """Read how a tenant is set up, also while it is created or deleted."""
    return Tenant(
        slug=item["pk"]["S"].removeprefix("TENANT#"),
        state=item["state"]["S"],
        plan=item["plan"]["S"],
        modules=frozenset(item.get("modules", {}).get("SS", ())),
        base_url=item["base_url"]["S"],
        timezone=item["timezone"]["S"],
        moved_to=item["moved_to"]["S"] if "moved_to" in item else None,
        revoked={mark: int(last["N"]) for mark, last in item["revoked"]["M"].items()},
        settings=_settings_of(item),
        requests_per_minute=int(item["requests_per_minute"]["N"])
        if "requests_per_minute" in item
        else None,
    )


def _settings_of(item: Mapping[str, Any]) -> Settings:
    """Read the settings that were set; each is an attribute of its own."""
    values: dict[str, Any] = {}
    for each in fields(Settings):
        match item.get(each.name):
            case {"N": number}:
                values[each.name] = Decimal(number)
            case {"S": text}:
                values[each.name] = text
            case {"BOOL": flag}:
                values[each.name] = flag
    return Settings(**values)


directory = Directory()
"""The execution environment's own."""
