"""The ids of stored entities by a facet, page by page of its index."""

from collections.abc import Iterator
from typing import Any

from shared.kernel.db.collection import Collection
from shared.kernel.db.facets import id_of
from shared.kernel.db.store import Store
from shared.kernel.db.table import STABLE_FACETS, index_keys, index_name

MAX_INDEX_LAG_MS = 1_500
"""How long a use case waits for entities of which it knows and that an index does not show yet."""


def id_pages(
    store: Store, collection: Collection[Any], facet: str, value: str, **equal: str
) -> Iterator[list[int]]:
    """Yield the ids of the entities with the value of a facet, page by page of its index.

    `equal` has the values of other facets that they must have. The index can lag behind.
    """
    index = collection.index_of(facet)
    partition, sort = index_keys(index)
    more: dict[str, Any] = {}
    if equal:
        names = {f"#{name}": name for name in equal}
        more["FilterExpression"] = " AND ".join(f"#facets.#{name} = :{name}" for name in equal)
        more["ExpressionAttributeNames"] = {"#facets": STABLE_FACETS, **names}
    for entries in store.query_pages(
        IndexName=index_name(index),
        KeyConditionExpression=f"{partition} = :value",
        values={
            ":value": collection.partition(facet, value),
            **{f":{name}": text for name, text in equal.items()},
        },
        **more,
    ):
        yield [id_of(entry[sort]) for entry in entries]
