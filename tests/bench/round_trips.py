"""Round trips to AWS and capacity units of each route."""

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from operations.api_clients import create_client
from shared.http.rate_limit import limiter
from shared.http.routes import Operation
from shared.identity.tenancy.directory import directory
from tests import faults
from tests.bench import seed
from tests.bench.capacity import USD_PER_MILLION_READS, USD_PER_MILLION_WRITES
from tests.bench.report import Row, Table, at_most
from tests.bench.request_cost import LATENCY, Reading, measured
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.lists import LISTS
from tests.stack import Stack, deployed

GET, LIST, CREATE_DOCUMENT, CHECKS, LEASE = 1, 2, 4, 0, 1
"""Upper bounds of round trips."""

_DOCUMENTS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "POST /entry-documents": seed.entry,
    "POST /exit-documents": seed.exit_,
}


_FROM_STORAGE = {"GET /imports/{id}/error-report"}
"""Routes that read a record, the size of a file and the file."""
_WITH_A_LIST = ("GET /warehouses/{id}", "GET /waves/{id}")
"""Routes by id that include rows of a list (positions of a warehouse, pickings of a wave)."""

_ONE_PAGE = {one.path for one in LISTS.values() if one.bounded}
"""Lists that never exceed one page."""

_EVERYDAY: Mapping[str, Mapping[str, Any] | None] = {
    "PATCH /products/{id}": {"name": "Bolt M8 zinc-plated"},
    "PATCH /warehouses/{id}": {"name": "Hall N1"},
    "PATCH /warehouse-positions/{id}": {"is_blocked": True},
}
"""Changes without a new code; the examples of PUT change the code."""


def _row(title: str, cost: Reading, bound: int | None) -> Row:
    cells = [title, *cost.cells, f"{cost.units.usd_per_million:.2f}"]
    return Row(cells) if bound is None else Row(cells, *at_most(cost.round_trips, bound))


def measure(_quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Call every route once in a warm environment."""
    table = Table(
        "Cost per request",
        ["route", "round trips", "calls", "read units", "write units", "USD per million"],
        "AWS calls in a warm execution environment. Round trips are sequential calls. Pages have 25"
        " rows (subscriptions: 20, the maximum), documents have 10 lines, and writes have an"
        " Idempotency-Key. `GET /warehouses/{id}` includes a page of positions and"
        " `GET /waves/{id}` the states of its pickings, so both have the bound of a list. PUT"
        " changes the code of a resource that has one; PATCH does not. Read and write units are"
        " computed by DynamoDB's rules: a write in a transaction costs two units, the write of an"
        f" index entry one. Prices are {USD_PER_MILLION_READS} USD per million reads and"
        f" {USD_PER_MILLION_WRITES} USD per million writes (on-demand capacity).",
    )
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            bench = _Bench(stack, aws_faults)
            routes = operations()
            table.rows += bench.open_routes()
            table.rows += bench.reads({n: one for n, one in routes.items() if not one.writes})
            table.rows += bench.writes({n: one for n, one in routes.items() if one.writes})
    return [table]


@dataclass(slots=True)
class _Bench:
    stack: Stack
    aws_faults: AwsFaults

    def open_routes(self) -> list[Row]:
        """Measure the checks that every route performs, and the token route."""
        erp = self.stack.erp()

        def wrong_way() -> Response:
            return erp.delete("/products")

        warm = self._cost(erp, wrong_way, 405)
        limiter.forget()
        with measured(self.aws_faults, latency=LATENCY) as first:
            assert wrong_way().status == 405
        basic = base64.b64encode(":".join(create_client("acme", "ERP")).encode()).decode()
        headers = {
            "Authorization": f"Basic {basic}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        caller = Erp(self.stack.gateway, None, headers)

        def fetch() -> Response:
            return caller.post("/oauth/token", raw="grant_type=client_credentials", headers=headers)

        assert fetch().status == 200
        token = self._cost(erp, fetch, 200)
        return [
            _row("common checks (405 response)", warm, CHECKS),
            _row("common checks, first request of a client in a minute", first, LEASE),
            _row("POST /oauth/token", token, None),
        ]

    def reads(self, routes: Mapping[str, Operation]) -> Iterator[Row]:
        """Measure lists, their second pages and reads by id."""
        erp = self.stack.erp()
        seed.fill(erp)
        seed.fill_pages(self.stack, {one.path for one in routes.values() if one.is_list})
        delivery = erp.get("/webhooks/1/deliveries").data[0]["id"]
        client = erp.get("/api-clients").data[0]["id"]
        for name, operation in routes.items():
            number = client if operation.path.startswith("/api-clients/") else 1
            path = operation.path.format(id=number, kind="products", delivery=delivery)
            if not operation.is_list:
                bound = None if name in _FROM_STORAGE else LIST if name in _WITH_A_LIST else GET
                yield _row(name, self._cost(erp, partial(erp.get, path), 200), bound)
                continue
            yield _row(name, self._cost(erp, partial(erp.get, path), 200), LIST)
            if operation.path in _ONE_PAGE:
                continue
            following = erp.get(path).json()["links"]["next"]
            assert following, f"{name} has only one page; add rows in tests/bench/seed.py"
            cost = self._cost(erp, partial(erp.follow, following), 200)
            yield _row(f"{name}, links.next", cost, LIST)

    def writes(self, routes: Mapping[str, Operation]) -> Iterator[Row]:
        """Measure every write, each in a tenant with only the data that it needs."""
        self.stack.reset_tenant()
        as_on_the_first_day = self.stack.take_snapshot()
        for name, operation in routes.items():
            as_on_the_first_day()
            directory.clear()
            erp = self.stack.erp()
            if name in _DOCUMENTS:
                seed.fill(erp)
                send = partial(erp.post, operation.path, _DOCUMENTS[name]("NEW-1"), key="measured")
                yield _row(name, self._cost(erp, send, 201), CREATE_DOCUMENT)
                continue
            assert name in EXAMPLES, f"{name}: add an example in tests/integration/write_routes.py"
            example = EXAMPLES[name]
            values = example.prepare(erp)
            path = operation.path.format(**values)
            body = _EVERYDAY.get(name, example.filled(values))
            sender = example.sender(erp, values)
            send = partial(sender.send, operation.method, path, body, key="measured")
            yield _row(name, self._cost(sender, send, example.status), None)

    def _cost(self, erp: Erp, send: Callable[[], Response], status: int) -> Reading:
        self._warm(erp)
        with measured(self.aws_faults, latency=LATENCY) as cost:
            answer = send()
        assert answer.status == status, answer.text
        return cost

    @staticmethod
    def _warm(erp: Erp) -> None:
        """Refresh the caches of a warm execution environment."""
        directory.clear()
        assert erp.get("/products/999").status == 404
