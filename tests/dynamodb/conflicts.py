"""Conflicts of transactions, which emulators do not have.

When two transactions write the same item at the same time, DynamoDB cancels the later one with
TransactionConflict.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.dynamodb.meter import send_on
from tests.faults import Answer, Call, Fault, Forward, cancelled_transaction

type _Item = tuple[str, str, str]
"""Table, partition and sort key."""


@dataclass(slots=True)
class ConflictDetector:
    """The items of running transactions, and the number of conflicts.

    `seconds` is the time that a transaction takes, `sleep` waits for it; `inside` sends its calls.
    """

    seconds: float = 0.02
    inside: Fault = send_on
    sleep: Callable[[float], object] = time.sleep
    conflicts: int = 0
    _held: set[_Item] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, call: Call, forward: Forward) -> Answer:
        """Cancel a transaction that overlaps with another one; a fault for `AwsFaults.inject`."""
        if call.operation != "TransactWriteItems":
            return self.inside(call, forward)
        items = list(_items_of(call))
        with self._lock:
            met = [number for number, item in enumerate(items) if item in self._held]
            if met:
                self.conflicts += 1
                return cancelled_transaction(call, "TransactionConflict", met)
            self._held.update(items)
        try:
            self.sleep(self.seconds)
            return self.inside(call, forward)
        finally:
            with self._lock:
                self._held.difference_update(items)


def _items_of(call: Call) -> Iterator[_Item]:
    for action in call.request["TransactItems"]:
        ((verb, body),) = action.items()
        key = body["Item" if verb == "Put" else "Key"]
        yield body["TableName"], key["PK"]["S"], key["SK"]["S"]
