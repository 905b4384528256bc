"""Reconciliations of files: read in steps by the worker, whatever happens to it."""

from io import BytesIO

import pytest
from openpyxl import load_workbook

from operations.restore_carry_over import fail_queued_work
from shared.integration.reconciliations import service, worker
from shared.kernel.queued_work import LEASE_MS, MAX_ATTEMPTS
from tests.clock import Clock
from tests.faults import AwsFaults, kill_at, refuse_calls
from tests.import_scenario import ImportScenario
from tests.reconciliation_scenario import ReconciliationScenario
from tests.sampling import sampled

_FILE = b"Item code,Warehouse,Batch,Quantity\nBRICK,YARD,,8\nCEMENT,YARD,L1,10\nCEMENT,YARD,L2,7\n"


def _upload(erp: ReconciliationScenario, content: bytes = _FILE, **fields: str) -> int:
    form = erp.feed.webhooks.erp.upload(
        "/reconciliations/files", fields, ("stock.csv", content)
    ).ok(202)
    assert form["status"] == "pending"
    return int(form["id"])


def _worker(erp: ReconciliationScenario) -> ImportScenario:
    return ImportScenario(erp.feed.stack)


def _get(erp: ReconciliationScenario, number: int) -> dict[str, object]:
    return erp.feed.webhooks.erp.get(f"/reconciliations/{number}").ok()


def test_a_file_is_compared(erp: ReconciliationScenario) -> None:
    position = erp.relay()
    erp.yard.stock("BRICK", 1)
    erp.relay()
    number = _upload(erp, position=str(position))
    _worker(erp).drain_queue()
    found = _get(erp, number)
    assert (found["status"], found["compared"], found["equal"]) == ("completed", 3, 1)
    assert found["after_position"] == position
    shown = found["differences"]
    assert isinstance(shown, list)
    assert [(one["item_code"], one["batch"], one["difference"]) for one in shown] == [
        ("BRICK", None, 3), ("CEMENT", "L2", -2),
    ]  # fmt: skip
    assert [one["qty"] for one in shown[0]["movements"]] == [1]


def test_a_form_may_be_sent_to_the_path_of_the_lines(erp: ReconciliationScenario) -> None:
    erp.relay()
    api = erp.feed.webhooks.erp
    key = {"Idempotency-Key": "stock-of-today"}
    answers = [
        api.upload("/reconciliations", {}, ("stock.csv", _FILE), headers=key) for _ in range(2)
    ]
    assert [answer.status for answer in answers] == [202, 202]
    assert len({answer.ok(202)["id"] for answer in answers}) == 1
    wrong = api.upload("/reconciliations", {"position": "99"}, ("stock.csv", _FILE))
    assert (wrong.status, set(wrong.invalid_fields)) == (422, {"position"})


def test_limit_of_the_rows_is_none_of_the_plan(
    erp: ReconciliationScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "MAX_ROWS", 2)
    erp.relay()
    number = _upload(erp)
    _worker(erp).drain_queue()
    message = "The file has more than 2 data rows. Split it into several files."
    assert _get(erp, number)["failure"] == message


def test_headers_may_be_spanish_and_the_list_complete(erp: ReconciliationScenario) -> None:
    erp.relay()
    content = "Código de artículo;Cantidad\nBRICK;10\n".encode()
    number = _upload(erp, content, warehouse_code="YARD", complete="true")
    _worker(erp).drain_queue()
    found = _get(erp, number)
    shown = found["differences"]
    assert isinstance(shown, list)
    assert [(one["item_code"], one["ours"]) for one in shown] == [("CEMENT", 15)]


def test_a_file_without_rows_fails(erp: ReconciliationScenario) -> None:
    number = _upload(erp, b"item_code,qty\n", warehouse_code="YARD", complete="true")
    _worker(erp).drain_queue()
    assert _get(erp, number)["status"] == "failed"


def test_every_problem_of_every_row_is_named(
    erp: ReconciliationScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_ROWS", 2)
    monkeypatch.setattr(worker, "MAX_DIFFERENCES", 4)
    erp.relay()
    content = (
        b"item_code,warehouse_code,batch,qty\n"
        b"NONE,WEST,,x\nBRICK,YARD,,-1\nCEMENT,YARD,L1,5\nBRICK,YARD,L1,1\nCEMENT,YARD,L1,5\n"
    )
    number = _upload(erp, content)
    _worker(erp).drain_queue()
    found = _get(erp, number)
    assert found["failure"] == "Invalid rows: 4. Nothing was compared."
    assert (found["status"], found["problems_total"]) == ("failed", 6)
    shown = found["problems"]
    assert isinstance(shown, list)
    assert [(one["row"], one["field"]) for one in shown] == [
        (2, "qty"), (2, "item_code"), (2, "warehouse_code"), (3, "qty"),
    ]  # fmt: skip
    assert found["workbook_url"]
    stored = service.get_reconciliation(erp.feed.store, number).entity
    book = load_workbook(BytesIO(erp.context.files.read(stored.workbook or ""))).active
    assert book
    rows = [[cell.value for cell in row] for row in book.iter_rows()]
    assert rows[0] == ["row", "field", "message"]
    assert rows[5:] == [
        [5, "batch", "product BRICK is not managed by batch"],
        [6, "batch", "this stock is counted by row 4 already"],
    ]


@pytest.mark.parametrize(
    ("content", "failure"),
    [
        (b"item_code\nBRICK\n", "The required column Quantity (qty) is missing."),
        (b"name\nBRICK\n", "No header with the required columns"),
    ],
)
def test_a_file_with_other_columns_fails(
    erp: ReconciliationScenario, content: bytes, failure: str
) -> None:
    number = _upload(erp, content)
    _worker(erp).drain_queue()
    assert failure in str(_get(erp, number)["failure"])


def test_a_complete_file_of_more_than_the_worker_compares_is_refused(
    erp: ReconciliationScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    erp.relay()
    api = erp.feed.webhooks.erp
    products = len({one["id"] for one in api.get("/products").data})
    monkeypatch.setattr(service, "MAX_FILE_PLACES", products)
    assert _upload(erp, warehouse_code="YARD", complete="true")
    assert _upload(erp)
    fields = {"position": "99", "complete": "true"}
    answer = api.upload("/reconciliations/files", fields, ("stock.csv", _FILE))
    assert (answer.status, set(answer.invalid_fields)) == (422, {"position", "complete"})


def test_the_quantities_of_a_file_are_loaded_once_in_an_invocation(
    erp: ReconciliationScenario, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_PLACES", 1)
    erp.relay()
    number = _upload(erp)
    queue = _worker(erp)
    [body] = set(queue.take_messages())
    with aws_faults.recorded() as seen:
        queue.deliver(body)
    stored = service.get_reconciliation(erp.feed.store, number).entity
    assert (stored.status, len(stored.parts)) == ("completed", 3)
    read = [one.operation for one in seen.calls].count("GetObject")
    assert read == 1 + len(stored.parts)  # and the file that was uploaded


def test_a_bad_form_is_refused(erp: ReconciliationScenario) -> None:
    api = erp.feed.webhooks.erp
    fields = {"position": "99", "warehouse_code": "NONE", "complete": "perhaps"}
    answer = api.upload("/reconciliations/files", fields, ("stock.csv", _FILE))
    assert answer.status == 422
    assert {"position", "warehouse_code", "complete"} == set(answer.invalid_fields)
    wrong = api.upload("/reconciliations/files", {}, ("stock.pdf", _FILE))
    assert (wrong.status, wrong.code) == (422, "import_refused")
    other = {"epoch": "1", "position": "99"}
    gone = api.upload("/reconciliations/files", other, ("stock.csv", _FILE))
    assert gone.status == 410


def test_a_worker_may_die_at_every_call(
    erp: ReconciliationScenario,
    aws_faults: AwsFaults,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "_PLACES", 1)
    erp.relay()
    number = _upload(erp)
    queue = _worker(erp)
    [body] = set(queue.take_messages())
    before = erp.feed.stack.take_snapshot()
    with aws_faults.recorded() as seen:
        queue.deliver(body)
    expected = _get(erp, number)["differences"]
    moments = [moment for moment, _ in enumerate(seen.calls * 2)]
    for moment in sampled("reconciliation", moments, every=5):
        before()
        queue.take_messages()
        assert aws_faults.kills(kill_at(moment), lambda: queue.deliver(body))
        clock.advance(LEASE_MS / 1000 + 1)
        queue.deliver(body, receives=2)
        queue.drain_queue()
        assert _get(erp, number)["differences"] == expected, f"killed at {moment}"


def test_steps_continue_in_further_messages(
    erp: ReconciliationScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_PLACES", 1)
    monkeypatch.setattr(worker, "_TIME_FOR_STEP", 1_000.0)
    erp.relay()
    number = _upload(erp)
    _worker(erp).drain_queue()
    stored = service.get_reconciliation(erp.feed.store, number).entity
    assert (stored.status, stored.total, len(stored.parts)) == ("completed", 2, 3)
    assert stored.invocations == 4


def test_what_fails_again_and_again_is_given_up(
    erp: ReconciliationScenario, aws_faults: AwsFaults, clock: Clock
) -> None:
    erp.relay()
    number = _upload(erp)
    queue = _worker(erp)
    [body] = set(queue.take_messages())
    with aws_faults.faulty(refuse_calls("GetObject", code="InternalError")):
        for _ in range(MAX_ATTEMPTS):
            queue.deliver(body)
            clock.advance(LEASE_MS / 1000 + 1)
    queue.deliver(body)
    assert "Upload the file again." in str(_get(erp, number)["failure"])


def test_a_message_about_nothing_is_ignored(erp: ReconciliationScenario) -> None:
    queue = _worker(erp)
    queue.send({"tenant": "acme", "reconciliation": 7})
    queue.drain_queue()
    assert queue.dead_letters() == []


def test_a_reconciliation_that_was_running_has_failed_in_a_restored_table(
    erp: ReconciliationScenario,
) -> None:
    erp.relay()
    done = _upload(erp)
    _worker(erp).drain_queue()
    waiting = _upload(erp)
    fail_queued_work(erp.feed.store)
    assert [_get(erp, number)["status"] for number in (done, waiting)] == ["completed", "failed"]
    assert "restored to a moment" in str(_get(erp, waiting)["failure"])
