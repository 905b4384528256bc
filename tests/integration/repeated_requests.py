"""A write request that an ERP repeats until it succeeds, and the proof that it took effect once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from shared.kernel.db.claim import LEASE_MS
from tests.clock import Clock
from tests.gateway import Erp, Form, Response
from tests.integration.route_example import Example
from tests.integration.routes import operations
from tests.integration.stored_entities import (
    StoredEntities,
    assert_counters_match,
    assert_derived_items_match,
    assert_plan_counters_match,
    read_stored_entities,
)
from tests.integration.write_routes import EXAMPLES, resource_of
from tests.stack import Stack
from tests.stock_invariants import assert_invariants

_OPERATIONS = {name: found for name, found in operations().items() if found.writes}
WRITE_ROUTES = sorted(_OPERATIONS)
ROUTES = sorted({id(_OPERATIONS[name].handler): name for name in WRITE_ROUTES}.values())
"""One route per handler: PUT and PATCH of a resource have the same handler."""

_MAX_ATTEMPTS = 2
"""Number of attempts of the ERP: the second one comes after the Retry-After of the first."""
_MOST_REQUESTS = 400


@dataclass(frozen=True, slots=True)
class RepeatedRequest:
    """One request that the ERP repeats until it succeeds."""

    route: str
    erp: Erp
    path: str
    body: Mapping[str, Any] | Form | None
    before: StoredEntities
    events_before: int

    @property
    def example(self) -> Example:
        return EXAMPLES[self.route]

    def send(self) -> Response:
        method = self.route.partition(" ")[0]
        return self.erp.send(method, self.path, self.body, key="order-1")

    def send_until_done(self, clock: Clock) -> Response:
        """Repeat the request after the seconds of Retry-After."""
        for _ in range(_MAX_ATTEMPTS):
            answer = self.send()
            if answer.status != 503 and "duplicate_in_flight" not in answer.text:
                return answer
            assert 1 <= int(answer.headers["Retry-After"]) <= LEASE_MS // 1000
            clock.advance(int(answer.headers["Retry-After"]))
        pytest.fail(f"still refused: {answer.text}")


def repeated_requests(route: str, stack: Stack) -> Iterator[RepeatedRequest]:
    """Yield the request again and again, each time with the tenant in the initial state."""
    example = EXAMPLES[route]
    values = example.prepared(stack.erp())
    path, body = route.partition(" ")[2].format(**values), example.filled(values)
    before, events_before = read_stored_entities(stack), len(stack.events())
    as_prepared = stack.take_snapshot()
    for _ in range(_MOST_REQUESTS):
        erp = example.sender(stack.erp(), values)
        yield RepeatedRequest(route, erp, path, body, before, events_before)
        as_prepared()
    pytest.fail(f"{route} makes more than {_MOST_REQUESTS} calls")


def assert_done_once(request: RepeatedRequest, stack: Stack, answer: Response) -> None:
    example = request.example
    assert answer.status == example.status, answer.text
    again = request.send()
    assert (again.status, again.text) == (answer.status, answer.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers.get("Location") == answer.headers.get("Location")

    census = read_stored_entities(stack)
    assert census.growth_since(request.before) == example.grows
    assert_counters_match(stack, census)
    assert_derived_items_match(stack)
    entries = stack.events()[request.events_before :]
    events = [
        entry["type"]["S"] if "type" in entry else "recovery" if "since" in entry else "redelivery"
        for entry in entries
    ]
    assert sorted(events) == sorted(example.events)
    assert_invariants(stack.store())
    if request.path.startswith(("/api-clients", "/users")):
        assert_plan_counters_match(stack, census)

    path, shown = resource_of(request.path, answer)
    resource = request.erp.get(path)
    assert resource.status == example.status_afterwards
    if resource.status == 200:
        assert {name: resource.data[name] for name in shown} == shown
