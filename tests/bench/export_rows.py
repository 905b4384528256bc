"""Processor time and memory that the worker takes for an export of 100,000 products.

python -m tests.bench.export_rows
"""

import re
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

from shared.kernel.db.sequences import allocate_ids
from tests.bench.bench_stack import bench_stack
from tests.bench.large_table import LargeTable
from tests.faults import Call
from tests.import_scenario import ImportScenario
from tests.lists import LISTS
from tests.lists.spec import HOURLY

_ROWS = 100_000
_PRODUCTS = LISTS["/products"]


class _Emulated:
    """Answers reads of products from a table in memory, and the other calls as before.

    `seconds` is the processor time that this has taken, which is none of the worker's.
    """

    def __init__(self, rows: LargeTable) -> None:
        self.seconds = 0.0
        self._rows = rows
        self._lock = Lock()

    def fault(self, call: Call, forward: Callable[[], Any]) -> Any:
        began = time.thread_time()
        wanted = call.request.get("RequestItems", {}).get(self._rows.name, {}).get("Keys", ())
        is_of_products = wanted and all(key["PK"]["S"].startswith("product#") for key in wanted)
        answer = self._rows.fault(call, forward) if is_of_products else forward()
        with self._lock:
            self.seconds += time.thread_time() - began
        return answer


def _memory(name: str) -> float:
    """Return a figure of the memory of the process in MB."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found
    return int(found[1]) / 1024


def _main() -> None:
    with bench_stack() as bench:
        rows = LargeTable(bench.stack.store(), _PRODUCTS, HOURLY)
        rows.grow(_ROWS)
        for number in range(1, _ROWS + 1):
            rows._make(_PRODUCTS.collection.key(number)[0])
        allocate_ids(bench.stack.store(), "product", _ROWS)
        worker = ImportScenario(bench.stack)
        number = bench.stack.erp().post("/exports", {"objects": ["product"]}, key="k").ok(202)["id"]
        emulated = _Emulated(rows)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak begins here
        before, began = _memory("VmRSS"), time.process_time()
        with bench.aws_faults.faulty(emulated.fault):
            worker.drain_queue()
        seconds, peak = time.process_time() - began - emulated.seconds, _memory("VmHWM")
        made = bench.stack.erp().get(f"/exports/{number}").ok()
    written = sum(file["rows"] for file in made["files"])
    figures = f"{written:,} rows in {len(made['files'])} files: {seconds:.1f} s of the processor"
    print(f"{figures}, {peak - before:.0f} MB")  # noqa: T201 - the result


if __name__ == "__main__":
    _main()
