"""Exports: snapshots from which a follower has an equal copy, whatever happens meanwhile."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from operations.export import export_tenant
from operations.restore_carry_over import fail_queued_work
from shared.identity.auth import client_service
from shared.integration.changes.listed_objects import LISTED_OBJECTS
from shared.integration.exports import ids, worker
from shared.kernel.clock import milliseconds_of, now_ms
from shared.kernel.db.items import to_attributes
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.errors import Conflict, Forbidden, MissingScope, StaleState, ValidationFailed
from shared.kernel.events.feed import head_item
from shared.kernel.queued_work import LEASE_MS, MAX_ATTEMPTS
from tests.aws_calls import Watch
from tests.clock import Clock
from tests.export_scenario import ExportScenario
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Fault,
    Forward,
    Recording,
    before_first,
    kill_at,
    refuse_calls,
)
from tests.import_scenario import WORKER
from tests.integration.roles import Roles
from tests.sampling import sampled
from tests.stack import set_attributes
from tests.warehouse_scenario import WarehouseScenario

_GOODS = ("product", "stock", "stock_level")


def _writing(exports: ExportScenario) -> Callable[[], None]:
    """Return a function that makes one of several changes in turn, deletions included."""
    erp, number = exports.feed.webhooks.erp, count(1)
    yard = WarehouseScenario(erp)
    made: list[int] = []

    def write() -> None:
        turn = next(number)
        if turn % 4 == 1:
            made.append(erp.post("/products", {"item_code": f"N{turn}", "name": "New"}).data["id"])
        elif turn % 4 == 2:
            yard.stock("BRICK", turn)
        elif turn % 4 == 3:
            assert erp.patch("/products/1", {"name": f"Brick {turn}"}).status == 200
        else:
            assert erp.delete(f"/products/{made.pop()}").status == 200
        exports.feed.relay()

    return write


def _between_calls(write: Callable[[], None]) -> Fault:
    """Return a fault that makes a change before each call."""
    inside = False

    def fault(_call: Call, forward: Forward) -> Answer:
        nonlocal inside
        if not inside:
            inside = True
            write()
            inside = False
        return forward()

    return fault


@pytest.mark.usefixtures("small_steps")
def test_a_copy_is_equal_though_writers_run_meanwhile(
    exports: ExportScenario, aws_faults: AwsFaults
) -> None:
    write = _writing(exports)
    with aws_faults.faulty(_between_calls(write)):
        exports.start(*LISTED_OBJECTS)
        exports.worker.drain_queue()
    copy = exports.copy()
    copy.follow()
    assert copy.position > copy.export.position + 50
    assert copy.differing() == []


def test_one_changed_row_of_a_copy_is_found(exports: ExportScenario) -> None:
    exports.start(*LISTED_OBJECTS)
    exports.worker.drain_queue()
    copy = exports.copy()
    copy.follow()
    assert copy.differing() == []
    for name in ("product", "stock_level", "api_client"):
        row = next(iter(copy.rows[name].values()))
        row["version"] += 1
        assert copy.differing() == [name]
        row["version"] -= 1
    lost = copy.rows["stock"].popitem()
    assert copy.differing() == ["stock"]
    copy.rows["stock"][lost[0]] = lost[1]


def test_rows_are_those_of_the_lists(exports: ExportScenario) -> None:
    exports.start(*LISTED_OBJECTS)
    exports.worker.drain_queue()
    found, erp = exports.rows(), exports.feed.webhooks.erp
    for name, one in LISTED_OBJECTS.items():
        if name == "export":
            continue  # the export is behind its own position
        listed = {row["id"]: row for row in erp.walk(one.path, include="version")}
        assert {row["id"]: row for row in found.get(name, [])} == listed, name
    assert {"product", "stock", "stock_level", "picking", "exit_document"} <= found.keys()


@pytest.mark.usefixtures("small_steps")
def test_a_worker_may_die_at_every_call(
    exports: ExportScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    exports.start(*_GOODS, "api_client")
    [body] = set(exports.worker.take_messages())
    before = exports.feed.stack.take_snapshot()
    exports.worker.deliver(body)
    expected = exports.rows()
    before()
    with aws_faults.recorded() as seen:
        exports.worker.deliver(body)
    assert len(seen.calls) > 30
    for moment in sampled("export", range(2 * len(seen.calls)), every=5):
        before()
        exports.worker.take_messages()
        assert aws_faults.kills(kill_at(moment), lambda: exports.worker.deliver(body))
        clock.advance(LEASE_MS / 1000 + 1)
        exports.worker.deliver(body, receives=2)
        exports.worker.drain_queue()
        copy = exports.copy()
        assert exports.rows() == expected, moment
        copy.follow()
        assert copy.differing() == [], moment


@pytest.mark.parametrize(("most", "expected"), [(10_000, [1, 3, 1]), (100, [1] * 5)])
def test_fewer_large_rows_are_read_at_once(
    exports: ExportScenario,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    expected: list[int],
) -> None:
    monkeypatch.setattr(worker, "_FIRST_PLACES", 1)
    monkeypatch.setattr(worker, "_PLACES", 3)
    monkeypatch.setattr(worker, "_SMALL_ROW", most)
    exports.start("product")
    with aws_faults.recorded() as seen:
        exports.worker.drain_queue()
    assert _read_at_once(exports, seen) == expected


def _read_at_once(exports: ExportScenario, seen: Recording) -> list[int]:
    table = exports.feed.store.table
    return [
        len(call.request["RequestItems"][table]["Keys"])
        for call in seen.calls
        if call.operation == "BatchGetItem"
    ]


def test_fewer_rows_are_read_at_once_when_a_step_is_repeated(
    exports: ExportScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(worker, "_FIRST_PLACES", 1)
    monkeypatch.setattr(worker, "_PLACES", 3)
    exports.start("product")
    body = exports.worker.take_messages()[0]
    with aws_faults.faulty(refuse_calls("PutObject", code="InternalError")):
        exports.worker.deliver(body)
    clock.advance(LEASE_MS / 1000 + 1)
    with aws_faults.recorded() as seen:
        exports.worker.deliver(body, receives=2)
    assert _read_at_once(exports, seen) == [1] * 5
    assert exports.get().status == "completed"


@pytest.mark.usefixtures("small_steps")
def test_an_export_continues_with_another_message_when_the_time_is_up(
    exports: ExportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_TIME_FOR_STEP", 1e9)
    exports.start(*_GOODS)
    first, *others = exports.worker.take_messages()
    assert {first} == {*others}
    files: list[int] = []
    exports.worker.send({"tenant": "acme", "export": 1})
    while exports.get().status in {"pending", "running"}:
        [body] = set(exports.worker.take_messages())
        assert not exports.worker.deliver(body)
        files.append(len(exports.get().files))
    assert len(files) > len(exports.get().files)
    assert files == sorted(files)


@pytest.mark.usefixtures("small_steps")
def test_a_second_worker_waits_until_the_lease_ends(
    exports: ExportScenario, aws_faults: AwsFaults
) -> None:
    exports.start(*_GOODS)
    body = exports.worker.take_messages()[0]
    assert aws_faults.kills(kill_at(12), lambda: exports.worker.deliver(body))
    stored = exports.get()
    assert not exports.worker.deliver(body)
    assert exports.get() == stored
    [waiting] = exports.worker.messages()
    assert waiting.body == body


@pytest.mark.usefixtures("small_steps")
def test_of_two_workers_that_do_a_step_at_once_one_counts(
    exports: ExportScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.queued_work.LEASE_MS", 0)
    monkeypatch.setattr(worker, "_TIME_FOR_STEP", 1e9)
    exports.start(*_GOODS)
    body, inside = exports.worker.take_messages()[0], False

    def fault(call: Call, forward: Forward) -> Answer:
        nonlocal inside
        if call.operation == "PutObject" and not inside:
            inside = True
            exports.worker.deliver(body)
        return forward()

    with aws_faults.faulty(fault):
        exports.worker.deliver(body)
    exports.worker.drain_queue()
    copy = exports.copy()
    copy.follow()
    assert copy.differing() == []


@pytest.mark.usefixtures("small_steps")
def test_levels_are_read_of_products_that_have_some(
    exports: ExportScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ids, "_MOST_PAIRS", 3)  # one product at once, in two warehouses
    for number in range(20, 24):
        exports.feed.create(number)
    exports.feed.relay()
    exports.start("stock_level")
    with aws_faults.recorded() as seen:
        exports.worker.drain_queue()
    read = [
        [key["PK"]["S"].partition("#")[0] for key in call.request["RequestItems"][table]["Keys"]]
        for call in seen.calls
        if call.operation == "BatchGetItem"
        for table in call.request["RequestItems"]
    ]
    assert [keys for keys in read if "level" in keys] == [["level"] * 2] * 2
    assert max(map(len, read)) == 2
    copy = exports.copy()
    assert copy.differing() == []


def test_api_clients_are_complete_although_their_index_lags(
    exports: ExportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, lags = client_service.active_ids, [True, True, False]
    monkeypatch.setattr(
        client_service, "active_ids", lambda store: index(store)[1 if lags.pop(0) else 0 :]
    )
    exports.start("api_client")
    exports.worker.drain_queue()
    assert lags == []
    copy = exports.copy()
    assert len(copy.rows["api_client"]) == len(index(exports.feed.store)) > 0
    assert copy.differing() == []


def test_an_export_fails_whose_api_clients_stay_incomplete(
    exports: ExportScenario, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    monkeypatch.setattr(client_service, "active_ids", lambda _: [])
    exports.start("product", "api_client")
    body = exports.worker.take_messages()[0]
    for _ in range(MAX_ATTEMPTS):
        assert exports.worker.deliver(body)
        clock.advance(LEASE_MS / 1000 + 1)
    exports.worker.deliver(body)
    stored = exports.get()
    assert (stored.status, stored.failure) == (
        "failed", "Processing failed 5 times at the same point. Start another export.",
    )  # fmt: skip


@pytest.mark.usefixtures("small_steps")
def test_an_export_that_finds_no_rows_for_an_hour_is_not_abandoned(
    exports: ExportScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_TIME_FOR_STEP", 1e9)
    monkeypatch.setattr(worker, "_STEP_MS", 0)
    allocate_ids(exports.feed.store, "product", 20)  # without products
    exports.start("product")
    body = exports.worker.take_messages()[0]
    for _ in range(8):
        exports.worker.deliver(body)
        clock.advance(1800)
    stored = exports.get()
    assert stored.status == "running"
    assert milliseconds_of(stored.updated_at) < now_ms() - 3_600_000
    with pytest.raises(Conflict, match="Export XP-1 is running"):
        exports.start("product")
    clock.advance(1801)
    assert exports.start("product").status == "pending"
    assert exports.get().status == "failed"


def test_only_one_export_is_made_at_a_time(exports: ExportScenario, clock: Clock) -> None:
    assert exports.start("product").id == 1
    with pytest.raises(Conflict, match="Export XP-1 is pending"):
        exports.start("product")
    exports.worker.drain_queue()
    second = exports.start("product")
    clock.advance(3601)
    third = exports.start("product")
    assert exports.get(second.id).status == "failed"
    exports.cancel(third.id)
    assert exports.start("product").status == "pending"


@pytest.mark.parametrize("is_first", [True, False])
def test_of_two_requests_at_once_one_is_refused(
    exports: ExportScenario, aws_faults: AwsFaults, *, is_first: bool
) -> None:
    if not is_first:
        exports.start("product")
        exports.worker.drain_queue()
    begun: list[int] = []
    other = before_first("TransactWriteItems", lambda: begun.append(exports.start("product").id))
    with aws_faults.faulty(other), pytest.raises(Conflict, match="is pending"):
        exports.start("product")
    assert exports.get(begun[0]).status == "pending"


def test_a_repeated_request_returns_its_export(exports: ExportScenario) -> None:
    first = exports.start("product", request="r1")
    assert exports.start("product", request="r1") == first
    with pytest.raises(Conflict):
        exports.start("product", request="r2")


@pytest.mark.usefixtures("small_steps")
def test_a_cancelled_export_ends_in_the_middle(
    exports: ExportScenario, aws_faults: AwsFaults
) -> None:
    exports.start(*_GOODS)
    left = [3]

    def fault(call: Call, forward: Forward) -> Answer:
        if call.operation == "PutObject":
            left[0] -= 1
            if not left[0]:
                exports.cancel(1)
        return forward()

    with aws_faults.faulty(fault):
        exports.worker.drain_queue()
    stored = exports.get()
    assert (stored.status, len(stored.files)) == ("cancelled", 2)
    with pytest.raises(StaleState):
        exports.cancel(1)


def test_an_export_of_a_feed_that_begins_again_fails(exports: ExportScenario) -> None:
    exports.start("product")
    store, head = exports.feed.store, exports.feed.head
    item = head_item(store.table, type(head)(head.epoch + 1, 0, {}))
    store.client.put_item(TableName=store.table, Item=to_attributes(item))
    exports.worker.drain_queue()
    stored = exports.get()
    assert stored.status == "failed"
    assert stored.failure
    assert "begun again" in stored.failure


def test_an_export_without_progress_is_given_up(
    exports: ExportScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    exports.start("product")
    body = exports.worker.take_messages()[0]
    for receives in range(1, MAX_ATTEMPTS + 1):
        with aws_faults.faulty(refuse_calls("PutObject")):
            exports.worker.deliver(body, receives=receives)
        clock.advance(LEASE_MS / 1000 + 1)
    exports.worker.drain_queue()
    stored = exports.get()
    assert stored.status == "failed"
    assert stored.failure == ("Processing failed 5 times at the same point. Start another export.")


def test_a_table_has_headers_in_the_language_and_no_formulas(exports: ExportScenario) -> None:
    erp = exports.feed.webhooks.erp
    assert erp.post("/products", {"item_code": "F", "name": "=1+1"}).status == 201
    exports.start("product", "warehouse_position", format="csv", language="es")
    exports.worker.drain_queue()
    header, *rows = exports.table("product")
    assert header[:3] == ["Id", "Código de artículo", "SKU"]
    assert header[-1] == "Versión"
    names = {row[1]: row[header.index("Nombre")] for row in rows}
    assert names["F"] == "'=1+1"
    header, *rows = exports.table("warehouse_position")
    assert rows[0][header.index("Bloqueada") if "Bloqueada" in header else 0]


@pytest.mark.usefixtures("small_steps")
def test_each_file_of_a_table_has_a_header(exports: ExportScenario) -> None:
    exports.start("product", format="csv", language="en")
    exports.worker.drain_queue()
    texts = exports.contents()["product"]
    assert len(texts) > 1
    assert {text.partition("\r\n")[0] for text in texts} == {texts[0].partition("\r\n")[0]}


def test_the_rights_of_each_object_are_needed(exports: ExportScenario) -> None:
    scopes = {"scopes": frozenset({"changes:read", "products:read"})}
    assert exports.start("product", caller=scopes).objects == ["product"]
    exports.cancel(1)
    with pytest.raises(MissingScope, match="stocks:read"):
        exports.start("product", "stock", caller=scopes)
    user = {"kind": "user", "subject": "7", "scopes": frozenset[str]()}
    with pytest.raises(Forbidden):
        exports.start("user", caller=user)


def test_all_problems_of_a_request_are_reported(exports: ExportScenario) -> None:
    with pytest.raises(ValidationFailed) as refused:
        exports.start("product", "bolt", "product", format="xml")
    problems = {one.field: one.message for one in refused.value.problems}
    assert problems["objects.1"].startswith("no object is called bolt; known: product, ")
    assert problems["objects.2"] == "must not be named twice"
    assert "format" in problems


def test_a_message_of_an_export_that_does_not_exist_is_ignored(exports: ExportScenario) -> None:
    exports.worker.send({"tenant": "acme", "export": 77})
    exports.worker.drain_queue()
    assert not exports.worker.dead_letters()


# What operators do


def test_a_company_is_not_moved_while_an_export_is_made(
    exports: ExportScenario, tmp_path: Path
) -> None:
    exports.start("product")
    set_attributes("acme", state={"S": "suspended"})
    with pytest.raises(Conflict, match="The export 1 of acme is pending"):
        export_tenant("acme", tmp_path, passphrase="a passphrase of some length")


def test_an_export_that_was_running_has_failed_in_a_restored_table(
    exports: ExportScenario,
) -> None:
    exports.start("product")
    exports.worker.drain_queue()
    exports.start("product")
    fail_queued_work(exports.feed.store)
    assert [exports.get(number).status for number in (1, 2)] == ["completed", "failed"]
    exports.worker.drain_queue()
    assert exports.get(2).files == []


def test_policies_allow_the_calls_of_the_worker(
    exports: ExportScenario, roles: Roles, watch: Watch
) -> None:
    exports.start(*LISTED_OBJECTS)
    exports.worker.drain_queue()
    calls = [one for one in watch.made if one.handler == WORKER]
    assert len(calls) > 50
    assert roles.denied(calls) == []
    roles.assert_no_access_to_other_tenant(calls)
