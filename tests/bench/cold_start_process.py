"""Measures the import of a function and its first request in a fresh process.

Reads a JSON object from standard input: `path` (for sys.path), `handler`, `event`, `environment`,
`answers` (recorded responses), `replay` (path of that module) and `status` (expected status of the
response; a response without a status counts as 200). Writes the CPU times of the import and of the
first request (`{"import", "first"}`, in milliseconds) and `peak`, the peak memory in MB of 10^6
bytes, to standard output; `again` is the median of `repeats` more requests, if there are any. With
`counted`, `calls` is the smallest number of function calls in one of them; see `function_calls`.
"""

import importlib
import importlib.util
import json
import os
import sys
import sysconfig
import time
from collections.abc import Callable
from itertools import count
from types import CodeType


class _Context:
    function_name = "bench"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:eu-west-1:123456789012:function:bench"
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 29_000


def _peak_kb() -> int:
    # ru_maxrss would include the memory of the parent before the fork.
    (line,) = (one for one in open("/proc/self/status") if one.startswith("VmHWM"))  # noqa: PTH123, SIM115
    return int(line.split()[1])


def calls(send: Callable[[], object]) -> int:
    """Return how many functions of the project and its libraries are called."""
    monitoring, counter = sys.monitoring, count()
    library, packages = sysconfig.get_path("stdlib"), "site-packages"

    def started(code: CodeType, _: int) -> object:
        name = code.co_filename
        if name.startswith("<frozen") or (name.startswith(library) and packages not in name):
            return monitoring.DISABLE
        next(counter)
        return None

    monitoring.use_tool_id(monitoring.PROFILER_ID, "calls")
    monitoring.register_callback(monitoring.PROFILER_ID, monitoring.events.PY_START, started)
    monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
    send()
    monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.NO_EVENTS)
    monitoring.free_tool_id(monitoring.PROFILER_ID)
    return next(counter)


def main() -> None:
    """Import the handler, call it once and print both times."""
    task = json.load(sys.stdin)
    os.environ.clear()
    os.environ.update(task["environment"])
    sys.path[:0] = task["path"]
    module_name, _, name = task["handler"].rpartition(".")
    began = time.process_time()
    handler = getattr(importlib.import_module(module_name), name)
    imported = time.process_time()
    spec = importlib.util.spec_from_file_location("replay", task["replay"])
    assert spec is not None
    assert spec.loader is not None
    replay = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(replay)
    if task["answers"]:
        replay.ReplayConnection(task["answers"]).install()
    times = []

    def send() -> None:
        called = time.process_time()
        answer = handler(task["event"], _Context())
        times.append((time.process_time() - called) * 1000)
        if answer.get("statusCode", 200) != task["status"] or answer.get("batchItemFailures"):
            sys.exit(f"{task['handler']} answered {answer}")

    for _ in range(1 + task.get("repeats", 0)):
        send()
    counts = [calls(send) for _ in range(task["repeats"])] if task.get("counted") else [0]
    first, *again = times
    found = {
        "import": (imported - began) * 1000,
        "first": first,
        "again": sorted(again)[len(again) // 2] if again else None,
        "peak": _peak_kb() * 1024 / 1e6,
        "calls": min(counts),
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
