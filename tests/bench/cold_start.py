"""Cold start of every function, compared with a minimal function.

Every run is a fresh process that sees only the built artifacts, as in Lambda. The functions take
turns, so that other load on the machine affects all of them alike.
"""

import compileall
import importlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

import aws_lambda_powertools
import boto3
import s3transfer

from local.webhook_endpoint import running_endpoint
from shared.http.api_handler import ApiHandler
from tests import gateway
from tests.bench import build_output, seed
from tests.bench.bench_stack import BenchStack, bench_stack, token_request
from tests.bench.recorder import Invocation, recorded
from tests.bench.report import Table
from tests.gateway import Erp, LambdaContext
from tests.integration.entity_factories import create_entity
from tests.stack import CREDENTIALS, Stack, clear_caches_except_clients
from tests.template import Template
from tests.webhook_scenario import RELAY, WORKER, stream_batch

_RUNS = 7
_ONE_VCPU = 1769
"""MB with which Lambda gives one vCPU."""
_HERE = Path(__file__).parent
_MINIMAL = "minimal"
_LOCALHOST = {"WEBHOOK_LOCALHOST": "true"}
_HOOK = 2
"""Id of the subscription whose endpoint is on this machine."""


type Measured = Mapping[str, float]
"""What a fresh process measures: see `cold_start_process.py`."""


@dataclass(frozen=True, slots=True)
class Task:
    """A function and its first request."""

    path: list[str]
    handler: str
    event: Mapping[str, Any]
    answers: list[dict[str, Any]]
    environment: Mapping[str, str]
    status: int

    @property
    def is_read(self) -> bool:
        """Whether the first request is a GET of the API with a token."""
        event = self.event
        return "authorizer" in event.get("requestContext", ()) and "methodArn" not in event

    def run(self) -> Measured:
        """Measure the function in a fresh process."""
        task = {**asdict(self), "replay": str(_HERE / "replay.py")}
        done = subprocess.run(  # noqa: S603 - a program of this project
            # -I -S: neither the environment nor the packages of this machine
            [sys.executable, "-I", "-S", str(_HERE / "cold_start_process.py")],
            input=json.dumps(task),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{self.handler} does not start from the build:\n{done.stderr}")
        found: Measured = json.loads(done.stdout.splitlines()[-1])  # after the log lines
        return found


def measure() -> list[Table]:
    """Measure every function in turn, and before each the minimal one, with which all compare."""
    with tempfile.TemporaryDirectory() as folder, running_endpoint() as endpoint:
        minimal = _minimal_task(Path(folder))
        tasks = _tasks(endpoint.url)
        results: dict[str, list[Measured]] = {name: [] for name in (_MINIMAL, *tasks)}
        for _ in range(_RUNS):
            for name, task in tasks.items():
                results[_MINIMAL].append(minimal.run())
                results[name].append(task.run())
    sizes = Template({}).memory_sizes()
    table = Table(
        "Cold start",
        {
            "function": "", "first request": "", "import ms": ".0f", "import, ratio": ".2f",
            "import + first request ms": ".0f", "ratio": ".2f", "peak MB": ".0f",
            "memory size MB": "", "ms at this size": ".0f",
        },
        f"Medians of the CPU time of {_RUNS} runs in milliseconds on this machine, and their peak"
        " memory in MB of 10^6 bytes. Each run is a fresh process that imports the built artifacts"
        " with their .pyc files. The minimal function has Powertools (Logger, Metrics,"
        " APIGatewayRestResolver), a boto3 DynamoDB client and one pydantic model; it runs before"
        " each of the others, and the ratios compare with the median of all these runs. A read is"
        " a GET with a token. The first request includes everything that is created on first use"
        " (clients, keys, credentials of the tenant); recorded responses of AWS take no time. The"
        " webhook worker delivers to this machine without TLS. The last column assumes CPU in"
        " proportion to the memory size in `template.yaml`, one vCPU at"
        f" {_ONE_VCPU} MB.",
    )  # fmt: skip
    minimal_import, minimal_both, _ = _medians(results[_MINIMAL])
    for name, task in {_MINIMAL: minimal, **tasks}.items():
        own, both, peak = _medians(results[name])
        size = sizes.get(name)
        table.add(
            name,
            "a read" if task.is_read else "another",
            own,
            own / minimal_import,
            both,
            both / minimal_both,
            peak,
            size,
            both * _ONE_VCPU / size if size else None,
        )
    return [table]


def _medians(results: Sequence[Measured]) -> tuple[float, float, float]:
    """Return the medians of the import, of import and first request, and of the peak memory."""
    imported = statistics.median(one["import"] for one in results)
    both = statistics.median(one["import"] + one["first"] for one in results)
    return imported, both, statistics.median(one["peak"] for one in results)


def _minimal_task(folder: Path) -> Task:
    shutil.copy(_HERE / "minimal.py", folder / "minimal.py")
    # The layer of the service contains only the used parts of these packages.
    for package in (boto3, s3transfer, aws_lambda_powertools):
        source = Path(package.__path__[0])
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    mode = PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(folder, quiet=1, invalidation_mode=mode)
    found = {"kind": "GetItem products product", "status": 200, "headers": {}, "body": "{}"}
    return Task(
        path=[str(folder), str(build_output.DEPENDENCIES)],
        handler="minimal.lambda_handler",
        event={
            "path": "/v1/products/1", "httpMethod": "GET", "headers": {},
            "requestContext": {"requestId": "1"},
        },
        answers=[found],
        environment=CREDENTIALS,
        status=200,
    )  # fmt: skip


def _tasks(address: str) -> dict[str, Task]:
    """Record the first request of every function on moto; `address` receives webhooks."""
    handlers = build_output.functions()
    for unattended in ("CanaryFunction", "ExpiredStockFunction"):
        handlers.pop(unattended)  # scheduled: nobody waits for it
    tasks: dict[str, Task] = {}
    with _seeded(address) as bench:
        for function, handler in handlers.items():
            with recorded(bench.aws_faults) as invocations:
                _call_first(bench.stack, handler)
            tasks[function] = _task(bench.stack, function, handler, invocations[handler])
    return tasks


def _task(stack: Stack, function: str, handler: str, first: Invocation) -> Task:
    return Task(
        path=build_output.search_path(function),
        handler=handler,
        event=first.event,
        answers=first.answers,
        environment=CREDENTIALS | stack.template.environment(handler) | _LOCALHOST,
        status=first.result.get("statusCode", 200),
    )


@contextmanager
def _seeded(address: str) -> Iterator[BenchStack]:
    with bench_stack() as bench:
        for name, value in _LOCALHOST.items():
            bench.patch.setenv(name, value)
        clear_caches_except_clients()
        erp = bench.stack.erp()
        seed.fill(erp)
        create_entity("/handling-units", erp, bench.stack.store())
        hook = seed.hook(_HOOK) | {"url": address}
        assert erp.post("/webhooks", hook).data["id"] == _HOOK
        yield bench


def _call_first(stack: Stack, handler: str) -> None:
    """Send a typical first request to the function."""
    module, _, name = handler.rpartition(".")
    target = getattr(importlib.import_module(module), name)
    if isinstance(target, ApiHandler):
        paths = [one.path for one in target.operations if not one.writes]
        reads = sorted(paths, key=lambda path: (not path.endswith("/{id}"), "{id}" not in path))
        answer = stack.erp().get(reads[0].replace("{id}", "1") if reads else "/no-such-route")
        assert answer.status in {200, 404}, answer.text
    elif handler == stack.template.authorizer_handler():
        assert stack.erp().get("/products/1").status == 200
    elif batch := _first_batch(stack, handler):
        answer = gateway._function(handler)(batch, LambdaContext())
        assert answer == {"batchItemFailures": []}
    elif module == "functions.console.app":
        assert Erp(stack.gateway, None).get("/console/").status == 200
    elif module == "functions.reference.app":
        assert Erp(stack.gateway, None).get("/openapi.json").status == 200
    else:
        assert token_request(stack)().status == 200


def _first_batch(stack: Stack, handler: str) -> Mapping[str, Any] | None:
    """Return the event of a queue or stream function; None for other functions."""
    event = next(one for one in stack.events() if one["type"]["S"] == "product.created")
    messages = {
        "functions.import_worker.app.lambda_handler": {"tenant": "acme", "import": 1},
        WORKER: {"tenant": "acme", "webhook": _HOOK, "event": event["SK"]["S"], "slow": True},
    }
    if handler == RELAY:
        return stream_batch([event])
    if handler not in messages:
        return None
    message = {
        "messageId": "1",
        "receiptHandle": "1",
        "body": json.dumps(messages[handler]),
        "attributes": {"ApproximateReceiveCount": "1"},
        "eventSource": "aws:sqs",
    }
    return {"Records": [message]}
