"""Round trips to AWS and capacity units of each route."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from shared.http.rate_limit import limiter
from shared.http.routes import Operation
from shared.identity.tenancy.directory import directory
from shared.integration.changes.models import MAX_ENTRIES
from tests.bench import seed
from tests.bench.bench_stack import bench_stack, token_request
from tests.bench.report import Table
from tests.dynamodb.request_cost import Reading, measured
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES, FOUND
from tests.lists import LISTS
from tests.prices import READ_UNITS, WRITE_UNITS
from tests.stack import Stack

_DOCUMENTS: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "POST /entry-documents": seed.entry,
    "POST /exit-documents": seed.exit_,
}

_ONE_PAGE = {one.path for one in LISTS.values() if one.bounded} | {"/users/{id}/sessions"}
"""Lists that never exceed one page, and one whose pages cost the same."""

_REQUIRED_QUERY = {
    "/replenishments": "?warehouse=W1",
    "/putaway-suggestions": "?warehouse=W1&item_code=ITEM-0001",
    "/products/labels": "?ids=1",
    "/warehouse-positions/labels": "?ids=1",
}
"""Queries of reads with required parameters, of the seed."""

_EVERYDAY: Mapping[str, Mapping[str, Any] | None] = {
    "PATCH /products/{id}": {"name": "Bolt M8 zinc-plated"},
    "PATCH /warehouses/{id}": {"name": "Hall N1"},
    "PATCH /warehouse-positions/{id}": {"is_blocked": True},
    "POST /stock-adjustments": FOUND,
}
"""Changes without a new code, because the examples of PUT change the code; a single adjustment."""

_SMALL: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "PATCH /products/{id}": ("code and name kept", {"image_url": "https://acme.example/b.png"}),
}
"""A further change for some routes: what it leaves alone, and its body."""


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """A request to a route, in the state of the tables that it needs.

    Attributes:
        title: The route, and what is special about the request.
        erp: Who sends it.
        send: Sends it.
        status: The expected status.
        window: Whether it is the first request of its client in a minute.
    """

    title: str
    erp: Erp
    send: Callable[[], Response]
    status: int
    window: bool = False

    def cost(self, aws_faults: AwsFaults) -> Reading:
        """Send it in a warm execution environment; return its cost."""
        self.warm()
        with measured(aws_faults) as cost:
            self.checked()
        return cost

    def warm(self) -> None:
        """Refresh the caches of a warm execution environment."""
        directory.clear()
        assert self.erp.get("/products/999").status == 404
        if self.window:
            limiter.forget()

    def checked(self) -> None:
        """Send it, and check the status."""
        answer = self.send()
        assert answer.status == self.status, f"{self.title}: {answer.text}"


def measure() -> list[Table]:
    """Call every route once in a warm environment."""
    table = Table(
        "Cost per request",
        {
            "route": "", "round trips": "", "calls": "", "read units": "g", "write units": "g",
            "USD per million": ".2f",
        },
        "AWS calls in a warm execution environment. Round trips are sequential calls. Pages have 25"
        " rows (subscriptions: 20, the maximum), documents have 10 lines, and writes have an"
        " Idempotency-Key. `GET /warehouses/{id}` includes a page of positions and"
        " `GET /waves/{id}` the states of its pickings. PUT changes the code of a resource that has"
        " one; PATCH does not. Read and write units are computed by DynamoDB's rules: a write in a"
        " transaction costs two units, the write of an index entry one. The price is that of"
        f" DynamoDB on demand: {READ_UNITS} USD per million reads and {WRITE_UNITS} USD per million"
        " writes.",
    )  # fmt: skip
    with bench_stack() as bench:
        for request in chain(_checks(bench.stack), requests(bench.stack)):
            cost = request.cost(bench.aws_faults)
            units = cost.units
            counts = cost.round_trips, cost.calls, units.reads, units.writes
            table.add(request.title, *counts, units.usd_per_million, figures=cost.figures)
    return [table]


def requests(stack: Stack) -> Iterator[RouteRequest]:
    """Yield a request to every route; each one has to be sent before the next is taken."""
    routes = operations()
    fetch = token_request(stack)
    assert fetch().status == 200
    yield RouteRequest("POST /oauth/token", stack.erp(), fetch, 200)
    yield from _reads(stack, {name: one for name, one in routes.items() if not one.writes})
    yield from _writes(stack, {name: one for name, one in routes.items() if one.writes})


def _checks(stack: Stack) -> Iterator[RouteRequest]:
    """Yield requests for which only the checks are made that all routes have in common."""
    erp = stack.erp()
    title, wrong_way = "common checks", partial(erp.delete, "/products")
    yield RouteRequest(f"{title} (405 response)", erp, wrong_way, 405)
    first = f"{title}, first request of a client in a minute"
    yield RouteRequest(first, erp, wrong_way, 405, window=True)


def _reads(stack: Stack, routes: Mapping[str, Operation]) -> Iterator[RouteRequest]:
    """Yield requests for lists, their second pages and reads by id."""
    erp = stack.erp()
    seed.fill(erp)
    seed.fill_pages(stack, {one.path for one in routes.values() if one.is_list})
    delivery = erp.get("/webhooks/1/deliveries").data[0]["id"]
    client = erp.get("/api-clients").data[0]["id"]
    for name, operation in routes.items():
        number = client if operation.path.startswith("/api-clients/") else 1
        path = operation.path.format(id=number, kind="products", delivery=delivery)
        path += _REQUIRED_QUERY.get(operation.path, "")
        read = partial(erp.get, path)
        yield RouteRequest(name, erp, read, 200)
        if name == "GET /changes":
            seed.fill_feed(stack.store())
            page = partial(erp.get, path, query={"per_page": MAX_ENTRIES})
            yield RouteRequest(f"{name}, {MAX_ENTRIES} transactions", erp, page, 200)
        if name == "GET /reconciliations/{id}":
            lines = seed.quantities()
            send = partial(erp.post, "/reconciliations", {"lines": lines}, key="measured")
            title = f"POST /reconciliations, {len(lines)} lines"
            yield RouteRequest(title, erp, send, 201)
        if not operation.is_list or operation.path in _ONE_PAGE:
            continue
        following = erp.get(path).json()["links"]["next"]
        assert following, f"{name} has only one page; add rows in tests/bench/seed.py"
        yield RouteRequest(f"{name}, links.next", erp, partial(erp.follow, following), 200)


def _writes(stack: Stack, routes: Mapping[str, Operation]) -> Iterator[RouteRequest]:
    """Yield every write, each in a tenant with only the data that it needs."""
    stack.reset_tenant()
    as_on_the_first_day = stack.take_snapshot()
    for name, operation in routes.items():
        if name in _SMALL:
            kept, change = _SMALL[name]
            as_on_the_first_day()
            values = EXAMPLES[name].prepare(stack.erp())
            path = operation.path.format(**values)
            change_it = partial(stack.erp().patch, path, change, key="measured")
            yield RouteRequest(f"{name}, {kept}", stack.erp(), change_it, 200)
        as_on_the_first_day()
        directory.clear()
        erp = stack.erp()
        if name in _DOCUMENTS:
            seed.fill(erp)
            send = partial(erp.post, operation.path, _DOCUMENTS[name]("NEW-1"), key="measured")
            yield RouteRequest(name, erp, send, 201)
            continue
        assert name in EXAMPLES, f"{name}: add an example in tests/integration/write_routes.py"
        example = EXAMPLES[name]
        values = example.prepare(erp)
        path = operation.path.format(**values)
        body = _EVERYDAY.get(name, example.filled(values))
        sender = example.sender(erp, values)
        send = partial(sender.send, operation.method, path, body, key="measured")
        yield RouteRequest(name, sender, send, example.status)
