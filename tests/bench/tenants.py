"""Cost of many tenants: lookups, the first request of a tenant, and the memory of an export."""

import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import batched
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from operations import export
from shared.identity.tenancy import directory as lookups
from shared.identity.tenancy.directory import host_key, read_item, read_items, tenant_key
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.db.items import pack, to_attributes
from shared.kernel.db.store import Store
from tests import faults
from tests.bench.capacity import Units
from tests.bench.meter import metered
from tests.bench.report import Row, Table, at_most
from tests.faults import AwsFaults, Recording
from tests.gateway import Erp, Gateway
from tests.stack import Stack, clear_caches_except_clients, deployed

FEW, MANY = 10, 2_000
_TRIES, _QUICK_TRIES = 400, 60
_RATIO = 1.5
"""Upper bound of the ratio of times: a lookup must not depend on the size of the table."""
_SMALL_EXPORT, _LARGE_EXPORT, _QUICK_EXPORTS = 5_000, 50_000, (2_000, 10_000)
_PAGE = 1_000
"""Items of a page of a Scan, 1 MB of products."""
_MORE_MEMORY = 1.2


def measure(quick: bool) -> list[Table]:  # noqa: FBT001 - the same signature for all groups
    """Measure lookups, first requests and exports."""
    with pytest.MonkeyPatch.context() as patch:
        aws_faults = faults.install(patch)
        with deployed(patch) as stack:
            return [
                _lookups(aws_faults, _QUICK_TRIES if quick else _TRIES),
                _first_requests(stack, aws_faults),
                _exports(stack, *(_QUICK_EXPORTS if quick else (_SMALL_EXPORT, _LARGE_EXPORT))),
            ]


# Lookups


def _lookups(aws_faults: AwsFaults, tries: int) -> Table:
    table = Table(
        f"Lookups in control tables of {FEW} and of {MANY:,} tenants",
        ["lookup", f"calls, {FEW}", f"calls, {MANY:,}", f"read units, {FEW}",
         f"read units, {MANY:,}", "ratio of times"],
        "Each tenant has a host and two clients. Times are medians of"
        f" {tries} lookups in each table, in turn, on moto.",
    )  # fmt: skip
    for count in (FEW, MANY):
        _fill(_name(count), count)
    lookup_calls: dict[str, Callable[[], object]] = {
        "tenant by slug": lambda: read_item(tenant_key("tenant-00005")),
        "tenant by host": lambda: read_item(host_key("tenant-00005.stowage.test")),
        "client and its failed attempts, at the token route": lambda: read_items(
            ["CLIENT#stw_tenant-00005_0", "FAILURES#1#client#a", "FAILURES#1#address#b"]
        ),
    }
    for title, call in lookup_calls.items():
        table.rows.append(_compared(aws_faults, title, call, tries))
    return table


def _compared(aws_faults: AwsFaults, title: str, call: Callable[[], object], tries: int) -> Row:
    times: dict[int, list[float]] = {FEW: [], MANY: []}
    costs: dict[int, tuple[int, float]] = {}
    with pytest.MonkeyPatch.context() as patch:
        for count in (FEW, MANY):
            _use(patch, _name(count))
            with aws_faults.recorded() as seen, metered(aws_faults) as units:
                assert call()
            costs[count] = (len(seen.calls), units.reads)
        for _ in range(tries):
            for count, taken in times.items():
                _use(patch, _name(count))
                began = time.perf_counter()
                call()
                taken.append(time.perf_counter() - began)
    (few_calls, few_reads), (many_calls, many_reads) = costs[FEW], costs[MANY]
    ratio = median(times[MANY]) / median(times[FEW])
    bound, close = at_most(ratio, _RATIO)
    same = costs[FEW] == costs[MANY]
    cells = [title, f"{few_calls}", f"{many_calls}", f"{few_reads:g}", f"{many_reads:g}"]
    return Row([*cells, f"{ratio:.2f}"], f"equal costs, time {bound}", same and close)


def _name(count: int) -> str:
    return f"control-{count}"


def _use(patch: pytest.MonkeyPatch, table: str) -> None:
    """Let lookups use another control table."""
    other = replace(config(), control_table=table)
    patch.setattr(lookups, "config", lambda: other)


def _fill(table: str, count: int) -> None:
    dynamodb = aws.client("dynamodb")
    dynamodb.create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
    )
    puts = [{"PutRequest": {"Item": item}} for n in range(count) for item in _items(n)]
    for some in batched(puts, 25, strict=False):
        dynamodb.batch_write_item(RequestItems={table: list(some)})


def _items(number: int) -> Iterator[dict[str, Any]]:
    """Yield the items of one tenant in the control table."""
    slug = f"tenant-{number:05d}"
    host = f"{slug}.stowage.test"
    address = {"S": f"https://{host}/api/v1"}
    yield {
        "pk": {"S": tenant_key(slug)},
        "state": {"S": "active"},
        "plan": {"S": "professional"},
        "base_url": address,
        "timezone": {"S": "Europe/Madrid"},
        "modules": {"SS": ["bulk_import", "waves"]},
        "revoked": {"M": {}},
        "created_at": {"S": "2026-03-01T08:00:00.000Z"},
    }
    yield {"pk": {"S": host_key(host)}, "tenant": {"S": slug}}
    for client in range(2):
        yield {
            "pk": {"S": f"CLIENT#stw_{slug}_{client}"},
            "tenant": {"S": slug},
            "name": {"S": "ERP"},
            "scopes": {"SS": ["products:read", "stocks:read"]},
            "secrets": {"L": [{"M": {"hash": {"B": b"0" * 32}}}]},
        }


# First requests


@dataclass(slots=True)
class _Authorizer:
    """The authorizer in an environment of its own; the gateway caches its response."""

    aws_faults: AwsFaults
    seen: Recording = field(default_factory=Recording)
    units: Units = field(default_factory=Units)
    _verdict: Any = None

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Record the call of the authorizer, and cache its response."""
        authorize = Gateway._authorize

        def kept(gateway: Gateway, proxy: Any) -> Any:
            if self._verdict is None:
                with (
                    self.aws_faults.recorded() as self.seen,
                    metered(self.aws_faults) as self.units,
                ):
                    self._verdict = authorize(gateway, proxy)
                clear_caches_except_clients()
            return self._verdict

        patch.setattr(Gateway, "_authorize", kept)


def _first_requests(stack: Stack, aws_faults: AwsFaults) -> Table:
    table = Table(
        "First request of a tenant in an execution environment",
        ["GET /products/{id}", "calls", "round trips", "read units", "write units", "operations"],
        "The authorizer and the function have separate execution environments. The gateway caches"
        " the response of the authorizer for 5 minutes; the function caches the state of a tenant"
        " for 10 s and its credentials for most of an hour.",
    )
    erp = stack.erp()
    assert erp.post("/products", {"item_code": "P-1", "name": "Cable"}).status == 201
    authorizer = _Authorizer(aws_faults)
    with pytest.MonkeyPatch.context() as patch:
        authorizer.install(patch)
        clear_caches_except_clients()
        seen, units = _request(aws_faults, erp)
        own = Recording(seen.calls[len(authorizer.seen.calls) :])
        own.round_trips = seen.round_trips - authorizer.seen.round_trips
        table.rows += [
            _first("authorizer, first request of a token", authorizer.seen, authorizer.units, 4),
            _first("function, first request", own, units, 4),
            _first("function, later requests", *_request(aws_faults, erp), 1),
        ]
    return table


def _request(aws_faults: AwsFaults, erp: Erp) -> tuple[Recording, Units]:
    with aws_faults.recorded() as seen, metered(aws_faults) as units:
        assert erp.get("/products/1").status == 200
    return seen, units


def _first(title: str, seen: Recording, units: Units, trips: int) -> Row:
    bound, holds = at_most(seen.round_trips, trips)
    cells = [
        title,
        f"{len(seen.calls)}",
        f"{seen.round_trips}",
        f"{units.reads:g}",
        f"{units.writes:g}",
        ", ".join(seen.operations),
    ]
    return Row(cells, f"round trips {bound}", holds)


# Exports


class _Products:
    """A DynamoDB client whose Scan returns `count` products, created as they are read."""

    def __init__(self, client: Any, count: int) -> None:
        self._client = client
        self._count = count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_paginator(self, _: str) -> "_Products":
        """Return the paginator of Scan."""
        return self

    def paginate(self, **_: Any) -> Iterator[dict[str, Any]]:
        """Yield pages of products."""
        for numbers in batched(range(1, self._count + 1), _PAGE, strict=False):
            yield {"Items": [_product(number) for number in numbers]}


def _product(number: int) -> dict[str, Any]:
    text = f'{{"item_code":"P-{number:07d}","name":"Cable","description":"{"copper " * 100}"}}'
    (data,) = pack(text)
    key = {"PK": f"product#{number:012d}", "SK": "HEAD"}
    return to_attributes({**key, "id": number, "version": 1, "parts": 1, "data": data})


def _exports(stack: Stack, small: int, large: int) -> Table:
    table = Table(
        "Memory of an export",
        ["items", "peak MB", "ratio"],
        "Peak memory that `stowage tenant export` allocates. It holds one page of the Scan,"
        " independent of the number of items.",
    )
    _peak(stack, _PAGE)  # fill the caches
    peaks = {count: _peak(stack, count) for count in (small, large)}
    ratio = peaks[large] / peaks[small]
    table.rows.append(Row([f"{small:,}", f"{peaks[small] / 1e6:.1f}", "1.00"]))
    cells = [f"{large:,}", f"{peaks[large] / 1e6:.1f}", f"{ratio:.2f}"]
    table.rows.append(Row(cells, *at_most(ratio, _MORE_MEMORY)))
    return table


def _peak(stack: Stack, count: int) -> int:
    """Return the peak memory in bytes of an export of `count` products."""
    real = stack.store()
    client: Any = _Products(real.client, count)
    store = Store(client, slug=real.slug, table=real.table, outbox=real.outbox)
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as directory:
        patch.setattr(export, "operator_store", lambda *_: store)
        tracemalloc.start()
        began, _ = tracemalloc.get_traced_memory()
        manifest = export.export_tenant("acme", Path(directory))
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert manifest["counts"]["products.jsonl"] == count
    return highest - began
