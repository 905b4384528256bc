"""Rules of DynamoDB that moto does not apply: `check` refuses a call that breaks one.

`tests/fast_moto.py` checks every call that moto accepts, so the rules hold for the whole suite.
Each expression text is parsed once.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from moto.dynamodb.models.table import Table

from shared.kernel.db.items import size_of

_MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
_MAX_EXPRESSION_BYTES = 4_096
_MAX_OPERANDS = 100
_MAX_DIGITS = 38
_KEPT_TOKENS = 500
_EXPRESSIONS = (
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
)
_PLACEHOLDER = re.compile(r"[#:]\w+")
_BETWEEN = re.compile(r"\bBETWEEN\s+(:\w+)\s+AND\s+(:\w+)", re.IGNORECASE)
_IN = re.compile(r"\bIN\s*\(([^()]*)\)", re.IGNORECASE)
_EQUALS = re.compile(r"(?<![\w.#])([#\w]+)\s*=\s*(:\w+)")
"""Of a path such as `revoked.#key`, the last name is no attribute of the item."""
_COMPARED = re.compile(r"([#\w]+)\s*(=|<=|>=|<|>)\s*(:\w+)")
_PATH = re.compile(r"(?<![:\w.#])#?[A-Za-z_]\w*(?!\w*\s*\()")
_WORDS = frozenset({"AND", "OR", "NOT", "BETWEEN", "IN"})

type Body = Mapping[str, Any]
"""A call or an action, in the form of the DynamoDB API; binary values are bytes."""


class Refused(BaseException):
    """DynamoDB refuses a call with ValidationException or IdempotentParameterMismatchException.

    No code under test may catch it: moto has applied the call, so that a request under an
    Idempotency-Key would find its response stored.
    """


@dataclass(frozen=True, slots=True)
class Keys:
    """The types of the key attributes of a table, and what each of its indexes holds.

    `indexes` has the key attributes of each index, hash key first, `held` the attributes in its
    entries (None: all); the name of the table itself is None.
    """

    types: Mapping[str, str]
    indexes: Mapping[str | None, Sequence[str]]
    held: Mapping[str | None, frozenset[str] | None]


type KeysOf = Callable[[str], Keys | None]
"""Returns the keys of the table with this name; None when there is none."""


def check(operation: str, body: Body, keys_of: KeysOf, tokens: dict[str, Body]) -> None:
    """Raise Refused when DynamoDB would refuse the call.

    Args:
        operation: Name of the operation, for example `PutItem`.
        body: The call.
        keys_of: Returns the keys of a table.
        tokens: The transactions so far, by client request token.
    """
    match operation:
        case "TransactWriteItems":
            actions = [part for action in body["TransactItems"] for part in action.values()]
            for action in actions:
                _check_action(action, keys_of)
            _check_size(actions)
            _check_token(body, tokens)
        case "BatchGetItem":
            for wanted in body["RequestItems"].values():
                _check_expressions(wanted)
        case "BatchWriteItem":
            for table, requests in body["RequestItems"].items():
                for part in (part for request in requests for part in request.values()):
                    _check_action({"TableName": table, **part}, keys_of)
        case "Query" | "Scan":
            _check_expressions(body)
            keys = keys_of(body["TableName"])
            if keys and body.get("IndexName") in keys.indexes:
                _check_held(body, keys)
                _check_start(body, keys)
        case _:
            _check_action(body, keys_of)


def broken_rule(
    operation: str, body: Body, tables: Mapping[str, Table], tokens: dict[str, Body]
) -> Refused | None:
    """Return the refusal of a call to these tables of moto; None when DynamoDB accepts the call."""
    try:
        check(operation, body, lambda name: _keys_in_moto(tables.get(name)), tokens)
    except Refused as refused:
        return refused
    return None


def _keys_in_moto(table: Table | None) -> Keys | None:
    if table is None:
        return None
    held: dict[str | None, frozenset[str] | None] = {None: None}
    indexes: dict[str | None, list[str]] = {None: table.table_key_attrs}
    for index in (*table.global_indexes, *table.indexes):
        indexes[index.name] = index.schema_key_attrs
        held[index.name] = None
        if index.projection["ProjectionType"] != "ALL":
            more = index.projection.get("NonKeyAttributes", ())
            held[index.name] = frozenset({*table.table_key_attrs, *index.schema_key_attrs, *more})
    types = {one["AttributeName"]: one["AttributeType"] for one in table.attr}
    return Keys(types, indexes, held)


def _check_action(body: Body, keys_of: KeysOf) -> None:
    _check_expressions(body)
    item = body.get("Item", {})
    for name, value in item.items():
        _check_value(name, value)
    keys = keys_of(body["TableName"])
    if keys:
        _check_key_types(item, keys)
        _check_key_types(body.get("Key", {}), keys)
        _check_key_types(dict(_assigned(body)), keys)


def _check_size(actions: Sequence[Body]) -> None:
    size = sum(size_of(action.get("Item") or action.get("Key", {})) for action in actions)
    if size > _MAX_TRANSACTION_BYTES:
        raise Refused(f"transaction of {size} bytes, at most {_MAX_TRANSACTION_BYTES} allowed")


def _check_token(body: Body, tokens: dict[str, Body]) -> None:
    token = body.get("ClientRequestToken")
    if token is None:
        return
    if tokens.get(token, body) != body:
        raise Refused("client request token of a transaction with other contents")
    keep_token(tokens, token, body)


def keep_token[B: Body](tokens: dict[str, B], token: str, body: B) -> None:
    """Keep the contents of a transaction; forget the oldest one, as AWS does after ten minutes."""
    if token not in tokens and len(tokens) >= _KEPT_TOKENS:
        del tokens[next(iter(tokens))]
    tokens[token] = body


# Expressions


@dataclass(frozen=True, slots=True)
class _Parsed:
    """What the rules need of an expression."""

    placeholders: frozenset[str]
    ranges: tuple[tuple[str, str], ...]
    equal: tuple[tuple[str, str], ...]
    compared: tuple[tuple[str, str, str], ...]
    names: frozenset[str]


@lru_cache(4_096)
def _parsed(text: str) -> _Parsed:
    if not text.strip():
        raise Refused("empty expression")
    if len(text.encode()) > _MAX_EXPRESSION_BYTES:
        raise Refused(f"expression above {_MAX_EXPRESSION_BYTES} bytes")
    if any(operands.count(",") >= _MAX_OPERANDS for operands in _IN.findall(text)):
        raise Refused(f"IN with more than {_MAX_OPERANDS} operands")
    return _Parsed(
        placeholders=frozenset(_PLACEHOLDER.findall(text)),
        ranges=tuple(_BETWEEN.findall(text)),
        equal=tuple(_EQUALS.findall(text)),
        compared=tuple(_COMPARED.findall(text)),
        names=frozenset(name for name in _PATH.findall(text) if name.upper() not in _WORDS),
    )


def _check_expressions(body: Body) -> None:
    values = body.get("ExpressionAttributeValues", {})
    used = set[str]()
    for name in _EXPRESSIONS:
        if name in body:
            parsed = _parsed(body[name])
            used |= parsed.placeholders
            for low, high in parsed.ranges:
                if _is_greater(values.get(low), values.get(high)):
                    raise Refused(f"reversed BETWEEN {low} AND {high}")
    given = {*values, *body.get("ExpressionAttributeNames", {})}
    if given != used:
        raise Refused(f"unused or undefined in expressions: {sorted(given ^ used)}")
    for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        if name in body and not body[name]:
            raise Refused(f"empty {name}")
    for name, value in values.items():
        _check_value(name, value)


def _is_greater(low: Any, high: Any) -> bool:
    return low is not None and high is not None and _comparable(low) > _comparable(high)


def _comparable(value: Mapping[str, Any]) -> Any:
    ((kind, content),) = value.items()
    if kind == "N":
        return Decimal(content)
    return content if isinstance(content, bytes) else content.encode()


def _named(name: str, body: Body) -> str:
    return str(body.get("ExpressionAttributeNames", {}).get(name, name))


def _assigned(body: Body) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that an update sets to a value."""
    if "UpdateExpression" in body:
        for name, value in _parsed(body["UpdateExpression"]).equal:
            yield _named(name, body), body["ExpressionAttributeValues"][value]


# Values


def _check_value(name: str, value: Mapping[str, Any]) -> None:
    ((kind, content),) = value.items()
    match kind:
        case "N":
            _check_number(name, content)
        case "NS" | "SS" | "BS":
            members = [Decimal(one) for one in content] if kind == "NS" else content
            if not members or len(set(members)) < len(members):
                raise Refused(f"{name}: empty set, or set with duplicates")
            if kind == "NS":
                for one in content:
                    _check_number(name, one)
        case "M":
            for inner, one in content.items():
                _check_value(inner, one)
        case "L":
            for one in content:
                _check_value(name, one)


def _check_number(name: str, text: str) -> None:
    digits = text.lstrip("-").partition("E")[0].replace(".", "").strip("0")
    if len(digits) > _MAX_DIGITS:
        raise Refused(f"{name}: number of {len(digits)} digits, at most {_MAX_DIGITS} allowed")


# Keys and indexes


def _check_key_types(item: Mapping[str, Any], keys: Keys) -> None:
    for name in item.keys() & keys.types.keys():
        ((kind, content),) = item[name].items()
        if kind != keys.types[name] or content in ("", b""):
            raise Refused(f"{name}: key of type {kind}, {keys.types[name]} needed, and not empty")


def _check_held(body: Body, keys: Keys) -> None:
    held = keys.held[body.get("IndexName")]
    if held is None:
        return
    for expression in ("FilterExpression", "ProjectionExpression"):
        if expression in body:
            for name in _parsed(body[expression]).names:
                if _named(name, body) not in held:
                    raise Refused(f"{_named(name, body)} is not in {body['IndexName']}")


def _check_start(body: Body, keys: Keys) -> None:
    start = body.get("ExclusiveStartKey")
    if start is None:
        return
    if start.keys() != {*keys.indexes[None], *keys.indexes[body.get("IndexName")]}:
        raise Refused(f"start key of the attributes {sorted(start)}")
    if "KeyConditionExpression" not in body:
        return
    parsed, values = _parsed(body["KeyConditionExpression"]), body["ExpressionAttributeValues"]
    for name, operator, value in parsed.compared:
        at, bound = _comparable(start[_named(name, body)]), _comparable(values[value])
        is_inside = {"=": at == bound, "<": at < bound, "<=": at <= bound,
                     ">": at > bound, ">=": at >= bound}[operator]  # fmt: skip
        if not is_inside:
            raise Refused(f"start key outside the condition on {_named(name, body)}")
    for low, high in parsed.ranges:
        sort = keys.indexes[body.get("IndexName")][1]
        if not _comparable(values[low]) <= _comparable(start[sort]) <= _comparable(values[high]):
            raise Refused(f"start key outside the condition on {sort}")
