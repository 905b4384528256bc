"""Patched and unpatched moto answer the same calls alike and store the same items."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError, NoCredentialsError, ParamValidationError
from moto import mock_aws

from shared.kernel.db.table import table_definition
from tests import fast_moto
from tests.snapshot import Snapshot, stored_items
from tests.stack import ACCOUNT, REGION

_KEY = {"PK": {"S": "product#1"}, "SK": {"S": "#"}}
_OTHER = {"PK": {"S": "product#1"}, "SK": {"S": "line#2"}}
_ABSENT = {"PK": {"S": "product#9"}, "SK": {"S": "#"}}
_ITEM = {
    **_KEY,
    "name": {"S": "Mürbe"},
    "version": {"N": "1"},
    "secret": {"B": b"\x00\xffB"},
    "tags": {"SS": ["a", "b"]},
    "sizes": {"L": [{"N": "1.50"}, {"S": "L"}, {"B": b"\xfe"}]},
    "facets": {
        "M": {"active": {"BOOL": True}, "B": {"S": "text"}, "deep": {"M": {"n": {"N": "3"}}}}
    },
    "P1": {"S": "products"},
    "S1": {"S": "0001"},
}
_VALUES = {
    ":one": {"N": "1"},
    ":text": {"S": "a"},
    ":map": {"M": {"x": {"B": b"\x01"}}},
    ":list": {"L": [{"S": "z"}]},
    ":set": {"SS": ["a"]},
    ":more": {"SS": ["z", "b"]},
    ":empty": {"S": ""},
    ":large": {"S": "x" * 405_001},
    ":secret": {"B": b"\x00\xffB"},
}
_LARGE = {"S": "x" * 405_001}

type _Call = tuple[str, dict[str, Any]]


def _update(expression: str, key: Any = _KEY, condition: str | None = None) -> dict[str, Any]:
    text = f"{expression} {condition or ''}"
    names = {"#name": "name", "#deep": "deep", "#size": "size"}
    body = {
        "Key": key,
        "UpdateExpression": expression,
        "ConditionExpression": condition,
        "ExpressionAttributeNames": {name: to for name, to in names.items() if name in text},
        "ExpressionAttributeValues": {name: to for name, to in _VALUES.items() if name in text},
    }
    return {"TableName": "goods", **{name: value for name, value in body.items() if value}}


def _put(key: Any, **rest: Any) -> dict[str, Any]:
    return {"TableName": "goods", "Item": {**_ITEM, **key}, **rest}


def _transact(*actions: dict[str, Any]) -> _Call:
    return "transact_write_items", {"TransactItems": list(actions)}


_IS_NEW = {"ConditionExpression": "attribute_not_exists(PK)"}
_COUNT = {"Update": _update("ADD version :one")}
_CHECK_FAILS = {
    "ConditionCheck": {
        "TableName": "goods",
        "Key": _ABSENT,
        "ConditionExpression": "attribute_exists(PK)",
    }
}
_EXPRESSIONS = (
    "SET #name = :text",
    "SET version = version + :one, sizes = list_append(sizes, :list) REMOVE secret",
    "SET counted = if_not_exists(counted, :one) - :one",
    "SET sizes[1] = :text, facets.#deep.n = :one",
    "SET facets.more = :map ADD version :one, counted :one",
    "REMOVE sizes[0], facets.active DELETE tags :set",
    "SET facets.nowhere.n = :one",
    "SET counted = nowhere",
    "SET PK = :text",
    "SET size = :one",
    "SET #name = :text, #name = :one",
    "SET #name = :text SET version = :one",
    "SET version = :one ADD counted :one SET #name = :text",
    "SET facets.more = :one, facets.more.n = :one",
    "SET version = :one REMOVE version",
    "SET #unknown = :text",
    "SET #name = :large",
    "SET counted = if_not_exists(nowhere, counted)",
    "SET sizes = list_append(nowhere, :list)",
    "SET version + :one",
    "ADD #name :one",
    "ADD version :text",
    "ADD tags :set",
    "ADD letters :set, counted :one SET #name = :text REMOVE secret, nowhere",
    "ADD tags :more",
    "ADD #name :set",
    "ADD version :more",
    "DELETE nowhere :set",
    "DELETE #name :set",
    "SET S1 = :one",
    "SET S1 = :empty",
    "SET S1 = :text",
    "SET #name = :empty",
    "SET #name = :text, name = :text",
    "SET alias = :text REMOVE #name",
    "SET version = :nothing",
    "REMOVE SK",
    "ADD PK :one",
)
_CONDITIONS = (
    "attribute_exists(facets.#deep.n) AND begins_with(#name, :text)",
    "version = :one AND NOT contains(tags, :text)",
    "version BETWEEN :one AND :one OR #name IN (:text)",
    "version + :one",
    "version ? :one",
    "(version = :one",
    "secret = :secret",
)
_PARTITION = {
    "TableName": "goods",
    "KeyConditionExpression": "PK = :pk",
    "ExpressionAttributeValues": {":pk": {"S": "product#1"}},
}
_INDEX = {
    "TableName": "goods",
    "IndexName": "GSI1",
    "KeyConditionExpression": "P1 = :pk AND S1 >= :from",
    "ExpressionAttributeValues": {":pk": {"S": "products"}, ":from": {"S": "0001"}},
}
_READS: tuple[_Call, ...] = (
    ("get_item", {"TableName": "goods", "Key": _KEY}),
    (
        "get_item",
        {"TableName": "goods", "Key": _KEY, "ProjectionExpression": "facets.deep, secret"},
    ),
    ("get_item", {"TableName": "goods", "Key": _ABSENT}),
    ("get_item", {"TableName": "goods", "Key": {"PK": {"S": "product#1"}}}),
    ("get_item", {"TableName": "nowhere", "Key": _KEY}),
    ("batch_get_item", {"RequestItems": {"goods": {"Keys": [_KEY, _ABSENT, _OTHER]}}}),
    ("query", _PARTITION),
    ("query", {**_PARTITION, "ScanIndexForward": False, "Limit": 1}),
    ("query", {**_PARTITION, "Limit": 1, "ExclusiveStartKey": _KEY}),
    ("query", {**_PARTITION, "ExpressionAttributeValues": {":pk": {"S": "nothing"}}}),
    ("query", _INDEX),
    ("query", {**_INDEX, "ScanIndexForward": False, "Limit": 1}),
    ("query", {**_INDEX, "ExpressionAttributeValues": {":pk": {"S": "no"}, ":from": {"S": "0"}}}),
    ("query", {**_INDEX, "ProjectionExpression": "PK, S1"}),
    ("query", {**_PARTITION, "ProjectionExpression": "secret, facets.deep, sizes[0], nowhere"}),
    ("query", {**_PARTITION, "ProjectionExpression": "secret, sizes, facets, tags, nowhere"}),
    ("query", {**_INDEX, "IndexName": "none"}),
    ("query", {**_INDEX, "KeyConditionExpression": "S1 = :pk"}),
    ("scan", {"TableName": "goods"}),
)
_CALLS: tuple[_Call, ...] = (
    ("put_item", _put(_KEY, **_IS_NEW)),
    ("put_item", _put(_KEY, **_IS_NEW)),
    ("put_item", _put(_KEY, **_IS_NEW, ReturnValuesOnConditionCheckFailure="ALL_OLD")),
    ("put_item", _put({**_OTHER, "S1": {"S": "0002"}}, ReturnValues="ALL_OLD")),
    ("put_item", _put(_ABSENT, Item={**_ABSENT, "text": _LARGE, "more": _LARGE})),
    ("put_item", _put({"PK": {"N": "1"}})),
    ("put_item", _put(_ABSENT, Item={**_ABSENT, "digests": {"BS": [b"\x00", b"\xff"]}})),
    ("get_item", {"TableName": "goods", "Key": _ABSENT}),
    ("delete_item", {"TableName": "goods", "Key": _ABSENT}),
    *(("get_item", {"TableName": "goods", "Key": value}) for value in ("PK", {"PK": "a"})),
    *(
        ("put_item", _put(_ABSENT, Item={**_ABSENT, "wrong": value}))
        for value in ({"S": 5}, {"N": 5}, {"BOOL": "true"}, {"B": 5}, {"Q": "a"})
    ),
    *_READS,
    *(("update_item", _update(expression)) for expression in _EXPRESSIONS),
    *(("update_item", _update(_EXPRESSIONS[0], condition=each)) for each in _CONDITIONS),
    ("update_item", {**_update("SET more = :one"), "ReturnValues": "ALL_NEW"}),
    ("update_item", {**_update("SET more = :one"), "ReturnValues": "UPDATED_OLD"}),
    ("update_item", _update("SET #name = :text", _ABSENT, "attribute_exists(PK)")),
    ("update_item", _update("SET #name = :text", _ABSENT, "attribute_not_exists(PK)")),
    *_READS,
    ("delete_item", {"TableName": "goods", "Key": _ABSENT, "ReturnValues": "ALL_OLD"}),
    ("delete_item", {"TableName": "goods", "Key": _KEY, **_IS_NEW}),
    _transact(_COUNT, {"Put": _put(_ABSENT, **_IS_NEW)}),
    _transact(_COUNT, {"Put": _put(_ABSENT, **_IS_NEW)}),
    _transact(
        _COUNT,
        {"Put": _put(_OTHER, **_IS_NEW, ReturnValuesOnConditionCheckFailure="ALL_OLD")},
    ),
    _transact(_COUNT, _COUNT),
    _transact(_COUNT, {"Delete": {"TableName": "goods", "Key": _ABSENT}}),
    _transact(_COUNT, {"Put": _put(_ABSENT)}, _CHECK_FAILS),
    _transact({"Update": _update("SET version = :text + :one")}),
    _transact({"Update": _update("SET more = :one", _OTHER, "secret = :secret")}, _CHECK_FAILS),
    ("batch_write_item", {"RequestItems": {"goods": [{"DeleteRequest": {"Key": _OTHER}}]}}),
    (
        "batch_write_item",
        {"RequestItems": {"goods": [{"PutRequest": {"Item": {**_ITEM, **_OTHER}}}]}},
    ),
    ("batch_write_item", {"RequestItems": {"goods": [{"DeleteRequest": {"Key": _KEY}}] * 2}}),
    ("batch_write_item", {"RequestItems": {"nowhere": [{"DeleteRequest": {"Key": _KEY}}]}}),
    ("describe_table", {"TableName": "goods"}),
    ("describe_table", {"TableName": "nowhere"}),
    *_READS,
)


@contextmanager
def _moto(*, fast: bool) -> Iterator[Any]:
    """Give a client of moto with an empty table."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        if fast:
            fast_moto.install(patch)
        client: Any = _session().create_client("dynamodb", region_name=REGION)
        client.create_table(TableName="goods", **table_definition())
        yield client


@cache
def _session() -> botocore.session.Session:
    return botocore.session.get_session()


def _result(client: Any, call: _Call) -> Any:
    operation, arguments = call
    try:
        response = getattr(client, operation)(**arguments)
    except ClientError as error:
        response = error.response
    except (KeyError, ValueError, AssertionError, ParamValidationError) as fault:
        # A defect of moto, or values that botocore does not send.
        return operation, type(fault), str(fault)
    metadata = response.pop("ResponseMetadata")
    if operation == "describe_table" and "Table" in response:
        assert isinstance(response["Table"].pop("CreationDateTime"), datetime)
    return operation, metadata["HTTPStatusCode"], _with_sorted_sets(response)


def _scanned(client: Any) -> Any:
    return _with_sorted_sets(client.scan(TableName="goods")["Items"])


def _stored() -> Any:
    return [_with_sorted_sets(item) for item in stored_items(ACCOUNT, REGION, "goods")]


def _with_sorted_sets(value: Any) -> Any:
    match value:
        case {"SS": [*members]}:
            return {"SS": sorted(members)}
        case dict():
            return {name: _with_sorted_sets(each) for name, each in value.items()}
        case list():
            return [_with_sorted_sets(each) for each in value]
    return value


def _results(*, fast: bool) -> list[Any]:
    with _moto(fast=fast) as client:
        return [(_result(client, call), _scanned(client)) for call in _CALLS]


def test_results_and_stored_items_are_those_of_unpatched_moto() -> None:
    fast, plain = _results(fast=True), _results(fast=False)
    for call, one, other in zip(_CALLS, fast, plain, strict=True):
        assert one == other, call
    statuses = {(operation, status) for (operation, status, _), _ in fast}
    names = {operation for operation, _ in _CALLS}
    assert statuses >= {(name, 200) for name in names}
    assert statuses >= {(name, 400) for name in names - {"batch_get_item", "scan"}}


def test_a_call_needs_credentials() -> None:
    with _moto(fast=True) as client:
        client._request_signer._credentials = None
        with pytest.raises(NoCredentialsError):
            client.scan(TableName="goods")


def test_a_snapshot_keeps_its_items_and_restores_them() -> None:
    with _moto(fast=True) as client:
        for call in _CALLS[:10]:
            _result(client, call)
        before, snapshot = _stored(), Snapshot.take(ACCOUNT, REGION)
        assert snapshot.is_current()
        for _ in range(2):
            for call in _CALLS:
                _result(client, call)
            assert not snapshot.is_current()
            snapshot.restore()
            assert _stored() == before
            assert snapshot.is_current()


def test_stored_items_are_those_of_a_scan() -> None:
    with _moto(fast=True) as client:
        for call in _CALLS:
            _result(client, call)
        assert len(_stored()) >= 2
        assert sorted(_stored(), key=repr) == sorted(_scanned(client), key=repr)
