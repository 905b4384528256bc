"""Tenants and their addresses, read from the control table and cached for seconds."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

from shared.identity.tenancy.tenant import Tenant
from shared.kernel.clock import is_fresh, now
from shared.kernel.config import config
from shared.kernel.db.schema import TableVersion
from shared.kernel.errors import ServiceUnavailable

CACHE_SECONDS = 10.0
"""Seconds that an answer is cached: the time until a changed state or revocation takes effect."""

_MAX_HOST_LENGTH = 253
"""Longest host name, in characters (RFC 1035). Longer values are not looked up."""

_CAPACITY = 2_000
"""Most cached items per execution environment. A tenant takes about 8 kB."""


def tenant_key(slug: str) -> str:
    """Return the key of a tenant in the control table."""
    return f"TENANT#{slug}"


def host_key(host: str) -> str:
    """Return the key of a registered host name, which must be normalized by `host_name`."""
    return f"HOST#{host}"


def host_name(header: str) -> str:
    """Return the host name of a `Host` header in lower case, without port and trailing dot."""
    return header.lower().partition(":")[0].removesuffix(".")


SHARED_ADDRESS_KEY = host_key("*")
"""Key of the base URL shared by the tenants without a host name of their own."""


BY_TENANT = "by_tenant"
"""Index of the control table with the key (tenant, pk)."""
_REVOKED = "#revoked"

TABLE_NAME = "table_name"
"""Attribute of a tenant's item: the name of its table, once a restore has replaced the first."""

HIDDEN_STATES = frozenset({"creating", "deleting", "deleted"})
"""States in which only operators see the tenant."""


class TenantDirectory:
    """Cached lookup of tenants and addresses. Missing items are cached, too."""

    def __init__(self, clock: Callable[[], float] = now) -> None:
        self._clock = clock
        self._cache: OrderedDict[str, tuple[float, Any]] = OrderedDict()
        self._lock = Lock()

    def tenant(self, slug: str, max_age: float = CACHE_SECONDS) -> Tenant | None:
        """Find a tenant by its slug.

        `max_age` is the maximum age of a cached item, in seconds.

        Returns:
            The tenant; None if it does not exist, is being created or is being deleted.
        """
        return self._found(tenant_key(slug), existing_tenant, max_age)

    def tenant_matching(self, slug: str, predicate: Callable[[Tenant], bool]) -> Tenant | None:
        """Find a tenant that satisfies a predicate.

        If the cached tenant does not satisfy it, the tenant is read again: a change of plan or
        state may be newer than the cache. Use this where a wrong "no" would lose data.
        """
        for max_age in (CACHE_SECONDS, 0):
            tenant = self.tenant(slug, max_age)
            if tenant is not None and predicate(tenant):
                return tenant
        return None

    def tenant_for_host(self, host: str, max_age: float = CACHE_SECONDS) -> str | None:
        """Return the slug of the tenant that owns a host name; None if no tenant owns it."""
        if len(host) > _MAX_HOST_LENGTH or host_key(host) == SHARED_ADDRESS_KEY:
            return None
        return self._found(host_key(host), _tenant_of_host, max_age)

    def shared_address(self) -> str | None:
        """Return the base URL of the tenants without a host name of their own."""
        return self._found(SHARED_ADDRESS_KEY, _base_url, CACHE_SECONDS)

    def clear(self) -> None:
        """Empty the cache."""
        self._cache.clear()

    def _found[T](
        self, key: str, parse: Callable[[Mapping[str, Any]], T | None], max_age: float
    ) -> T | None:
        """Return an item as `parse` reads it, from the cache if it is fresh."""
        moment = self._clock()
        kept = self._cache.get(key)
        if kept is not None and is_fresh(kept[0], max_age, moment):
            found: T | None = kept[1]
            return found
        item = read_item(key)
        found = parse(item) if item else None
        with self._lock:
            self._cache[key] = (moment, found)
            self._cache.move_to_end(key)
            if len(self._cache) > _CAPACITY:
                self._cache.popitem(last=False)
        return found


def _tenant_of_host(item: Mapping[str, Any]) -> str | None:
    return item["tenant"]["S"] if "tenant" in item else None


def _base_url(item: Mapping[str, Any]) -> str:
    address: str = item["base_url"]["S"]
    return address


def _dynamodb() -> Any:
    from shared.kernel.aws import client  # noqa: PLC0415  botocore only where something is read

    return client("dynamodb")


def read_item(
    key: str, dynamodb: Any = None, *, attribute: str | None = None
) -> dict[str, Any] | None:
    """Read one item of the control table consistently; return it in DynamoDB's JSON.

    `dynamodb` is the client to use, by default that of the function's own role; `attribute` is the
    only one to read, for a role that may read no other one.
    """
    projection: dict[str, Any] = {}
    if attribute:
        projection["ProjectionExpression"] = "#only"
        projection["ExpressionAttributeNames"] = {"#only": attribute}
    answer = (dynamodb or _dynamodb()).get_item(
        TableName=config().control_table, Key={"pk": {"S": key}}, ConsistentRead=True, **projection
    )
    item: dict[str, Any] | None = answer.get("Item")
    return item


def read_items(keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Read up to 100 items of the control table in one round trip; return key → item.

    Items that do not exist are missing from the result.

    Raises:
        ServiceUnavailable: DynamoDB returned unprocessed keys.
    """
    table = config().control_table
    request = {"Keys": [{"pk": {"S": key}} for key in keys], "ConsistentRead": True}
    answer = _dynamodb().batch_get_item(RequestItems={table: request})
    if answer["UnprocessedKeys"]:
        raise ServiceUnavailable
    return {item["pk"]["S"]: item for item in answer["Responses"][table]}


def query_by_holder(holder: str, prefix: str, dynamodb: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the items of one partition of the index BY_TENANT.

    `holder` is the slug of a tenant, or `revoked_partition` of the slug; `prefix` is that of the
    keys, empty for all.
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


def active_tenants() -> Iterator[str]:
    """Yield the slugs of the active tenants.

    Only the named attributes are read, which is all that a function that calls this may read.
    """
    pages = (
        _dynamodb()
        .get_paginator("scan")
        .paginate(
            TableName=config().control_table,
            ProjectionExpression="pk, #state",
            FilterExpression="begins_with(pk, :prefix) AND #state = :active",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={
                ":prefix": {"S": tenant_key("")},
                ":active": {"S": "active"},
            },
        )
    )
    for page in pages:
        for item in page["Items"]:
            yield item["pk"]["S"].removeprefix(tenant_key(""))


def revoked_partition(slug: str) -> str:
    """Return the index partition of a tenant's revoked clients, apart from its active clients."""
    return f"{slug}{_REVOKED}"


def owner_of(item: Mapping[str, Any]) -> str:
    """Return the slug of the tenant that a client or address item belongs to."""
    return str(item["tenant"]["S"]).removesuffix(_REVOKED)


def existing_tenant(item: Mapping[str, Any]) -> Tenant | None:
    """Parse a tenant's item; return None while the tenant is being created or deleted."""
    return None if item["state"]["S"] in HIDDEN_STATES else tenant_from_item(item)


def tenant_from_item(item: Mapping[str, Any]) -> Tenant:
    """Parse a tenant's item, whatever its state."""
    return Tenant(
        slug=item["pk"]["S"].removeprefix("TENANT#"),
        state=item["state"]["S"],
        plan=item["plan"]["S"],
        modules=frozenset(item.get("modules", {}).get("SS", ())),
        base_url=item["base_url"]["S"],
        timezone=item["timezone"]["S"],
        moved_to=item["moved_to"]["S"] if "moved_to" in item else None,
        is_being_moved="suspended_for" in item,
        revoked={key: int(expiry["N"]) for key, expiry in item["revoked"]["M"].items()},
        requests_per_minute=int(item["requests_per_minute"]["N"])
        if "requests_per_minute" in item
        else None,
        table_version=table_version_of(item),
        own_table=item[TABLE_NAME]["S"] if TABLE_NAME in item else None,
        is_being_restored=is_being_restored(item),
        item=item,
    )


def current_table(slug: str, item: Mapping[str, Any] | None) -> str:
    """Return the name of a tenant's table; `item` is the tenant's item, None if there is none."""
    if item and TABLE_NAME in item:
        return str(item[TABLE_NAME]["S"])
    return config().tenant_table(slug)


def is_being_restored(item: Mapping[str, Any]) -> bool:
    """Return whether requests are refused because the table is about to be replaced.

    The attribute `restoring` exists from the beginning of a restore (`operations.restore`) to the
    switch; `refused_at` is added when requests are refused.
    """
    return "refused_at" in item.get("restoring", {}).get("M", {})


def table_version_of(item: Mapping[str, Any]) -> TableVersion | None:
    """Parse the version of the table from a tenant's item; None without one.

    The attribute `upgrade` exists while the table is being upgraded (`operations.upgrade`).
    """
    if "table_version" not in item:
        return None
    complete = int(item["table_version"]["N"])
    upgrade = item.get("upgrade", {}).get("M", {})
    announced = int(upgrade["to"]["N"]) if upgrade else complete
    return TableVersion(complete, announced if "written_at" in upgrade else complete, announced)


directory = TenantDirectory()
"""The instance of this execution environment."""
