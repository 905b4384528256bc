"""Files that are dropped into the bucket are imported or rejected, and results are written."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote_plus

import pytest

from operations import provisioning
from shared.identity.tenancy.tenant import MODULES
from shared.integration.imports.models import MAX_FILE_BYTES
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv, as_xlsx, reported_problems, table
from tests.integration.imports.kind_examples import (
    EXITS,
    KIND_EXAMPLES,
    PRODUCTS,
    TRANSFERS,
    KindExample,
)
from tests.integration.imports.outcome import all_imports, report_problems, stored_entities
from tests.tenant_cache import apply_now
from tests.warehouse_scenario import WarehouseScenario

GOODS = as_csv([["item_code", "name"], ["A", "Good"], ["B", ""]])
NEW_GOODS = as_csv([["item_code", "name"], ["C", "New"]])
PROBLEMS = {(3, "name", "is required")}


def drop(scenario: ImportScenario, name: str, content: bytes = GOODS) -> dict[str, bytes]:
    """Drop a file, run the worker, and return the files in the bucket."""
    scenario.put_file(f"drop/{name}", content)
    scenario.drain_queue()
    return scenario.files()


def result(files: dict[str, bytes], name: str) -> dict[str, Any]:
    """Return the result of a dropped file."""
    data: dict[str, Any] = json.loads(files[f"drop/{name}.result.json"])
    return data


@pytest.mark.usefixtures("yard_with_returns")
def test_a_file_of_every_kind_is_imported(scenario: ImportScenario) -> None:
    for example in KIND_EXAMPLES:
        name = f"{example.kind}/file.xlsx"
        files = drop(scenario, name, as_xlsx(table(example.kind, example.rows())))
        one = all_imports(scenario)[-1]
        assert (one["kind"], one["status"], one["file"]) == (example.kind, "validated", "file.xlsx")
        assert result(files, name) == one
        before = scenario.erp.get(example.list_path).json()["meta"]["total"]
        done = scenario.commit(one["id"])
        assert done["status"] == "committed"
        assert result(scenario.files(), name) == done
        after = scenario.erp.get(example.list_path).json()["meta"]["total"]
        assert after == before + len(example.bodies)


def test_the_error_report_is_written_next_to_the_file(scenario: ImportScenario) -> None:
    files = drop(scenario, "products/goods.csv")
    assert set(files) == {
        "drop/products/goods.csv",
        "drop/products/goods.csv.result.json",
        "drop/products/goods.csv.errors.xlsx",
    }
    assert files["drop/products/goods.csv"] == GOODS
    assert reported_problems(files["drop/products/goods.csv.errors.xlsx"]) == PROBLEMS
    [one] = all_imports(scenario)
    assert report_problems(scenario, one) == PROBLEMS


@pytest.mark.parametrize(
    "name",
    [
        "two words.csv",
        "1+1=2.csv",
        "año ñandú 部品.csv",
        "100%.csv",
        "a&b;c,d.csv",
        "%2B.csv",
        "UPPER.CSV",
        "space at the end.csv ",
        f"{'long' * 50}.csv",
    ],
)
def test_file_names_may_have_any_characters(name: str, scenario: ImportScenario) -> None:
    files = drop(scenario, f"products/{name}")
    [one] = all_imports(scenario)
    assert (one["status"], one["rows"]["valid"]) == ("validated", 1)
    assert result(files, f"products/{name}") == one


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("product/a.csv", GOODS, "'drop/product/a.csv' is not a valid name. Use drop/KIND/FILE"),
        ("Products/a.csv", GOODS, "'drop/Products/a.csv' is not a valid name."),
        ("a.csv", GOODS, "'drop/a.csv' is not a valid name."),
        ("products/today/a.csv", GOODS, "is not a valid name"),
        (
            "products/a.txt",
            GOODS,
            "The name of the file must end in .xlsx (workbook) or .csv (text file).",
        ),
        ("products/a.csv.exe", GOODS, "The name of the file must end in .xlsx"),
        ("products/a", GOODS, "The name of the file must end in .xlsx"),
        ("products/a.csv", b"", "The file is empty."),
        ("products/ .csv", GOODS, "The name of the file must end in .xlsx"),
    ],
)
def test_a_refused_file_is_moved_with_the_reason(
    name: str, content: bytes, reason: str, scenario: ImportScenario
) -> None:
    files = drop(scenario, name, content)
    written_reason = files.pop(f"rejected/{name}.reason.txt").decode()
    assert files == {f"rejected/{name}": content}
    assert reason in written_reason
    assert written_reason.endswith("\n")
    assert all_imports(scenario) == []


def test_a_file_that_is_too_large_is_refused(scenario: ImportScenario) -> None:
    scenario.put_file("drop/products/a.csv", GOODS)
    [body] = scenario.take_messages()
    larger = body.replace(f'"size": {len(GOODS)}', f'"size": {MAX_FILE_BYTES + 1}')
    assert larger != body
    assert not scenario.deliver(larger)
    written_reason = scenario.files()["rejected/products/a.csv.reason.txt"].decode()
    assert (
        written_reason
        == f"The file has {MAX_FILE_BYTES + 1} bytes; at most {MAX_FILE_BYTES} are allowed.\n"
    )


type Change = Callable[[], object]


def _state(state: str, **more: object) -> Change:
    return partial(apply_now, provisioning.set_state, "acme", state, **more)  # type: ignore[arg-type]


def _without(module: str) -> Change:
    return partial(apply_now, provisioning.switch_modules, "acme", off=[module])


def reopen() -> None:
    """Make the tenant active, with every module."""
    apply_now(provisioning.set_state, "acme", "active")
    apply_now(provisioning.switch_modules, "acme", on=MODULES)


_CLOSED: list[tuple[Change, str, str]] = [
    (_state("suspended"), "products", "suspended"),
    (
        _without("bulk_import"),
        "products",
        "Bulk import is disabled. Enable it in the settings.",
    ),
    (
        _without("transfer_orders"),
        "transfer_orders",
        "Transfer orders are disabled. Enable them in the settings (two warehouses).",
    ),
]
"""A change after which files of a kind are refused, and the reason."""


@pytest.mark.parametrize(
    ("close", "kind", "reason"),
    [
        *_CLOSED,
        (_state("cancelled"), "products", "cancelled"),
        (_state("moved", moved_to="https://wms.acme.example/api/v1"), "products", "own"),
    ],
)
def test_files_are_refused_while_the_tenant_is_inactive_or_a_module_is_off(
    close: Change, kind: str, reason: str, scenario: ImportScenario
) -> None:
    close()
    files = drop(scenario, f"{kind}/goods.csv")
    written_reason = files.pop(f"rejected/{kind}/goods.csv.reason.txt").decode()
    assert files == {f"rejected/{kind}/goods.csv": GOODS}
    assert f"{reason}\n" == written_reason if reason.endswith(".") else reason in written_reason
    assert "import" not in {kind for kind, _ in stored_entities(scenario)}


@pytest.mark.parametrize(("close", "kind", "reason"), _CLOSED)
def test_an_upload_fails_if_the_tenant_or_a_module_was_switched_off(
    close: Change, kind: str, reason: str, scenario: ImportScenario
) -> None:
    answer = scenario.erp.post("/imports/uploads", {"kind": kind, "filename": "goods.csv"})
    close()
    scenario.put_file(answer.data["upload"]["fields"]["key"].partition("/")[2], GOODS)
    scenario.drain_queue()
    reopen()
    [one] = all_imports(scenario)
    assert one["status"] == "failed"
    [error] = one["structure_errors"]
    assert reason == error if reason.endswith(".") else reason in error


def test_drops_are_committed_automatically_if_enabled(scenario: ImportScenario) -> None:
    WarehouseScenario(scenario.erp).change_settings(commit_drops=True)
    files = drop(scenario, "products/goods.csv")
    [one] = all_imports(scenario)
    assert (one["status"], one["documents"]["committed"]) == ("committed", 1)
    assert result(files, "products/goods.csv") == one
    assert reported_problems(files["drop/products/goods.csv.errors.xlsx"]) == PROBLEMS
    assert [product["item_code"] for product in scenario.erp.walk("/products")] == ["A"]


@pytest.mark.parametrize(
    ("example", "close"),
    [
        (PRODUCTS, _state("suspended")),
        (PRODUCTS, _without("bulk_import")),
        (EXITS, _without("bulk_import")),
        (TRANSFERS, _without("transfer_orders")),
    ],
)
def test_drops_are_not_committed_automatically_once_the_tenant_or_a_module_is_off(
    example: KindExample,
    close: Change,
    scenario: ImportScenario,
    yard_with_returns: WarehouseScenario,
) -> None:
    yard_with_returns.change_settings(commit_drops=True)
    scenario.put_file(f"drop/{example.kind}/file.csv", as_csv(table(example.kind, example.rows())))
    assert not scenario.deliver(*scenario.take_messages()), "the file arrives"
    close()
    scenario.drain_queue()
    assert result(scenario.files(), f"{example.kind}/file.csv")["status"] == "validated"

    reopen()
    [one] = all_imports(scenario)
    assert scenario.commit(one["id"])["status"] == "committed"


def test_other_uploads_are_not_committed_automatically(scenario: ImportScenario) -> None:
    WarehouseScenario(scenario.erp).change_settings(commit_drops=True)
    assert scenario.import_file("products", "goods.csv", GOODS)["status"] == "validated"


def test_an_invalid_drop_has_a_result(scenario: ImportScenario) -> None:
    WarehouseScenario(scenario.erp).change_settings(commit_drops=True)
    files = drop(scenario, "products/goods.csv", b"nothing,here\n1,2\n")
    [one] = all_imports(scenario)
    assert one["status"] == "invalid"
    assert result(files, "products/goods.csv") == one


def test_a_cancelled_drop_has_a_result(scenario: ImportScenario) -> None:
    drop(scenario, "products/goods.csv")
    assert scenario.erp.post("/imports/1/cancel").status == 200
    scenario.drain_queue()
    one = scenario.get_import(1)
    assert one["status"] == "cancelled"
    assert result(scenario.files(), "products/goods.csv") == one


def test_results_are_not_imported(scenario: ImportScenario) -> None:
    files = drop(scenario, "products/goods.csv")
    for name in files:
        if name != "drop/products/goods.csv":
            scenario.put_file(name, files[name])
    scenario.put_file("rejected/products/x.csv", GOODS)
    scenario.put_file("rejected/products/x.csv.reason.txt", b"no")
    scenario.put_file("drop/products/", b"")
    scenario.drain_queue()
    assert len(all_imports(scenario)) == 1
    assert set(scenario.files()) == {
        *files, "rejected/products/x.csv", "rejected/products/x.csv.reason.txt", "drop/products/",
    }  # fmt: skip


def test_each_created_file_is_imported_once(scenario: ImportScenario) -> None:
    scenario.put_file("drop/products/goods.csv", GOODS)
    [notification] = scenario.take_messages()
    for _ in range(3):
        assert not scenario.deliver(notification, notification)
    scenario.drain_queue()
    assert len(all_imports(scenario)) == 1

    drop(scenario, "products/goods.csv", NEW_GOODS)
    assert not scenario.deliver(notification)
    scenario.drain_queue()
    first, second = all_imports(scenario)
    assert (first["rows"]["total"], second["rows"]["total"]) == (2, 1)
    # The same content with another sequencer is a new file.
    scenario.put_file("drop/products/goods.csv", NEW_GOODS)
    [repeated] = scenario.take_messages()
    assert not scenario.deliver(repeated.replace('"sequencer": "', '"sequencer": "1'))
    assert len(all_imports(scenario)) == 3


def drop_twice(scenario: ImportScenario, first: bytes) -> list[str]:
    """Drop a file and one that replaces it before the worker runs; return their notifications."""
    for content in (first, NEW_GOODS):
        scenario.put_file("drop/products/goods.csv", content)
    return scenario.take_messages()


def test_a_file_that_replaces_a_refused_one_is_imported(scenario: ImportScenario) -> None:
    for notification in drop_twice(scenario, b""):
        assert not scenario.deliver(notification)
    scenario.drain_queue()
    [one] = all_imports(scenario)
    assert (one["status"], one["rows"]["valid"]) == ("validated", 1)
    files = scenario.files()
    assert set(files) == {"drop/products/goods.csv", "drop/products/goods.csv.result.json"}
    assert result(files, "products/goods.csv") == one


def test_results_are_those_of_the_last_file_of_the_name(scenario: ImportScenario) -> None:
    replaced, newest = drop_twice(scenario, GOODS)
    for notification in (newest, replaced):
        assert not scenario.deliver(notification)
        scenario.drain_queue()
    new, old = all_imports(scenario)
    assert (new["status"], old["status"]) == ("validated", "failed")
    assert result(scenario.files(), "products/goods.csv") == new


def test_a_file_without_errors_removes_the_report_of_an_earlier_one(
    scenario: ImportScenario,
) -> None:
    assert "drop/products/goods.csv.errors.xlsx" in drop(scenario, "products/goods.csv")
    files = drop(scenario, "products/goods.csv", NEW_GOODS)
    assert set(files) == {"drop/products/goods.csv", "drop/products/goods.csv.result.json"}


def test_keys_in_notifications_are_url_decoded(scenario: ImportScenario) -> None:
    scenario.put_file("drop/products/a b+c.csv", GOODS)
    [notification] = scenario.take_messages()
    [record] = json.loads(notification)["Records"]
    assert record["s3"]["object"]["key"] == f"acme/drop/products/{quote_plus('a b+c.csv')}"
    assert not scenario.deliver(notification)
    [one] = all_imports(scenario)
    assert one["file"] == "a b+c.csv"
