"""The loader of the sample data creates each record once, also after errors and interruptions."""

import json
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.progress import Progress
from stowage_client import Stowage, StowageError

from local.sample import RECORD_KINDS, TokenClient, describe_failure, load_with

type Row = dict[str, Any]
type Fault = Callable[[httpx.Request], httpx.Response | None]

UNIQUE = {
    "/warehouses": ("whs_code",),
    "/warehouse-positions": ("whs_code", "bin_code"),
    "/products": ("item_code",),
    "/clients": ("document_id",),
}
DOCUMENTS = ("/entry-documents", "/exit-documents")
SIZES = [2, 4, 3, 130, 4, 2, 5, 6]
MAPS = 2
ADDRESS = "http://stowage.test/api/v1"


def refusal(status: int, code: str, field: str = "", **headers: str) -> httpx.Response:
    error = {"code": code, "message": f"{field} says no"}
    body = {"error": error, "errors": [{"field": field, "message": "no"}] if field else []}
    return httpx.Response(status, json=body, headers=headers)


class Api:
    """Fake of the routes that the loader uses, with their rules about duplicates."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {kind.path: [] for kind in RECORD_KINDS}
        self.maps: dict[str, Row] = {}
        self.requests: list[httpx.Request] = []
        self.fault: Fault = lambda _: None
        self._by_key: dict[str, httpx.Response] = {}
        self._lock = threading.Lock()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            self.requests.append(request)
            return self.fault(request) or self.take(request)

    def take(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        if path.endswith("/layout"):
            if request.method == "PUT":
                self.maps.setdefault(path, json.loads(request.content))
            found = path in self.maps
            return httpx.Response(200) if found else refusal(404, "not_found")
        if request.method == "GET":
            return self._page(path, request.url.params)
        return self._create(path, json.loads(request.content), request.headers)

    def posts(self) -> list[httpx.Request]:
        return [request for request in self.requests if request.method == "POST"]

    def counts(self) -> list[int]:
        return [len(self.rows[kind.path]) for kind in RECORD_KINDS]

    def _page(self, path: str, params: httpx.QueryParams) -> httpx.Response:
        page, size = int(params.get("page", 1)), int(params["per_page"])
        rows = self.rows[path]
        first = (page - 1) * size
        part = [{"id": first + n, **row} for n, row in enumerate(rows[first : first + size], 1)]
        following = f"{ADDRESS}{path}?page={page + 1}&per_page={size}"
        links = {"next": following if first + size < len(rows) else None}
        return httpx.Response(200, json={"data": part, "links": links})

    def _create(self, path: str, body: Row, headers: httpx.Headers) -> httpx.Response:
        key = headers["Idempotency-Key"]
        if key in self._by_key:
            return self._by_key[key]
        if path in DOCUMENTS:
            same = [row for row in self.rows[path] if row["external_ref"] == body["external_ref"]]
            if same:
                return httpx.Response(200, json={"data": same[0]})
        names = UNIQUE.get(path, ())
        if names and any(all(r[n] == body[n] for n in names) for r in self.rows[path]):
            return refusal(422, "validation_failed", names[-1])
        self.rows[path].append(body)
        self._by_key[key] = httpx.Response(201, json={"data": body})
        return self._by_key[key]


@pytest.fixture
def api() -> Api:
    return Api()


def client_of(api: Api) -> Stowage:
    http = httpx.Client(transport=httpx.MockTransport(api))
    return TokenClient(ADDRESS, token="t", http=http, sleep=lambda _: None)


@pytest.fixture
def client(api: Api) -> Stowage:
    return client_of(api)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    def table(name: str, header: str, rows: list[str]) -> None:
        (tmp_path / name).write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")

    def papers(name: str, kind: str, amount: int) -> None:
        bodies = [{"type": kind, "external_ref": f"{kind}-{n}", "lines": []} for n in range(amount)]
        (tmp_path / name).write_text(json.dumps(bodies), encoding="utf-8")

    table("warehouses.csv", "whs_code,name,is_virtual,block", ["CEN,Main,false,", "DUB,Two,true,B"])
    places = [f"{whs},A-0{n}-1-01,0{n},{n}0,0.5" for whs in ("CEN", "DUB") for n in (1, 2)]
    table(
        "warehouse_positions.csv",
        "whs_code,bin_code,rack,pick_sequence,capacity_volume_m3",
        places,
    )
    table("product_categories.csv", "name,description", ["Fixings,", "Cable,x", "Lighting,"])
    table("products.csv", "item_code,man_btch_num", [f"FIX-{n:03d},true" for n in range(130)])
    clients = [f"C{n},Client {n},{999000100 + n}" for n in range(4)]
    table("clients.csv", "code,name,document_id", clients)
    table("providers.csv", "code,name,phone", ["P1,Midland,", "P2,Halden,+49 30 901820"])
    papers("entry_documents.json", "purchase_order", 5)
    papers("exit_documents.json", "sale_order", 6)
    maps = [{"whs_code": code, "width_m": 12.5} for code in ("CEN", "DUB")]
    (tmp_path / "warehouse_layouts.json").write_text(json.dumps(maps), encoding="utf-8")
    return tmp_path


def run(client: Stowage, folder: Path) -> list[tuple[int, int]]:
    with Progress(disable=True) as progress:
        return [(kind.created, kind.existing) for kind in load_with(client, progress, folder)]


def only(method: str, path: str, answer: httpx.Response) -> Fault:
    def fault(request: httpx.Request) -> httpx.Response | None:
        return answer if request.method == method and request.url.path.endswith(path) else None

    return fault


def test_all_records_are_created_in_an_empty_tenant(
    api: Api, client: Stowage, folder: Path
) -> None:
    assert run(client, folder) == [(size, 0) for size in [*SIZES, MAPS]]
    assert api.counts() == SIZES
    assert {
        api.rows["/warehouses"][int(path.split("/")[2]) - 1]["whs_code"]: body["whs_code"]
        for path, body in api.maps.items()
    } == {"CEN": "CEN", "DUB": "DUB"}


def test_csv_cells_are_converted_to_the_types_of_the_api(
    api: Api, client: Stowage, folder: Path
) -> None:
    run(client, folder)
    first, second = sorted(api.rows["/warehouses"], key=lambda row: str(row["whs_code"]))
    assert first == {"whs_code": "CEN", "name": "Main", "is_virtual": False}
    assert second == {"whs_code": "DUB", "name": "Two", "is_virtual": True, "block": "B"}
    assert {
        "whs_code": "CEN",
        "bin_code": "A-01-1-01",
        "rack": "01",
        "pick_sequence": 10,
        "capacity_volume_m3": 0.5,
    } in api.rows["/warehouse-positions"]
    assert {"code": "C3", "name": "Client 3", "document_id": 999_000_103} in api.rows["/clients"]


def test_second_run_creates_nothing_and_only_reads_lists(
    api: Api, client: Stowage, folder: Path
) -> None:
    run(client, folder)
    api.requests.clear()
    assert run(client, folder) == [(0, size) for size in [*SIZES, MAPS]]
    assert api.counts() == SIZES
    assert [request.method for request in api.requests] == ["GET"] * (10 + MAPS)


def test_run_continues_after_an_interrupted_run(api: Api, client: Stowage, folder: Path) -> None:
    def power_cut(_: httpx.Request) -> httpx.Response | None:
        return refusal(402, "tenant_suspended") if len(api.requests) > 60 else None

    api.fault = power_cut
    with pytest.raises(StowageError, match="tenant_suspended"):
        run(client, folder)
    assert 0 < sum(api.counts()) < sum(SIZES)
    api.fault = lambda _: None
    run(client, folder)
    assert api.counts() == SIZES


def test_loading_stops_after_a_refused_record(api: Api, client: Stowage, folder: Path) -> None:
    refuse = only("POST", "/products", refusal(403, "missing_scope"))

    def refuse_slowly(request: httpx.Request) -> httpx.Response | None:
        answer = refuse(request)
        if answer is not None:
            time.sleep(0.005)
        return answer

    api.fault = refuse_slowly
    with pytest.raises(StowageError) as failed:
        run(client, folder)
    assert re.match("/products .*: 403 missing_scope", describe_failure(failed.value))
    assert len(api.posts()) < sum(SIZES[:4])


def test_request_with_a_lost_response_is_retried_with_the_same_key(
    api: Api, client: Stowage, folder: Path
) -> None:
    lost = set[str]()

    def lose_each_first_answer(request: httpx.Request) -> httpx.Response | None:
        key = request.headers.get("Idempotency-Key")
        if key is None or key in lost:
            return None
        lost.add(key)
        api.take(request)
        raise httpx.ReadError("connection reset", request=request)

    api.fault = lose_each_first_answer
    run(client, folder)
    keys = Counter(request.headers["Idempotency-Key"] for request in api.posts())
    assert set(keys.values()) == {2}
    assert api.counts() == SIZES


def test_record_created_by_another_loader_counts_as_existing(
    api: Api, client: Stowage, folder: Path
) -> None:
    def other_loader(request: httpx.Request) -> httpx.Response | None:
        if request.method == "POST" and request.url.path.endswith("/products"):
            api.rows["/products"].extend({"item_code": f"FIX-{n:03d}"} for n in range(130))
            api.fault = lambda _: None
        return None

    api.fault = other_loader
    assert run(client, folder)[3] == (0, 130)
    assert api.counts() == SIZES


def test_record_with_an_invalid_code_is_reported(api: Api, client: Stowage, folder: Path) -> None:
    api.fault = only("POST", "/products", refusal(422, "validation_failed", "item_code"))
    with pytest.raises(StowageError, match="item_code says no"):
        run(client, folder)


def test_idempotency_keys_are_uuids_derived_from_the_record(
    api: Api, client: Stowage, folder: Path
) -> None:
    run(client, folder)
    before = {request.headers["Idempotency-Key"] for request in api.posts()}
    assert len(before) == sum(SIZES)
    assert all(str(uuid.UUID(key)) == key for key in before)

    again = Api()
    run(client_of(again), folder)
    assert {request.headers["Idempotency-Key"] for request in again.posts()} == before
