"""Levels stay small, so that a change of stock costs few write units."""

import random

from shared.kernel.db.table import PARTITION_KEY
from tests.dynamodb.capacity import item_size
from tests.snapshot import stored_items
from tests.stack import ACCOUNT, REGION
from tests.warehouse_scenario import WarehouseScenario


def test_level_that_gets_holds_names_no_rows_that_would_take_it_to_a_kilobyte(
    yard: WarehouseScenario,
) -> None:
    chance = random.Random(1)  # noqa: S311 - texts that compress badly
    for _ in range(14):
        bin_code = "".join(chance.choices("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=12))
        yard.erp.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": bin_code}).ok(201)
        yard.stock("BRICK", 1000, bin_code)
    for _ in range(32):
        line = {"item_code": "BRICK", "qty": chance.randrange(10**8) / 10**6}
        body = {"warehouse_code": "YARD", "ttl_seconds": chance.randrange(600, 10**5)}
        yard.erp.post("/holds", {**body, "lines": [line]}).ok(201)

    [level] = [
        item
        for item in stored_items(ACCOUNT, REGION, "stowage-tenant-acme")
        if item[PARTITION_KEY]["S"].startswith("level#")
    ]
    assert item_size(level) < 1024
