"""CPU time of a handler, compared with a hand-written baseline handler.

Both must make the same calls and return the same responses. The responses of AWS were recorded
with moto and take no time.
"""

import base64
import gc
import json
import re
import statistics
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.httpsession import URLLib3Session
from botocore.session import Session

from functions.catalog.app import lambda_handler as catalog
from functions.documents.app import lambda_handler as documents
from shared.http.rate_limit import limiter
from shared.kernel.clock import now_ms
from shared.kernel.config import config
from tests import faults
from tests.bench import seed
from tests.bench.baseline_handlers import FUNCTION, BaselineHandlers, Event, Result
from tests.bench.quiet import quiet
from tests.bench.recorder import recorded
from tests.bench.replay import RecordedResponse, ReplayConnection
from tests.bench.report import Row, Table
from tests.gateway import LambdaContext, Response
from tests.stack import CREDENTIALS, deployed

_RUNS, _QUICK_RUNS = 400, 60
_WARM_UP = 20

_VARYING = re.compile(
    r"\d{4}-\d{2}-\d{2}T[\d:.]+Z"  # instants
    r"|\b[0-9a-f]{32}\b"  # generated ids and tokens
    r"|\b[0-9a-f]{24}\b"  # entity tags, which depend on the instants
    r"|\b[0-9a-f]{64}\b"  # fingerprints: the canonical text of a request may differ
    r"|^(\d{10}|\d{13})$"  # seconds and milliseconds since the epoch
)

_COUNTED = {"RateLimit-Remaining", "RateLimit-Reset"}
"""Headers that differ between requests."""

type _Handler = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Medians:
    """CPU times in µs."""

    handler: float
    botocore_in_handler: float
    baseline: float
    botocore_in_baseline: float

    @property
    def ratio(self) -> float:
        return self.handler / self.baseline

    @property
    def ratio_without_botocore(self) -> float:
        own = self.handler - self.botocore_in_handler
        return own / (self.baseline - self.botocore_in_baseline)


@dataclass(frozen=True, slots=True)
class _Route:
    """One route: the handler and its baseline, bound to an event, and the responses of AWS."""

    title: str
    handler: _Handler
    baseline: _Handler
    answers: list[RecordedResponse]

    def medians(self, runs: int) -> "_Medians":
        """Compare handler and baseline, and measure them in turn."""
        connection = ReplayConnection(self.answers)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(URLLib3Session, "send", connection.send)
            self._check_equal(connection)
            times: list[tuple[float, float, float, float]] = []
            for _ in range(runs + _WARM_UP):
                times.append(
                    (
                        _cpu_time(self.handler),
                        _inside_botocore(self.handler),
                        _cpu_time(self.baseline),
                        _inside_botocore(self.baseline),
                    )
                )
                connection.requests.clear()
        return _Medians(*map(statistics.median, zip(*times[_WARM_UP:], strict=True)))

    def _check_equal(self, connection: ReplayConnection) -> None:
        """Assert equal responses and calls, except for values that differ in each request."""
        self.handler()
        connection.requests.clear()
        answer, calls = self.handler(), _comparable(connection)
        other, other_calls = self.baseline(), _comparable(connection)
        for name in ("statusCode", "headers", "body"):
            mine, theirs = (_constant(one[name]) for one in (answer, other))
            assert mine == theirs, f"{self.title}: {name} differs:\n{mine}\n{theirs}"
        for mine, theirs in zip(calls, other_calls, strict=True):
            assert mine == theirs, f"{self.title}: calls differ:\n{mine}\n{theirs}"


def _cpu_time(handler: _Handler) -> float:
    """Return the CPU time of a call with all its threads, in µs."""
    began = time.process_time()
    handler()
    return (time.process_time() - began) * 1e6


def _inside_botocore(handler: _Handler) -> float:
    """Return the CPU time that a call spends in botocore, in all its threads, in µs."""
    spent: list[float] = []
    original = BaseClient._make_api_call  # type: ignore[attr-defined]

    def timed(client: BaseClient, operation: str, arguments: Any) -> Any:
        began = time.thread_time()
        answer = original(client, operation, arguments)
        spent.append(time.thread_time() - began)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", timed)
        handler()
    return sum(spent) * 1e6


def _comparable(connection: ReplayConnection) -> list[tuple[str, Any]]:
    calls = []
    for kind, text in connection.requests:
        request = _constant(json.loads(text))
        request.pop("ReturnConsumedCapacity", None)  # only the service logs what it consumes
        for wanted in request.get("RequestItems", {}).values():
            wanted["Keys"].sort(key=json.dumps)
        calls.append((kind, request))
    connection.requests.clear()
    # Parallel calls have no order.
    return sorted(calls, key=json.dumps)


def _constant(value: Any) -> Any:
    """Replace values that differ in each request."""
    match value:
        case {"B": packed}:
            raw = base64.b64decode(packed)
            return _constant((zlib.decompress(raw) if raw[:1] == b"\x78" else raw).decode())
        case {"PK": {"S": "count#entry"}, "SK": _}:
            return "any shard"
        case dict():
            return {name: _constant(one) for name, one in value.items() if name not in _COUNTED}
        case list():
            return [_constant(one) for one in value]
        case str():
            return _VARYING.sub("~", value)
        case _:
            return value


def compared(_quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Check that the baselines still do what the handlers do; there are no figures."""
    _medians(1)
    return []


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure each route and its baseline in turn."""
    runs = _QUICK_RUNS if quick else _RUNS
    table = Table(
        "Handler time without waiting for AWS",
        [
            "route",
            "handler µs",
            "of it botocore",
            "baseline µs",
            "of this botocore",
            "ratio without botocore",
            "ratio",
        ],
        f"Medians of the CPU time of {runs} warm runs in microseconds on this machine. The baseline"
        " is hand-written with json, dictionaries and a botocore client as it is by default. It"
        " makes the same calls and returns the same response, which the benchmark checks; it writes"
        " a shorter log line and does not ask for consumed units.",
    )
    for title, found in _medians(runs).items():
        times = (
            found.handler,
            found.botocore_in_handler,
            found.baseline,
            found.botocore_in_baseline,
        )
        cells = [
            title,
            *(f"{one:.0f}" for one in times),
            f"{found.ratio_without_botocore:.2f}",
            f"{found.ratio:.2f}",
        ]
        table.rows.append(Row(cells))
    return [table]


def _medians(runs: int) -> dict[str, _Medians]:
    """Compare and measure the routes; return their medians by title."""
    found: dict[str, _Medians] = {}
    with pytest.MonkeyPatch.context() as patch:
        # A new minute would need a lease, a call that the baseline does not make.
        patch.setattr(limiter, "_clock", partial(int, now_ms()))
        routes = _recorded_routes(patch)
        # moto is inactive here, since it would answer instead of the recorded responses.
        for route in routes:
            gc.collect()
            with quiet():
                found[route.title] = route.medians(runs)
    return found


def _recorded_routes(patch: pytest.MonkeyPatch) -> list[_Route]:
    """Record one request of each route on moto, in a cold execution environment.

    The patches that speed up moto are removed afterwards, so botocore parses responses as usual.
    """
    with pytest.MonkeyPatch.context() as inner, deployed(inner) as stack:
        aws_faults = faults.install(inner)
        environment = CREDENTIALS | stack.template.environment()
        environment["AWS_LAMBDA_FUNCTION_NAME"] = FUNCTION
        erp = stack.erp()
        seed.fill(erp)
        seed.fill_pages(stack, {"/entry-documents"})
        client = Session().create_client(
            "dynamodb", aws_access_key_id="x", aws_secret_access_key="x", aws_session_token="x"
        )
        hand = BaselineHandlers(client, config().tenant_table("acme"), stack.tenant().base_url)

        def route(
            title: str,
            handler: Any,
            baseline: Callable[[Event], Result],
            send: Callable[[], Response],
        ) -> _Route:
            with recorded(aws_faults, fresh=True) as invocations:
                answer = send()
            assert answer.status in {200, 201}, answer.text
            invocation = next(one for one in invocations.values() if one.result.get("statusCode"))
            event = invocation.event
            return _Route(
                title=title,
                handler=lambda: handler(event, LambdaContext()),
                baseline=lambda: baseline(event),
                answers=invocation.answers,
            )

        routes = [
            route(
                f"POST /entry-documents, {seed.LINES} lines",
                documents,
                hand.create_entry,
                lambda: erp.post("/entry-documents", seed.entry("NEW-1"), key="new"),
            ),
            route(
                f"GET /entry-documents, {seed.PAGE} documents of {seed.LINES} lines",
                documents,
                hand.list_entries,
                lambda: erp.get("/entry-documents"),
            ),
            route(
                "GET /products/{id}",
                catalog,
                hand.get_product,
                lambda: erp.get("/products/1"),
            ),
        ]
    for name, value in environment.items():
        patch.setenv(name, value)
    return routes
