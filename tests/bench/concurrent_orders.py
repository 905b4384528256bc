"""Concurrent orders of the same product, in simulated time, with what can be sold limited."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from operations import provisioning
from operations.scenarios import PATHS, order_of
from tests.bench.bench_stack import bench_stack
from tests.bench.concurrent_picking import CALL_S, slow
from tests.bench.report import Table
from tests.dynamodb.conflicts import ConflictDetector
from tests.dynamodb.request_cost import Gauge
from tests.faults import AwsFaults
from tests.simulated_time import simulated_time
from tests.stock_invariants import assert_invariants
from tests.tenant_cache import apply_now
from tests.warehouse_operations.warehouse import HOME, PLENTY, BenchWarehouse, code

TITLE = "Concurrent orders of one product"
_CLIENTS, _ORDERS = 20, 10
_PATH = PATHS["sale_order"]
_LINES = [{"item_code": code(1), "qty": 1}]


def measure() -> list[Table]:
    """Measure one client and many."""
    table = Table(
        TITLE,
        {
            "clients": "", "orders": "", "refused or failed": "", "lost orders": "",
            "conflicts": "", "transactions per order": ".1f", "orders per minute": ",.0f",
        },
        f"Each client creates {_ORDERS} orders of one piece of the same product, one after the"
        f" other, with the setting `oversell` at `refuse`. A call takes {CALL_S * 1000:g} ms, as"
        " for the concurrent pickers. Every order changes the same level and the same total. Lost"
        " orders are the difference between the orders answered with 201 and the quantity that"
        " cannot be sold any more.",
    )  # fmt: skip
    with bench_stack() as bench:
        for clients in (1, _CLIENTS):
            _add(table, bench.gauge, bench.aws_faults, clients)
    return [table]


def _add(table: Table, meter: Gauge, aws_faults: AwsFaults, clients: int) -> None:
    BenchWarehouse(meter, 1)
    apply_now(provisioning.set_settings, "acme", {"oversell": "refuse"})

    def ten_orders(client: int) -> list[int]:
        erp = meter.stack.erp()
        references = [f"SO-{client}-{turn}" for turn in range(_ORDERS)]
        bodies = [order_of("sale_order", one, HOME, _LINES) for one in references]
        return [erp.post(_PATH, one, key=one["external_ref"]).status for one in bodies]

    with (
        slow(aws_faults),
        simulated_time(clients) as clock,
        aws_faults.faulty((meetings := ConflictDetector(sleep=clock.sleep)).fault),
        aws_faults.recorded() as seen,
    ):
        began = clock.monotonic()
        with ThreadPoolExecutor(clients) as pool:
            answers = Counter(one for many in pool.map(ten_orders, range(clients)) for one in many)
        seconds = clock.monotonic() - began
    assert_invariants(meter.stack.store())
    query = {"item_code": code(1), "warehouse": HOME}
    [level] = meter.erp.get("/stock-levels", query=query).data
    orders = clients * _ORDERS
    table.add(
        str(clients),
        orders,
        orders - answers[201],
        answers[201] - int(PLENTY - level["sellable"]),
        meetings.conflicts,
        seen.operations.count("TransactWriteItems") / orders,
        answers[201] / seconds * 60,
    )
