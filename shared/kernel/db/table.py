"""The definition of a tenant's table: keys, indexes, projection, expiry.

Generic key attributes (`PK`, `SK`, `P1`, `S1` …) keep the table portable to every
DynamoDB-compatible engine. `docs/internals/storage.md` lists which subject uses which index.
"""

from typing import Any

PARTITION_KEY = "PK"
SORT_KEY = "SK"
EXPIRY = "expires_at"
"""Seconds since the epoch. DynamoDB deletes the item days later at most, so readers filter."""

STABLE_FACETS = "facets"
"""Attribute with the facets that change rarely; every index carries it."""
VOLATILE_FACETS = "volatile"
"""Attribute with the facets that change often, such as a quantity. Only UPDATES carries it: an
entry of another index would be written again with every change, although its key stays."""

UPDATES = 2
"""Number of the index that is sorted by `updated_at`, whose entries every change writes anyway."""

INDEX_COUNT = 13
"""Indexes that the collection with the most sorts and filters needs; DynamoDB allows 20."""


def index_name(number: int) -> str:
    """Return the name of index `number` (1 to INDEX_COUNT)."""
    return f"GSI{number}"


def index_keys(number: int) -> tuple[str, str]:
    """Return the names of the partition key and the sort key of index `number`.

    They are short, because an item has up to thirteen pairs and is billed by the KB.
    """
    return f"P{number}", f"S{number}"


def carried_attributes(number: int) -> list[str]:
    """Return the attributes that the entries of index `number` have in addition to keys."""
    return [STABLE_FACETS, VOLATILE_FACETS] if number == UPDATES else [STABLE_FACETS]


def _key_schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


def table_definition() -> dict[str, Any]:
    """Return the arguments of CreateTable without name and tags."""
    numbers = range(1, INDEX_COUNT + 1)
    key_names = [PARTITION_KEY, SORT_KEY, *(name for n in numbers for name in index_keys(n))]
    return {
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _key_schema(PARTITION_KEY, SORT_KEY),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": "S"} for name in key_names
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": index_name(number),
                "KeySchema": _key_schema(*index_keys(number)),
                "Projection": {
                    "ProjectionType": "INCLUDE",
                    "NonKeyAttributes": carried_attributes(number),
                },
            }
            for number in numbers
        ],
    }
