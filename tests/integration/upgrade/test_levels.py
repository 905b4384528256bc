"""An upgrade gives levels the shares of the documents that it rewrites, at its pace."""

import pytest

from operations.draining import DRAIN_SECONDS
from operations.upgrade import upgrade_tables
from shared.warehouse.stock.level_book import MOST_SMALL
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.integration.documents.bodies import document_body
from tests.integration.upgrade.conftest import set_version
from tests.integration.verify.planting import Table, head
from tests.stack import Stack
from tests.stock_invariants import assert_invariants, read_state
from tests.warehouse_scenario import WarehouseScenario

_PAGE_SECONDS = 50
"""Time for a page at a rate of one."""


@pytest.mark.parametrize(("orders", "products"), [(12, 3), (1, 40)], ids=["small", "large"])
def test_levels_of_documents_count_for_the_pace(
    orders: int, products: int, stack: Stack, clock: Clock, aws_faults: AwsFaults
) -> None:
    """The changes of few levels are not prepared, which would be twice as much."""
    is_prepared, erp = products > MOST_SMALL, stack.erp()
    WarehouseScenario.with_master_data(erp, "YARD")
    for number in range(orders):
        codes = [f"P-{number}-{one}" for one in range(products)]
        for code in codes:
            erp.post("/products", {"item_code": code, "name": code}).ok(201)
        lines = [{"item_code": code, "qty": 2} for code in codes]
        body = document_body(type="sale_order", external_ref=f"SO-{number}", lines=lines)
        erp.post("/exit-documents", body, key=f"SO-{number}").ok(201)
    _age(Table(stack), orders)
    events = len(stack.events())

    clock.freeze()
    began = clock.monotonic()
    with aws_faults.recorded() as seen:
        list(upgrade_tables(["acme"], rate=1))
    weight = orders + orders * products / 4 * (1 + is_prepared)
    pages = seen.operations.count("Scan")
    waited = clock.monotonic() - began - 2 * DRAIN_SECONDS - pages * _PAGE_SECONDS
    assert waited >= weight - 1
    assert_invariants(stack.store())
    state = read_state(stack.unsorted_items())
    assert sum(one.committed for one in state.levels) == 2 * orders * products
    assert bool(state.marks) == is_prepared
    assert len(stack.events()) == events, "no answer has shown the figures yet"


def _age(table: Table, orders: int) -> None:
    """Give the orders the form of the version before, in which no level has shares."""
    for kind in ("level", "level_total"):
        for key in [key for key in table.contents() if key[0].startswith(f"{kind}#")]:
            table.delete(key)
    for number in range(1, orders + 1):
        table.change(head("exit", number), schema=3)
    set_version("acme", 3)
