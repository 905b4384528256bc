"""DynamoDB's JSON with and without botocore's service model: equal requests, responses, errors.

Both clients are botocore's; one has the hooks of `shared.kernel.dynamodb_json`.
"""

import io
import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.model import Shape
from botocore.serialize import SERIALIZERS, JSONSerializer

from shared.kernel.dynamodb_json import ITEM_OPERATIONS, use_dynamodb_json

_BYTES = [b"", b"\x00", b"\xff\xfe\x78\x9c", bytes(range(256)) * 40]
_TEXTS = [
    "",
    " ",
    '"B": "AA=="',
    "\x00\x1f\u2028",
    "Mürbe 測試 🧱",
    "\ud83e",
    "null",
    "\\u0042",
    "x" * 9_000,
]
_NUMBERS = ["0", "-0", "1E-130", "-9.9999999999999999999999999999999999999E+125", "1" * 38, "0.10"]
_VALUES: list[dict[str, Any]] = [
    *({"B": value} for value in _BYTES),
    *({"S": text} for text in _TEXTS),
    *({"N": number} for number in _NUMBERS),
    {"BOOL": True}, {"BOOL": False}, {"NULL": True},
    {"SS": ["", "b"]}, {"NS": _NUMBERS}, {"BS": _BYTES}, {"BS": []},
    {"L": []}, {"M": {}},
]  # fmt: skip
_ITEM: dict[str, Any] = {
    **{f"a{number}": value for number, value in enumerate(_VALUES)},
    # Names of attributes that are names of types, at the top and in maps.
    **{kind: {"M": {kind: value}} for kind, value in (("B", {"B": b"\x01"}), ("S", {"S": "B"}))},
    "BS": {"BS": [b"\x02"]},
    "M": {"M": {"B": {"S": "QQ=="}, "BS": {"L": [{"B": b"\x03"}, {"S": ""}]}, "": {"NULL": True}}},
    "L": {"L": [*_VALUES, {"L": [{"L": [{"M": {"L": {"L": _VALUES}}}]}]}]},
}
_KEY = {"PK": {"S": "product#1"}, "SK": {"S": "#"}}
_CHANGE = {
    "TableName": "goods",
    "Key": _KEY,
    "UpdateExpression": "SET #B = :B, a = :BS",
    "ConditionExpression": "attribute_exists(PK)",
    "ExpressionAttributeNames": {"#B": "B", "#BS": "BS"},
    "ExpressionAttributeValues": {":B": {"B": b"\xff"}, ":BS": {"S": "B"}, ":M": {"M": _ITEM}},
    "ReturnValues": "ALL_NEW",
}
_PUT = {"TableName": "goods", "Item": _ITEM, "ConditionExpression": "attribute_not_exists(PK)"}
_QUERY = {
    "TableName": "goods",
    "IndexName": "GSI1",
    "KeyConditionExpression": "P1 = :pk",
    "ExpressionAttributeValues": {":pk": {"S": "B"}},
    "ExclusiveStartKey": _KEY,
    "ScanIndexForward": False,
    "Limit": 1,
}
_BATCH = {"goods": {"Keys": [_KEY, _KEY], "ConsistentRead": True}}
_UNITS = {"TableName": "goods", "CapacityUnits": 12.5}
_PAGE = {"Items": [_ITEM, _KEY, {}], "Count": 3, "ScannedCount": 3, "ConsumedCapacity": _UNITS}
_OPERATIONS: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {
    "GetItem": (
        {"TableName": "goods", "Key": _KEY, "ConsistentRead": True},
        [{"Item": _ITEM, "ConsumedCapacity": _UNITS}],
    ),
    "BatchGetItem": (
        {"RequestItems": _BATCH},
        [
            {"Responses": {"goods": [_ITEM, _KEY]}, "UnprocessedKeys": {}},
            {"Responses": {"goods": []}, "UnprocessedKeys": _BATCH, "ConsumedCapacity": [_UNITS]},
        ],
    ),
    "BatchWriteItem": (
        {"RequestItems": {"goods": [{"PutRequest": {"Item": _ITEM}}]}},
        [{"UnprocessedItems": {"goods": [{"PutRequest": {"Item": _ITEM}}]}}],
    ),
    "DeleteItem": (
        {"TableName": "goods", "Key": _KEY, "ReturnValues": "ALL_OLD"},
        [{"Attributes": _ITEM}],
    ),
    "PutItem": (_PUT, [{"ConsumedCapacity": _UNITS}]),
    "Query": (_QUERY, [_PAGE, {**_PAGE, "LastEvaluatedKey": _KEY}, {"Items": [], "Count": 0}]),
    "Scan": ({"TableName": "goods", "Limit": 1}, [_PAGE]),
    "TransactWriteItems": (
        {
            "TransactItems": [
                {"Put": _PUT},
                {"Update": {name: _CHANGE[name] for name in _CHANGE if name != "ReturnValues"}},
                {"Delete": {"TableName": "goods", "Key": _KEY}},
                {
                    "ConditionCheck": {
                        "TableName": "goods",
                        "Key": _KEY,
                        "ConditionExpression": "attribute_exists(PK)",
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                },
            ],
            "ClientRequestToken": "token",
        },
        [{"ConsumedCapacity": [_UNITS, _UNITS]}],
    ),
    "UpdateItem": (_CHANGE, [{"Attributes": _ITEM}]),
}
"""Operation → its request, and its responses."""
_ERRORS: list[tuple[int, bytes]] = [
    (400, b'{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"m"}'),
    (400, b'{"__type":"com.amazon.coral.validate#ValidationException","Message":"B"}'),
    (400, b'{"__type":"AccessDeniedException"}'),
    (413, b"too large"),
    (500, b"<html><body>Service Unavailable</body></html>"),
    (503, b""),
]


class _Aws:
    """Returns a prepared response to each attempt of a call, and keeps the request."""

    def __init__(self, *, hooked: bool) -> None:
        session = botocore.session.Session()
        events = session.get_component("event_emitter")
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(SERIALIZERS, "json", JSONSerializer)
            if hooked:
                use_dynamodb_json(events)
            config = Config(parameter_validation=False, retries={"total_max_attempts": 1})
            self.client: Any = session.create_client(
                "dynamodb", region_name="eu-west-1", config=config
            )
        self.client.meta.events.register("before-send", self._respond)
        self.status, self.content = 200, b"{}"
        self.request: Any = None

    def _respond(self, request: Any, **_: Any) -> Any:
        self.request = request
        headers: Any = {"x-amzn-RequestId": "R1", "Content-Type": "application/x-amz-json-1.0"}
        raw: Any = io.BytesIO(self.content)
        raw.stream = lambda **_: iter([self.content])
        return AWSResponse(request.url, self.status, headers, raw)

    def call(self, operation: str, request: dict[str, Any]) -> Any:
        """Return the response; of an error, its class and its response."""
        try:
            return self.client._make_api_call(operation, request)
        except ClientError as error:
            return type(error).__name__, error.response


@pytest.fixture(scope="module", name="clients")
def _clients() -> Iterator[tuple[_Aws, _Aws]]:
    """A client with the hooks, and one without."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "x")
        yield _Aws(hooked=True), _Aws(hooked=False)


def _sent(aws: _Aws, operation: str, request: dict[str, Any]) -> tuple[str, Any, bytes]:
    aws.status, aws.content = 200, b"{}"
    aws.call(operation, request)
    of_call = {"amz-sdk-invocation-id", "authorization", "x-amz-date"}
    headers = {
        name: value for name, value in aws.request.headers.items() if name.lower() not in of_call
    }
    return aws.request.url, headers, aws.request.body


def _body(value: Any) -> bytes:
    return json.dumps(value, default=lambda data: b64encode(data).decode()).encode()


def test_every_operation_is_compared() -> None:
    assert set(_OPERATIONS) == ITEM_OPERATIONS


@pytest.mark.parametrize("operation", sorted(ITEM_OPERATIONS))
def test_requests_are_those_of_botocore(clients: tuple[_Aws, _Aws], operation: str) -> None:
    hooked, plain = (_sent(aws, operation, _OPERATIONS[operation][0]) for aws in clients)
    assert hooked == plain


@pytest.mark.parametrize("operation", sorted(ITEM_OPERATIONS))
def test_responses_are_those_of_botocore(clients: tuple[_Aws, _Aws], operation: str) -> None:
    request, responses = _OPERATIONS[operation]
    for content in (*map(_body, responses), b'{"Item": null}', b"{}", b"", b"no JSON"):
        for aws in clients:
            aws.status, aws.content = 200, content
        hooked, plain = (aws.call(operation, request) for aws in clients)
        assert hooked == plain


def test_decoded_values_are_those_that_were_sent(clients: tuple[_Aws, _Aws]) -> None:
    hooked, _ = clients
    hooked.status, hooked.content = 200, _body({"Item": _ITEM})
    assert hooked.call("GetItem", {"TableName": "goods", "Key": _KEY})["Item"] == _ITEM


@pytest.mark.parametrize("operation", sorted(ITEM_OPERATIONS))
def test_errors_are_those_of_botocore(clients: tuple[_Aws, _Aws], operation: str) -> None:
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": "B", "Item": _ITEM}]
    cancelled = {"__type": "com#TransactionCanceledException", "CancellationReasons": reasons}
    failed = {"__type": "com#ConditionalCheckFailedException", "message": "m", "Item": _ITEM}
    for status, content in (*_ERRORS, (400, _body(cancelled)), (400, _body(failed))):
        for aws in clients:
            aws.status, aws.content = status, content
        hooked, plain = (aws.call(operation, _OPERATIONS[operation][0]) for aws in clients)
        assert hooked == plain


@pytest.mark.parametrize("operation", sorted(ITEM_OPERATIONS))
def test_botocore_looks_up_no_shape(clients: tuple[_Aws, _Aws], operation: str) -> None:
    """What the model lacks is sent and returned, so botocore still calls both hooks."""
    hooked, _ = clients
    hooked.status, hooked.content = 200, b'{"Later": 1}'
    assert hooked.call(operation, _OPERATIONS[operation][0] | {"Later": 1})["Later"]
    assert json.loads(hooked.request.body)["Later"] == 1


def test_other_operations_are_left_to_botocore(clients: tuple[_Aws, _Aws]) -> None:
    for aws in clients:
        aws.status, aws.content = 200, b'{"Table": {"CreationDateTime": 1767225600.5, "Later": 1}}'
    hooked, plain = (aws.call("DescribeTable", {"TableName": "goods"}) for aws in clients)
    assert hooked == plain
    assert hooked["Table"]["CreationDateTime"].year == 2026


def test_only_binary_values_have_another_form_in_json(clients: tuple[_Aws, _Aws]) -> None:
    """A new version of the model may need more than Base64: times, other names, streams."""
    model = clients[0].client.meta.service_model
    found: set[str] = set()
    for name in ITEM_OPERATIONS:
        operation = model.operation_model(name)
        assert not operation.has_event_stream_output
        assert not operation.has_streaming_output
        _look(operation.input_shape, found)
        _look(operation.output_shape, found)
    assert found <= {
        "string",
        "boolean",
        "integer",
        "long",
        "double",
        "map",
        "list",
        "structure",
        "blob",
    }


def _look(shape: Shape, found: set[str], seen: frozenset[str] = frozenset()) -> None:
    """Add the types of a shape and its parts, and check that each has its own name in JSON."""
    assert not set(shape.serialization) & {"name", "location", "timestampFormat"}, shape
    found.add(shape.type_name)
    if shape.name in seen:
        return
    parts: Any = shape
    for name, part in {
        **getattr(shape, "members", {}),
        **({"value": parts.value} if shape.type_name == "map" else {}),
        **({"member": parts.member} if shape.type_name == "list" else {}),
    }.items():
        is_binary = shape.name in {"AttributeValue", "BinarySetAttributeValue"}
        assert part.type_name != "blob" or (is_binary and name in {"B", "member"}), shape
        _look(part, found, seen | {shape.name})
