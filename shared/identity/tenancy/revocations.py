"""Revocation entries of a tenant, stored in the tenant's item of the control table.

The map `revoked` holds revocation key → expiry, in seconds since the epoch. A token is refused
when one of its revocation keys has an entry and the token expires at or before the entry's expiry.
Every token issued before the entry was written meets that condition; a token issued after it lives
longer and passes. The API handlers read the entries together with the tenant, so a revocation
costs a request no extra call. It takes effect when the cached tenant is read again, within 10 s.

The revocation keys are `token:JTI`, `client:ID`, `user:ID`, `session:SID`, `role:ID`, and
ALL_TOKENS, which replaces all entries when there are too many for the item. JTI and SID begin with
the id of the client or user and a hyphen, so that the entries of one subject can be counted.
"""

import random
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.identity.tenancy.directory import read_item, tenant_key
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from shared.kernel.errors import NotFound, ServiceUnavailable

if TYPE_CHECKING:
    from shared.kernel.caller import Caller
    from shared.kernel.db.transaction import Transaction

PER_SUBJECT = 100
"""Entries of tokens and sessions of one client or user, above which a revoked token or session gets
an entry of the client or user instead. No single credential uses up the entries of a tenant."""

SOFT_LIMIT = 1_000
"""Entries per tenant, about 80 kB, above which a revoked token or session gets an entry of its
client or user instead of one of its own. Every handler reads the entries with the tenant."""

HARD_LIMIT = 2 * SOFT_LIMIT
"""Most entries per tenant. At the limit, one ALL_TOKENS entry replaces them all."""

ALL_TOKENS = "tenant"
"""The revocation key of every token of the tenant."""

TOKEN_LIFETIME = 3600
_COMMIT_ALLOWANCE = 30
"""Seconds after its creation during which an entry also revokes newly issued tokens. It covers
tokens issued while the entry is being written (at most one invocation) and clock differences."""

_RETENTION_MARGIN = 60
"""Seconds that an entry is kept after its expiry, to allow for clock differences."""

_MAX_PRUNED = 50
"""Expired entries removed per revocation. DynamoDB limits an update expression to 4 kB."""

_ATTEMPTS = 6
_MAX_PAUSE = 0.02
"""Longest pause before the second attempt, in seconds. It doubles with each further attempt."""


def revocation_keys(caller: "Caller") -> list[str]:
    """Return the revocation keys of the caller's token."""
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
    one_less: str | None = None,
) -> None:
    """Add revocation entries to the transaction of the change that requires them.

    Without `fallback`, the entries are also written above SOFT_LIMIT, because ending a credential
    must never be refused. At HARD_LIMIT, one ALL_TOKENS entry replaces all entries, and every
    caller of the tenant has to get a new token.

    Call this at most once per transaction: DynamoDB accepts one action per item. If the credential
    stays in use, store `next_valid_iat` with it as the earliest `iat` of its new tokens.

    `fallback` is the revocation key to use instead when a limit is reached; see `revoke`.
    `one_less` is the counter in the tenant's item (`plan_counters`) of what the change removes.
    """
    slug, expiry = tx.store.slug, _expiry_of_new_entry(tx.now_ms)
    entries = _Entries(_read_entries(slug), tx.now_ms / 1000)
    request = _update_request(slug, entries, keys, expiry, fallback=fallback)
    if one_less:
        request["UpdateExpression"] += " ADD #counter :less"
        names = request.get("ExpressionAttributeNames", {})
        request["ExpressionAttributeNames"] = names | {"#counter": one_less}
        request["ExpressionAttributeValues"] |= {":less": {"N": "-1"}}
    tx.add_action("Update", request)


def next_valid_iat(tx: "Transaction") -> int:
    """Return the earliest `iat` of tokens that the entries of this transaction do not revoke."""
    return _expiry_of_new_entry(tx.now_ms) - TOKEN_LIFETIME + 1


def earliest_valid_iat(revoked: Mapping[str, int], keys: Iterable[str]) -> int:
    """Return the earliest `iat` of a token that the tenant's entries do not revoke.

    The result is negative when there is no entry for any of the `keys` of the token.

    Read the tenant's entries before the rights that go into the token: an entry written between
    the two reads must revoke the token.
    """
    return max((revoked.get(key, 0) for key in keys), default=0) - TOKEN_LIFETIME + 1


def wait_until_revocable(issued_at: int) -> None:
    """Wait until a new entry would also revoke a token with this `iat`.

    An entry revokes the tokens of the next 30 s, so a token issued right after it gets an `iat`
    beyond that time. A second entry written within the same second would not revoke that token.
    """
    ahead = issued_at - _COMMIT_ALLOWANCE - now_ms() / 1000
    if ahead > 0:
        time.sleep(min(ahead, 1))


def revoke(tenant: str, key: str, *, fallback: str, until: float, now: float | None = None) -> None:
    """Add the revocation entry of a single token, which expires at `until`.

    Both times are in seconds since the epoch; `now` is the present one if omitted. `fallback` is
    the revocation key to use instead when PER_SUBJECT or SOFT_LIMIT is reached: that of the token's
    client or user, which also revokes its older tokens. A caller that gets and revokes tokens
    without end therefore affects nobody else.

    Raises:
        ServiceUnavailable: Concurrent revocations made every attempt fail.
    """
    from shared.kernel.aws import client  # noqa: PLC0415  handlers use this module without boto3

    moment = time.time() if now is None else now
    dynamodb = client("dynamodb")
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, _MAX_PAUSE * 2**attempt))  # noqa: S311  no secret
        entries = _Entries(_read_entries(tenant), moment)
        if max(entries.expiry(key), entries.expiry(fallback)) >= until:
            return
        request = _update_request(tenant, entries, [key], int(until), fallback=fallback)
        try:
            dynamodb.update_item(**request)
        except dynamodb.exceptions.ConditionalCheckFailedException:
            continue  # another revocation changed the entries
        except dynamodb.exceptions.TransactionConflictException:
            continue  # the item is part of a transaction in progress
        return
    raise ServiceUnavailable(retry_after=1)


@dataclass(frozen=True, slots=True)
class _Entries:
    """The revocation entries of a tenant, as read."""

    values: Mapping[str, Any]
    """Revocation key → expiry, in DynamoDB's JSON."""
    now: float
    """Seconds since the epoch."""

    @property
    def expired(self) -> set[str]:
        """Keys of the entries that revoke no unexpired token."""
        return {key for key in self.values if self.expiry(key) + _RETENTION_MARGIN < self.now}

    def room_of(self, holder: str) -> int:
        """Return how many entries may be added for single tokens and sessions of a holder.

        `holder` is the revocation key of the client or user.
        """
        subject = holder.partition(":")[2]
        live = self.values.keys() - self.expired
        own = sum(key.startswith((f"token:{subject}-", f"session:{subject}-")) for key in live)
        return max(0, min(SOFT_LIMIT - len(live), PER_SUBJECT - own))

    def expiry(self, key: str) -> int:
        """Return the expiry of an entry in seconds since the epoch; 0 if there is none."""
        return int(self.values[key]["N"]) if key in self.values else 0


def _read_entries(tenant: str) -> Mapping[str, Any]:
    """Read the revocation entries of a tenant, in DynamoDB's JSON."""
    item = read_item(tenant_key(tenant))
    if item is None:
        raise NotFound(f"The tenant {tenant}")
    entries: Mapping[str, Any] = item["revoked"]["M"]
    return entries


def _expiry_of_new_entry(now_milliseconds: int) -> int:
    """Return the latest expiry of a token that an entry written now has to revoke."""
    return now_milliseconds // 1000 + _COMMIT_ALLOWANCE + TOKEN_LIFETIME


def _update_request(
    tenant: str,
    entries: _Entries,
    keys: Sequence[str],
    expiry: int,
    *,
    fallback: str | None,
) -> dict[str, Any]:
    """Return the UpdateItem request that sets entries for `keys` and prunes expired ones.

    `entries` are those that were read; `expiry` is in seconds since the epoch. `fallback` is the
    key to use instead when there is no room for entries of tokens and sessions. If there is room,
    the update is conditional on there still being some, whoever has added entries since the read.
    It is None if the entries must be added in any case.
    """
    room = entries.room_of(fallback) if fallback else None
    if fallback and not room:
        keys, room = [fallback], None
    expired = entries.expired
    pruned = sorted(expired - set(keys))[:_MAX_PRUNED]
    request = {"TableName": config().control_table, "Key": {"pk": {"S": tenant_key(tenant)}}}
    if len(entries.values) - len(pruned) >= HARD_LIMIT:
        # the single entry must revoke every token that any replaced entry revokes
        expiry = max(expiry, *map(entries.expiry, entries.values))
        return request | {
            "UpdateExpression": "SET revoked = :only",
            # an entry added since the read may have a later expiry
            "ConditionExpression": "size(revoked) = :seen",
            "ExpressionAttributeValues": {
                ":only": {"M": {ALL_TOKENS: {"N": str(expiry)}}},
                ":seen": {"N": str(len(entries.values))},
            },
        }
    names = {f"#m{n}": key for n, key in enumerate(keys)}
    names |= {f"#e{n}": key for n, key in enumerate(pruned)}
    expression = "SET " + ", ".join(f"revoked.#m{n} = :last" for n in range(len(keys)))
    if pruned:
        expression += " REMOVE " + ", ".join(f"revoked.#e{n}" for n in range(len(pruned)))
    # another request may set the same entries concurrently: a pruned entry must be unchanged, and
    # no update may shorten an expiry
    conditions = [f"revoked.#e{n} = :e{n}" for n in range(len(pruned))]
    conditions += [
        f"(attribute_not_exists(revoked.#m{n}) OR revoked.#m{n} <= :last)" for n in range(len(keys))
    ]
    values = {
        ":last": {"N": str(expiry)},
        **{f":e{n}": entries.values[key] for n, key in enumerate(pruned)},
    }
    if room is not None:
        conditions.append("size(revoked) < :capacity")
        values[":capacity"] = {"N": str(len(entries.values) + room)}
    return request | {
        "UpdateExpression": expression,
        "ConditionExpression": " AND ".join(["attribute_exists(pk)", *conditions]),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
