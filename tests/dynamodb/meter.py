"""Computes the capacity units of AWS calls from moto's tables before and after each call."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType

from shared.identity.tenancy.directory import BY_TENANT
from shared.kernel.db.table import INDEX_COUNT
from tests.dynamodb.capacity import (
    Attributes,
    Units,
    index_entry,
    item_size,
    partition_units,
    read_units,
)
from tests.dynamodb.in_memory_table import SCANNED_BYTES
from tests.faults import Answer, AwsFaults, Call, Fault, Forward
from tests.stack import ACCOUNT, REGION

_VERBS = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}


def send_on(_call: Call, forward: Forward) -> Answer:
    """Send the call."""
    return forward()


@contextmanager
def metered(aws_faults: AwsFaults, through: Fault = send_on) -> Iterator[Units]:
    """Count the capacity units that the calls inside the block consume.

    Every call also passes `through`, since only one fault applies at a time.
    """
    units = Units()
    with aws_faults.faulty(meter(units, through)):
        yield units


def meter(units: Units, through: Fault = send_on) -> Fault:
    """Return a fault that adds what each call consumes to `units`."""
    # Tables must not change while they are read; the latency of calls still overlaps.
    lock = threading.Lock()

    def watch(call: Call, forward: Any) -> Any:
        with lock:
            return _measured(call, partial(through, call, forward), units)

    return watch


def _measured(call: Call, forward: Any, units: Units) -> Any:
    request = call.request
    actions = _actions(call)
    before = [_stored(table, key) for table, key in actions]
    answer = forward()
    match call.operation:
        case "GetItem":
            found = _stored(request["TableName"], request["Key"])
            units.reads += read_units([item_size(found or {})], consistent=_consistent(request))
        case "BatchGetItem":
            for table, wanted in request["RequestItems"].items():
                sizes = [item_size(_stored(table, key) or {}) for key in wanted["Keys"]]
                units.reads += read_units(sizes, consistent=_consistent(wanted))
        case "Query":
            parsed = answer[0][1]
            # An in-memory table knows the bytes.
            size = parsed.get(SCANNED_BYTES) or parsed["ScannedCount"] * _mean_size(request)
            units.reads += read_units([round(size)], consistent=_consistent(request))
    transaction = call.operation == "TransactWriteItems"
    for (table, key), old in zip(actions, before, strict=True):
        written = partition_units(old, _stored(table, key), transaction=transaction)
        units.add(Units(writes=written.total(), partitions=written))
    return answer


def _consistent(request: Mapping[str, Any]) -> bool:
    return bool(request.get("ConsistentRead"))


def _actions(call: Call) -> list[tuple[str, Attributes]]:
    """Return table and key of every item that a call may write."""
    if call.operation == "TransactWriteItems":
        writes = [next(iter(action.items())) for action in call.request["TransactItems"]]
    elif call.operation in _VERBS:
        writes = [(_VERBS[call.operation], call.request)]
    else:
        return []
    return [
        (request["TableName"], request["Item"] if verb == "Put" else request["Key"])
        for verb, request in writes
    ]


def _table(name: str) -> Any:
    return dynamodb_backends[ACCOUNT][REGION].tables[name]


def _stored(name: str, item_or_key: Attributes) -> Attributes | None:
    table = _table(name)
    partition, *sort = (DynamoType(dict(item_or_key[part])) for part in table.table_key_attrs)
    found = table.items.get(partition)
    if sort:
        found = (found or {}).get(sort[0])
    return _attributes(found) if found else None


def _attributes(item: Any) -> Attributes:
    attributes: Attributes = item.to_json()["Attributes"]
    return attributes


def _mean_size(request: Mapping[str, Any]) -> float:
    """Return the mean item size in the partition of a Query; its response may be projected."""
    name, _, value = request["KeyConditionExpression"].partition(" AND ")[0].partition(" = ")
    wanted = DynamoType(dict(request["ExpressionAttributeValues"][value]))
    table = _table(request["TableName"])
    if "IndexName" in request:
        items = [
            item for item in _all_items(table) if name in item.attrs and item.attrs[name] == wanted
        ]
    else:
        items = list(table.items.get(wanted, {}).values())
    sizes = [_size(item, request.get("IndexName")) for item in items]
    return sum(sizes) / len(sizes) if sizes else 0


def _all_items(table: Any) -> Iterator[Any]:
    """Yield all items in any order; moto's `all_items` sorts them."""
    for held in table.items.values():
        yield from held.values() if isinstance(held, dict) else (held,)


def _size(item: Any, index: str | None) -> int:
    """Return the size of a stored item, or of its entry in an index."""
    # Stored items never change (tests/fast_moto.py); a changed copy of one is another object.
    owner, sizes = vars(item).setdefault("measured_sizes", (id(item), {}))
    if owner != id(item):
        sizes = {}
        vars(item)["measured_sizes"] = (id(item), sizes)
    if index not in sizes:
        attributes = _attributes(item)
        sizes[index] = item_size(_entry(index, attributes) if index else attributes)
    size: int = sizes[index]
    return size


def _entry(index: str, item: Attributes) -> Attributes:
    """Return the index entry of an item; the index of the control table holds whole items."""
    if index == BY_TENANT:
        return item
    number = int(index.removeprefix("GSI"))
    assert number <= INDEX_COUNT
    return index_entry(item, number) or {}
