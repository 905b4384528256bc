"""Idempotency-Key: a repeated request is carried out once and gets the same response.

A request claims its key with a conditional put, and renews the claim with each of its transactions
and while it waits for a retry. The transaction that makes the change also stores the response.
After a crash at any point, a repeat either finds the stored response or, a few seconds after the
last sign of life of the first request, takes over the claim and carries out the request. A first
request that still runs then commits nothing more; see `shared.kernel.db.claim`.
"""

import hashlib
import json
import re
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from shared.http.envelope import HttpResponse
from shared.kernel.clock import now_ms
from shared.kernel.db.claim import LEASE_MS, WINDOW_SECONDS, Claim, record_key
from shared.kernel.db.items import PART_SIZE, Item, Key, encode, from_attributes, to_attributes
from shared.kernel.db.store import Store
from shared.kernel.db.table import EXPIRY, PARTITION_KEY, SORT_KEY
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import BadRequest, DuplicateInFlight, IdempotencyKeyReused, ServiceError
from shared.kernel.observability import logger
from shared.kernel.sealing import seal, unseal

_KEY = re.compile(r"[\x20-\x7e]{1,255}")


def read_key(headers: Mapping[str, str]) -> str | None:
    """Return the header Idempotency-Key, or None when the request has none.

    Spaces and tabs around the key are not part of it (RFC 9110, 5.5).

    Raises:
        BadRequest: The key is not 1 to 255 printable ASCII characters.
    """
    sent = headers.get("idempotency-key")
    if sent is None:
        return None
    key = sent.strip(" \t")
    if not _KEY.fullmatch(key):
        message = "Idempotency-Key must be 1 to 255 printable ASCII characters."
        raise BadRequest(message)
    return key


def request_fingerprint(method: str, path: str, body: object, *, salt: str | None = None) -> str:
    """Return a hash of the request; the order and spacing of JSON keys do not matter.

    Args:
        method: HTTP method.
        path: Path relative to the base address.
        body: The body as parsed.
        salt: Salt of a slow hash (tens of milliseconds), for a request that may carry a secret.
    """
    canonical = json.dumps([method, path, body], sort_keys=True, default=str).encode()
    if salt is None:
        return hashlib.sha256(canonical).hexdigest()
    return hashlib.scrypt(canonical, salt=salt.encode(), n=2**14, r=8, p=1, dklen=32).hex()


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """The right to carry out one request.

    `store` is the tenant's table during this request; its transactions depend on the claim.
    """

    store: Store
    partition: str
    fingerprint: str
    claim: Claim

    def complete(self, tx: Transaction, response: HttpResponse) -> None:
        """Store the response in the transaction that makes the change."""
        head, tails = self._completed(response)
        tx.end_claim(head)
        for tail in tails:
            tx.put(tail)

    def end_with_error(self, error: ServiceError, response: HttpResponse) -> HttpResponse | None:
        """End the claim of a refused request: store the response, or release the key.

        Returns:
            The stored response of the request that has taken over the claim and completed it;
            None when the caller gets the refusal.

        Raises:
            DuplicateInFlight: Another request has taken over the claim and has not ended.
        """
        condition, client, table = self.claim.condition(), self.store.client, self.store.table
        try:
            if error.is_stored:
                head, _ = self._completed(response)  # an error response fits into one item
                client.put_item(TableName=table, Item=to_attributes(head), **condition)
            else:
                client.delete_item(TableName=table, Key=self.claim.attributes, **condition)
        except client.exceptions.ConditionalCheckFailedException:
            held = self.store.get(self.claim.key)
            # None: botocore repeated the deletion, because its answer was lost.
            return _stored_response(self.store, held, self.fingerprint, now_ms()) if held else None
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
            SORT_KEY: "HEAD",
            "fingerprint": self.fingerprint,
            "status": response.status,
            "headers": dict(response.headers),
            "body": first,
            "sealed": response.has_secret or None,
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


def record_partition(credential: str, key: str) -> str:
    """Return the partition key of the record of `key`, which belongs to one credential."""
    return f"idempotency#{credential}#{key}"


def claim_key(store: Store, *, partition: str, fingerprint: str) -> IdempotencyClaim | HttpResponse:
    """Claim a key for a request, or return the response that the request got before.

    Args:
        store: The tenant's table.
        partition: Partition key of the record, from `record_partition`.
        fingerprint: The request's fingerprint.

    Raises:
        IdempotencyKeyReused: The key belongs to another request.
        DuplicateInFlight: The first request with this key has not ended, as far as is known.
    """
    now = now_ms()
    key = record_key(partition)
    claim = Claim(store.table, key, uuid.uuid4().hex, renewed_ms=now)
    item = {
        PARTITION_KEY: key[0],
        SORT_KEY: key[1],
        "fingerprint": fingerprint,
        "owner": claim.owner,
        "lease_until": now + LEASE_MS,
        EXPIRY: now // 1000 + WINDOW_SECONDS,
    }
    try:
        store.client.put_item(
            TableName=store.table,
            Item=to_attributes(item),
            ConditionExpression=(
                f"attribute_not_exists({PARTITION_KEY}) OR #expiry < :seconds"
                " OR (lease_until <= :now AND fingerprint = :fingerprint)"
            ),
            ExpressionAttributeNames={"#expiry": EXPIRY},
            ExpressionAttributeValues={
                ":seconds": encode(now // 1000),
                ":now": encode(now),
                ":fingerprint": encode(fingerprint),
            },
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except store.client.exceptions.ConditionalCheckFailedException as error:
        found: Any = error.response.get("Item")
        held = from_attributes(found) if found else store.get(key)
        # The item is this claim itself when botocore repeated a put whose answer was lost.
        if held is None or held.get("owner") != claim.owner:
            return _stored_response(store, held, fingerprint, now)
    except store.client.exceptions.TransactionConflictException:
        # The first request commits its response at this moment.
        raise DuplicateInFlight(1) from None
    return IdempotencyClaim(store.claimed(claim), partition, fingerprint, claim)


def _stored_response(store: Store, held: Item | None, fingerprint: str, now: int) -> HttpResponse:
    if held is None:  # released since the put was refused
        raise DuplicateInFlight(1)
    if held["fingerprint"] != fingerprint:
        raise IdempotencyKeyReused
    if "owner" in held:
        raise DuplicateInFlight(-((now - int(held["lease_until"])) // 1000))  # rounded up
    headers = {**held["headers"], "Idempotent-Replayed": "true"}
    keys = _tail_keys(held)
    tails = store.get_many(keys)
    body = b"".join([held["body"], *(tails[key]["body"] for key in keys)])
    if held.get("sealed"):
        body = unseal(body, "replay", store.slug, held[PARTITION_KEY])
    return HttpResponse(int(held["status"]), zlib.decompress(body).decode(), headers)
