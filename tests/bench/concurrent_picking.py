"""Eight concurrent pickers of the same product.

Each AWS call takes some time. When two transactions write the same item at the same time, the
later one is cancelled with TransactionConflict, as in DynamoDB.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from shared.kernel.observability import metrics
from tests.bench.meter import send_on
from tests.bench.report import Row, Table
from tests.bench.request_cost import Gauge
from tests.bench.warehouse import BINS, BenchWarehouse, code
from tests.faults import Answer, AwsFaults, Call, Fault, Forward, cancelled_transaction
from tests.gateway import Erp, Response
from tests.stock_invariants import assert_invariants

PICKERS, PICKS = 8, 10
_CALL_S = 0.02
"""Duration of a call in seconds; longer than moto needs for one."""

_TOGETHER, _APART = 0.5, 2
"""Lower bounds of the throughput relative to one picker, at one position and at one each."""

type _Item = tuple[str, str, str]
"""Table, partition and sort key."""


@dataclass(slots=True)
class ConflictDetector:
    """The items of running transactions, and the number of conflicts.

    `seconds` is the time that a transaction takes; `inside` sends its calls.
    """

    seconds: float = _CALL_S
    inside: Fault = send_on
    conflicts: int = 0
    _held: set[_Item] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, call: Call, forward: Forward) -> Answer:
        """Cancel a transaction that overlaps with another one; a fault for `AwsFaults.inject`."""
        if call.operation != "TransactWriteItems":
            return self.inside(call, forward)
        items = set(_items_of(call))
        with self._lock:
            if self._held & items:
                self.conflicts += 1
                return cancelled_transaction(call, "TransactionConflict")
            self._held |= items
        try:
            time.sleep(self.seconds)
            return self.inside(call, forward)
        finally:
            with self._lock:
                self._held -= items


def _items_of(call: Call) -> Iterator[_Item]:
    for action in call.request["TransactItems"]:
        ((verb, body),) = action.items()
        key = body["Item" if verb == "Put" else "Key"]
        yield body["TableName"], key["PK"]["S"], key["SK"]["S"]


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


def table(meter: Gauge, aws_faults: AwsFaults) -> Table:
    """Measure one picker, eight pickers at one position, and eight pickers at one each."""
    found = Table(
        "Concurrent picking of one product",
        [
            "pickers",
            "picks",
            "5xx responses",
            "lost picks",
            "conflicts",
            "transactions per pick",
            "slowest pick, relative",
            "throughput, relative",
        ],
        f"Each picker picks {PICKS} pieces of the same product, one by one, for a separate order."
        f" A call takes {_CALL_S * 1000:g} ms, a transaction twice as long. When two transactions"
        " write the same item at the same time, the later one is cancelled with a conflict, as in"
        " DynamoDB. Lost picks are the difference between picks answered with 200 and the picked"
        " quantity; afterwards the sums of movements, rows and levels are checked for equality."
        " Relative figures compare with one picker. At one position, all pickers change the same"
        " two stock rows.",
    )
    alone = work(meter, aws_faults, pickers=1, places=1)
    found.rows.append(_row("1", alone, alone, 1))
    together = work(meter, aws_faults, pickers=PICKERS, places=1)
    found.rows.append(_row(f"{PICKERS} at one position", together, alone, _TOGETHER))
    apart = work(meter, aws_faults, pickers=PICKERS, places=PICKERS)
    found.rows.append(_row(f"{PICKERS} at a position each", apart, alone, _APART))
    return found


def _row(title: str, shift: PickingResult, alone: PickingResult, least: float) -> Row:
    picks = shift.statuses.total()
    lost = shift.statuses[200] - shift.picked
    faster = shift.per_second / alone.per_second
    cells = [
        title,
        f"{picks}",
        f"{shift.failed}",
        f"{lost}",
        f"{shift.conflicts}",
        f"{shift.commits / picks:.1f}",
        f"{shift.slowest / (alone.seconds / PICKS):.1f}",
        f"{faster:.1f}",
    ]
    bound = f"no 5xx, no lost picks, throughput ≥ {least:g}"
    return Row(cells, bound, not shift.failed and not lost and faster >= least)


def work(meter: Gauge, aws_faults: AwsFaults, *, pickers: int, places: int) -> PickingResult:
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
        return [_timed(erp, picker, line["bin_code"], turn, times) for turn in range(PICKS)]

    meetings = ConflictDetector()
    with _slow(aws_faults), aws_faults.faulty(meetings.fault), aws_faults.recorded() as seen:
        began = time.monotonic()
        with ThreadPoolExecutor(pickers) as pool:
            answers = [one for many in pool.map(pick, range(1, pickers + 1)) for one in many]
        seconds = time.monotonic() - began
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


def _timed(erp: Erp, picker: int, bin_code: str, turn: int, times: list[float]) -> Response:
    body = {"item_code": code(1), "qty": 1, "bin_code": bin_code}
    began = time.monotonic()
    answer = erp.post(f"/pickings/{picker}/picks", body, key=f"pick-{picker}-{turn}")
    times.append(time.monotonic() - began)
    return answer


@contextmanager
def _slow(aws_faults: AwsFaults) -> Iterator[None]:
    aws_faults.latency = _CALL_S
    with pytest.MonkeyPatch.context() as patch:
        # An execution environment handles one request at a time: its metrics are not for threads.
        patch.setattr(metrics, "flush_metrics", metrics.clear_metrics)
        try:
            yield
        finally:
            aws_faults.latency = 0
