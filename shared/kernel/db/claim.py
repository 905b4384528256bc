"""A claim: the right of one request to change the tenant's table under its Idempotency-Key.

A claim is an item with the attributes `owner` and `lease_until`. While its request runs, each of
its transactions renews the lease, on the condition that the claim still has this owner. After the
lease a repeat of the request takes the claim over; from then on no transaction of the first
request commits, not even a step that was on its way.

A claim has a random `request`, the name of the request. A repeat that takes the claim over keeps
the name, by which it recognizes what the first request has committed. It also keeps `has_steps`
(whether steps of a larger operation were committed) and the `progress` that they recorded. When
the key is free, for example because its window has passed, the claim gets a new name and no
progress.

A claim is written while its request already reads (`ClaimUnderWay`), which saves a round trip. A
request that the claim refuses, or whose response is stored, has then read in vain. Whoever writes
waits for the claim first: `Store.client` does. A claim that was taken over makes what was read
before worthless, because the first request may have committed a step meanwhile.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import get_ident
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from shared.kernel.clock import Deadline, now_ms
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import AttributeMap, Key, encode
from shared.kernel.db.parallel import start
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from shared.kernel.errors import DuplicateInFlight, ServiceUnavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WINDOW_SECONDS = 24 * 3600
"""How long a request keeps its Idempotency-Key, and its response is repeated."""

LEASE_MS = 5_000
"""How long a claim is held after the last sign of life of its request."""

ANSWER_SECONDS = 0.5
"""Time that one more call needs; what takes long ends with 503 instead of a time-out."""

RELEASED = "released"
"""Owner of a claim whose request has failed and may be repeated at once."""


def claim_lost() -> Exception:
    """Return the error of a transaction whose claim another request has taken over."""
    return DuplicateInFlight(1)


def record_key(partition: str) -> Key:
    """Return the key of the claim and, later, of the first part of the response."""
    return (partition, "HEAD")


@dataclass(slots=True)
class Claim:
    """A claim that the present request holds, or has held.

    `renewed_ms` is the time of the last renewal in milliseconds, `is_taken_over` whether another
    request held it before, `has_steps` whether that request has committed a step, `progress` what
    it last recorded with a step.
    """

    table: str
    key: Key
    owner: str
    request: str
    renewed_ms: int
    is_taken_over: bool = False
    has_steps: bool = False
    progress: bytes | None = None

    def condition(self) -> dict[str, Any]:
        """Return the condition that the claim still has this owner, in the form of the API."""
        return {
            "ConditionExpression": "#owner = :owner",
            "ExpressionAttributeNames": {"#owner": "owner"},
            "ExpressionAttributeValues": {":owner": encode(self.owner)},
        }

    def renewal(self) -> dict[str, Any]:
        """Return the update that renews the lease, for a call or an action of a transaction."""
        return self._update("SET lease_until = :until", until=now_ms() + LEASE_MS)

    def renewal_with_step(self, progress: bytes | None) -> dict[str, Any]:
        """Return the update that renews the lease in the transaction of a step.

        It also records `progress`, unless that is None.
        """
        expression = "SET lease_until = :until, has_steps = :yes"
        recorded = {}
        if progress is not None:
            expression += ", progress = :progress"
            recorded = {"progress": progress}
        return self._update(expression, until=now_ms() + LEASE_MS, yes=True, **recorded)

    def release(self) -> dict[str, Any]:
        """Return the update that ends the claim of a request that has failed; its name is kept."""
        expression = "SET #owner = :released, lease_until = :ended"
        return self._update(expression, released=RELEASED, ended=0)

    def _update(self, expression: str, **values: object) -> dict[str, Any]:
        body = self.condition()
        body["ExpressionAttributeValues"] |= {f":{name}": encode(values[name]) for name in values}
        body |= {"TableName": self.table, "Key": self.attributes, "UpdateExpression": expression}
        return body

    @property
    def attributes(self) -> AttributeMap:
        """The key in the form of the DynamoDB API."""
        return {PARTITION_KEY: {"S": self.key[0]}, SORT_KEY: {"S": self.key[1]}}

    def keep(self, client: "DynamoDBClient") -> None:
        """Renew the lease when half of it is over, while the request waits for a retry.

        A renewal that fails changes nothing: the next commit has the same condition.
        """
        if now_ms() - self.renewed_ms < LEASE_MS // 2:
            return
        self.renewed_ms = now_ms()
        with suppress(BotoCoreError, ClientError):
            client.update_item(**self.renewal())


class ClaimUnderWay:
    """A claim that is being written while its request reads.

    Nothing waits for it after `deadline`: then the request fails, and the claim ends by its lease.
    """

    def __init__(self, write: Callable[[], Claim], deadline: Deadline) -> None:
        self._deadline = deadline
        self._request = get_ident()
        self._writing = start(write)
        self._is_known = False

    @property
    def held(self) -> Claim:
        """The claim, once it is written.

        Raises:
            StaleRead: If the claim was taken over, until the thread of the request has asked once:
                see above. It may not hear of what its other threads meet.
            ServiceUnavailable: It is not written before the deadline.
            Exception: What `write` has raised.
        """
        try:
            claim = self._writing.result(self._left)
        except TimeoutError:
            raise ServiceUnavailable from None
        if claim.is_taken_over and not self._is_known:
            self._is_known = get_ident() == self._request
            raise StaleRead
        return claim

    def settle(self) -> bool:
        """Wait until nothing is written any more; return whether the request holds the claim."""
        try:
            return self._writing.exception(self._left) is None
        except TimeoutError:
            return False

    @property
    def _left(self) -> float:
        """Seconds that the claim may still take."""
        return max(0.0, self._deadline.remaining - ANSWER_SECONDS)
