"""Memory size of each function: peak memory, and time and cost of a request by size.

Lambda gives a function CPU in proportion to its memory, one vCPU at 1 769 MB. The CPU times are
measured; waiting for AWS is assumed, because the recorded responses take no time.
"""

import statistics

from shared.warehouse.documents.models import MAX_LINES
from tests.bench.cold_start import largest_request, tasks_of_functions
from tests.bench.report import Row, Table, at_most
from tests.template import Template

SIZES = (256, 512, 1024, 1769)
"""MB of 2^20 bytes."""
PEAK_BOUND_MB = 400
"""MB of 10^6 bytes; 512 MB of 2^20 bytes are 537."""

_ONE_VCPU = 1769
_WAIT_MS = 10
"""Assumed time that a request waits for AWS: two sequential calls of DynamoDB."""
_PER_GB_SECOND = 0.0000133334
"""US dollars for arm64 in us-east-1."""
_PER_MILLION_REQUESTS = 0.2
_RUNS, _QUICK_RUNS = 3, 1
_REPEATS = 50


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure every function in fresh processes."""
    runs = _QUICK_RUNS if quick else _RUNS
    function, largest = largest_request()
    title = f"{function}, POST of {MAX_LINES} lines"
    with tasks_of_functions() as of_functions:
        tasks = {**of_functions, title: largest}
        found: dict[str, list[dict[str, float]]] = {
            name: [task.run(_REPEATS) for _ in range(runs)] for name, task in tasks.items()
        }
    table = Table(
        "Memory size",
        ["function", "size", "peak MB", "CPU ms", "cold CPU ms", *(f"{one} MB" for one in SIZES)],
        f"Medians of {runs} fresh processes on this machine: peak memory, CPU time of a warm"
        f" request (mean of {_REPEATS}) and of import and first request, from the built artifacts."
        " The right columns are computed: milliseconds of a warm request / of a cold start, and"
        " dollars for a million warm requests. They assume CPU in proportion to memory (one vCPU"
        f" at {_ONE_VCPU} MB), {_WAIT_MS} ms of waiting for AWS, and"
        f" {_PER_GB_SECOND * 1e6:.2f} dollars for a million GB-seconds. The column `size` is the"
        " memory size in `template.yaml`. The section on validating an import has the peak of the"
        " import worker for 100,000 rows.",
    )
    sizes = Template({}).memory_sizes()
    sizes[title] = sizes[function]
    for name, results in found.items():
        peak, warm, imported, first = (
            statistics.median(one[key] for one in results)
            for key in ("peak", "repeated", "import", "first")
        )
        cold = imported + first
        cells = [
            name,
            str(sizes[name]),
            f"{peak:.0f}",
            f"{warm:.1f}",
            f"{cold:.0f}",
            *(_at(size, warm, cold) for size in SIZES),
        ]
        table.rows.append(Row(cells, *at_most(peak, PEAK_BOUND_MB)))
    return [table]


def _at(size: int, warm: float, cold: float) -> str:
    """Return times and cost with a memory size."""
    share = size / _ONE_VCPU
    time = warm / share + _WAIT_MS
    dollars = _PER_MILLION_REQUESTS + 1e6 * time / 1000 * size / 1024 * _PER_GB_SECOND
    return f"{time:.0f} / {cold / share + _WAIT_MS:.0f} ms, ${dollars:.2f}"
