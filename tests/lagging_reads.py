"""Eventually consistent reads that show the tables as they were; those of moto are consistent."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from tests.faults import Answer, Call, Fault, Forward
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION

type _Items = Mapping[tuple[str, str], dict[str, Any]]

_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}


class LaggingReads:
    """A fault: eventually consistent reads show the items of some tables as they were.

    They show those of `seconds` ago, by the clock `now`, or from before the first write that the
    fault has seen.
    """

    def __init__(self, now: Callable[[], float], seconds: float, *tables: str) -> None:
        self._now = now
        self._seconds = seconds
        self._tables = tables
        self._former: list[tuple[float, dict[str, _Items]]] = []
        """The items before each write, with its time."""

    def __call__(self, call: Call, forward: Forward) -> Answer:
        """See Fault."""
        if call.operation in _WRITES:
            self._former.append((self._now(), {table: _items_in(table) for table in self._tables}))
        answer = forward()
        since = self._now() - self._seconds
        shown = next((items for at, items in self._former if at > since), None)
        if shown and answer[0] is not None and answer[0][0].status_code == 200:
            _show(shown, call.operation, call.request, answer[0][1])
        return answer

    def during(self, other: Fault) -> Fault:
        """Return a fault that happens while reads lag."""
        return lambda call, forward: self(call, lambda: other(call, forward))


def _items_in(table: str) -> _Items:
    return {_key(item): item for item in stored_items(ACCOUNT, REGION, table)}


def _key(attributes: Mapping[str, Any]) -> tuple[str, str]:
    return attributes[PARTITION_KEY]["S"], attributes[SORT_KEY]["S"]


def _show(
    tables: Mapping[str, _Items], operation: str, request: dict[str, Any], parsed: dict[str, Any]
) -> None:
    """Replace the items in the answer to an eventually consistent read."""

    def items(table: str, keys: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        return (tables[table][key] for key in map(_key, keys) if key in tables[table])

    def lags(table: str, read: Mapping[str, Any]) -> bool:
        return table in tables and not read.get("ConsistentRead")

    if operation == "GetItem" and lags(table := request["TableName"], request):
        parsed.pop("Item", None)
        for item in items(table, [request["Key"]]):
            parsed["Item"] = item
    if operation == "BatchGetItem":
        for table, read in request["RequestItems"].items():
            if lags(table, read):
                parsed["Responses"][table] = [*items(table, read["Keys"])]
