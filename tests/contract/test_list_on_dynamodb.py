"""The in-memory tables of the other list tests give the same results as moto's DynamoDB."""

from collections.abc import Iterator

import pytest

from shared.kernel import aws
from shared.kernel.db.lists import bookmarks
from tests.clock import Clock
from tests.contract.filled_lists import FilledList, FilledLists, Query
from tests.lists import LISTS
from tests.sampling import sampled

ROWS = 26
_BATCH = 25


def queries_of(listing: FilledList) -> Iterator[Query]:
    """Yield queries: each filter, each sort value, a middle page, and two filters."""
    filters = {name: one.values(ROWS)[0] for name, one in listing.filters.items()}
    yield from ({name: value, "per_page": 5} for name, value in filters.items())
    yield from ({"sort": f"-{sort}"} for sort in listing.spec.sorts)
    yield {"page": 2, "per_page": 10}
    yield dict(list(filters.items())[:2])


@pytest.fixture(params=sampled("lists on moto", list(LISTS), every=4))
def on_dynamodb(lists: FilledLists, request: pytest.FixtureRequest) -> Iterator[FilledList]:
    """Every fourth list, with its rows in moto's table as well."""
    with lists.filled(LISTS[request.param], ROWS) as listing:
        pending = [{"PutRequest": {"Item": item}} for item in listing.table.items()]
        with lists.moto_answers():
            for at in range(0, len(pending), _BATCH):
                batch = {listing.table.name: pending[at : at + _BATCH]}
                aws.client("dynamodb").batch_write_item(RequestItems=batch)
        yield listing
    lists.stack.reset_tenant()


def test_in_memory_table_answers_as_dynamodb(
    lists: FilledLists, on_dynamodb: FilledList, clock: Clock
) -> None:
    clock.freeze()  # the cursor of a filtered list shows when the list was read

    def walked(query: Query) -> list[str]:
        bookmarks._cached_positions.clear()
        answer = on_dynamodb.get(query)
        texts = [answer.text]
        if following := answer.json()["links"]["next"]:
            texts.append(on_dynamodb.erp.follow(following).text)
        return texts

    queries = list(queries_of(on_dynamodb))
    in_memory = [walked(query) for query in queries]
    with lists.moto_answers():
        from_moto = [walked(query) for query in queries]

    assert all('"data":[' in text for texts in from_moto for text in texts)
    for query, mine, right in zip(queries, in_memory, from_moto, strict=True):
        assert mine == right, query
