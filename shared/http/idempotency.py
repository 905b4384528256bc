"""Idempotency-Key: a repeated request is carried out once and gets the same response.

A request claims its key with a conditional put while it begins to read, and renews the claim with
each of its transactions and while it waits for a retry. The transaction that makes the change also
stores the response. After a crash at any point, a repeat either finds the stored response or, a few
seconds after the last sign of life of the first request, takes over the claim and carries out the
request. A first request that still runs then commits nothing more; see `shared.kernel.db.claim`. A
failure releases the claim: a repeat takes it over at once, and another request gets one of its own.
Any other refusal that is not stored deletes it.
"""

import hashlib
import json
import re
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from shared.http.envelope import HttpResponse
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.actions import MAX_BYTES
from shared.kernel.db.claim import (
    LEASE_MS,
    RELEASED,
    WINDOW_SECONDS,
    Claim,
    ClaimUnderWay,
    record_key,
)
from shared.kernel.db.items import (
    PART_SIZE,
    Item,
    encode,
    from_attributes,
    inflate,
    item_at,
    to_attributes,
)
from shared.kernel.db.records import HEAD, tail_keys
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import BadRequest, Conflict, DuplicateInFlight, ServiceError
from shared.kernel.observability import logger
from shared.kernel.sealing import seal, unseal

_KEY = re.compile(r"[\x20-\x7e]{1,255}")


def read_key(headers: Mapping[str, str]) -> str | None:
    """Return the header Idempotency-Key, or None when the request has none.

    Spaces and tabs around the key are not part of it (RFC 9110, 5.5).

    Raises:
        BadRequest: It is not 1 to 255 printable ASCII characters.
    """
    sent = headers.get("idempotency-key")
    if sent is None:
        return None
    key = sent.strip(" \t")
    if not _KEY.fullmatch(key):
        raise BadRequest("Idempotency-Key must be 1 to 255 printable ASCII characters.")
    return key


def request_fingerprint(method: str, path: str, body: object, *, salt: str | None = None) -> str:
    """Return a hash of the request; the order and spacing of JSON keys do not matter.

    `body` is the body as parsed, `salt` that of a slow hash (tens of milliseconds), for a request
    that may carry a secret.
    """
    canonical = json.dumps([method, path, body], sort_keys=True, default=str).encode()
    if salt is None:
        return hashlib.sha256(canonical).hexdigest()
    return hashlib.scrypt(canonical, salt=salt.encode(), n=2**14, r=8, p=1, dklen=32).hex()


class AlreadyAnswered(Exception):
    """A request with the same key has been carried out; `response` is its stored response."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__()
        self.response = response


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """The right to carry out one request.

    `store` is the tenant's table during this request; its transactions depend on the claim.
    """

    store: Store
    partition: str
    fingerprint: str
    operation: str
    """Method and path, for the message of another request with the key."""
    claim: ClaimUnderWay

    def request(self) -> str:
        """Return the name of the request."""
        return self.claim.held.request

    def complete(self, tx: Transaction, response: HttpResponse) -> None:
        """Store the response in the transaction that makes the change.

        Raises:
            Conflict: Together they are larger than a transaction.
        """
        head, tails = self._completed(response)
        tx.end_claim(head)
        for tail in tails:
            tx.put(tail)
        if tails and (size := tx.cost.size) > MAX_BYTES:
            raise Conflict(
                f"The change and its response have {size} bytes, at most {MAX_BYTES} can be stored"
                " together. Repeat the request without an Idempotency-Key."
            )

    def end_with_error(self, error: ServiceError, response: HttpResponse) -> HttpResponse | None:
        """End the claim of a refused request: store the response, or release the key.

        Returns:
            The stored response of the request that has taken over the claim and completed it;
            None when the caller gets the refusal.

        Raises:
            DuplicateInFlight: Another request has taken over the claim and has not ended.
        """
        client, table, claim = self.store.client, self.store.table, self.claim.held
        try:
            if error.is_stored:
                head, _ = self._completed(response)  # an error response fits into one item
                client.put_item(TableName=table, Item=to_attributes(head), **claim.condition())
            elif error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                # Steps may have been committed, which the repeat recognizes by the name.
                client.update_item(**claim.release())
            else:
                client.delete_item(TableName=table, Key=claim.attributes, **claim.condition())
        except client.exceptions.ConditionalCheckFailedException:
            held = self.store.get(claim.key)
            # Gone or released: botocore repeated the call, because its answer was lost.
            if held and held.get("owner") != RELEASED:
                return _stored_response(
                    self.store, held, self.fingerprint, self.operation, now_ms()
                )
        except (BotoCoreError, ClientError):
            # The caller still gets the refusal; the claim expires by itself.
            logger.warning("idempotency claim not released", exc_info=True)
        return None

    def _completed(self, response: HttpResponse) -> tuple[Item, list[Item]]:
        body = zlib.compress(response.body.encode(), 6)
        if response.has_secret:
            body = seal(body, "replay", self.store.slug, self.partition)
        first, *others = [body[at : at + PART_SIZE] for at in range(0, len(body), PART_SIZE)]
        expiry = now_ms() // 1000 + WINDOW_SECONDS
        head = {
            PARTITION_KEY: self.partition,
            SORT_KEY: HEAD,
            "fingerprint": self.fingerprint,
            "operation": self.operation,
            "status": response.status,
            "headers": dict(response.headers),
            "body": first,
            "sealed": response.has_secret or None,
            "parts": 1 + len(others) if others else None,
            EXPIRY: expiry,
        }
        tails = [
            item_at(key, body=data, **{EXPIRY: expiry})
            for key, data in zip(tail_keys(self.partition, 1 + len(others)), others, strict=True)
        ]
        return head, tails


def record_partition(credential: str, key: str) -> str:
    """Return the partition key of the record of `key`, which belongs to one credential."""
    return f"idempotency#{credential}#{key}"


def claim_key(
    store: Store, *, partition: str, fingerprint: str, operation: str
) -> IdempotencyClaim:
    """Begin to claim a key for a request.

    `partition` is the result of `record_partition`, `operation` the method and path. What waits for
    the claim raises AlreadyAnswered, DuplicateInFlight when the first request with this key has not
    ended as far as is known, and a ServiceError (idempotency_key_reused) when the key belongs to
    another request.
    """
    write = partial(_written_claim, store, partition, fingerprint, operation)
    claim = ClaimUnderWay(write, store.deadline)
    return IdempotencyClaim(store.claimed(claim), partition, fingerprint, operation, claim)


def _written_claim(store: Store, partition: str, fingerprint: str, operation: str) -> Claim:
    now = now_ms()
    claim = Claim(
        store.table, record_key(partition), uuid.uuid4().hex, uuid.uuid4().hex, renewed_ms=now
    )
    held = _put_claim(store, claim, fingerprint, operation)
    if held and _is_interrupted(held, fingerprint, now):
        # A claim of an earlier release has no name: its request was known by its partition.
        claim = replace(
            claim,
            request=held.get("request", partition),
            is_taken_over=True,
            has_steps=held.get("has_steps", False),
            progress=held.get("progress"),
        )
        held = _put_claim(store, claim, fingerprint, operation, interrupted=held["owner"])
    if held:
        raise AlreadyAnswered(_stored_response(store, held, fingerprint, operation, now))
    return claim


def _put_claim(
    store: Store, claim: Claim, fingerprint: str, operation: str, *, interrupted: str | None = None
) -> Item | None:
    """Write a claim if the key is free, or if nobody holds the claim of the owner `interrupted`.

    Returns the record that is there instead, None when the claim is written.
    """
    now = claim.renewed_ms
    item = {
        PARTITION_KEY: claim.key[0],
        SORT_KEY: claim.key[1],
        "fingerprint": fingerprint,
        "operation": operation,
        "owner": claim.owner,
        "request": claim.request,
        "has_steps": claim.has_steps or None,
        "progress": claim.progress,
        "lease_until": now + LEASE_MS,
        EXPIRY: now // 1000 + WINDOW_SECONDS,
    }
    try:
        store.client.put_item(
            TableName=store.table,
            Item=to_attributes(item),
            ConditionExpression=(
                f"attribute_not_exists({PARTITION_KEY}) OR #expiry < :seconds"
                " OR (#owner = :released AND fingerprint <> :fingerprint)"
                " OR (#owner = :interrupted AND lease_until <= :now)"
            ),
            ExpressionAttributeNames={"#expiry": EXPIRY, "#owner": "owner"},
            ExpressionAttributeValues={
                ":seconds": encode(now // 1000),
                ":released": encode(RELEASED),
                ":fingerprint": encode(fingerprint),
                ":interrupted": encode(interrupted or claim.owner),
                ":now": encode(now),
            },
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except store.client.exceptions.ConditionalCheckFailedException as error:
        found: Any = error.response.get("Item")
        held = from_attributes(found) if found else store.get(claim.key)
        if held is None:  # deleted since the put was refused
            raise DuplicateInFlight(1) from None
        # The item is this claim itself when botocore repeated a put whose answer was lost.
        return None if held.get("owner") == claim.owner else held
    except store.client.exceptions.TransactionConflictException:
        # The first request commits its response at this moment.
        raise DuplicateInFlight(1) from None
    return None


def _is_interrupted(held: Item, fingerprint: str, now: int) -> bool:
    """Return whether a record is a claim of the same request that nobody holds any more."""
    is_claim = "owner" in held and held["fingerprint"] == fingerprint
    return is_claim and int(held["lease_until"]) <= now


def _stored_response(
    store: Store, held: Item, fingerprint: str, operation: str, now: int
) -> HttpResponse:
    if held["fingerprint"] != fingerprint:
        raise ServiceError(_message_of_other_use(held, operation), "idempotency_key_reused")
    if "owner" in held:
        raise DuplicateInFlight(-((now - int(held["lease_until"])) // 1000))  # rounded up
    headers = {**held["headers"], "Idempotent-Replayed": "true"}
    keys = tail_keys(held[PARTITION_KEY], held.get("parts") or 1)
    tails = store.get_many(keys)
    body = b"".join([held["body"], *(tails[key]["body"] for key in keys)])
    if held.get("sealed"):
        body = unseal(body, "replay", store.slug, held[PARTITION_KEY])
    return HttpResponse(int(held["status"]), inflate(body).decode(), headers)


def _message_of_other_use(held: Item, operation: str) -> str:
    """Return which request has used the key and when; a record of an earlier release has no name.

    The record expires a fixed time after the request.
    """
    first = held.get("operation", "another request")
    at = instant((int(held[EXPIRY]) - WINDOW_SECONDS) * 1000)
    body = " with another body" if first == operation else ""
    return f"This Idempotency-Key was used for {first}{body} at {at}."
