"""Tells what the calls of a block cost, by looking at moto's tables around each of them."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from shared.db.table import INDEX_COUNT
from tests.bench.capacity import (
    Attributes,
    Units,
    index_entry,
    item_size,
    query_units,
    read_units,
    write_units,
)
from tests.faults import Call, Wire
from tests.stack import ACCOUNT, REGION

_VERBS = {"PutItem": "Put", "UpdateItem": "Update", "DeleteItem": "Delete"}


@contextmanager
def metered(wire: Wire) -> Iterator[Units]:
    """Count the units that the calls of the block consume."""
    units = Units()
    # Tables must not change while they are looked at; the calls still wait at the same time.
    lock = threading.Lock()

    def watch(call: Call, forward: Any) -> Any:
        with lock:
            return _measured(call, forward, units)

    with wire.faulty(watch):
        yield units


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
            size = answer[0][1]["ScannedCount"] * _mean_size(request)
            units.reads += query_units(round(size), consistent=_consistent(request))
    transaction = call.operation == "TransactWriteItems"
    for (table, key), old in zip(actions, before, strict=True):
        units.writes += write_units(old, _stored(table, key), transaction=transaction)
    return answer


def _consistent(request: Mapping[str, Any]) -> bool:
    return bool(request.get("ConsistentRead"))


def _actions(call: Call) -> list[tuple[str, Attributes]]:
    """Table and key of every item that a call may write."""
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


def _items(name: str) -> Iterator[Attributes]:
    for item in _table(name).all_items():
        yield item.to_json()["Attributes"]


def _stored(name: str, item_or_key: Attributes) -> Attributes | None:
    keys = _table(name).table_key_attrs
    key = {attribute: item_or_key[attribute] for attribute in keys}
    found = (item for item in _items(name) if all(item[part] == key[part] for part in keys))
    return next(found, None)


def _mean_size(request: Mapping[str, Any]) -> float:
    """Mean size of what a Query's partition holds: the answer shows a part of it only."""
    name, _, value = request["KeyConditionExpression"].partition(" AND ")[0].partition(" = ")
    wanted = request["ExpressionAttributeValues"][value]
    items = [item for item in _items(request["TableName"]) if item.get(name) == wanted]
    if "IndexName" in request:
        index = int(request["IndexName"].removeprefix("GSI"))
        assert index <= INDEX_COUNT
        sizes = [item_size(entry) for item in items if (entry := index_entry(item, index))]
    else:
        sizes = [item_size(item) for item in items]
    return sum(sizes) / len(sizes) if sizes else 0
