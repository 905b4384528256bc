"""Each rule of DynamoDB that moto does not apply refuses a call and lets its neighbour pass."""

from typing import Any

import pytest

from tests.wire_rules import Body, Keys, Refused, check

_KEYS = Keys(
    types={"PK": "S", "SK": "S", "P1": "S", "S1": "S"},
    indexes={None: ["PK", "SK"], "GSI1": ["P1", "S1"]},
    held={None: None, "GSI1": frozenset({"PK", "SK", "P1", "S1", "facets"})},
)
_KEY = {"PK": {"S": "crate#1"}, "SK": {"S": "HEAD"}}
_START = {**_KEY, "P1": {"S": "crate"}, "S1": {"S": "m"}}


def _send(operation: str, tokens: dict[str, Body] | None = None, **body: Any) -> None:
    check(operation, {"TableName": "crates", **body}, lambda _: _KEYS, tokens or {})


def _put(**attributes: Any) -> tuple[str, dict[str, Any]]:
    return "PutItem", {"Item": {**_KEY, **attributes}}


def _put_if(condition: str, **values: Any) -> tuple[str, dict[str, Any]]:
    body = {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}}
    return "PutItem", {
        "Item": _KEY, "ConditionExpression": condition, **(body if values else {})
    }  # fmt: skip


def _query(**more: Any) -> tuple[str, dict[str, Any]]:
    condition = {
        "KeyConditionExpression": "P1 = :kind AND S1 BETWEEN :low AND :high",
        "ExpressionAttributeValues": {
            ":kind": {"S": "crate"}, ":low": {"S": "b"}, ":high": {"S": "x"}
        },
    }  # fmt: skip
    return "Query", {"IndexName": "GSI1", **condition, **more}


def _update(text: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "UpdateItem", {"Key": _KEY, "UpdateExpression": text, **more}


def _transaction(*sizes: int) -> tuple[str, dict[str, Any]]:
    puts = [{"TableName": "crates", "Item": {**_KEY, "data": {"B": bytes(size)}}} for size in sizes]
    return "TransactWriteItems", {"TransactItems": [{"Put": put} for put in puts]}


def _operands(number: int) -> str:
    return f"PK IN ({', '.join([':one'] * number)})"


_ONE = {"N": "1"}


@pytest.mark.parametrize(
    ("refused", "passes"),
    [
        pytest.param(_transaction(*[399_999] * 11), _transaction(*[399_999] * 10), id="4 MB"),
        pytest.param(_put_if("PK = :a", a=_ONE, b=_ONE), _put_if("PK = :a", a=_ONE), id="unused"),
        pytest.param(
            _put_if("attribute_exists(#pk)"), _put_if("attribute_exists(PK)"), id="undefined"
        ),
        pytest.param(
            _update("REMOVE a", ExpressionAttributeNames={"#a": "a"}),
            _update("REMOVE #a", ExpressionAttributeNames={"#a": "a"}),
            id="unused name",
        ),
        pytest.param(
            _put_if("a BETWEEN :a AND :b", a={"N": "10"}, b={"N": "9"}),
            _put_if("a BETWEEN :a AND :b", a={"N": "9"}, b={"N": "10"}),
            id="reversed BETWEEN",
        ),
        pytest.param(
            _query(FilterExpression="attribute_exists(P1) AND volume = SK"),
            _query(FilterExpression="contains(facets.volume, S1) OR NOT facets.a IN (PK, SK)"),
            id="filter on what the index lacks",
        ),
        pytest.param(
            _query(ProjectionExpression="PK, #data", ExpressionAttributeNames={"#data": "data"}),
            _query(ProjectionExpression="PK, #data", ExpressionAttributeNames={"#data": "facets"}),
            id="projection of what the index lacks",
        ),
        pytest.param(_put(P1=_ONE), _put(P1={"S": "1"}), id="type of an index key"),
        pytest.param(_put(P1={"S": ""}), _put(P2={"S": ""}), id="empty index key"),
        pytest.param(
            _update("SET a = :a, S1 = :a", ExpressionAttributeValues={":a": _ONE}),
            _update("SET a = :a, S2 = :a", ExpressionAttributeValues={":a": _ONE}),
            id="type of an updated index key",
        ),
        pytest.param(_put_if(" "), _put_if("attribute_exists(PK)"), id="empty expression"),
        pytest.param(
            _put_if(_operands(101), one=_ONE), _put_if(_operands(100), one=_ONE), id="operands"
        ),
        pytest.param(
            _put_if(f"attribute_exists({'a' * 4_079})"),
            _put_if(f"attribute_exists({'a' * 4_078})"),
            id="long expression",
        ),
        pytest.param(_put(a={"NS": ["1", "1.0"]}), _put(a={"NS": ["1", "10"]}), id="number set"),
        pytest.param(_put(a={"SS": ["a", "a"]}), _put(a={"SS": ["a", "b"]}), id="string set"),
        pytest.param(_put(a={"NS": []}), _put(a={"L": []}), id="empty set"),
        pytest.param(
            _put(a={"M": {"b": {"N": "1" * 39}}}),
            _put(a={"M": {"b": {"N": "-0.0" + "1" * 38}}}),
            id="digits",
        ),
        pytest.param(
            _query(ExclusiveStartKey={**_START, "S1": {"S": "a"}}),
            _query(ExclusiveStartKey=_START),
            id="start key before the range",
        ),
        pytest.param(
            _query(ExclusiveStartKey={**_START, "P1": {"S": "pallet"}}),
            _query(ExclusiveStartKey={**_START, "S1": {"S": "x"}}),
            id="start key of another partition",
        ),
        pytest.param(
            _query(ExclusiveStartKey=_KEY), _query(ExclusiveStartKey=_START), id="table's start key"
        ),
    ],
)
def test_call_that_dynamodb_refuses_is_refused(
    refused: tuple[str, dict[str, Any]], passes: tuple[str, dict[str, Any]]
) -> None:
    operation, body = passes
    _send(operation, **body)

    operation, body = refused
    with pytest.raises(Refused):
        _send(operation, **body)


def test_token_of_a_transaction_with_other_contents_is_refused() -> None:
    tokens: dict[str, Body] = {"other": {}}
    operation, body = _transaction(1)
    for _ in range(2):
        _send(operation, tokens, **body, ClientRequestToken="t1")

    operation, other = _transaction(2)
    _send(operation, tokens, **other, ClientRequestToken="t2")
    with pytest.raises(Refused):
        _send(operation, tokens, **other, ClientRequestToken="t1")
