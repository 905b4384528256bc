"""The shape of a tenant's table, in one place: keys, indexes, projection, expiry.

Generic key attributes (`PK`, `SK`, `GSI1PK` …) keep the table portable to every
DynamoDB-compatible engine; which subject uses which index is told in
`docs/storage.md`.
"""

from typing import Any

PARTITION_KEY = "PK"
SORT_KEY = "SK"
EXPIRY = "expires_at"
"""Seconds since the epoch; DynamoDB removes the item some time after, readers filter."""

INDEX_ATTRIBUTES = "slim"
"""The only attribute that indexes carry besides keys: what lists filter and sort by."""

INDEX_COUNT = 18
"""As many as the collection with the most orders and filters needs; a table may have 20."""


def index_name(number: int) -> str:
    """Name of index `number` (1 to INDEX_COUNT)."""
    return f"GSI{number}"


def index_keys(number: int) -> tuple[str, str]:
    """Attribute names of the partition and sort key of index `number`."""
    return f"GSI{number}PK", f"GSI{number}SK"


def _key_schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


def table_definition() -> dict[str, Any]:
    """Arguments of CreateTable, without the name and the tags."""
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
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": [INDEX_ATTRIBUTES]},
            }
            for number in numbers
        ],
    }
