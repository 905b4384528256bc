from collections.abc import Callable, Iterator
from itertools import count

import pytest
from moto import mock_aws

from shared import aws
from shared.db.store import Store
from shared.db.table import table_definition
from tests import fast_moto
from tests.integration.db.crates import Yard
from tests.stack import forget_what_was_asked

type NewYard = Callable[[], Yard]


@pytest.fixture
def new_yard(monkeypatch: pytest.MonkeyPatch) -> Iterator[NewYard]:
    """Makes empty yards, each with a table of its own; few shards, since moto is slow."""
    fast_moto.install(monkeypatch)
    monkeypatch.setattr("shared.db.counters.SHARDS", 3)
    monkeypatch.setattr("shared.db.transaction.SHARDS", 3)
    numbers = count()
    with mock_aws():
        forget_what_was_asked()
        dynamodb = aws.client("dynamodb")

        def make() -> Yard:
            table = f"yard-{next(numbers)}"
            dynamodb.create_table(TableName=table, **table_definition())
            return Yard(Store(dynamodb, slug="acme", table=table, outbox="outbox"))

        yield make
        forget_what_was_asked()


@pytest.fixture
def yard(new_yard: NewYard) -> Yard:
    """An empty yard."""
    return new_yard()
