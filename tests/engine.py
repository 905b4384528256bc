"""Send the DynamoDB calls of the tests to DynamoDB Local instead of moto (`make engine`).

Moto keeps the list of tables, their tags and their settings; the items are in the engine. Without
the variable DYNAMODB_ENGINE this module does nothing.
"""

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import urllib3
from botocore.awsrequest import AWSPreparedRequest
from moto.core.botocore_stubber import BotocoreStubber
from moto.core.common_types import TYPE_RESPONSE
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table

_ADDRESS = os.environ.get("DYNAMODB_ENGINE")
_VERSION = "DynamoDB_20120810."
_READS = frozenset({"BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"})
_WRITES = frozenset({"BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"})
_TABLE_CALLS = frozenset({"CreateTable", "DeleteTable", "UpdateTable"})
_TABLE_MEMBERS = (
    "AttributeDefinitions",
    "BillingMode",
    "GlobalSecondaryIndexUpdates",
    "GlobalSecondaryIndexes",
    "KeySchema",
    "TableName",
)
_BATCH = 25
# The engine keeps the tables of each access key apart, so that test processes do not meet.
_WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
_AUTHORIZATION = f"AWS4-HMAC-SHA256 Credential={_WORKER}/20260101/eu-west-1/dynamodb/aws4_request"

type Items = Mapping[str, Mapping[str, Any]]
"""The items of a table in DynamoDB's JSON, by key."""

_pool = urllib3.PoolManager(maxsize=32)
_clean: dict[str, Items] = {}
"""The items of the tables that were restored and not written since."""


def is_on() -> bool:
    """Return whether the tests run against the engine."""
    return _ADDRESS is not None


def install() -> None:
    """Send all DynamoDB calls of this process to the engine."""
    process_request = BotocoreStubber.process_request

    def process(stubber: BotocoreStubber, request: AWSPreparedRequest) -> TYPE_RESPONSE | None:
        target: Any = request.headers.get("X-Amz-Target", "")
        target = target.decode() if isinstance(target, bytes) else target
        operation = target.removeprefix(_VERSION)
        if not target.startswith(_VERSION):
            return process_request(stubber, request)
        content: Any = request.body
        body = json.loads(content)
        if operation in _READS | _WRITES and _all_exist(_tables_of(body)):
            if operation in _WRITES:
                for name in _tables_of(body):
                    _clean.pop(name, None)
            status, text = _post(operation, content)
            return status, {"x-amzn-requestid": "request"}, text
        answer = process_request(stubber, request)
        if operation == "DescribeTable" and answer and answer[0] == 200:
            # without the checksum of moto's answer
            headers = {"x-amzn-requestid": "request"}
            return 200, headers, _with_item_count(body["TableName"], answer[2])
        if operation in _TABLE_CALLS and answer and answer[0] == 200:
            _repeat_table_call(operation, body)
        return answer

    BotocoreStubber.process_request = process  # type: ignore[method-assign, assignment]


def _with_item_count(table: str, text: Any) -> str:
    """Return the description of a table with the number of items in the engine."""
    described = json.loads(text)
    status, counted = _post("DescribeTable", json.dumps({"TableName": table}).encode())
    if status == 200:  # the engine fails while it creates the table
        described["Table"]["ItemCount"] = json.loads(counted)["Table"]["ItemCount"]
    return json.dumps(described)


def _tables_of(body: Mapping[str, Any]) -> set[str]:
    if "RequestItems" in body:
        return set(body["RequestItems"])
    actions = [part for one in body.get("TransactItems", ()) for part in one.values()]
    return {one["TableName"] for one in actions or [body] if "TableName" in one}


def _all_exist(names: Iterable[str]) -> bool:
    """Return whether moto has these tables; otherwise it answers the call."""
    known = {
        name
        for account in dynamodb_backends.values()
        for backend in account.values()
        for name in backend.tables
    }
    return known.issuperset(names)


def _repeat_table_call(operation: str, body: Mapping[str, Any]) -> None:
    """Make a change of a table in the engine too; one that an earlier test left is replaced."""
    _clean.pop(body["TableName"], None)
    if operation != "UpdateTable":
        _post("DeleteTable", json.dumps({"TableName": body["TableName"]}).encode())
    if operation != "DeleteTable":
        known = {name: body[name] for name in _TABLE_MEMBERS if name in body}
        _call(operation, {"BillingMode": "PAY_PER_REQUEST", **known})


def _post(operation: str, body: Any) -> tuple[int, str]:
    headers = {
        "Authorization": f"{_AUTHORIZATION}, SignedHeaders=host, Signature=none",
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Date": "20260101T000000Z",
        "X-Amz-Target": _VERSION + operation,
    }
    answer = _pool.request("POST", f"http://{_ADDRESS}/", body=body, headers=headers)
    return answer.status, answer.data.decode()


def _call(operation: str, body: Mapping[str, Any]) -> Any:
    status, text = _post(operation, json.dumps(body).encode())
    assert status == 200, f"{operation}: {text}"
    return json.loads(text)


# Whole tables


def items_of(table: str) -> Items:
    """Return the items of a table."""
    found, more = dict[str, Mapping[str, Any]](), dict[str, Any]()
    keys = _call("DescribeTable", {"TableName": table})["Table"]["KeySchema"]
    while True:
        page = _call("Scan", {"TableName": table, "ConsistentRead": True, **more})
        for item in page["Items"]:
            found[json.dumps([item[key["AttributeName"]] for key in keys])] = _with_sorted_sets(
                item
            )
        if "LastEvaluatedKey" not in page:
            return found
        more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def _with_sorted_sets(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: sorted(one) if name in {"NS", "SS"} and isinstance(one, list)
            else _with_sorted_sets(one)
            for name, one in value.items()
        }  # fmt: skip
    return [_with_sorted_sets(one) for one in value] if isinstance(value, list) else value


def restore(table: Table, items: Items) -> None:
    """Make `items` the only items of a table; create it where the engine lacks it."""
    name = table.name
    if _clean.get(name) is items:
        return
    if _post("DescribeTable", json.dumps({"TableName": name}).encode())[0] != 200:
        _call("CreateTable", _definition(table))
    present = items_of(name)
    puts = [{"PutRequest": {"Item": item}} for key, item in items.items()
            if present.get(key) != item]  # fmt: skip
    deletes = [
        {"DeleteRequest": {"Key": {at: item[at] for at in table.table_key_attrs}}}
        for key, item in present.items()
        if key not in items
    ]
    changes = puts + deletes
    for start in range(0, len(changes), _BATCH):
        _call("BatchWriteItem", {"RequestItems": {name: changes[start : start + _BATCH]}})
    _clean[name] = items


def _definition(table: Table) -> dict[str, Any]:
    described = {
        "TableName": table.name,
        "AttributeDefinitions": table.attr,
        "KeySchema": table.schema,
        "BillingMode": "PAY_PER_REQUEST",
    }
    indexes = [
        {"IndexName": one.name, "KeySchema": one.schema, "Projection": one.projection}
        for one in table.global_indexes
    ]
    return {**described, **({"GlobalSecondaryIndexes": indexes} if indexes else {})}


def stored_items(table: str) -> Iterator[dict[str, Any]]:
    """Yield the items of a table as botocore returns them."""
    for item in items_of(table).values():
        yield {name: _decoded(value) for name, value in item.items()}


def _decoded(value: Mapping[str, Any]) -> Any:
    ((kind, content),) = value.items()
    match kind:
        case "B":
            return {"B": base64.b64decode(content)}
        case "M":
            return {"M": {name: _decoded(one) for name, one in content.items()}}
        case "L":
            return {"L": [_decoded(one) for one in content]}
        case _:
            return value
