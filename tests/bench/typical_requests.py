"""Typical requests, recorded on moto, and replayed without network in fresh processes.

`tasks` runs this file in another process: it records what the checkout in its working directory
does, which may be an older one. So nothing of this project is imported before.
"""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
ROOT = _HERE.parents[1]
_REPEATS = 30
_LINES = 10
_ROWS = 15

type Tasks = Mapping[str, dict[str, Any]]
"""Name of a request → what `cold_start_process` reads."""


def tasks(root: Path) -> Tasks:
    """Record the requests with the code of a checkout."""
    done = subprocess.run(  # noqa: S603 - a program of this project
        [sys.executable, __file__],
        cwd=root,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: Tasks = json.loads(done.stdout.splitlines()[-1])  # after the log lines
    return found


def run(task: dict[str, Any]) -> Mapping[str, float]:
    """Measure a request in a fresh process, which signs as in Lambda: without the AWS CRT."""
    task["environment"]["BOTO_DISABLE_CRT"] = "true"
    done = subprocess.run(  # noqa: S603 - as above
        [sys.executable, "-I", "-S", str(_HERE / "cold_start_process.py")],
        input=json.dumps(task | {"replay": str(_HERE / "replay.py")}),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found | {"both": found["import"] + found["first"]}


def _recorded(root: Path) -> Tasks:
    """Record each request once, in an execution environment without caches."""
    from tests.bench.recorder import recorded  # noqa: PLC0415 - of the other checkout, too
    from tests.stack import CREDENTIALS  # noqa: PLC0415

    libraries = [path for path in sys.path if path.endswith("site-packages")]
    tasks: dict[str, dict[str, Any]] = {}
    with _stack() as (stack, aws_faults):
        random.seed(1)  # chooses parts of counters, which lists read
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
    sys.path[0] = str(Path.cwd())
    sys.stdout.write(json.dumps(_recorded(Path.cwd())))
