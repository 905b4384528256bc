"""The example synchronisation neither loses nor repeats anything, wherever it is killed."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from stowage_client import Stowage, StowageError

from examples import erp_sync
from examples.erp_sync import (
    copy_changes,
    enqueue_change,
    enqueue_order,
    open_database,
    run,
)
from operations import api_clients
from shared.integration.exports.repository import EXPORTS
from shared.kernel import aws
from shared.kernel.config import config
from tests.clock import Clock
from tests.feed_scenario import FeedScenario
from tests.import_scenario import ImportScenario
from tests.integration.test_python_client import ORDER, FaultyTransport, InjectedFault
from tests.sampling import sampled
from tests.stack import ADDRESS
from tests.unit.test_docs_integrating import quoted, tables
from tests.webhook_scenario import WebhookScenario

LISTS = {
    noun: path
    for _, nouns, paths in tables("| What the ERP needs | Object | List |")
    for noun, path in zip(quoted(nouns), quoted(paths), strict=True)
}
"""The lists that the guide names, by object."""
_MOST_REQUESTS = 100
"""More requests than a synchronisation makes."""


class KilledError(Exception):
    """The process of the synchronisation ends."""


def kill(_: httpx.Request) -> httpx.Response:
    raise KilledError


def passing(_: httpx.Request) -> None:
    """Let the service answer."""


@dataclass
class RelayingTransport(FaultyTransport):
    """Transport to the gateway and to files.

    What was committed is in the feed when it is read, and exports are made when they are read.
    """

    feed: FeedScenario

    def __post_init__(self) -> None:
        super().__init__(self.feed.stack.gateway)

    def answer(self, request: httpx.Request) -> httpx.Response:
        if "X-Amz-Signature" in request.url.params:
            return _file(request)
        if "/changes" in request.url.path:
            self.feed.webhooks.run_relay()
        if "/exports" in request.url.path:
            ImportScenario(self.feed.stack).drain_queue()
        return super().answer(request)


def _file(request: httpx.Request) -> httpx.Response:
    """Return the file of a link, for which no token is sent."""
    assert "Authorization" not in request.headers
    bucket, key = config().import_work_bucket, request.url.path.removeprefix("/")
    stored = aws.client("s3").get_object(Bucket=bucket, Key=key.removeprefix(f"{bucket}/"))
    return httpx.Response(200, content=stored["Body"].read())


@pytest.fixture
def transport(webhooks: WebhookScenario) -> FaultyTransport:
    return RelayingTransport(FeedScenario.started(webhooks))


@pytest.fixture
def stowage(transport: FaultyTransport, clock: Clock) -> Stowage:
    """The client of acme's ERP; a warehouse with a position, and a product exist."""
    http = httpx.Client(transport=transport)
    credentials = api_clients.create_client("acme", "ERP")
    made = Stowage(ADDRESS, *credentials, http=http, sleep=clock.advance, clock=clock.monotonic)
    made.post("/warehouses", {"whs_code": "YARD", "name": "Yard"})
    made.post("/warehouse-positions", {"whs_code": "YARD", "bin_code": "A-01"})
    made.post("/products", {"item_code": "BRICK", "name": "Brick"})
    return made


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_database(str(tmp_path / "erp.db"))) as opened:
        yield opened


def receive(stowage: Stowage, document: int) -> int:
    """Receive 10 bricks for an entry document, and return the id of the receipt."""
    receipt: int = stowage.post("/receipts", {"document_id": document})["id"]
    stowage.post(f"/receipts/{receipt}/start")
    line = {"item_code": "BRICK", "qty": 10, "bin_code": "A-01"}
    stowage.post(f"/receipts/{receipt}/lines", line)
    stowage.post(f"/receipts/{receipt}/finalize")
    return receipt


def ship(stowage: Stowage, reference: str) -> int:
    """Pick and dispatch 10 bricks for a new sales order, and return the id of the picking."""
    order = ORDER | {"external_ref": reference, "type": "sale_order", "lines": lines(10)}
    document = stowage.post("/exit-documents", order)["id"]
    picking: int = stowage.post("/pickings", {"document_id": document})["id"]
    stowage.post(f"/pickings/{picking}/start")
    stowage.post(
        f"/pickings/{picking}/picks", {"item_code": "BRICK", "qty": 10, "bin_code": "A-01"}
    )
    stowage.post(f"/pickings/{picking}/finalize")
    stowage.post(f"/exit-documents/{document}/dispatch")
    return picking


def lines(*quantities: int) -> list[dict[str, object]]:
    """Return lines of an order, which the ERP numbers 10, 20 …"""
    return [
        {"item_code": "BRICK", "qty": qty, "external_ref": str(10 * number)}
        for number, qty in enumerate(quantities, start=1)
    ]


def quantities(stowage: Stowage, document: object) -> list[tuple[str, float]]:
    detail = stowage.get(f"/entry-documents/{document}")
    return [(line["external_ref"], line["qty"]) for line in detail["lines"]]


def exercise(stowage: Stowage) -> None:
    """Give every list of the sync loop a row."""
    receive(stowage, stowage.post("/entry-documents", ORDER)["id"])
    sale = {**ORDER, "external_ref": "SO-1", "type": "sale_order"}
    sale["lines"] = [{"item_code": "BRICK", "qty": 4}]
    sold = stowage.post("/exit-documents", sale)["id"]
    work = stowage.post("/pickings", {"document_id": sold})["id"]
    picking = f"/pickings/{work}"
    stowage.post(f"{picking}/start")
    stowage.post(f"{picking}/picks", {"item_code": "BRICK", "qty": 4, "bin_code": "A-01"})
    stowage.post(f"{picking}/finalize")
    tag = "urn:epc:id:sgtin:0614141.812345.6789"
    stowage.post("/rfid-validations", {"picking_id": work, "epcs": [tag]})
    stowage.post(f"/exit-documents/{sold}/dispatch")
    stowage.post("/returns", {"exit_document_id": sold, "lines": sale["lines"]})
    stowage.post("/warehouses", {"whs_code": "SHOP", "name": "Shop"})
    move = {"from_warehouse": "YARD", "to_warehouse": "SHOP", "lines": sale["lines"]}
    stowage.post("/transfer-orders", move)
    stowage.post("/clients", {"name": "Builder", "document_id": 1})
    stowage.post("/providers", {"name": "Brickworks"})


def copies(database: sqlite3.Connection, noun: str) -> list[dict[str, object]]:
    rows = database.execute("SELECT row FROM copies WHERE object = ? ORDER BY id", (noun,))
    return [json.loads(row) for (row,) in rows]


def assert_copied(stowage: Stowage, database: sqlite3.Connection, nouns: Iterable[str]) -> None:
    """Assert that the copies are the lists, by their rows and by the checksums of the service."""
    checksums = stowage.get("/changes/latest")["checksums"]
    for noun in nouns:
        listed = [json.dumps(row) for row in stowage.each(LISTS[noun], include="version")]
        copied = copies(database, noun)
        assert sorted(map(json.dumps, copied)) == sorted(listed), noun
        names = (f"{noun}:{row['id']}:{row['version']}".encode() for row in copied)
        total = sum(int.from_bytes(sha256(name).digest()[:8]) for name in names) % 2**64
        assert checksums[noun] == {"count": len(copied), "sum": str(total)}


def values(database: sqlite3.Connection, query: str) -> list[object]:
    return [value for (value,) in database.execute(query)]


def assert_synchronised(stowage: Stowage, database: sqlite3.Connection) -> None:
    assert_copied(stowage, database, erp_sync.OBJECTS)
    expected = [
        (f"{works}/{row['id']}", row["document"]["external_ref"], "10", 10.0)
        for works in ("/receipts", "/pickings")
        for row in stowage.each(works, status="synchronized")
    ]
    booked = database.execute("SELECT path, document, line, qty FROM booked_lines").fetchall()
    assert sorted(booked) == sorted(expected)
    assert values(database, "SELECT path FROM booked ORDER BY path") == sorted(
        path for path, *_ in expected
    )
    for works in ("/receipts", "/pickings"):
        assert list(stowage.each(works, status="finalized")) == []


@pytest.mark.parametrize("after", [False, True], ids=["before a request", "after a request"])
def test_killed_synchronisation_is_completed_by_the_next_run(
    after: bool,  # noqa: FBT001 - a parameter of the test
    stowage: Stowage,
    transport: FaultyTransport,
    database: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The other lists are copied in the same way.
    kept = ("product", "entry_document", "stock_level")
    monkeypatch.setattr(erp_sync, "OBJECTS", kept)
    tried: list[int] = []
    for at in sampled(f"synchronisation {after}", range(_MOST_REQUESTS), every=6):
        tried.append(at)
        order = ORDER | {"external_ref": f"PO-{at}"}
        # The change of an order that is sent in this run adds a line, and gives one up.
        key = enqueue_order(database, "/entry-documents", order | {"lines": lines(5, 6)})
        changed = [lines(7)[0], lines(0, 0, 8)[2]]
        enqueue_change(database, key, order | {"lines": changed, "comments": "changed"})
        receive(
            stowage, stowage.post("/entry-documents", ORDER | {"external_ref": f"D-{at}"})["id"]
        )
        ship(stowage, f"S-{at}")
        gone = stowage.post("/products", {"item_code": f"OLD-{at}", "name": "Old"})["id"]
        copy_changes(stowage, database)
        stowage.send("DELETE", f"/products/{gone}")

        faults: list[InjectedFault] = [*[passing] * at, kill]
        transport.before, transport.after = ([], faults) if after else (faults, [])
        with suppress(KilledError):
            run(stowage, database)
        reached = len(transport.before) + len(transport.after) == 0
        transport.before, transport.after = [], []
        run(stowage, database)
        assert_synchronised(stowage, database)
        sent_as = values(database, "SELECT sent_as FROM outgoing ORDER BY rowid")[-1]
        assert quantities(stowage, sent_as) == [("10", 7), ("20", 0), ("30", 8)]
        assert values(database, "SELECT done FROM changes WHERE done IS NOT TRUE") == []
        if not reached:  # There was no request number `at`.
            break
    else:
        pytest.fail("a synchronisation makes more requests than that")

    assert at > 10
    references = [row["external_ref"] for row in stowage.each("/entry-documents")]
    expected = [f"{kind}-{number}" for kind in ("D", "PO") for number in tried]
    assert sorted(references) == sorted(expected)


def test_killed_first_load_is_completed_by_the_next_run(
    stowage: Stowage, transport: FaultyTransport, database: sqlite3.Connection
) -> None:
    exercise(stowage)
    for at in range(_MOST_REQUESTS):
        database.execute("DELETE FROM followed")
        transport.before = [*[passing] * at, kill]
        with suppress(KilledError):
            copy_changes(stowage, database)
        reached, transport.before = not transport.before, []
        copy_changes(stowage, database)
        assert_copied(stowage, database, erp_sync.OBJECTS)
        if not reached:
            break
    assert at > 2 * len(erp_sync.OBJECTS)


def test_an_export_that_fails_stops_the_load(
    stowage: Stowage, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "functions.import_worker.app.process_export",
        lambda context, number, **_: context.fail(EXPORTS.get(context.store, number), "It is full"),
    )
    with pytest.raises(RuntimeError, match="XP-1 is failed: It is full"):
        copy_changes(stowage, database)
    assert values(database, "SELECT position FROM followed") == []


def test_loop_copies_every_list_that_the_guide_names(
    stowage: Stowage, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LISTS.keys() >= {*erp_sync.OBJECTS}
    monkeypatch.setattr(erp_sync, "OBJECTS", tuple(LISTS))
    copy_changes(stowage, database)  # a snapshot, then changes
    exercise(stowage)

    copy_changes(stowage, database)

    assert_copied(stowage, database, LISTS)
    assert all(copies(database, noun) for noun in LISTS)


def test_rows_of_transactions_that_exceed_a_response_are_read_from_their_lists(
    stowage: Stowage, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erp_sync, "OBJECTS", tuple(LISTS))
    monkeypatch.setattr("shared.integration.changes.service._MOST_BYTES", 1)
    copy_changes(stowage, database)
    exercise(stowage)
    gone = stowage.post("/products", {"item_code": "OLD", "name": "Old"})["id"]
    stowage.send("DELETE", f"/products/{gone}")

    copy_changes(stowage, database)

    assert_copied(stowage, database, LISTS)


def test_a_company_that_was_restored_is_copied_anew(
    stowage: Stowage, transport: RelayingTransport, database: sqlite3.Connection
) -> None:
    gone = stowage.post("/products", {"item_code": "GONE", "name": "Gone"})["id"]
    copy_changes(stowage, database)
    assert len(copies(database, "product")) == 2
    stowage.send("DELETE", f"/products/{gone}")
    transport.feed.webhooks.run_relay()
    FeedScenario.started(transport.feed.webhooks)  # begins another epoch

    copy_changes(stowage, database)

    assert len(copies(database, "product")) == 1


def test_a_company_that_is_restored_while_its_snapshot_is_read_is_copied_by_the_next_run(
    stowage: Stowage, transport: RelayingTransport, database: sqlite3.Connection
) -> None:
    def restore(request: httpx.Request) -> None:
        if "X-Amz-Signature" in request.url.params and len(restored) == 0:
            restored.append(FeedScenario.started(transport.feed.webhooks))

    exercise(stowage)
    restored: list[FeedScenario] = []
    transport.before = [restore] * _MOST_REQUESTS
    with pytest.raises(RuntimeError, match="the files of XP-1 are gone"):
        copy_changes(stowage, database)
    assert values(database, "SELECT position FROM followed") == []
    assert copies(database, "product") == []

    copy_changes(stowage, database)

    assert_copied(stowage, database, erp_sync.OBJECTS)


def test_refused_order_does_not_stop_the_others(
    stowage: Stowage, database: sqlite3.Connection
) -> None:
    enqueue_order(database, "/entry-documents", ORDER | {"warehouse_code": "NONE"})
    enqueue_order(database, "/entry-documents", ORDER | {"external_ref": "PO-2"})

    run(stowage, database)

    assert [row["external_ref"] for row in copies(database, "entry_document")] == ["PO-2"]
    (problem,) = values(database, "SELECT problem FROM outgoing WHERE sent_as IS NULL")
    assert "no warehouse has the code NONE" in str(problem)


def test_order_is_sent_again_once_its_product_exists(
    stowage: Stowage, database: sqlite3.Connection
) -> None:
    tile = {"lines": [{"item_code": "TILE", "qty": 1}]}
    enqueue_order(database, "/entry-documents", ORDER | tile)
    enqueue_order(database, "/entry-documents", ORDER | {"external_ref": "PO-2", "lines": []})
    run(stowage, database)
    problems = [str(one) for one in values(database, "SELECT problem FROM outgoing")]
    assert "no product has the code TILE" in problems[0]
    assert values(database, "SELECT waits FROM outgoing") == [1, 0]

    stowage.post("/products", {"item_code": "TILE", "name": "Tile"})
    run(stowage, database)

    assert values(database, "SELECT sent_as IS NULL FROM outgoing") == [0, 1]
    assert values(database, "SELECT problem FROM outgoing") == [None, problems[1]]


@pytest.mark.parametrize("lost", [False, True], ids=["503", "no response"])
def test_order_that_gets_no_answer_does_not_stop_the_others(
    lost: bool,  # noqa: FBT001 - a parameter of the test
    stowage: Stowage,
    transport: FaultyTransport,
    database: sqlite3.Connection,
) -> None:
    def fail(request: httpx.Request) -> httpx.Response | None:
        if b'"PO-1"' not in request.content:
            return None
        if lost:
            raise httpx.ReadTimeout("no answer", request=request)
        return httpx.Response(503)

    enqueue_order(database, "/entry-documents", ORDER | {"external_ref": "PO-1"})
    transport.before = [fail] * 10
    with pytest.raises((StowageError, httpx.ReadTimeout)):
        run(stowage, database)  # No order was answered.

    enqueue_order(database, "/entry-documents", ORDER | {"external_ref": "PO-2"})
    transport.before = [fail] * 50
    run(stowage, database)
    assert values(database, "SELECT sent_as FROM outgoing") == [None, 1]

    transport.before = []
    run(stowage, database)
    assert values(database, "SELECT sent_as FROM outgoing") == [2, 1]


def test_order_that_differs_from_the_existing_one_is_reported(
    stowage: Stowage, database: sqlite3.Connection
) -> None:
    stowage.post("/entry-documents", ORDER)
    enqueue_order(database, "/entry-documents", ORDER | {"partner_code": "V-2"})

    run(stowage, database)

    assert values(database, "SELECT sent_as FROM outgoing") == [1]
    assert "partner_code" in str(values(database, "SELECT problem FROM outgoing"))


def test_order_waits_while_the_account_is_not_reachable(
    stowage: Stowage, transport: FaultyTransport, database: sqlite3.Connection
) -> None:
    enqueue_order(database, "/entry-documents", ORDER)
    moved = httpx.Response(410, json={"error": {"code": "tenant_moved", "message": "moved"}})
    transport.before = [lambda _: moved]

    with pytest.raises(Exception, match="tenant_moved"):
        run(stowage, database)
    assert values(database, "SELECT problem FROM outgoing") == [None]
    run(stowage, database)
    assert values(database, "SELECT sent_as FROM outgoing") == [1]


def test_change_that_meets_work_is_applied_after_it(
    stowage: Stowage, database: sqlite3.Connection
) -> None:
    key = enqueue_order(database, "/entry-documents", ORDER | {"lines": lines(10)})
    run(stowage, database)
    receipt = stowage.post("/receipts", {"document_id": 1})["id"]
    enqueue_change(database, key, ORDER | {"lines": lines(12)})
    run(stowage, database)
    run(stowage, database)
    (problem,) = values(database, "SELECT problem FROM changes")
    assert "409 conflict" in str(problem)
    assert quantities(stowage, 1) == [("10", 10)]

    stowage.post(f"/receipts/{receipt}/cancel")
    run(stowage, database)

    assert quantities(stowage, 1) == [("10", 12)]
    assert database.execute("SELECT done, problem FROM changes").fetchall() == [(1, None)]


def test_repeated_change_is_the_same_request(
    stowage: Stowage, transport: FaultyTransport, database: sqlite3.Connection
) -> None:
    def kill_after_change(request: httpx.Request) -> httpx.Response | None:
        return kill(request) if request.method == "PATCH" else None

    key = enqueue_order(database, "/entry-documents", ORDER | {"lines": lines(10)})
    run(stowage, database)
    enqueue_change(database, key, ORDER | {"lines": lines(10, 5)})
    transport.after = [kill_after_change] * 9
    with pytest.raises(KilledError):
        run(stowage, database)
    transport.after = []
    run(stowage, database)

    first, second = [request for request in transport.sent if request.method == "PATCH"]
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
    assert first.content == second.content
    assert quantities(stowage, 1) == [("10", 10), ("20", 5)]


def test_refused_change_stays_until_a_newer_one(
    stowage: Stowage, database: sqlite3.Connection
) -> None:
    key = enqueue_order(database, "/entry-documents", ORDER | {"lines": lines(10)})
    enqueue_change(database, key, ORDER | {"lines": [{**lines(10)[0], "item_code": "TILE"}]})
    run(stowage, database)
    (problem,) = values(database, "SELECT problem FROM changes")
    assert "lines.0.item_code" in str(problem)

    enqueue_change(database, key, ORDER | {"lines": lines(11)})
    run(stowage, database)

    assert quantities(stowage, 1) == [("10", 11)]
    assert values(database, "SELECT problem FROM changes") == [None]
