"""Function calls of typical requests: what the processor does for them, equal on every machine.

The requests are those of `typical_requests`, replayed without network, each in a warm process.
Counted are the calls of functions written in Python: those of this project and of its libraries,
whose versions are locked, without those of the standard library, which differ between its patches.
So a count follows the processor time where Python takes it, and misses what is done in C.
"""

from tests.bench.report import Table
from tests.bench.typical_requests import ROOT, Tasks, run, tasks

TITLE = "Function calls of typical requests"
BEFORE = {
    "GET /stocks": 8_211,
    "GET /exit-documents": 6_892,
    "GET /exit-documents/{id}": 954,
    "POST /exit-documents": 6_453,
    "POST /pickings": 28_496,
    "POST …/picks": 8_102,
    "POST …/dispatch": 25_671,
}
"""Request → its calls at commit 26617321, where botocore made DynamoDB's JSON; `counted` by the
same functions.
"""

_REPEATS = 5


def measure() -> list[Table]:
    """Count the calls of every request."""
    table = Table(
        TITLE,
        {"request": "", "calls at commit 26617321": ",", "ratio": ".2f"},
        "Calls of functions of the service and its libraries that are written in Python, in a warm"
        " environment, compared with those at commit 26617321, where botocore made DynamoDB's JSON."
        " Documents have 10 lines, lists show 15 rows. Calls of the standard library, which differ"
        " between patches of Python, are not counted. A ratio of calls is none of times: what is"
        " done in C takes time without a call. Orders write the levels of their products now.",
    )
    for name, calls in counted(tasks(ROOT)).items():
        ratio = round(calls / BEFORE[name], 2)
        # Not the calls: one more is no reason to record the baseline.
        table.add(name, BEFORE[name], ratio, figures={"ratio": ratio})
    return [table]


def counted(recorded: Tasks) -> dict[str, int]:
    """Return request → its calls when it is repeated."""
    counts = {}
    for name, task in recorded.items():
        found = run({**task, "repeats": _REPEATS, "counted": True})
        counts[name] = int(found["calls"])
    return counts
