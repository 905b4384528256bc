"""Idempotency-Key: the same request again gets the same answer, and is done once.

A key is claimed with a conditional put for as long as the invocation can live; the answer
is stored by the very transaction that makes the change. So after a crash at any point a
retry either finds the finished answer, or, once the claim has run out, starts afresh.
"""

import hashlib
import json
import re
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from shared.http.conditional import ChangedSinceRead
from shared.http.envelope import HttpResponse
from shared.kernel.clock import now_ms
from shared.kernel.db.items import PART_SIZE, Item, Key, encode, from_attributes, to_attributes
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import BadRequest, DuplicateInFlight, IdempotencyKeyReused, ServiceError
from shared.kernel.observability import logger
from shared.kernel.sealing import seal, unseal

WINDOW_SECONDS = 24 * 3600
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_MARGIN_MS = 1_000
_RETRY_SECONDS = 2
"""A request in flight is nearly always done by then; after a crash the claim runs out."""

_NOT_STORED = frozenset(
    {"duplicate_in_flight", "approval_required", "rate_limited", "internal_error"}
)


def read_key(headers: Mapping[str, str]) -> str | None:
    """Return the key of a request; BadRequest when it is no printable ASCII of 1 to 255."""
    key = headers.get("idempotency-key")
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        message = "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces."
        raise BadRequest(message)
    return key


def fingerprint(method: str, path: str, body: object, *, salt: str | None = None) -> str:
    """Tell requests apart; the order and spacing of JSON keys does not matter.

    `salt`: salt for a request that may carry a secret; a guess then costs tens of
    milliseconds.
    """
    canonical = json.dumps([method, path, body], sort_keys=True, default=str).encode()
    if salt is None:
        return hashlib.sha256(canonical).hexdigest()
    return hashlib.scrypt(canonical, salt=salt.encode(), n=2**14, r=8, p=1, dklen=32).hex()


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """The right to carry out one request, held until the invocation must have ended."""

    store: Store
    partition: str
    fingerprint: str
    owner: str

    def complete(self, tx: Transaction, reply: HttpResponse) -> None:
        """Stage the answer into the transaction that makes the change."""
        head, tails = self._completed(reply)
        tx.put(
            head,
            condition="#owner = :owner",
            names={"#owner": "owner"},
            values={":owner": self.owner},
            on_condition_failed=lambda: DuplicateInFlight(1),
        )
        for tail in tails:
            tx.put(tail)

    def end_refused(self, error: ServiceError, reply: HttpResponse) -> None:
        """End the claim of a refused request: keep the refusal, or free the key.

        What the caller can mend under the same key (invalid data, an approval) or what
        may pass by itself (5xx) is not kept.
        """
        kept = error.status not in {422, 429} and error.status < 500  # noqa: PLR2004
        kept = kept and not isinstance(error, ChangedSinceRead)
        condition: dict[str, Any] = {
            "ConditionExpression": "#owner = :owner",
            "ExpressionAttributeNames": {"#owner": "owner"},
            "ExpressionAttributeValues": {":owner": encode(self.owner)},
        }
        client, table = self.store.client, self.store.table
        try:
            if kept and error.code not in _NOT_STORED:
                head, _ = self._completed(reply)  # no refusal that is kept needs a second item
                client.put_item(TableName=table, Item=to_attributes(head), **condition)
            else:
                key = key_attributes((self.partition, "HEAD"))
                client.delete_item(TableName=table, Key=key, **condition)
        except client.exceptions.ConditionalCheckFailedException:
            pass  # Finished or taken over meanwhile: then there is nothing of ours to settle.
        except (BotoCoreError, ClientError):
            # The refusal itself matters more; the claim runs out by itself.
            logger.warning("idempotency claim not settled", exc_info=True)

    def _completed(self, reply: HttpResponse) -> tuple[Item, list[Item]]:
        body = zlib.compress(reply.body.encode(), 6)
        if reply.has_secret:
            body = seal(body, "replay", self.store.slug, self.partition)
        first, *others = [body[at : at + PART_SIZE] for at in range(0, len(body), PART_SIZE)]
        expiry = now_ms() // 1000 + WINDOW_SECONDS
        head = {
            PARTITION_KEY: self.partition,
            SORT_KEY: "HEAD",
            "fingerprint": self.fingerprint,
            "status": reply.status,
            "headers": dict(reply.headers),
            "body": first,
            "sealed": reply.has_secret or None,
            "parts": 1 + len(others) if others else None,
            EXPIRY: expiry,
        }
        tails = [
            {PARTITION_KEY: key[0], SORT_KEY: key[1], "body": data, EXPIRY: expiry}
            for key, data in zip(_tail_keys(head), others, strict=True)
        ]
        return head, tails


def _tail_keys(head: Item) -> list[Key]:
    return [(head[PARTITION_KEY], f"PART#{part:03d}") for part in range(1, head.get("parts") or 1)]


def partition(credential: str, key: str) -> str:
    """Partition key of the record of a credential's key."""
    return f"idempotency#{credential}#{key}"


def run_once(
    store: Store,
    *,
    partition: str,
    request: str,
    run: Callable[[IdempotencyClaim], HttpResponse],
    to_response: Callable[[ServiceError], HttpResponse],
) -> HttpResponse:
    """Run a request unless it ran before; then return the answer it got.

    Args:
        store: The tenant's table.
        partition: Of the record, from `partition`.
        request: The request's fingerprint.
        run: Carries it out and completes the claim in the same transaction.
        to_response: Makes the answer of a refusal, to be kept with the key.

    Raises:
        IdempotencyKeyReused: The key belongs to another request.
        DuplicateInFlight: The first request is still being processed.
    """
    found = _claim(store, partition, request)
    if isinstance(found, HttpResponse):
        return found
    try:
        return run(found)
    except Exception as error:
        known = error if isinstance(error, ServiceError) else ServiceError("The service failed.")
        found.end_refused(known, to_response(known))
        raise


def _claim(store: Store, partition: str, request: str) -> IdempotencyClaim | HttpResponse:
    now = now_ms()
    mine = IdempotencyClaim(store, partition, request, uuid.uuid4().hex)
    lease_until = now + int(max(store.deadline.remaining, 0) * 1000) + _MARGIN_MS
    item = {
        PARTITION_KEY: partition,
        SORT_KEY: "HEAD",
        "fingerprint": request,
        "owner": mine.owner,
        "lease_until": lease_until,
        EXPIRY: now // 1000 + WINDOW_SECONDS,
    }
    try:
        store.client.put_item(
            TableName=store.table,
            Item=to_attributes(item),
            ConditionExpression=(
                f"attribute_not_exists({PARTITION_KEY}) OR #expiry < :seconds OR lease_until < :now"
            ),
            ExpressionAttributeNames={"#expiry": EXPIRY},
            ExpressionAttributeValues={":seconds": encode(now // 1000), ":now": encode(now)},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except store.client.exceptions.ConditionalCheckFailedException as error:
        found: Any = error.response.get("Item")
        held = from_attributes(found) if found else store.get((partition, "HEAD"))
        # Ours already: the first answer was lost, and botocore asked again.
        if held is None or held.get("owner") != mine.owner:
            return _held(store, held, request, now)
    except store.client.exceptions.TransactionConflictException:
        # At this very moment the first request commits its answer.
        raise DuplicateInFlight(1) from None
    return mine


def _held(store: Store, held: Item | None, request: str, now: int) -> HttpResponse:
    if held is None:  # freed since the put was refused
        raise DuplicateInFlight(1)
    if held["fingerprint"] != request:
        raise IdempotencyKeyReused
    if "owner" in held:
        raise DuplicateInFlight(min(_RETRY_SECONDS, (int(held["lease_until"]) - now) // 1000))
    headers = {**held["headers"], "Idempotent-Replayed": "true"}
    keys = _tail_keys(held)
    tails = store.get_many(keys)
    body = b"".join([held["body"], *(tails[key]["body"] for key in keys)])
    if held.get("sealed"):
        body = unseal(body, "replay", store.slug, held[PARTITION_KEY])
    return HttpResponse(int(held["status"]), zlib.decompress(body).decode(), headers)
