"""Calls of DynamoDB of every kind that the service makes, and wrong ones, drawn by chance."""

import random
from dataclasses import dataclass, field
from typing import Any

YARD: dict[str, Any] = {
    "TableName": "yard",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "g", "h", "i")
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": name,
            "KeySchema": [
                {"AttributeName": partition, "KeyType": "HASH"},
                {"AttributeName": sort, "KeyType": "RANGE"},
            ],
            "Projection": projection,
        }
        for name, partition, sort, projection in (
            ("some", "g", "h", {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["m", "s"]}),
            ("keys", "h", "i", {"ProjectionType": "KEYS_ONLY"}),
            ("all", "i", "g", {"ProjectionType": "ALL"}),
        )
    ],
}
"""A table with a sort key and one index of each projection."""

SHED: dict[str, Any] = {
    "TableName": "shed",
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "n", "AttributeType": "N"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "all",
            "KeySchema": [
                {"AttributeName": "n", "KeyType": "HASH"},
                {"AttributeName": "PK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}
"""A table without a sort key, and an index by a number."""

type Call = tuple[str, dict[str, Any]]
"""Name of the client's method, and its arguments."""
type _Value = dict[str, Any]

_WORDS = ("a", "b", "B", "é", "mürbe", "name", "z" * 20, "0")
_NUMBERS = ("0", "1", "-1", "12.5", "1000000", "0.000001")
_VALUES: dict[str, _Value] = {
    ":s": {"S": "a"},
    ":t": {"S": "mürbe"},
    ":empty": {"S": ""},
    ":n": {"N": "1"},
    ":one": {"N": "1.00"},
    ":digit": {"S": "1"},
    ":more": {"N": "12.5"},
    ":b": {"B": b"\x00\xffb"},
    ":yes": {"BOOL": True},
    ":null": {"NULL": True},
    ":l": {"L": [{"S": "x"}, {"N": "2"}, {"B": b"B"}]},
    ":m": {"M": {"B": {"S": "text"}, "x": {"M": {"y": {"N": "3"}}}}},
    ":ss": {"SS": ["a", "b"]},
    ":ns": {"NS": ["1", "2"]},
    ":bs": {"BS": [b"a", b"\xff"]},
}
_NAMES = {"#s": "s", "#m": "m", "#x": "x", "#name": "name", "#B": "B", "#y": "y"}
_CONDITIONS = (
    "attribute_exists(PK)",
    "attribute_not_exists(PK)",
    "attribute_exists(#m.#x)",
    "#s = :s",
    "#s <> :t AND n >= :n",
    "n BETWEEN :n AND :more",
    "n = :one OR s = :one",
    "n <> :digit",
    "s IN (:s, :t)",
    "begins_with(#s, :s) OR contains(ss, :s)",
    "NOT (size(l) > :n)",
    "(n < :more AND attribute_type(n, :s)) OR #m.#x.#y = :n",
    "#name = :s",
    "name = :s",
    "n + :n",
    "#s = = :s",
    "#unknown = :s",
    "((#s = :s))",
)
_UPDATES = (
    "SET #s = :s",
    "SET #s = :t, n = :more REMOVE l",
    "SET n = n + :n",
    "SET n = if_not_exists(n, :n) + :more",
    "SET n = :more - :n ADD k :n",
    "SET l = list_append(if_not_exists(l, :l), :l)",
    "SET l[1] = :s, #m.#x.#y = :n",
    "SET #m = :m, ss = :ss, bs = :bs, ns = :ns, b = :b, yes = :yes, nothing = :null",
    "SET #m.#x = if_not_exists(#m.#x, :m)",
    "SET g = :s, h = :t, i = :s",
    "SET g = :empty",
    "SET g = :n",
    "REMOVE #s, l[0], l[1], #m.#B",
    "REMOVE g",
    "ADD n :n",
    "ADD n :more, k :n, ss :ss",
    "ADD ns :ns SET #s = :t",
    "ADD #s :n",
    "DELETE ss :ss",
    "DELETE ns :ns",
    "DELETE ss :s",
    "SET PK = :s",
    "SET #s = :s SET n = :n",
    "SET #s = :s, #s = :t",
    "SET #m = :m, #m.#x = :n",
    "SET name = :s",
    "SET #gone = :s",
    "SET #s = :gone",
    "SET s = lost",
    "SET #s",
    "ADD k :n ADD n :n",
)
_PATHS = ("s", "m", "m.x", "m.gone", "#m.#B", "#m.#x.#y", "l", "ss", "b", "PK", "n", "#s", "l[0]")


@dataclass
class Questions:
    """An endless run of calls that a seed decides."""

    seed: int
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # noqa: S311 - a choice of tests, no secret

    def call(self) -> Call:
        """Draw a call."""
        kind = self._chance.choice(
            (
                self._put, self._put, self._put, self._get, self._get, self._batch_get,
                self._update,
                self._update, self._delete, self._query, self._query, self._scan, self._write,
                self._write,
            )
        )  # fmt: skip
        return kind()

    def _put(self) -> Call:
        body = self._put_body()
        return "put_item", body | self._perhaps(ReturnValues="ALL_OLD")

    def _put_body(self) -> dict[str, Any]:
        table = self._table()
        return {"TableName": table, "Item": self._item(table)} | self._condition(0.3)

    def _get(self) -> Call:
        table = self._table()
        return "get_item", {"TableName": table, "Key": self._key(table)} | self._projection()

    def _batch_get(self) -> Call:
        wanted = {
            table: {"Keys": [self._key(table) for _ in range(self._chance.choice((1, 1, 2, 6)))]}
            | self._projection()
            for table in ("yard", "shed")
        }
        return "batch_get_item", {"RequestItems": wanted}

    def _update(self) -> Call:
        values = self._chance.choice(("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"))
        return "update_item", self._update_body() | {"ReturnValues": values}

    def _update_body(self) -> dict[str, Any]:
        table = self._table()
        expression = self._chance.choice(_UPDATES)
        condition = self._chance.choice(_CONDITIONS) if self._chance.random() < 0.3 else None
        conditioned = {"ConditionExpression": condition} if condition else {}
        used = f"{expression} {condition or ''}"
        return {
            "TableName": table, "Key": self._key(table), "UpdateExpression": expression,
            **conditioned, **_used(used), **self._old(),
        }  # fmt: skip

    def _delete(self) -> Call:
        return "delete_item", self._key_body() | self._perhaps(ReturnValues="ALL_OLD")

    def _key_body(self) -> dict[str, Any]:
        table = self._table()
        return {"TableName": table, "Key": self._key(table)} | self._condition(0.5)

    def _query(self) -> Call:
        index, partition, sort = self._chance.choice(
            (
                (None, "PK", "SK"), (None, "PK", "SK"), ("some", "g", "h"), ("keys", "h", "i"),
                ("all", "i", "g"), ("none", "g", "h"),
            )
        )  # fmt: skip
        table = self._table()
        if table == "shed":
            index, partition, sort = self._chance.choice(((None, "PK", "s"), ("all", "n", "PK")))
        restriction = self._chance.choice(
            (
                "",
                f" AND {sort} >= :t",
                f" AND {sort} BETWEEN :s AND :t",
                f" AND begins_with({sort}, :s)",
            )
        )
        if index is None and table == "shed":
            restriction = ""
        expression = f"{partition} = :p{restriction}"
        filtering = self._chance.choice(_CONDITIONS) if self._chance.random() < 0.3 else None
        used = _used(f"{expression} {filtering or ''}")
        wanted = {":p": self._part(partition)}
        used["ExpressionAttributeValues"] = used.get("ExpressionAttributeValues", {}) | wanted
        body: dict[str, Any] = {
            "TableName": table, "KeyConditionExpression": expression, **used,
            **self._perhaps(ScanIndexForward=False), **self._perhaps(Limit=2),
            **self._perhaps(Select="COUNT"),
        }  # fmt: skip
        if index:
            body["IndexName"] = index
        if filtering:
            body["FilterExpression"] = filtering
        if "Select" not in body and not filtering:
            projection = self._projection()
            names = projection.pop("ExpressionAttributeNames", {})
            body |= projection
            if names:
                body["ExpressionAttributeNames"] = body.get("ExpressionAttributeNames", {}) | names
        if self._chance.random() < 0.2:
            keys = [partition, sort] if index else []
            start = self._key(table) | {name: self._part(name) for name in keys}
            body["ExclusiveStartKey"] = start
        return "query", body

    def _scan(self) -> Call:
        return "scan", {"TableName": self._table()} | self._perhaps(Limit=3)

    def _write(self) -> Call:
        actions = [self._action() for _ in range(self._chance.randint(1, 5))]
        return "transact_write_items", {"TransactItems": actions, "ClientRequestToken": "token"}

    def _action(self) -> dict[str, Any]:
        kind = self._chance.choice(("Put", "Put", "Update", "Update", "Delete", "ConditionCheck"))
        if kind == "Put":
            return {"Put": self._put_body()}
        if kind == "Update":
            return {"Update": self._update_body()}
        body = self._key_body()
        if kind == "ConditionCheck" and "ConditionExpression" not in body:
            body["ConditionExpression"] = "attribute_exists(PK)"
        return {kind: body}

    def _table(self) -> str:
        return self._chance.choice(("yard", "yard", "shed"))

    def _key(self, table: str) -> dict[str, _Value]:
        names = ["PK", "SK"] if table == "yard" else ["PK"]
        if self._chance.random() < 0.04:
            names.pop()
        return {name: {"S": self._chance.choice(_WORDS[:4])} for name in names}

    def _part(self, name: str) -> _Value:
        """Draw a part of a key of an index; a number may be written in two ways."""
        if name == "n":
            return {"N": self._chance.choice(("1", "1.00", "12.5"))}
        return {"S": self._chance.choice(_WORDS[:4])}

    def _item(self, table: str) -> dict[str, _Value]:
        item: dict[str, _Value] = self._key(table)
        for name in ("g", "h", "i"):
            if self._chance.random() < 0.6:
                item[name] = {"S": self._chance.choice(_WORDS[:4])}
        for name, kinds in {
            "s": (":s", ":t", ":empty"), "n": (":n", ":more"), "l": (":l",), "m": (":m", ":m"),
            "ss": (":ss",), "ns": (":ns",), "bs": (":bs",), "b": (":b",), "name": (":s", ":null"),
        }.items():  # fmt: skip
            if self._chance.random() < 0.4:
                item[name] = _VALUES[self._chance.choice(kinds)]
        if self._chance.random() < 0.2:
            item["n"] = {"N": self._chance.choice(_NUMBERS)}
        if table == "shed":
            item["n"] = self._part("n")
        if self._chance.random() < 0.02:
            item["long"] = {"S": "x" * 410_000}
        return item

    def _condition(self, likely: float) -> dict[str, Any]:
        if self._chance.random() >= likely:
            return {}
        condition = self._chance.choice(_CONDITIONS)
        return {"ConditionExpression": condition, **_used(condition), **self._old()}

    def _old(self) -> dict[str, Any]:
        return self._perhaps(ReturnValuesOnConditionCheckFailure="ALL_OLD")

    def _projection(self) -> dict[str, Any]:
        if self._chance.random() < 0.5:
            return {}
        paths = self._chance.sample(_PATHS, self._chance.randint(1, 4))
        expression = ", ".join(paths)
        return {"ProjectionExpression": expression, **_names_used(expression)}

    def _perhaps(self, **arguments: object) -> dict[str, Any]:
        return arguments if self._chance.random() < 0.3 else {}


def _used(expression: str) -> dict[str, Any]:
    """Give the names and values that an expression mentions, as far as there are any."""
    values = {name: value for name, value in _VALUES.items() if name in _words(expression)}
    return _names_used(expression) | ({"ExpressionAttributeValues": values} if values else {})


def _names_used(expression: str) -> dict[str, Any]:
    names = {name: path for name, path in _NAMES.items() if name in _words(expression)}
    return {"ExpressionAttributeNames": names} if names else {}


def _words(expression: str) -> set[str]:
    for mark in "(),.[]=":
        expression = expression.replace(mark, " ")
    return set(expression.split())


WRONG: tuple[object, ...] = (
    {"PK": "a"},
    {"PK": {"S": 1}},
    {"PK": {"N": 1}},
    {"PK": {"X": "a"}},
    {"PK": {"S": "a", "X": 1}},
    {"PK": {"M": {"inner": {"S": None}}}},
    {"PK": {"L": {"S": "a"}}},
    {"PK": {"L": [{"BOOL": "true"}]}},
    {"PK": {"SS": "ab"}},
    {"PK": {"SS": [1]}},
    {"PK": {"BS": [1]}},
    {"PK": {"B": 1}},
    {"PK": {"NULL": "yes"}},
    {1: {"S": "a"}},
    [],
    "item",
)
"""Items that are none, which botocore refuses to send."""

ODD: tuple[object, ...] = (
    {"B": bytearray(b"B")},
    {"B": "text"},
    {"M": {"inner": {"L": [{"B": bytearray(b"B")}]}}},
    {"L": ({"S": "a"}, {"B": b"B"})},
    {"SS": ("a", "b")},
    {"BS": [b"a", b"B"]},
    {"S": "a", "N": "1"},
    {},
)
"""Values that botocore sends, and that look like nothing the service writes."""
