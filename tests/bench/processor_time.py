"""Processor time of typical requests, compared with that of another checkout.

  python -m tests.bench.processor_time PATH [PAIRS]

PATH is a work tree of this repository, for example of the parent commit. Both checkouts record the
requests on moto, then fresh processes replay them without network, in turn, so that other load on
the machine affects both alike. Every process imports the function, sends the first request, and
repeats it. Figures are medians of the processor times of the processes in milliseconds, and the
median of the ratios of the pairs.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from rich.console import Console

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_PAIRS = 10
_REPEATS = 30
_LINES = 10
_ROWS = 15
_FIGURES = "import", "both", "again"

type _Pair = tuple[Mapping[str, float], Mapping[str, float]]
"""Figures of the other checkout and of this one."""
type _Tasks = Mapping[str, dict[str, Any]]


def main(arguments: list[str]) -> None:
    """Compare the checkout of this file with another one, or record the requests of one."""
    if arguments[0] == "--record":
        sys.path[0] = str(Path.cwd())
        sys.stdout.write(json.dumps(_recorded(Path.cwd())))
        return
    pairs = int(arguments[1]) if len(arguments) > 1 else _PAIRS
    roots = Path(arguments[0]).resolve(), _ROOT
    theirs, ours = (_tasks(root) for root in roots)
    console = Console(width=100)
    console.print(f"{'request':24} {'import':>19} {'import and first':>19} {'repeated':>19}")
    for name in ours:
        measured = [(_run(theirs[name]), _run(ours[name])) for _ in range(pairs)]
        columns = (_compared(measured, figure) for figure in _FIGURES)
        console.print(f"{name:24} {' '.join(columns)}", highlight=False)


def _compared(measured: Sequence[_Pair], figure: str) -> str:
    before, after = (statistics.median(pair[side][figure] for pair in measured) for side in (0, 1))
    ratio = statistics.median(after[figure] / before[figure] for before, after in measured)
    return f"{before:6.1f} {after:6.1f} {ratio:5.2f}"


def _tasks(root: Path) -> _Tasks:
    """Record the requests with the code of a checkout."""
    done = subprocess.run(  # noqa: S603 - a program of this project
        [sys.executable, __file__, "--record"],
        cwd=root,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: _Tasks = json.loads(done.stdout.splitlines()[-1])  # after the log lines
    return found


def _run(task: dict[str, Any]) -> Mapping[str, float]:
    """Measure a request in a fresh process."""
    done = subprocess.run(  # noqa: S603 - as above
        [sys.executable, "-I", "-S", str(_HERE / "cold_start_process.py")],
        input=json.dumps(task | {"replay": str(_HERE / "replay.py")}),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found | {"both": found["import"] + found["first"]}


def _recorded(root: Path) -> _Tasks:
    """Record each request once, in an execution environment without caches."""
    from tests.bench.recorder import recorded  # noqa: PLC0415 - of the other checkout, too
    from tests.stack import CREDENTIALS  # noqa: PLC0415

    libraries = [path for path in sys.path if path.endswith("site-packages")]
    tasks: dict[str, dict[str, Any]] = {}
    with _stack() as (stack, aws_faults):
        for name, send in _requests(stack):
            _return_tokens(stack)
            with recorded(aws_faults) as invocations:
                answer = send()
            assert answer.status in {200, 201}, answer.text
            [handler] = [one for one in invocations if "authorizer" not in one]
            tasks[name] = {
                "path": [str(root), *libraries],
                "handler": handler,
                "event": invocations[handler].event,
                "answers": invocations[handler].answers,
                "environment": CREDENTIALS | stack.template.environment(handler),
                "status": answer.status,
                "repeats": _REPEATS,
            }
    return tasks


def _return_tokens(stack: Any) -> None:
    """Let the rate limit have all tokens, so that a repeated request needs no further lease.

    Each recorded request is one of a new environment; the spare tokens of those before are lost.
    """
    from shared.kernel import aws  # noqa: PLC0415 - of the other checkout, too

    dynamodb, table = aws.client("dynamodb"), stack.store().table
    for item in dynamodb.scan(TableName=table)["Items"]:
        if item["PK"]["S"].startswith("rate#"):
            key = {name: item[name] for name in ("PK", "SK")}
            dynamodb.delete_item(TableName=table, Key=key)


@contextmanager
def _stack() -> Iterator[Any]:
    import pytest  # noqa: PLC0415 - not needed in the process that compares

    from tests import faults  # noqa: PLC0415
    from tests.stack import deployed  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            yield stack, aws_faults


def _requests(stack: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what sends each request, when everything that it needs has been created."""
    erp, keys = stack.erp(), count(1)

    def post(path: str, body: object = None) -> Any:
        answer = erp.post(path, body, key=f"seed-{next(keys)}")
        assert answer.status in {200, 201}, answer.text
        return answer.data

    post("/warehouses", {"whs_code": "W1", "name": "Central"})
    bins = {"naming_mask": "{aisle}-{slot}", "aisles": ["A"], "slots": {"from": 1, "to": _ROWS}}
    post("/warehouse-positions/bulk", {"whs_code": "W1", **bins})
    codes = [f"ITEM-{number}" for number in range(1, _ROWS + 1)]
    for number, item_code in enumerate(codes, 1):
        post("/products", {"item_code": item_code, "name": f"Hexagon bolt M{number}"})
        found = {"item_code": item_code, "warehouse": "W1", "bin_code": f"A-{number}"}
        post("/stock-adjustments", found | {"increase": 1000, "reason": "Found"})
    order = {
        "type": "sale_order",
        "warehouse_code": "W1",
        "partner_code": "C-1",
        "partner_name": "Talleres Norte",
        "doc_date": "2026-03-01",
        "lines": [{"item_code": item_code, "qty": 2} for item_code in codes[:_LINES]],
    }
    for number in range(_ROWS):
        post("/exit-documents", order | {"external_ref": f"SO-{number}"})

    yield "GET /stocks", lambda: erp.get("/stocks")
    yield "GET /exit-documents", lambda: erp.get("/exit-documents")
    yield "GET /exit-documents/{id}", lambda: erp.get("/exit-documents/1")
    another = order | {"external_ref": "SO-A"}
    yield "POST /exit-documents", lambda: erp.post("/exit-documents", another, key="order")
    yield "POST /pickings", lambda: erp.post("/pickings", {"document_id": 1}, key="picking")
    path = f"/pickings/{erp.get('/pickings').data[0]['id']}"
    post(f"{path}/start")
    for number, item_code in enumerate(codes[:_LINES], 1):
        pick = {"item_code": item_code, "qty": 2, "bin_code": f"A-{number}"}
        if number == _LINES:
            yield "POST …/picks", lambda: erp.post(f"{path}/picks", pick, key="pick")  # noqa: B023
        else:
            post(f"{path}/picks", pick)
    post(f"{path}/finalize")
    yield "POST …/dispatch", lambda: erp.post("/exit-documents/1/dispatch", None, key="dispatch")


if __name__ == "__main__":
    main(sys.argv[1:])
