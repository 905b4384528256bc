"""An in-memory table that answers Query as DynamoDB does, independent of the number of rows.

moto and other emulators scan the whole table for each Query, which takes seconds at 100,000 rows.
This table supports what lists need: sorted partitions, ranges, prefixes, limits, pages of 1 MB,
and filters and projections on the index attributes. The benchmark compares it with moto.
"""

import base64
import marshal
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from shared.kernel.db.table import (
    EXPIRY,
    INDEX_COUNT,
    PARTITION_KEY,
    SORT_KEY,
    STABLE_FACETS,
    VOLATILE_FACETS,
    carried_attributes,
    index_keys,
)
from tests.dynamodb.capacity import Attributes, item_size
from tests.faults import Call, success

PAGE_BYTES = 1_048_576
SCANNED_BYTES = "ScannedBytes"
"""Member of the response to a Query that DynamoDB has not: the bytes that it examined."""
_LAST = "\U0010ffff"
_KEYS = [(number, *index_keys(number)) for number in range(1, INDEX_COUNT + 1)]

_KEY_CONDITION = re.compile(
    r"(?P<partition>\w+) = (?P<value>:\w+)"
    r"( AND (begins_with\(\w+, (?P<prefix>:\w+)\)"
    r"|\w+ (BETWEEN (?P<low>:\w+) AND (?P<high>:\w+)"
    r"|>= (?P<from>:\w+)|<= (?P<to>:\w+))))?"
)
_TERM = re.compile(
    r"(contains\()?(?P<path>[#\w.]+)(?P<verb>, | = | <> | >= | <= )(?P<value>:\w+)\)?"
)

type _Entry = tuple[str, str, str]
"""Sort key in the index, partition and sort key of the item."""
type _Test = Callable[[Mapping[str, Any]], bool]


class InMemoryTable:
    """The items of one table in memory.

    Args:
        name: Name of the table; calls to other tables are not answered.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.examined = 0
        """Items and index entries that Query examined."""
        # Items are stored marshalled: 100,000 dictionaries would take 1 GB.
        self._items: dict[str, dict[str, bytes]] = {}
        self._indexes: dict[tuple[int, str], list[_Entry]] = {}
        self._unsorted: set[tuple[int, str]] = set()
        self._facets: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
        self._expiring: set[str] = set()

    def __len__(self) -> int:
        return sum(len(items) for items in self._items.values())

    def items(self) -> Iterator[Attributes]:
        for items in self._items.values():
            yield from map(marshal.loads, items.values())

    def put(self, item: Attributes) -> None:
        """Write a new item, or replace an item without index entries."""
        self._keep(item)
        partition, sort = item[PARTITION_KEY]["S"], item[SORT_KEY]["S"]
        for index, partition_name, sort_name in _KEYS:
            if partition_name in item:
                self._enter(
                    (index, item[partition_name]["S"]), (item[sort_name]["S"], partition, sort)
                )

    def _enter(self, place: tuple[int, str], entry: _Entry) -> None:
        """Add an index entry to a partition of an index."""
        self._indexes.setdefault(place, []).append(entry)
        self._unsorted.add(place)

    def _keep(self, item: Attributes) -> None:
        partition, sort = item[PARTITION_KEY]["S"], item[SORT_KEY]["S"]
        self._items.setdefault(partition, {})[sort] = marshal.dumps(dict(item))
        if EXPIRY in item:
            self._expiring.add(partition)
        facets = {name: item[name] for name in (STABLE_FACETS, VOLATILE_FACETS) if name in item}
        if facets:
            self._facets[partition, sort] = facets

    def expire(self) -> None:
        """Remove all items that have an expiry time; none of them is in an index."""
        for partition in self._expiring:
            self._items.pop(partition, None)
        self._expiring.clear()

    def answer(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the response of DynamoDB; None when the call is for another table.

        UpdateItem is not answered: it is only used for leases of the rate limit.
        """
        tables = request.get("RequestItems") or (request.get("TableName"),)
        if self.name not in tables or operation == "UpdateItem":
            return None
        answers = {
            "Query": self._query,
            "GetItem": self._get_item,
            "BatchGetItem": self._batch_get,
            "PutItem": self._put_item,
        }
        return answers[operation](request)

    def fault(self, call: Call, forward: Callable[[], Any]) -> Any:
        """Answer the calls for this table; a fault for `AwsFaults.inject`."""
        answer = self.answer(call.operation, call.request)
        if answer is None:
            return forward()
        (http, parsed), error = success()
        return (http, parsed | answer), error

    def _put_item(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.put({name: decode_binary(value) for name, value in request["Item"].items()})
        return {}

    def _get_item(self, request: Mapping[str, Any]) -> dict[str, Any]:
        key = request["Key"]
        found = self._stored(key[PARTITION_KEY]["S"], key[SORT_KEY]["S"])
        return {"Item": found} if found else {}

    def _batch_get(self, request: Mapping[str, Any]) -> dict[str, Any]:
        wanted = request["RequestItems"][self.name]
        show = _projection(wanted)
        keys = ((key[PARTITION_KEY]["S"], key[SORT_KEY]["S"]) for key in wanted["Keys"])
        found = [show(item) for key in keys if (item := self._stored(*key))]
        return {"Responses": {self.name: found}, "UnprocessedKeys": {}}

    def _stored(self, partition: str, sort: str) -> Any:
        text = self._items.get(partition, {}).get(sort)
        return marshal.loads(text) if text else None  # noqa: S302 - its own

    def _query(self, request: Mapping[str, Any]) -> dict[str, Any]:
        condition = _KEY_CONDITION.fullmatch(request["KeyConditionExpression"])
        assert condition, request["KeyConditionExpression"]
        values = {name: value["S"] for name, value in request["ExpressionAttributeValues"].items()}
        index = int(request["IndexName"].removeprefix("GSI")) if "IndexName" in request else None
        entries = self._partition(index, values[condition["value"]])
        low = condition["low"] or condition["from"] or condition["prefix"]
        high = condition["high"] or condition["to"]
        assert not (low and high) or values[low] <= values[high], "reversed BETWEEN"
        first = bisect_left(entries, (values[low],)) if low else 0
        end = bisect_right(entries, (values[high], _LAST)) if high else len(entries)
        if condition["prefix"]:
            end = bisect_left(entries, (values[condition["prefix"]] + _LAST,))
        forward = request.get("ScanIndexForward", True)
        after = request.get("ExclusiveStartKey")
        if after:
            sort_name = index_keys(index)[1] if index else SORT_KEY
            mark = (after[sort_name]["S"], after[PARTITION_KEY]["S"], after[SORT_KEY]["S"])
            first = max(first, bisect_right(entries, mark)) if forward else first
            end = end if forward else min(end, bisect_left(entries, mark))
        order = range(first, end) if forward else range(end - 1, first - 1, -1)
        return self._read(request, entries, order, index)

    def _partition(self, index: int | None, value: str) -> Sequence[_Entry]:
        if index is not None:
            entries = self._indexes.get((index, value), [])
            if (index, value) in self._unsorted:
                entries.sort()
                self._unsorted.discard((index, value))
            return entries
        return [(sort, value, sort) for sort in sorted(self._items.get(value, {}))]

    def _read(
        self, request: Mapping[str, Any], entries: Sequence[_Entry], order: range, index: int | None
    ) -> dict[str, Any]:
        """Examine entries up to the limit or the page size; return those that pass the filter."""
        limit = request.get("Limit", len(order))
        passes = _filter(request)
        show = _projection(request)
        shown: list[Any] = []
        examined = size = 0
        for position in order:
            entry = entries[position]
            examined += 1
            if index is None:
                item = self._stored(entry[1], entry[2])
                size += item_size(item)
            else:
                item, entry_size = self._entry(entry, index)
                size += entry_size
            if passes(item):
                shown.append(show(item))
            if examined == limit or size >= PAGE_BYTES:
                break
        self.examined += examined
        answer: dict[str, Any] = {"Items": shown, "Count": len(shown), "ScannedCount": examined}
        answer[SCANNED_BYTES] = size
        stopped = examined == request.get("Limit") or size >= PAGE_BYTES
        if examined and stopped:
            answer["LastEvaluatedKey"] = _key(entries[order[examined - 1]], index, request)
        return answer

    def _entry(self, entry: _Entry, index: int) -> tuple[Mapping[str, Any], int]:
        """Return an index entry and its size in bytes."""
        facets = self._facets.get(entry[1:], {})
        carried = {name: facets[name] for name in carried_attributes(index) if name in facets}
        _, sort_name = index_keys(index)
        # The entry omits the partition key, which no projection names.
        names = len(PARTITION_KEY) + len(SORT_KEY) + 2 * len(sort_name)
        size = names + sum(map(len, entry)) + len(entry[1]) + item_size(carried)
        return {sort_name: {"S": entry[0]}, **carried}, size


def _key(entry: _Entry, index: int | None, request: Mapping[str, Any]) -> dict[str, Any]:
    key = {PARTITION_KEY: {"S": entry[1]}, SORT_KEY: {"S": entry[2]}}
    if index is not None:
        partition_name, sort_name = index_keys(index)
        key[partition_name] = request["ExpressionAttributeValues"][":partition"]
        key[sort_name] = {"S": entry[0]}
    return key


def _filter(request: Mapping[str, Any]) -> _Test:
    """Parse a FilterExpression of terms on facets, joined by AND; `(a OR b)` is one of two."""
    if "FilterExpression" not in request:
        return lambda _: True
    names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
    tests: list[list[tuple[str, str, str, str]]] = []
    for text in request["FilterExpression"].split(" AND "):
        either = text.removeprefix("(").removesuffix(")").split(" OR ")
        tests.append([])
        for one in either if len(either) > 1 else [text]:
            term = _TERM.fullmatch(one)
            assert term, text
            attribute, name = (names[part] for part in term["path"].split("."))
            tests[-1].append((attribute, name, term["verb"].strip(), values[term["value"]]["S"]))

    def passes(item: Mapping[str, Any]) -> bool:
        return all(
            any(
                name in item.get(attribute, {"M": ()})["M"]
                and _holds(verb, item[attribute]["M"][name]["S"], text)
                for attribute, name, verb, text in either
            )
            for either in tests
        )

    return passes


def _holds(verb: str, value: str, text: str) -> bool:
    match verb:
        case ",":
            return text in value
        case "=":
            return value == text
        case "<>":
            return value != text
        case ">=":
            return value >= text
        case _:
            return value <= text


def _projection(request: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Parse a ProjectionExpression of attributes and of facets."""
    if "ProjectionExpression" not in request:
        return lambda item: item
    names = request.get("ExpressionAttributeNames", {})
    paths = [
        [names.get(part, part) for part in path.split(".")]
        for path in request["ProjectionExpression"].split(", ")
    ]
    plain = [path[0] for path in paths if len(path) == 1]
    facets = [path for path in paths if len(path) > 1]

    def show(item: Mapping[str, Any]) -> Mapping[str, Any]:
        shown = {name: item[name] for name in plain if name in item}
        for attribute, name in facets:
            if name in item[attribute]["M"]:
                shown[attribute] = {"M": {name: item[attribute]["M"][name]}}
        return shown

    return show


def decode_binary(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an attribute of a sent request, with binary values decoded from base64."""
    binary = value.get("B")
    return {"B": base64.b64decode(binary)} if isinstance(binary, str) else value
