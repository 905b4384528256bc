"""Revoked credentials of a tenant, kept in its item of the control table.

The map `revoked` holds mark → seconds since the epoch until which it matters: as long as a
token that was issued before can live. Doors read the marks with the tenant, so a revocation
costs them nothing and takes effect as soon as the tenant is read again (10 s).
"""

import time
from collections.abc import Mapping
from typing import Any

from shared.aws import client
from shared.config import config
from shared.errors import NotFound, ServiceUnavailable
from shared.tenancy.directory import read, tenant_key

CAPACITY = 1_000
"""Marks per tenant, about 60 kB: every door reads them with the tenant's item."""

_TOKEN_LIFETIME = 3600
_KEEP_LONGER = 60
"""Seconds a mark outlives the last token, for clocks that differ."""

_PRUNED_AT_ONCE = 50
"""Expired marks removed per revocation; an update expression holds at most 4 kB."""


def revoke(
    tenant: str,
    mark: str,
    *,
    until: float | None = None,
    always: bool = False,
    now: float | None = None,
) -> None:
    """Add a mark to the tenant's revocations and drop marks that no longer matter.

    Args:
        tenant: Slug of the tenant.
        mark: `client:ID`, `token:JTI` or `user:ID`.
        until: When the last token that it stops expires, in seconds since the epoch; the
            lifetime of a token from now when left out.
        always: Also beyond CAPACITY; for marks that only an operator sets.
        now: Seconds since the epoch; the clock's when left out.

    Raises:
        NotFound: There is no such tenant.
        ServiceUnavailable: CAPACITY marks are still needed.
    """
    moment = time.time() if now is None else now
    item = read(tenant_key(tenant))
    if item is None:
        raise NotFound(f"The tenant {tenant}")
    expired = _expired(item["revoked"]["M"], moment)
    expired.discard(mark)
    _write(
        tenant,
        mark,
        expires=int(moment + _TOKEN_LIFETIME if until is None else until) + _KEEP_LONGER,
        expired=sorted(expired)[:_PRUNED_AT_ONCE],
        always=always,
    )


def _expired(marks: Mapping[str, Any], now: float) -> set[str]:
    return {mark for mark, until in marks.items() if int(until["N"]) < now}


def _write(tenant: str, mark: str, *, expires: int, expired: list[str], always: bool) -> None:
    names = {"#mark": mark} | {f"#e{n}": old for n, old in enumerate(expired)}
    expression = "SET revoked.#mark = :expires"
    if expired:
        expression += " REMOVE " + ", ".join(f"revoked.#e{n}" for n in range(len(expired)))
    dynamodb = client("dynamodb")
    request: dict[str, Any] = {
        "TableName": config().control_table,
        "Key": {"pk": {"S": tenant_key(tenant)}},
        "UpdateExpression": expression,
        "ConditionExpression": "attribute_exists(pk)",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {":expires": {"N": str(expires)}},
    }
    if not always:
        request["ConditionExpression"] = "size(revoked) < :capacity"
        request["ExpressionAttributeValues"][":capacity"] = {"N": str(CAPACITY + len(expired))}
    try:
        dynamodb.update_item(**request)
    except dynamodb.exceptions.ConditionalCheckFailedException as error:
        raise ServiceUnavailable(retry_after=60) from error
