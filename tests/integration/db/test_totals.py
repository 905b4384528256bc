"""Totals of collections with many partitions."""

import pytest

from shared.kernel.db.counters import SHARDS, read_totals, shard_key
from shared.kernel.db.items import to_attributes
from shared.kernel.db.table import PARTITION_KEY, SORT_KEY
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.faults import AwsFaults
from tests.stack import Stack


@pytest.mark.parametrize("warehouses", [0, 10, 2_000])
def test_totals_are_complete_for_any_number_of_partitions(
    aws_faults: AwsFaults, stack: Stack, warehouses: int
) -> None:
    store = stack.store()
    table = InMemoryTable(store.table)
    facets = {f"warehouse_id={number:012d}": 1 for number in range(warehouses)}
    codes = {f"whs_code=WAREHOUSE-{number:04d}": 1 for number in range(warehouses)}
    for shard in range(SHARDS):
        partition, sort = shard_key("position", shard)
        own = {PARTITION_KEY: partition, SORT_KEY: sort, "n": warehouses, "version": 1}
        table.put(to_attributes({**own, **facets, **codes}))

    with aws_faults.faulty(table.fault):
        totals = read_totals(store, "position")

    assert totals.of(None) == warehouses * SHARDS
    assert totals.version == SHARDS
    assert totals.of("warehouse_id=000000000007") == (SHARDS if warehouses else 0)
