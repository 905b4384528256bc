"""Concurrent pickers of the same product, in simulated time.

Each AWS call takes some time; a read sees the state at its end.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from shared.kernel.db import attempts
from tests.bench.bench_stack import bench_stack
from tests.bench.report import Table
from tests.clock import Clock
from tests.dynamodb.conflicts import ConflictDetector
from tests.dynamodb.request_cost import Gauge
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.simulated_time import simulated_time
from tests.stock_invariants import assert_invariants
from tests.warehouse_operations.warehouse import BINS, BenchWarehouse, code

PICKERS, MANY, PICKS = 8, 20, 10
CALL_S = 0.02
"""Duration of a call in seconds."""
_COLUMNS = {
    "pickers": "", "picks": "", "5xx responses": "", "lost picks": "", "conflicts": "",
    "transactions per pick": ".1f", "slowest pick, relative": ".1f", "throughput, relative": ".1f",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PickingResult:
    """The result of the picks of some pickers."""

    statuses: Counter[int]
    seconds: float
    conflicts: int
    commits: int
    """Transactions that were sent, including cancelled ones."""
    slowest: float
    """Duration of the slowest pick in seconds."""
    picked: int
    """Picked quantity that the pickings show afterwards."""

    @property
    def failed(self) -> int:
        """Number of responses with status 5xx."""
        return sum(count for status, count in self.statuses.items() if status >= 500)

    @property
    def per_second(self) -> float:
        """Successful picks per second."""
        return self.statuses[200] / self.seconds


def measure() -> list[Table]:
    """Measure one picker, many pickers at one position, and eight pickers at one each.

    The many are measured again without the queue of the contended item.
    """
    table = Table(
        "Concurrent picking of one product",
        _COLUMNS,
        f"Each picker picks {PICKS} pieces of the same product, one by one, for a separate order."
        f" A call takes {CALL_S * 1000:g} ms, a transaction twice as long, and computing no time:"
        " in Lambda each request computes in an environment of its own. When two transactions"
        " write the same item at the same time, the later one is cancelled with a conflict, as in"
        " DynamoDB. Lost picks are the difference between picks answered with 200 and the picked"
        " quantity; afterwards the sums of movements, rows and levels are checked for equality."
        " Relative figures compare with one picker. At one position, all pickers change the same"
        " two stock rows.",
    )
    without = Table(
        "Concurrent picking without the queue",
        _COLUMNS,
        "As above, while no request waits in the [queue of the contended item]"
        "(architecture.md#retries). The queue stays as long as it saves a third of the transactions"
        f" of {MANY} pickers.",
    )
    with bench_stack() as bench:
        meter = bench.gauge
        alone = _work(meter, bench.aws_faults, pickers=1, places=1)
        _add(table, "1", alone, alone)
        for pickers in (PICKERS, MANY):
            together = _work(meter, bench.aws_faults, pickers=pickers, places=1)
            _add(table, f"{pickers} at one position", together, alone)
        apart = _work(meter, bench.aws_faults, pickers=PICKERS, places=PICKERS)
        _add(table, f"{PICKERS} at a position each", apart, alone)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(attempts, "_QUEUE_FROM", sys.maxsize)
            together = _work(meter, bench.aws_faults, pickers=MANY, places=1)
        _add(without, f"{MANY} at one position", together, alone)
    return [table, without]


def _add(table: Table, title: str, shift: PickingResult, alone: PickingResult) -> None:
    picks = shift.statuses.total()
    table.add(
        title,
        picks,
        shift.failed,
        shift.statuses[200] - shift.picked,
        shift.conflicts,
        shift.commits / picks,
        shift.slowest / (alone.seconds / PICKS),
        shift.per_second / alone.per_second,
    )


def _work(meter: Gauge, aws_faults: AwsFaults, *, pickers: int, places: int) -> PickingResult:
    """Let `pickers` pick a product from `places` positions, one order each."""
    warehouse = BenchWarehouse(meter, 1, stocked=False)
    each = pickers * PICKS // places
    for place in range(places):
        body = {**warehouse.found(1, each), "bin_code": _bin(place)}
        meter.post("/stock-adjustments", body)
    for picker in range(1, pickers + 1):
        order = warehouse.sale(1, PICKS)
        meter.post("/pickings", {"document_id": order})
        meter.post(f"/pickings/{picker}/start")
    times: list[float] = []

    def pick(picker: int) -> list[Response]:
        erp = meter.stack.erp()
        [line] = erp.get(f"/pickings/{picker}").data["lines"]
        return [_timed(erp, picker, line["bin_code"], turn, times, clock) for turn in range(PICKS)]

    with (
        slow(aws_faults),
        simulated_time(pickers) as clock,
        aws_faults.faulty((meetings := ConflictDetector(sleep=clock.sleep)).fault),
        aws_faults.recorded() as seen,
    ):
        began = clock.monotonic()
        with ThreadPoolExecutor(pickers) as pool:
            answers = [one for many in pool.map(pick, range(1, pickers + 1)) for one in many]
        seconds = clock.monotonic() - began
    assert_invariants(meter.stack.store())
    [level] = meter.erp.get("/stock-levels", query={"item_code": code(1)}).data
    shown = [meter.erp.get(f"/pickings/{picker}").data for picker in range(1, pickers + 1)]
    assert level["on_hand"] == level["allocated"] == pickers * PICKS
    return PickingResult(
        Counter(answer.status for answer in answers),
        seconds,
        meetings.conflicts,
        seen.operations.count("TransactWriteItems"),
        max(times),
        sum(int(line["picked_qty"]) for one in shown for line in one["lines"]),
    )


def _bin(place: int) -> str:
    return f"A-{place % BINS + 1}"


def _timed(  # noqa: PLR0917 - what makes a pick
    erp: Erp, picker: int, bin_code: str, turn: int, times: list[float], clock: Clock
) -> Response:
    body = {"item_code": code(1), "qty": 1, "bin_code": bin_code}
    began = clock.monotonic()
    answer = erp.post(f"/pickings/{picker}/picks", body, key=f"pick-{picker}-{turn}")
    times.append(clock.monotonic() - began)
    return answer


@contextmanager
def slow(aws_faults: AwsFaults) -> Iterator[None]:
    """Let each call of the block take its time."""
    aws_faults.latency = CALL_S
    try:
        yield
    finally:
        aws_faults.latency = 0
