"""Revoked credentials of a tenant, kept in its item of the control table.

The map `revoked` holds mark → seconds since the epoch: tokens that bear the mark and expire
by then are refused, and so are those that were issued before the mark was set; what is issued
after it lives longer. Doors read the marks with the tenant, so a revocation costs them nothing
and takes effect as soon as the tenant is read again (10 s).

Marks are `token:JTI`, `client:ID`, `user:ID`, `session:SID` and `role:ID`.
"""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shared.config import config
from shared.errors import NotFound, ServiceUnavailable
from shared.tenancy.directory import read, tenant_key

if TYPE_CHECKING:
    from shared.db.transaction import Transaction

CAPACITY = 1_000
"""Marks per tenant, about 60 kB: every door reads them with the tenant's item."""

_TOKEN_LIFETIME = 3600
_UNDER_WAY = 5
"""Seconds of tokens that a mark stops beyond its own second: of those that are being issued
while the mark is committed, and by clocks that differ."""

_KEEP_LONGER = 60
"""Seconds a mark outlives the last token that it stops, for clocks that differ."""

_PRUNED_AT_ONCE = 50
"""Expired marks removed per revocation; an update expression holds at most 4 kB."""

_ATTEMPTS = 3


def stage(tx: "Transaction", *marks: str, counts: Mapping[str, int] | None = None) -> None:
    """Put marks into the transaction of the change that makes them needed.

    They are set beyond CAPACITY too: what ends a credential is never refused. One call per
    transaction, since DynamoDB takes one action per item. Whoever goes on with the credential
    stores `tokens_from` beside it, and new tokens count from there.

    Args:
        tx: The transaction of a change to the tenant's data.
        marks: At least one.
        counts: Differences to counters in the tenant's item, which change with it.

    Raises:
        NotFound: The tenant is gone.
    """
    request = _request(tx.store.slug, marks, _last_stopped(tx.now_ms), now=tx.now_ms / 1000)
    if counts:
        names = {f"#c{n}": name for n, name in enumerate(counts)}
        request["UpdateExpression"] += " ADD " + ", ".join(f"{name} :{name[1:]}" for name in names)
        request["ExpressionAttributeNames"] |= names
        request["ExpressionAttributeValues"] |= {
            f":c{n}": {"N": str(change)} for n, change in enumerate(counts.values())
        }
    tx.stage("Update", request)


def tokens_from(tx: "Transaction") -> int:
    """First second of which tokens are not stopped by the marks of this transaction."""
    return _last_stopped(tx.now_ms) - _TOKEN_LIFETIME + 1


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
        mark: What is revoked.
        until: When the last token that it stops expires, in seconds since the epoch; that of
            a token issued now when left out.
        always: Also beyond CAPACITY.
        now: Seconds since the epoch; the clock's when left out.

    Raises:
        NotFound: There is no such tenant.
        ServiceUnavailable: CAPACITY marks are still needed.
    """
    from shared.aws import client  # noqa: PLC0415  doors know marks without botocore

    moment = time.time() if now is None else now
    last = _last_stopped(int(moment * 1000)) if until is None else int(until)
    dynamodb = client("dynamodb")
    for _attempt in range(_ATTEMPTS):
        request = _request(tenant, [mark], last, now=moment)
        if not always:
            dropped = len(request["ExpressionAttributeNames"]) - 1
            request["ConditionExpression"] += " AND size(revoked) < :capacity"
            request["ExpressionAttributeValues"][":capacity"] = {"N": str(CAPACITY + dropped)}
        try:
            dynamodb.update_item(**request)
        except dynamodb.exceptions.ConditionalCheckFailedException:
            continue  # full, or what was to be dropped has been set anew: look again
        return
    raise ServiceUnavailable(retry_after=60)


def _last_stopped(now_milliseconds: int) -> int:
    """When the last token expires that a mark set at this moment stops."""
    return now_milliseconds // 1000 + _UNDER_WAY + _TOKEN_LIFETIME


def _request(tenant: str, marks: Sequence[str], last: int, *, now: float) -> dict[str, Any]:
    """Write the update that sets marks and drops some that are no longer needed."""
    item = read(tenant_key(tenant))
    if item is None:
        raise NotFound(f"The tenant {tenant}")
    kept: Mapping[str, Any] = item["revoked"]["M"]
    dropped = sorted(
        mark
        for mark, until in kept.items()
        if int(until["N"]) + _KEEP_LONGER < now and mark not in marks
    )[:_PRUNED_AT_ONCE]
    names = {f"#m{n}": mark for n, mark in enumerate(marks)}
    names |= {f"#e{n}": mark for n, mark in enumerate(dropped)}
    expression = "SET " + ", ".join(f"revoked.#m{n} = :last" for n in range(len(marks)))
    if dropped:
        expression += " REMOVE " + ", ".join(f"revoked.#e{n}" for n in range(len(dropped)))
    # what is dropped must be what was read: someone may set the mark anew at the same time
    conditions = [f"revoked.#e{n} = :e{n}" for n in range(len(dropped))]
    return {
        "TableName": config().control_table,
        "Key": {"pk": {"S": tenant_key(tenant)}},
        "UpdateExpression": expression,
        "ConditionExpression": " AND ".join(["attribute_exists(pk)", *conditions]),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {
            ":last": {"N": str(last)},
            **{f":e{n}": kept[mark] for n, mark in enumerate(dropped)},
        },
    }
