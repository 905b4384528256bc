"""Measurement of the AWS calls and capacity units of requests."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from shared.identity.tenancy.directory import directory
from tests.dynamodb.capacity import Units
from tests.dynamodb.meter import metered, send_on
from tests.faults import AwsFaults, Call, Fault, Recording
from tests.stack import Stack

REQUEST_TIMEOUT_MS = 600_000
"""Time limit of a request; metered calls to moto are slower than DynamoDB."""


@dataclass(slots=True)
class Reading:
    """The cost of one or more requests.

    `round_trips` are sequential calls, `largest_transaction` is the largest number of actions in
    one transaction, `most_round_trips` the largest number of round trips of one request.
    """

    requests: int = 0
    transactions: int = 0
    actions: int = 0
    largest_transaction: int = 0
    calls: int = 0
    operations: list[str] = field(default_factory=list)
    round_trips: int = 0
    most_round_trips: int = 0
    units: Units = field(default_factory=Units)

    def add(self, seen: Recording, units: Units) -> None:
        """Add the cost of one request."""
        sizes = [len(call.request["TransactItems"]) for call in seen.calls if _commits(call)]
        self.requests += 1
        self.transactions += len(sizes)
        self.actions += sum(sizes)
        self.largest_transaction = max(self.largest_transaction, *sizes, 0)
        self.calls += len(seen.calls)
        self.operations += seen.operations
        self.round_trips += seen.round_trips
        self.most_round_trips = max(self.most_round_trips, seen.round_trips)
        self.units.add(units)

    @property
    def figures(self) -> dict[str, float]:
        """The figures that are compared with the baseline."""
        return {
            "transactions": self.transactions,
            "round trips": self.round_trips,
            "calls": self.calls,
            "read units": self.units.reads,
            "write units": self.units.writes,
        }


type Measurement = tuple[str, str, Reading]
"""Operation, size as text, cost."""


def route_of(path: str) -> str:
    """Return the path of the route of a request."""
    named = re.sub("/evt_[^/]+", "/{delivery}", path)
    return re.sub("/([0-9]+|stw_[^/]+)(?=/|$)", "/{id}", named)


@contextmanager
def measured(
    aws_faults: AwsFaults, *, into: Reading | None = None, through: Fault = send_on
) -> Iterator[Reading]:
    """Measure the block as one request, or add it to `into`; calls also pass `through`."""
    cost = Reading() if into is None else into
    with aws_faults.recorded() as seen, metered(aws_faults, through) as units:
        yield cost
    cost.add(seen, units)


def _commits(call: Call) -> bool:
    return call.operation == "TransactWriteItems"


class Gauge:
    """Sends requests of one ERP in a warm execution environment and measures their cost."""

    def __init__(self, stack: Stack, aws_faults: AwsFaults) -> None:
        self.stack = stack
        self.erp = stack.erp()
        self.erp.gateway.remaining_ms = REQUEST_TIMEOUT_MS
        self._aws_faults = aws_faults
        self._keys = 0

    def read(
        self,
        path: str,
        body: object = None,
        *,
        into: Reading | None = None,
        refused: str | None = None,
    ) -> Reading:
        """POST with an Idempotency-Key; return the cost. The request must succeed.

        `into` is the cost of earlier requests, to which this one is added. `refused` is the error
        code with which it must be refused instead.
        """
        self._keys += 1
        directory.clear()
        assert self.erp.get("/products/999999").status == 404
        with measured(self._aws_faults, into=into) as cost:
            answer = self.erp.post(path, body, key=f"measured-{self._keys}")
        if refused:
            assert answer.code == refused, answer.text
        else:
            assert answer.status in {200, 201}, answer.text
        return cost

    def measure(
        self, size: str, path: str, body: object = None, *, refused: str | None = None
    ) -> Measurement:
        """POST and measure as `read` does."""
        return f"POST {route_of(path)}", size, self.read(path, body, refused=refused)

    def post(self, path: str, body: object = None) -> Any:
        """POST without measuring; return `data` of the response. The request must succeed."""
        self._keys += 1
        answer = self.erp.post(path, body, key=f"done-{self._keys}")
        assert answer.status in {200, 201}, answer.text
        return answer.data

    def create(self, path: str, body: object) -> int:
        """POST a new resource; return its id."""
        number: int = self.post(path, body)["id"]
        return number

    def only_resource(self, path: str) -> str:
        [row] = self.erp.get(path).data
        return f"{path}/{row['id']}"

    @contextmanager
    def rolled_back(self) -> Iterator[None]:
        """Restore the tables at the end of the block."""
        bring_back = self.stack.take_snapshot()
        yield
        bring_back()
