"""The limit of the slow requests of a tenant at the same time.

A request is slow once it has read more than one token pays for (`shared.http.rate_limit.cost_of`).
Before it reads more, it needs a slot. Its duration does not count: a write that waits for others at
the same position is not refused for that. One item of the tenant's table holds the slots in use,
each until the invocation must have ended, so that a killed execution environment frees its slot by
that time. Other requests need none, and no call of AWS.
"""

import random
import uuid
from collections.abc import Mapping
from threading import Lock
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from shared.http.rate_limit import cost_of, subject_of
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.caller import Caller
from shared.kernel.clock import now_ms
from shared.kernel.db.items import encode, from_attributes
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.table import EXPIRY
from shared.kernel.errors import RateLimited
from shared.kernel.observability import count, logger, read_units

type Slots = Mapping[str, str]
"""The slots in use: name of the request → when the slot ends, in milliseconds, and whose it is."""

_DIGITS = 15
"""Digits of the time."""

_KEY = ("rate#slow", "slots")
_LEAST, _MOST = 4, 1_000
"""Fewest slots of a tenant, and most, which take 70 kB."""
_REQUESTS_PER_SLOT = 300
_LATE_MS = 2_500
"""Time from the deadline of a request until its slot ends: more than until its invocation ends, and
than clocks of execution environments differ."""
_TRIES = 8
_MAX_PAUSE = 0.02
"""Longest pause between two tries, in seconds."""
_RETRY_AFTER = 2
"""Seconds after which a request without a slot may be sent again."""
_KEPT_S = 60


def slot_count(tenant: Tenant) -> int:
    """Return how many slow requests of a tenant may run at the same time."""
    per_minute = tenant.limits["total_requests_per_minute"]
    return min(max(per_minute // _REQUESTS_PER_SLOT, _LEAST), _MOST)


def with_slot(  # noqa: PLR0913, PLR0917 - the facts of one slot
    slots: Slots, name: str, subject: str, until: int, now: int, most: int
) -> Slots:
    """Return the slots in use with one more, without those that have ended.

    One credential may use half of them, so that it leaves some to the others of its tenant.

    Args:
        slots: The slots in use.
        name: The request.
        subject: The credential of its caller.
        until: When the slot ends, in milliseconds since the epoch.
        now: The present time in milliseconds since the epoch.
        most: Slots of the tenant.

    Raises:
        RateLimited: No slot is free.
    """
    used = {one: text for one, text in slots.items() if int(text[:_DIGITS]) > now}
    own = sum(text[_DIGITS + 1 :] == subject for text in used.values())
    share = -(-most // 2)
    if own >= share:
        raise _refused(f"{own} slow requests of this client or user are running, at most {share}")
    if len(used) >= most:
        raise _refused(f"{len(used)} slow requests of the company are running, at most {most}")
    return {**used, name: f"{until:0{_DIGITS}d} {subject}"}


def _refused(message: str) -> RateLimited:
    text = f"{message} may at the same time; wait the seconds in Retry-After."
    return RateLimited(text, _RETRY_AFTER)


class RequestSlot:
    """The slot of one request, which it takes when it becomes slow."""

    def __init__(self, store: Store, tenant: Tenant, caller: Caller) -> None:
        self._store = store
        self._subject = subject_of(caller)
        self._most = slot_count(tenant)
        self._name = ""
        self._lock = Lock()
        self._is_decided = self._is_held = False

    def take_if_slow(self) -> None:
        """Take a slot if the request is slow; raise RateLimited if none is free."""
        if not self._is_decided and cost_of(0, read_units()) > 1:
            self.take()

    def take(self) -> None:
        """Take a slot, unless the request has one; raise RateLimited if none is free.

        A request goes on without a slot if AWS does not answer, as with the request limit.
        """
        with self._lock:  # a request reads in several threads
            if self._is_decided:
                return
            self._name = uuid.uuid4().hex
            try:
                self._is_held = self._write()
            except (BotoCoreError, ClientError):
                logger.warning("slot of a slow request not taken", exc_info=True)
                count("rate_limit_not_counted")
            self._is_decided = True

    def waive(self) -> None:
        """Let the request go on without a slot, because it changes something from now on."""
        with self._lock:
            self._is_decided = True

    def _write(self) -> bool:
        now = now_ms()
        until = now + int(self._store.deadline.remaining * 1000) + _LATE_MS
        seen: Slots | None = None
        for _ in range(_TRIES):
            if seen and self._name in seen:  # the answer of an earlier try was lost
                return True
            slots = with_slot(seen or {}, self._name, self._subject, until, now, self._most)
            values = {":slots": slots, ":expiry": until // 1000 + _KEPT_S}
            condition = "attribute_not_exists(slots)"
            if seen is not None:
                values[":seen"], condition = seen, "slots = :seen"
            try:
                self._store.client.update_item(
                    TableName=self._store.table,
                    Key=key_attributes(_KEY),
                    UpdateExpression="SET slots = :slots, #expiry = :expiry",
                    ConditionExpression=condition,
                    ExpressionAttributeNames={"#expiry": EXPIRY},
                    ExpressionAttributeValues={
                        name: encode(value) for name, value in values.items()
                    },
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                )
            except self._store.client.exceptions.ConditionalCheckFailedException as error:
                found: Any = error.response.get("Item")
                seen = from_attributes(found)["slots"] if found else None
                self._store.pause(random.uniform(0, _MAX_PAUSE))  # noqa: S311 - jitter
            else:
                return True
        raise _refused("Many slow requests of the company begin now; fewer")

    def release(self) -> None:
        """Free the slot, if the request has one; without an answer of AWS it ends by itself."""
        if not self._is_held:
            return
        try:
            self._store.client.update_item(
                TableName=self._store.table,
                Key=key_attributes(_KEY),
                UpdateExpression="REMOVE slots.#name",
                ConditionExpression="attribute_exists(slots)",
                ExpressionAttributeNames={"#name": self._name},
            )
        except (BotoCoreError, ClientError):
            logger.warning("slot of a slow request not freed", exc_info=True)
