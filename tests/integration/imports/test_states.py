"""The actions that each status of an import allows, and the required permissions."""

from collections.abc import Callable

import pytest

from operations import provisioning
from shared.integration.imports.kinds.products import ProductImporter
from shared.kernel.errors import RateLimited
from tests.clock import Clock
from tests.gateway import Form
from tests.import_scenario import (
    ImportScenario,
    leave_all_to_worker,
    make_one_step_per_message,
)
from tests.integration.imports.import_files import as_csv, table
from tests.integration.imports.kind_examples import TRANSFERS
from tests.tenant_cache import apply_now
from tests.warehouse_scenario import WarehouseScenario

GOODS = as_csv([["item_code", "name"], ["A", "Good"]])


def uploaded(scenario: ImportScenario) -> int:
    body = {"kind": "products", "filename": "goods.csv"}
    return int(scenario.erp.post("/imports/uploads", body).data["id"])


def upload(scenario: ImportScenario, content: bytes = GOODS) -> int:
    return int(scenario.upload("products", "goods.csv", content).data["id"])


def invalid(scenario: ImportScenario) -> int:
    return upload(scenario, b"item_code,name\nA,\n")


def committing(scenario: ImportScenario) -> int:
    number = upload(scenario)
    scenario.drain_queue()
    scenario.erp.post(f"/imports/{number}/commit")
    return number


def cancelled(scenario: ImportScenario) -> int:
    number = upload(scenario)
    scenario.erp.post(f"/imports/{number}/cancel")
    return number


def committed(scenario: ImportScenario) -> int:
    number = upload(scenario)
    scenario.commit(number)
    return number


type Create = Callable[[ImportScenario], int]

IN_WORKER: dict[str, tuple[Create, str]] = {
    "validating": (upload, "it is still being validated"),
    "committing": (committing, "it is being committed"),
}
IN_REQUEST: dict[str, tuple[Create, str]] = {
    "uploaded": (uploaded, "its file has not been uploaded"),
    "invalid": (invalid, "it has no valid rows"),
    "committed": (committed, "it is already committed"),
    "cancelled": (cancelled, "it is cancelled"),
}


def test_a_commit_is_refused_with_the_reason(
    scenario: ImportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    for status, (create, reason) in [*IN_REQUEST.items(), *IN_WORKER.items()]:
        if status in IN_WORKER:
            leave_all_to_worker(monkeypatch)
        number = create(scenario)
        before = scenario.get_import(number)
        assert before["status"] == status
        for key in (None, "k"):
            answer = scenario.erp.post(f"/imports/{number}/commit", key=key)
            assert (answer.status, answer.code) == (409, "import_refused")
            message = f"Import {number} cannot be committed: {reason}."
            assert answer.json()["message"] == message
        assert scenario.get_import(number) == before
        scenario.take_messages()
        scenario.stack.reset_tenant()


def test_temporary_refusal_during_a_commit_is_no_problem_of_a_row(
    scenario: ImportScenario, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = upload(scenario)
    apply = ProductImporter.apply

    def refuse(*_: object) -> None:
        raise RateLimited("4 slow requests of the company are running.", 2)

    monkeypatch.setattr(ProductImporter, "apply", refuse)
    refused = scenario.erp.post(f"/imports/{number}/commit")
    monkeypatch.setattr(ProductImporter, "apply", apply)
    clock.advance(60)  # the refused request holds the import for 30 s
    scenario.drain_queue()

    assert (refused.status, refused.code) == (429, "rate_limited")
    shown = scenario.get_import(number)
    assert (shown["status"], shown["rows"]["error"]) == ("committed", 0)


def test_a_file_that_is_received_after_the_cancellation_is_ignored(
    scenario: ImportScenario,
) -> None:
    answer = scenario.erp.post("/imports/uploads", {"kind": "products", "filename": "goods.csv"})
    number = answer.data["id"]
    scenario.erp.post(f"/imports/{number}/cancel")
    scenario.put_file(answer.data["upload"]["fields"]["key"].partition("/")[2], GOODS)
    scenario.drain_queue()
    assert scenario.get_import(number)["status"] == "cancelled"


def switch_transfer_orders(scenario: ImportScenario, *, on: bool) -> None:
    module = ["transfer_orders"]
    apply_now(provisioning.switch_modules, scenario.slug, **{"on" if on else "off": module})


def test_transfer_orders_are_refused_while_their_module_is_off(
    scenario: ImportScenario, yard_with_returns: WarehouseScenario
) -> None:
    file = ("orders.csv", as_csv(table("transfer_orders", TRANSFERS.rows())))
    kind = {"kind": "transfer_orders"}
    number = scenario.upload("transfer_orders", *file).data["id"]
    switch_transfer_orders(scenario, on=False)
    for method, path, body in (
        ("POST", "/imports", Form(kind, file)),
        ("POST", "/imports", Form(kind, ("orders.pdf", b""))),
        ("POST", "/imports/uploads", {**kind, "filename": "orders.csv"}),
        ("POST", f"/imports/{number}/commit", None),
        ("GET", "/imports/templates/transfer_orders", None),
    ):
        answer = scenario.erp.send(method, path, body)
        assert (answer.status, answer.code) == (404, "transfer_orders_disabled"), path
    assert upload(scenario) > number
    assert scenario.get_import(number)["status"] == "validated"

    switch_transfer_orders(scenario, on=True)
    assert scenario.commit(number)["status"] == "committed"
    assert yard_with_returns.erp.get("/transfer-orders").json()["meta"]["total"] == len(
        TRANSFERS.bodies
    )


def test_requests_that_began_while_the_module_was_on_can_be_repeated(
    scenario: ImportScenario, yard_with_returns: WarehouseScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    del yard_with_returns
    leave_all_to_worker(monkeypatch)
    content = as_csv(table("transfer_orders", TRANSFERS.rows()))
    form = Form({"kind": "transfer_orders"}, ("orders.csv", content))
    first = scenario.erp.post("/imports", form, key="upload")
    scenario.drain_queue()
    commit = f"/imports/{first.data['id']}/commit"
    assert scenario.erp.post(commit, key="commit").data["status"] == "committing"
    switch_transfer_orders(scenario, on=False)

    assert scenario.erp.post("/imports", form, key="upload").text == first.text
    assert scenario.erp.post(commit, key="commit").status == 202
    scenario.drain_queue()
    assert scenario.get_import(first.data["id"])["status"] == "committed"


def test_missing_templates_and_reports_are_not_found(scenario: ImportScenario) -> None:
    number = committed(scenario)
    for path in ("/imports/templates/stock", f"/imports/{number}/error-report"):
        answer = scenario.erp.get(path)
        assert (answer.status, answer.code) == (404, "not_found")


def test_the_counts_show_the_progress_of_the_worker(
    scenario: ImportScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_all_to_worker(monkeypatch)
    monkeypatch.setattr("shared.integration.imports.validation._CHUNK_ROWS", 2)
    monkeypatch.setattr("shared.integration.imports.kinds.importer.MAX_PLANNED_ACTIONS", 8)
    seen: list[tuple[str, object, object]] = []

    def record_state() -> None:
        one = scenario.get_import(1)
        seen.append((one["status"], one["rows"]["valid"], one["documents"]["committed"]))

    content = as_csv([["item_code", "name"], *([f"P-{n}", "Good"] for n in range(5))])
    upload(scenario, content)
    record_state()
    run_in_single_steps(scenario, monkeypatch, record_state)
    scenario.erp.post("/imports/1/commit")
    record_state()
    run_in_single_steps(scenario, monkeypatch, record_state)
    assert [one for index, one in enumerate(seen) if one not in seen[:index]] == [
        ("validating", None, None),
        ("validating", 2, 0),
        ("validating", 4, 0),
        ("validating", 5, 0),
        ("validated", 5, 0),
        ("committing", 5, 0),
        ("committing", 5, 2),
        ("committing", 5, 4),
        ("committing", 5, 5),
        ("committed", 5, 5),
    ]


def run_in_single_steps(
    scenario: ImportScenario, monkeypatch: pytest.MonkeyPatch, record_state: Callable[[], None]
) -> None:
    """Let the worker do one step for each message, and record the state after each."""
    with monkeypatch.context() as patch:
        make_one_step_per_message(patch)
        while bodies := scenario.take_messages():
            for body in bodies:
                assert not scenario.deliver(body)
                record_state()
