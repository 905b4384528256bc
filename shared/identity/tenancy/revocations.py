"""Revoked credentials of a tenant, kept in its item of the control table.

The map `revoked` holds mark → seconds since the epoch: tokens that bear the mark and expire
by then are refused, and so are those that were issued before the mark was set; what is issued
after it lives longer. Doors read the marks with the tenant, so a revocation costs them nothing
and takes effect as soon as the tenant is read again (10 s).

Marks are `token:JTI`, `client:ID`, `user:ID`, `session:SID` and `role:ID`, and EVERYBODY in place
of so many that the item would grow too large.
"""

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.identity.tenancy.directory import read, tenant_key
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.errors import NotFound, ServiceUnavailable

if TYPE_CHECKING:
    from shared.kernel.caller import Caller
    from shared.kernel.db.transaction import Transaction

SOFT_LIMIT = 1_000
"""Marks per tenant, about 60 kB, from which on single tokens are not marked any more: every door
reads them with the tenant's item."""

HARD_LIMIT = 2 * SOFT_LIMIT
"""Marks per tenant that are ever kept; then one mark ends every token so far."""

ALL_TOKENS = "tenant"
"""The mark that every token of the tenant bears."""

_TOKEN_LIFETIME = 3600
_COMMIT_ALLOWANCE = 30
"""Seconds of tokens that a mark stops beyond its own second: of those that are issued while the
mark is on its way into the table (no longer than an invocation lives), and by clocks that
differ."""

_RETENTION_MARGIN = 60
"""Seconds a mark outlives the last token that it stops, for clocks that differ."""

_MAX_PRUNED = 50
"""Expired marks removed per revocation; an update expression holds at most 4 kB."""

_ATTEMPTS = 6
_MAX_PAUSE = 0.02
"""Seconds before the second attempt at most; twice as long before each one after it."""


def revocation_keys(caller: "Caller") -> list[str]:
    """Return the revocation keys that end the caller's token."""
    keys = [ALL_TOKENS, f"token:{caller.token_id}"]
    if caller.client_id:
        keys.append(f"client:{caller.client_id}")
    if caller.kind != "client":
        keys.append(f"user:{caller.subject}")
    if caller.session:
        keys.append(f"session:{caller.session}")
    return [*keys, *(f"role:{role}" for role in caller.roles)]


def revoke_in(
    tx: "Transaction",
    *keys: str,
    fallback: str | None = None,
    counter_changes: Mapping[str, int] | None = None,
) -> None:
    """Put marks into the transaction of the change that makes them needed.

    They are set beyond CAPACITY too: what ends a credential is never refused. When there are
    MOST, all of them become one that ends every token of the tenant, whose callers get new ones.
    One call per transaction, since DynamoDB takes one action per item. Whoever goes on with the
    credential stores `tokens_from` beside it, and new tokens count from there.

    Args:
        tx: The transaction of a change to the tenant's data.
        marks: At least one.
        crowded: The mark that is set instead when there are CAPACITY already; see `revoke`.
        counts: Differences to counters in the tenant's item, which change with it.

    Raises:
        NotFound: The tenant is gone.
    """
    slug, last = tx.store.slug, _expiry_of_new_entry(tx.now_ms)
    kept = _Entries(_read_entries(slug), tx.now_ms / 1000)
    if fallback and kept.is_above_soft_limit:
        request = _update_request(slug, kept, [fallback], last, bounded=False)
    else:
        request = _update_request(slug, kept, keys, last, bounded=fallback is not None)
    if counter_changes:
        names = {f"#c{n}": name for n, name in enumerate(counter_changes)}
        request["UpdateExpression"] += " ADD " + ", ".join(f"{name} :{name[1:]}" for name in names)
        request["ExpressionAttributeNames"] = request.get("ExpressionAttributeNames", {}) | names
        request["ExpressionAttributeValues"] |= {
            f":c{n}": {"N": str(change)} for n, change in enumerate(counter_changes.values())
        }
    tx.add_action("Update", request)


def next_valid_iat(tx: "Transaction") -> int:
    """First second of which tokens are not stopped by the marks of this transaction."""
    return _expiry_of_new_entry(tx.now_ms) - _TOKEN_LIFETIME + 1


def earliest_valid_iat(revoked: Mapping[str, int], keys: Iterable[str]) -> int:
    """First second of which tokens are not stopped by the marks that are set; negative: by none.

    Args:
        revoked: The tenant's, read before what the token says of its holder: a mark that came
            between the two would count as known to a token that it is meant to stop.
        marks: Those that the token bears.
    """
    return max((revoked.get(mark, 0) for mark in keys), default=0) - _TOKEN_LIFETIME + 1


def wait_until_revocable(issued_at: int) -> None:
    """Wait until tokens that count from a second can be told from what the next mark stops.

    A mark stops the tokens of the half minute to come. Right after one, a new token counts from
    beyond that; another mark within the same second would not reach it.

    Args:
        first: What `counts_from` or `tokens_from` said.
    """
    ahead = issued_at - _COMMIT_ALLOWANCE - now_ms() / 1000
    if ahead > 0:
        time.sleep(min(ahead, 1))


def revoke(tenant: str, key: str, *, fallback: str, until: float, now: float | None = None) -> None:
    """Add the mark of a single token to the tenant's revocations.

    Args:
        tenant: Slug of the tenant.
        mark: What is revoked.
        crowded: The mark that is set instead when there are CAPACITY already: of the token's
            client or user, whose older tokens end with it. So whoever gets and gives back
            tokens without end harms nobody else.
        until: When the token expires, in seconds since the epoch.
        now: Seconds since the epoch; the clock's when left out.

    Raises:
        NotFound: There is no such tenant.
        ServiceUnavailable: Others changed the tenant's revocations all the time.
    """
    from shared.kernel.aws import client  # noqa: PLC0415  doors know marks without botocore

    moment = time.time() if now is None else now
    dynamodb = client("dynamodb")
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, _MAX_PAUSE * 2**attempt))  # noqa: S311  no secret
        kept = _Entries(_read_entries(tenant), moment)
        wanted = fallback if kept.is_above_soft_limit else key
        if kept.expiry(wanted) >= until:
            return
        request = _update_request(
            tenant, kept, [wanted], int(until), bounded=not kept.is_above_soft_limit
        )
        try:
            dynamodb.update_item(**request)
        except dynamodb.exceptions.ConditionalCheckFailedException:
            continue  # marks have been set meanwhile: look again
        except dynamodb.exceptions.TransactionConflictException:
            continue  # the item is part of a transaction at this moment
        return
    raise ServiceUnavailable(retry_after=1)


@dataclass(frozen=True, slots=True)
class _Entries:
    """The marks of a tenant as they were read."""

    values: Mapping[str, Any]
    """In DynamoDB's JSON."""
    now: float
    """Seconds since the epoch."""

    @property
    def expired(self) -> set[str]:
        """The marks that stop no token any more."""
        return {mark for mark in self.values if self.expiry(mark) + _RETENTION_MARGIN < self.now}

    @property
    def is_above_soft_limit(self) -> bool:
        """Whether there are so many that single tokens are not marked any more."""
        return len(self.values) - len(self.expired) >= SOFT_LIMIT

    def expiry(self, mark: str) -> int:
        """When the last token expires that a mark stops; 0 where it is not set."""
        return int(self.values[mark]["N"]) if mark in self.values else 0


def _read_entries(tenant: str) -> Mapping[str, Any]:
    """Read the marks of a tenant, in DynamoDB's JSON."""
    item = read(tenant_key(tenant))
    if item is None:
        raise NotFound(f"The tenant {tenant}")
    kept: Mapping[str, Any] = item["revoked"]["M"]
    return kept


def _expiry_of_new_entry(now_milliseconds: int) -> int:
    """When the last token expires that a mark set at this moment stops."""
    return now_milliseconds // 1000 + _COMMIT_ALLOWANCE + _TOKEN_LIFETIME


def _update_request(
    tenant: str, kept: _Entries, marks: Sequence[str], last: int, *, bounded: bool
) -> dict[str, Any]:
    """Write the update that sets marks and drops some that are no longer needed.

    Args:
        tenant: Slug of the tenant.
        kept: The marks that were read.
        marks: Those to be set.
        last: When the last token expires that they stop.
        bounded: Only as long as there are fewer than CAPACITY.
    """
    expired = kept.expired
    dropped = sorted(expired - set(marks))[:_MAX_PRUNED]
    request = {"TableName": config().control_table, "Key": {"pk": {"S": tenant_key(tenant)}}}
    if len(kept.values) - len(dropped) >= HARD_LIMIT:
        # it stops whatever any of them stops
        last = max(last, *map(kept.expiry, kept.values))
        return request | {
            "UpdateExpression": "SET revoked = :only",
            # a mark that came meanwhile may stop later tokens
            "ConditionExpression": "size(revoked) = :seen",
            "ExpressionAttributeValues": {
                ":only": {"M": {ALL_TOKENS: {"N": str(last)}}},
                ":seen": {"N": str(len(kept.values))},
            },
        }
    names = {f"#m{n}": mark for n, mark in enumerate(marks)}
    names |= {f"#e{n}": mark for n, mark in enumerate(dropped)}
    expression = "SET " + ", ".join(f"revoked.#m{n} = :last" for n in range(len(marks)))
    if dropped:
        expression += " REMOVE " + ", ".join(f"revoked.#e{n}" for n in range(len(dropped)))
    # what is dropped must be what was read, and what is set no less than what is there: someone
    # may set the mark anew at the same time
    conditions = [f"revoked.#e{n} = :e{n}" for n in range(len(dropped))]
    conditions += [
        f"(attribute_not_exists(revoked.#m{n}) OR revoked.#m{n} <= :last)"
        for n in range(len(marks))
    ]
    values = {
        ":last": {"N": str(last)},
        **{f":e{n}": kept.values[mark] for n, mark in enumerate(dropped)},
    }
    if bounded:
        conditions.append("size(revoked) < :capacity")
        values[":capacity"] = {"N": str(SOFT_LIMIT + len(expired))}
    return request | {
        "UpdateExpression": expression,
        "ConditionExpression": " AND ".join(["attribute_exists(pk)", *conditions]),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
