from collections.abc import Callable, Iterator
from itertools import count

import pytest
from moto import mock_aws

from shared.kernel import aws
from shared.kernel.company import Company
from shared.kernel.db.store import Store
from shared.kernel.db.table import table_definition
from tests import fast_moto
from tests.integration.db.crate_list import CrateTable
from tests.stack import clear_caches_except_clients

type NewCrateTable = Callable[[], CrateTable]


@pytest.fixture
def new_crate_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[NewCrateTable]:
    """Creates empty crate tables; they have few shards, since moto is slow."""
    fast_moto.install(monkeypatch)
    monkeypatch.setattr("shared.kernel.db.counters.SHARDS", 3)
    numbers = count()
    with mock_aws():
        clear_caches_except_clients()
        dynamodb = aws.client("dynamodb")

        def make() -> CrateTable:
            table = f"yard-{next(numbers)}"
            dynamodb.create_table(TableName=table, **table_definition())
            return CrateTable(
                Store(dynamodb, company=Company("acme"), table=table, outbox="outbox")
            )

        yield make
        clear_caches_except_clients()


@pytest.fixture
def crates(new_crate_table: NewCrateTable) -> CrateTable:
    return new_crate_table()
