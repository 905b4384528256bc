"""A day of a mid-sized company, replayed against moto with the real handlers.

3,000 orders of 8 lines are picked and dispatched by eight pickers at once, 4,000 lines are
received, 20 files are imported, lists are read 200,000 times, and an endpoint gets the events. A
part of the day is replayed; each kind of request occurs in it.

Half of the orders are picked with a device that sends each line from its position. The others are
picked from a printed list, and receipts are received as ordered, each in one request.
"""

import random
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from operations import scenarios
from shared.identity.tenancy.directory import directory
from shared.kernel.config import config
from tests import prices
from tests.bench.bench_stack import bench_stack
from tests.bench.report import Table
from tests.dynamodb.capacity import Units
from tests.dynamodb.conflicts import ConflictDetector
from tests.dynamodb.in_memory_table import InMemoryTable, decode_binary
from tests.dynamodb.meter import meter, send_on
from tests.dynamodb.request_cost import Reading, measured
from tests.faults import AwsFaults, Fault, _chain
from tests.gateway import Response
from tests.import_scenario import ImportScenario
from tests.simulated_time import simulated_time
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.webhook_scenario import WebhookScenario, open_webhook_scenario

SHARE = 100
"""One part in so many of the day is replayed."""

ORDERS, ORDER_LINES = 3_000, 8
RECEIPT_LINES, RECEIPT_SIZE = 4_000, 10
LIST_CALLS = 200_000
IMPORTS, IMPORT_ROWS = 20, 500
PICKERS = 8
MEMORY_MB, CPU_MS = 1024, 10
"""Memory of the functions, and the assumed CPU time of an invocation in milliseconds."""

_PRODUCTS, _BINS = 400, 100
_STOCK = 100_000
_EVENTS = ["picking.completed", "shipment.dispatched", "stock.updated"]
_LISTS: Sequence[tuple[int, str, Mapping[str, str]]] = (
    (25, "/stocks", {"item_code": "{code}"}),
    (15, "/stock-levels", {"item_code": "{code}"}),
    (15, "/pickings", {"status": "started"}),
    (10, "/exit-documents", {"status": "open"}),
    (10, "/products", {}),
    (5, "/stock-levels", {"updated_since": "2026-01-01T00:00:00Z"}),
    (5, "/exit-documents", {"updated_since": "2026-01-01T00:00:00Z"}),
    (5, "/entry-documents", {}),
    (5, "/receipts", {}),
    (5, "/stock-movements", {}),
)
"""Share of the list calls in percent, path and query."""


def measure() -> list[Table]:
    """Replay a part of the day."""
    with bench_stack() as bench, open_webhook_scenario(bench.stack, bench.patch) as webhooks:
        day = _Day(bench.stack, bench.aws_faults, webhooks)
        day.prepare()
        day.replay(SHARE)
        assert_invariants(bench.stack.store())
    return [_table(day)]


@dataclass(slots=True)
class _Kind:
    """The requests of one kind.

    Attributes:
        daily: Number of them in a day.
        gateway: Whether they come through API Gateway.
        reading: What the replayed ones cost.
    """

    daily: float
    gateway: bool
    reading: Reading = field(default_factory=Reading)

    @property
    def dynamodb(self) -> float:
        """USD of a day for DynamoDB."""
        return self._mean(self.reading.units.usd_per_million / 1e6) * self.daily

    @property
    def others(self) -> float:
        """USD of a day for gateway, Lambda, SQS, KMS and S3."""
        wait = self._mean(self.reading.round_trips) * prices.WAIT_MS
        each = prices.usd_of_invocation(MEMORY_MB, CPU_MS + wait)
        each += prices.GATEWAY / 1e6 if self.gateway else 0
        each += self._mean(prices.usd_of_calls(self.reading.operations))
        return each * self.daily

    def _mean(self, total: float) -> float:
        return total / self.reading.requests


@dataclass(slots=True)
class _Day:
    stack: Stack
    aws_faults: AwsFaults
    webhooks: WebhookScenario
    kinds: dict[str, _Kind] = field(default_factory=dict)
    _keys: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(19))  # noqa: S311

    def prepare(self) -> None:
        """Create warehouse, products and stock, and work of the day before. Not measured."""
        erp = self.stack.erp()
        self._post("/warehouses", {"whs_code": "W1", "name": "Central"})
        bins = {"naming_mask": "{aisle}-{slot}", "aisles": ["A"], "slots": {"from": 1, "to": _BINS}}
        self._post("/warehouse-positions/bulk", {"whs_code": "W1", **bins})
        for number in range(_PRODUCTS):
            product = {"item_code": _code(number), "name": f"Hexagon bolt M{number}"}
            self._post("/products", {**product, "barcode": f"84{number:011}", "type": "goods"})
            found = {"item_code": _code(number), "warehouse": "W1", "bin_code": _bin(number)}
            self._post("/stock-adjustments", {**found, "increase": _STOCK, "reason": "Count"})
        for number in range(30):
            self._post("/exit-documents", self._order(f"OLD-{number}"))
            self._post("/entry-documents", self._purchase(f"OLD-{number}"))
        self._move_every_product()
        assert erp.get("/products").status == 200
        self.webhooks.run_until_idle()
        self.webhooks.subscribe(*_EVENTS)

    def _move_every_product(self) -> None:
        """Dispatch and receive each product once, as on earlier days.

        A part of a day moves few products more than once. Without earlier days, most of its picks
        would create the stock row of a product at the staging position, which happens only once.
        """
        for numbers in batched(range(_PRODUCTS), ORDER_LINES, strict=True):
            lines = [{"item_code": _code(number), "qty": 2} for number in numbers]
            order = _sale(f"YESTERDAY-{numbers[0]}", lines)
            scenarios.ship(self._post, scenarios.create_order(self._post, order)["id"])
        for numbers in batched(range(_PRODUCTS), RECEIPT_SIZE, strict=True):
            lines = [{"item_code": _code(number), "qty": 48} for number in numbers]
            order = _purchase(f"YESTERDAY-{numbers[0]}", lines)
            goods = [{**line, "bin_code": _bin(0)} for line in lines]
            created = scenarios.create_order(self._post, order)
            scenarios.receive(self._post, created["id"], goods)

    def replay(self, share: int) -> None:
        """Replay one part in `share` of the day."""
        orders = max(PICKERS, ORDERS // share)
        rounds = orders // PICKERS
        receipts = max(1, RECEIPT_LINES // RECEIPT_SIZE // share)
        lists = max(len(_LISTS) * 10, LIST_CALLS // share)
        imports = max(1, IMPORTS // share)
        for turn in range(rounds):
            self._pick_orders(turn)
            for number in _part(receipts, turn, rounds):
                self._receive(number)
            self._list(len(_part(lists, turn, rounds)))
            for number in _part(imports, turn, rounds):
                self._import(number)
            self._deliver()
        relays = self.kinds["event relay, batch of events"]
        relays.daily = relays.reading.requests * ORDERS / (rounds * PICKERS)
        deliveries = self.kinds["webhook delivery"]
        deliveries.daily = deliveries.reading.requests * ORDERS / (rounds * PICKERS)

    def _pick_orders(self, turn: int) -> None:
        """Create an order for each picker, and let all pick at once."""
        work = []
        for picker in range(PICKERS):
            body = self._order(f"SO-{turn}-{picker}")
            order = self._send("/exit-documents", body, ORDERS)["id"]
            picking = self._send("/pickings", {"document_id": order}, ORDERS)["id"]
            self._send("/pickings/{id}/start", None, ORDERS, id=picking)
            path = f"/pickings/{picking}"
            lines = self._read("GET /pickings/{id}", path, ORDERS).data["lines"]
            work.append((order, picking, lines))
        self._pick_at_once(work, by_line=turn % 2 == 0)
        for order, picking, _ in work:
            self._send("/pickings/{id}/finalize", None, ORDERS, id=picking)
            self._send("/exit-documents/{id}/dispatch", None, ORDERS, id=order)

    def _pick_at_once(
        self, work: list[tuple[int, int, list[dict[str, Any]]]], *, by_line: bool
    ) -> None:
        title = "POST /pickings/{id}/picks"
        kind = (
            self._kind(title, ORDERS * ORDER_LINES / 2)
            if by_line
            else self._kind(f"{title}, as allocated", ORDERS / 2)
        )
        units = Units()
        wait = prices.WAIT_MS / 1000
        trips: list[int] = []
        lock = threading.Lock()

        def pick(one: tuple[int, int, list[dict[str, Any]]]) -> None:
            _, picking, lines = one
            erp = self.stack.erp()
            bodies: list[dict[str, Any]] = [
                {"item_code": line["item_code"], "qty": 2, "bin_code": line["bin_code"]}
                for line in lines
            ]
            for number, body in enumerate(bodies if by_line else [{"as_allocated": True}]):
                before = _chain.length
                key = f"pick-{picking}-{number}"
                answer = erp.post(f"/pickings/{picking}/picks", body, key=key)
                assert answer.status == 200, answer.text
                with lock:
                    trips.append(_chain.length - before)

        self._warm()
        self.aws_faults.latency = wait
        # So that conflicts and retries do not depend on the load of the machine.
        with simulated_time(PICKERS) as clock:
            detector = ConflictDetector(seconds=wait, inside=meter(units), sleep=clock.sleep)
            with (
                self.aws_faults.faulty(detector.fault),
                self.aws_faults.recorded() as seen,
                ThreadPoolExecutor(PICKERS) as pool,
            ):
                list(pool.map(pick, work))
        self.aws_faults.latency = 0
        kind.reading.requests += len(trips)
        kind.reading.calls += len(seen.calls)
        kind.reading.operations += seen.operations
        kind.reading.round_trips += sum(trips)
        kind.reading.most_round_trips = max(kind.reading.most_round_trips, *trips)
        kind.reading.units.add(units)

    def _receive(self, number: int) -> None:
        receipts = RECEIPT_LINES // RECEIPT_SIZE
        body = self._purchase(f"PO-{number}")
        order = self._send("/entry-documents", body, receipts)["id"]
        receipt = self._send("/receipts", {"document_id": order}, receipts)["id"]
        self._send("/receipts/{id}/start", None, receipts, id=receipt)
        goods = {"as_ordered": True, "bin_code": _bin(0)}
        self._send("/receipts/{id}/lines", goods, receipts, id=receipt)
        self._send("/receipts/{id}/finalize", None, receipts, id=receipt)

    def _list(self, count: int) -> None:
        """Read lists; a copy of the table answers, since moto sorts all items for each Query."""
        table = InMemoryTable(config().tenant_table("acme"))
        for item in self.stack.unsorted_items():
            table.put({name: decode_binary(value) for name, value in item.items()})
        self._warm()
        weights = [weight for weight, _, _ in _LISTS]
        for _, path, query in self._random.choices(_LISTS, weights, k=count):
            code = _code(self._random.randrange(_PRODUCTS))
            filled = {name: value.format(code=code) for name, value in query.items()}
            title = "GET lists, pages of 25 rows"
            self._read(title, path, LIST_CALLS, query=filled, through=table.fault)

    def _import(self, number: int) -> None:
        scenario = ImportScenario(self.stack)
        lines = ["item_code;name;barcode"]
        for row in range(IMPORT_ROWS):
            code = number * IMPORT_ROWS + row
            lines.append(f"IMP-{code:06};Hammer drill {code};85{code:011}")
        content = "\n".join(lines).encode()

        def upload() -> int:
            made: int = scenario.import_file("products", "products.csv", content)["id"]
            return made

        title = f"import of {IMPORT_ROWS} products: upload, validate, commit"
        kind = self._kind(title, IMPORTS)
        self._warm()
        with measured(self.aws_faults, into=kind.reading):
            done = scenario.commit(upload())
        assert done["documents"]["committed"] == IMPORT_ROWS

    def _deliver(self) -> None:
        """Relay the events of a round, and deliver them to the endpoint."""
        relay = self._kind("event relay, batch of events", 0, gateway=False)
        with measured(self.aws_faults, into=relay.reading):
            assert self.webhooks.run_relay() == []
        delivery = self._kind("webhook delivery", 0, gateway=False)
        # The first messages of a new endpoint pass through a second queue.
        while messages := self.webhooks.take_messages():
            for message in messages:
                with measured(self.aws_faults, into=delivery.reading):
                    assert self.webhooks.run_worker({**message, "due": 0}) == []

    def _order(self, reference: str) -> dict[str, Any]:
        # A tenth of the products is on half of the lines.
        popular = self._random.sample(range(_PRODUCTS // 10), ORDER_LINES // 2)
        others = range(_PRODUCTS // 10, _PRODUCTS)
        numbers = popular + self._random.sample(others, ORDER_LINES - len(popular))
        lines = [{"item_code": _code(number), "qty": 2} for number in numbers]
        return _sale(reference, lines)

    def _purchase(self, reference: str) -> dict[str, Any]:
        numbers = self._random.sample(range(_PRODUCTS), RECEIPT_SIZE)
        lines = [{"item_code": _code(number), "qty": 48} for number in numbers]
        return _purchase(reference, lines)

    def _kind(self, title: str, daily: float, *, gateway: bool = True) -> _Kind:
        return self.kinds.setdefault(title, _Kind(daily, gateway))

    def _warm(self) -> None:
        directory.clear()
        assert self.stack.erp().get("/products/999999").status == 404

    def _send(self, path: str, body: object, daily: float, **values: int) -> Any:
        """POST and measure; return `data` of the response."""
        self._keys += 1
        erp, key = self.stack.erp(), f"day-{self._keys}"
        return self._measured(
            f"POST {path}", daily, lambda: erp.post(path.format(**values), body, key=key)
        ).data

    def _read(
        self,
        title: str,
        path: str,
        daily: float,
        query: Mapping[str, str] | None = None,
        through: Fault = send_on,
    ) -> Response:
        erp = self.stack.erp()
        return self._measured(title, daily, lambda: erp.get(path, query=query or {}), through)

    def _measured(
        self, title: str, daily: float, send: Callable[[], Response], through: Fault = send_on
    ) -> Response:
        self._warm()
        with measured(self.aws_faults, into=self._kind(title, daily).reading, through=through):
            answer = send()
        assert answer.status in {200, 201}, f"{title}: {answer.text}"
        return answer

    def _post(self, path: str, body: object) -> Any:
        """POST without measuring; return `data` of the response."""
        self._keys += 1
        answer = self.stack.erp().post(path, body, key=f"day-{self._keys}")
        assert answer.status in {200, 201}, answer.text
        return answer.data


def _sale(reference: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    return scenarios.order_of("sale_order", reference, "W1", lines, partner_code="C-1")


def _purchase(reference: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    return scenarios.order_of("purchase_order", reference, "W1", lines, partner_code="P-1")


def _part(count: int, turn: int, turns: int) -> range:
    """Return the numbers of one turn, when `count` are distributed evenly over the turns."""
    return range(count * turn // turns, count * (turn + 1) // turns)


def _code(number: int) -> str:
    return f"ITEM-{number:05d}"


def _bin(number: int) -> str:
    return f"A-{number % _BINS + 1}"


def _table(day: _Day) -> Table:
    table = Table(
        "A day of a mid-sized company",
        {
            "request": "", "measured": ",", "in a day": ",.0f", "calls each": ",.1f",
            "round trips each": ",.1f", "most round trips": "", "read units each": ",.1f",
            "write units each": ",.1f", "USD of a day: DynamoDB": ".3f",
            "USD of a day: all": ".3f",
        },
        f"{ORDERS:,} orders of {ORDER_LINES} lines are picked and dispatched, {RECEIPT_LINES:,}"
        f" lines are received, {IMPORTS} files are imported, and lists are read {LIST_CALLS:,}"
        f" times. One endpoint gets the events {', '.join(_EVENTS)}. **Measured: 1/{SHARE} of a"
        " day**, against moto, and at least one of each kind; the figures of a day are the means of"
        " the measured requests times their number in a day. The warehouse has"
        f" {_PRODUCTS} products with stock at {_BINS} positions; half of the lines are of a tenth"
        " of the products."
        f" Half of the orders are picked line by line, the others as allocated in one request, and"
        " receipts are received as ordered."
        f" {PICKERS} pickers pick at the same time without a pause, more than in reality;"
        f" each call then takes {prices.WAIT_MS} ms, and two transactions that write the same"
        f" item at the same time conflict. The price of Lambda assumes {CPU_MS} ms of"
        f" CPU per invocation and {prices.WAIT_MS} ms per round trip, at {MEMORY_MB} MB."
        f" {prices.NOTE}",
    )  # fmt: skip
    for name, kind in day.kinds.items():
        reading, units = kind.reading, kind.reading.units
        totals = reading.calls, reading.round_trips, units.reads, units.writes
        calls, trips, *units_each = (one / reading.requests for one in totals)
        table.add(
            name,
            reading.requests,
            kind.daily,
            calls,
            trips,
            reading.most_round_trips,
            *units_each,
            kind.dynamodb,
            kind.dynamodb + kind.others,
        )
    kinds = day.kinds.values()
    requests = sum(kind.reading.requests for kind in kinds)
    daily = sum(kind.daily for kind in kinds)
    most = max(kind.reading.most_round_trips for kind in kinds)
    dynamodb, others = sum(kind.dynamodb for kind in kinds), sum(kind.others for kind in kinds)
    none = [None] * 2
    table.add("**the day**", requests, daily, *none, most, *none, dynamodb, dynamodb + others)
    return table
