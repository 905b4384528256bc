"""CPU time and price of every route, compared with the least that a hand-written handler does.

The baseline parses the request, makes the same AWS calls with prepared parameters, decodes the
items that it reads, encodes the same response and writes the same log line. It is generic: for each
route it repeats the calls that the handler made. The responses of AWS were recorded with moto and
take no time. `tests.bench.handler_time` compares three routes with real hand-written handlers.
"""

import base64
import gc
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from botocore.httpsession import URLLib3Session

from shared.http.rate_limit import limiter
from shared.kernel.clock import now_ms
from tests import faults
from tests.bench import charts, prices
from tests.bench.baseline_handlers import FUNCTION, _tag
from tests.bench.baseline_json import json_text, stored
from tests.bench.quiet import quiet
from tests.bench.recorder import recorded
from tests.bench.replay import RecordedResponse, ReplayConnection
from tests.bench.report import Row, Table
from tests.bench.request_cost import Reading
from tests.bench.round_trips import RouteRequest, requests
from tests.dns import only_known_names
from tests.gateway import LambdaContext
from tests.stack import CREDENTIALS, Stack, clear_all_caches, deployed
from tests.template import Template

_RUNS, _QUICK_RUNS, _WARM_UP = 40, 5, 3

type _Call = Callable[[], Any]


@dataclass(slots=True)
class _Recorded:
    """One request of a route: its event, its handler, the responses of AWS, and its cost."""

    title: str
    handler: str
    event: dict[str, Any]
    status: int
    cold: list[RecordedResponse]
    warm: list[RecordedResponse]
    cost: Reading
    environment: Mapping[str, str]
    calls: list[_Call] = field(default_factory=list)
    items: list[Mapping[str, Any]] = field(default_factory=list)
    body: Any = None

    def measure(self, runs: int) -> tuple[float, float, float]:
        """Return the medians of handler, botocore, and the rest of the baseline, in µs of CPU."""
        first = ReplayConnection(self.cold)
        later = ReplayConnection(self.warm, self.cold)
        tasks = {"handler": self._run, "botocore": self._make_calls, "rest": self._baseline}
        times: dict[str, list[float]] = {name: [] for name in tasks}
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            clear_all_caches()
            patch.setattr(URLLib3Session, "send", first.send)
            self._run()  # fills the caches
            patch.setattr(URLLib3Session, "send", later.send)
            self._learn_calls()
            for _ in range(runs + _WARM_UP):
                for name, task in tasks.items():
                    later.restart()
                    times[name].append(_cpu(task))
                later.requests.clear()
        handler, botocore, rest = (statistics.median(one[_WARM_UP:]) for one in times.values())
        return handler, botocore, rest

    def _run(self) -> dict[str, Any]:
        module, _, name = self.handler.rpartition(".")
        target = getattr(importlib.import_module(module), name)
        result: dict[str, Any] = target(self.event, LambdaContext())
        assert result["statusCode"] == self.status, f"{self.title}: {result}"
        return result

    def _learn_calls(self) -> None:
        """Run the handler once, and prepare its calls and its response for the baseline."""
        original = BaseClient._make_api_call  # type: ignore[attr-defined]

        def learn(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
            fixed = {
                name: value.read() if hasattr(value, "read") else value
                for name, value in arguments.items()
            }
            self.calls.append(partial(original, client, operation, fixed))
            answer = original(client, operation, fixed)
            self.items += [item for item in _items_in(answer) if "data" in item]
            return answer

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(BaseClient, "_make_api_call", learn)
            result = self._run()
        try:
            self.body = json.loads(result["body"])
        except ValueError:  # a file or a drawing
            self.body = result["body"]

    def _make_calls(self) -> None:
        for call in self.calls:
            with suppress(ClientError):  # such as a condition that does not hold
                call()

    def _baseline(self) -> dict[str, Any]:
        """Do what the baseline does besides its calls."""
        body = self.event.get("body")
        if body:
            text = base64.b64decode(body) if self.event.get("isBase64Encoded") else body
            if text[:1] in {b"{", "{"}:
                json.loads(text)
        for item in self.items:
            stored(item)
        answer = json_text(self.body)
        log = {"level": "INFO", "message": "answered", "path": self.event["path"], "tag": FUNCTION}
        sys.stdout.write(f"{json_text(log)}\n")
        headers = {"Content-Type": "application/json", "ETag": _tag(answer)}
        return {"statusCode": self.status, "headers": headers, "body": answer}


def _items_in(answer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "Item" in answer:
        yield answer["Item"]
    yield from answer.get("Items", ())
    for items in answer.get("Responses", {}).values():
        yield from items


def _cpu(call: _Call) -> float:
    """Return the CPU time of a call in µs, that of its threads included."""
    began = time.process_time_ns()
    call()
    return (time.process_time_ns() - began) / 1000


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure every route and its baseline in turn."""
    runs = _QUICK_RUNS if quick else _RUNS
    memory = _memory_of_handlers()
    table = Table(
        "Time and price of each route",
        [
            "route",
            "handler µs",
            "botocore µs",
            "rest of the baseline µs",
            "ratio",
            "ratio without botocore",
            "memory MB",
            "USD per million: DynamoDB",
            "gateway",
            "Lambda",
            "other calls",
            "total",
        ],
        f"Medians of the CPU time of {runs} warm runs on this machine. The baseline is the least"
        " that a hand-written handler does: it parses the body, makes the same AWS calls with"
        " prepared parameters, decodes the items, encodes the same response and writes a log line"
        " and a metric. It checks nothing. Responses of AWS were recorded and take no time. The"
        " price of Lambda is that of the memory and of the time of the handler on this machine and"
        f" {prices.WAIT_MS} ms for each round trip, an assumption. {prices.NOTE} Routes of"
        " passwords spend most of their time in hashing, which the baseline does not do.",
    )
    with pytest.MonkeyPatch.context() as patch, only_known_names(patch):
        # A new minute would need a lease, a call that was not recorded.
        patch.setattr(limiter, "_clock", partial(int, now_ms()))
        routes = list(_record())
        chart: dict[str, tuple[float, ...]] = {}
        for route in routes:
            gc.collect()
            with quiet():
                times = route.measure(runs)
            usd = _usd(route, times[0], memory[route.handler])
            table.rows.append(_row(route, times, memory[route.handler], usd))
            chart[route.title] = usd
    table.charts.append(
        charts.bars(
            "cost-per-route",
            "USD per million requests",
            chart,
            parts=("DynamoDB", "API Gateway", "Lambda", "other calls"),
            form="{:.2f}",
        )
    )
    return [table]


def _usd(route: _Recorded, handler: float, memory_mb: int) -> tuple[float, ...]:
    """Return the USD per million requests: DynamoDB, gateway, Lambda, other calls."""
    milliseconds = handler / 1000 + route.cost.round_trips * prices.WAIT_MS
    return (
        route.cost.units.usd_per_million,
        prices.GATEWAY,
        1e6 * prices.usd_of_invocation(memory_mb, milliseconds),
        1e6 * prices.usd_of_calls(route.cost.operations),
    )


def _row(
    route: _Recorded, times: tuple[float, float, float], memory_mb: int, usd: tuple[float, ...]
) -> Row:
    handler, botocore, rest = times
    return Row(
        [
            route.title,
            *(f"{one:.0f}" for one in times),
            f"{handler / (botocore + rest):.2f}",
            f"{(handler - botocore) / rest:.2f}",
            f"{memory_mb}",
            *(f"{one:.2f}" for one in usd),
            f"{sum(usd):.2f}",
        ]
    )


def _memory_of_handlers() -> dict[str, int]:
    """Return handler → memory size in MB."""
    template = Template({})
    sizes = template.memory_sizes()
    functions = template.resources("AWS::Serverless::Function")
    return {function["Handler"]: sizes[name] for name, function in functions.items()}


def _record() -> Iterator[_Recorded]:
    """Record a request of each route on moto, in a cold execution environment.

    The patches that speed up moto are removed afterwards, so botocore parses responses as usual.
    """
    with pytest.MonkeyPatch.context() as inner:
        aws_faults = faults.install(inner)
        with deployed(inner) as stack:
            for request in requests(stack):
                yield _recorded(stack, aws_faults, request)


def _recorded(stack: Stack, aws_faults: faults.AwsFaults, request: RouteRequest) -> _Recorded:
    back = stack.take_snapshot()
    cost = Reading()
    request.warm()
    with recorded(aws_faults, into=cost) as warm:
        request.checked()
    back()
    with recorded(aws_faults, fresh=True) as invocations:
        request.checked()
    handler, cold = next(
        (name, one) for name, one in invocations.items() if one.result.get("statusCode")
    )
    environment = CREDENTIALS | stack.template.environment(handler)
    return _Recorded(
        request.title,
        handler,
        cold.event,
        request.status,
        cold.answers,
        warm[handler].answers,
        cost,
        environment | {"AWS_LAMBDA_FUNCTION_NAME": FUNCTION},
    )
