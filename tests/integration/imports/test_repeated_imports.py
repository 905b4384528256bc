"""Existing entities, repeated files and repeated requests."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.gateway import Form
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv, entry_row, table
from tests.integration.imports.kind_examples import (
    ENTRIES,
    EXITS,
    PICK_FACES,
    PRODUCTS,
    RETURNS,
    TRANSFERS,
    KindExample,
)
from tests.integration.imports.outcome import all_imports, report_problems, snapshot

pytestmark = pytest.mark.usefixtures("yard_with_returns")

CREATED = [ENTRIES, EXITS, TRANSFERS, RETURNS]
CHANGED = [PRODUCTS, PICK_FACES]
BRICK = "/products/1"
FILE = Form({"kind": "products"}, ("goods.csv", as_csv([["item_code", "name"], ["A", "Good"]])))
OTHER = Form({"kind": "products"}, ("goods.csv", as_csv([["item_code", "name"], ["B", "Good"]])))


def import_twice(scenario: ImportScenario, example: KindExample, **options: str) -> dict[str, Any]:
    """Import the same file a second time."""
    content = as_csv(table(example.kind, example.rows()))
    one = scenario.import_file(example.kind, "first.csv", content)
    assert scenario.commit(one["id"])["documents"]["committed"] == len(example.bodies)
    return scenario.import_file(example.kind, "second.csv", content, **options)


def each_example(
    scenario: ImportScenario, examples: Sequence[KindExample]
) -> Iterator[KindExample]:
    """Yield one example after the other, each with the original master data."""
    reset = scenario.stack.take_snapshot()
    for example in examples:
        yield example
        reset()
        scenario.take_messages()


@pytest.mark.parametrize("options", [{}, {"on_duplicate": "skip"}], ids=str)
def test_existing_documents_are_skipped(options: dict[str, str], scenario: ImportScenario) -> None:
    for example in each_example(scenario, CREATED):
        one = import_twice(scenario, example, **options)
        before = snapshot(scenario)
        done = scenario.commit(one["id"])
        count = len(example.bodies)
        assert done["documents"] == {"total": count, "valid": count, "committed": 0, "skipped": 0}
        assert set(snapshot(scenario) - before) == {("import", (example.kind, "committed"))}


def test_existing_entities_are_errors_if_requested(
    scenario: ImportScenario,
) -> None:
    for example in each_example(scenario, [*CREATED, *CHANGED]):
        one = import_twice(scenario, example, on_duplicate="fail")
        assert one["status"] == "invalid"
        rows = len(example.rows())
        assert one["rows"] == {"total": rows, "valid": 0, "error": rows}
        all_reasons = {reason for _, _, reason in report_problems(scenario, one)}
        reasons = {reason for reason in all_reasons if "rejected because" not in reason}
        assert reasons
        assert all("already exists" in reason or "is already taken" in reason for reason in reasons)


def test_entities_that_exist_since_the_validation_are_the_same_errors(
    scenario: ImportScenario,
) -> None:
    for example in each_example(scenario, [*CREATED, *CHANGED]):
        content = as_csv(table(example.kind, example.rows()))
        early = scenario.import_file(example.kind, "early.csv", content, on_duplicate="fail")
        assert early["status"] == "validated"
        late = import_twice(scenario, example, on_duplicate="fail")
        done = scenario.commit(early["id"])
        assert done["documents"]["committed"] == 0
        assert report_problems(scenario, done) == report_problems(scenario, late)


def test_existing_products_and_pick_faces_are_skipped_if_requested(
    scenario: ImportScenario,
) -> None:
    for example in each_example(scenario, CHANGED):
        content = as_csv(table(example.kind, example.rows()))
        scenario.commit(scenario.import_file(example.kind, "first.csv", content)["id"])
        before, shown = snapshot(scenario), scenario.erp.walk(example.path)
        changed = {**example.rows()[0], "name": "Other", "minimum": 77, "maximum": 78}
        content = as_csv(table(example.kind, [changed]))

        one = scenario.import_file(example.kind, "other.csv", content, on_duplicate="skip")
        done = scenario.commit(one["id"])

        assert done["documents"] == {"total": 1, "valid": 1, "committed": 0, "skipped": 0}
        assert scenario.erp.walk(example.path) == shown
        assert set(snapshot(scenario) - before) == {("import", (example.kind, "committed"))}


def test_an_existing_pick_face_is_skipped_although_its_quantities_do_not_allow_the_row(
    scenario: ImportScenario,
) -> None:
    row = {"item_code": "BRICK", "warehouse_code": "YARD", "bin_code": "F-01"}
    first = as_csv(table("pick_faces", [{**row, "maximum": 5}]))
    scenario.commit(scenario.import_file("pick_faces", "first.csv", first)["id"])
    second = as_csv(table("pick_faces", [{**row, "minimum": 6}]))

    one = scenario.import_file("pick_faces", "second.csv", second, on_duplicate="skip")
    assert one["documents"] == {"total": 1, "valid": 1, "committed": 0, "skipped": 0}
    assert scenario.commit(one["id"])["documents"] == {
        "total": 1,
        "valid": 1,
        "committed": 0,
        "skipped": 0,
    }

    one = scenario.import_file("pick_faces", "second.csv", second)
    assert report_problems(scenario, one) == {(2, "Minimum", "must be at most maximum (5)")}


def test_importing_the_same_file_again_changes_nothing(
    scenario: ImportScenario,
) -> None:
    for example in each_example(scenario, CHANGED):
        one = import_twice(scenario, example)
        before, shown = snapshot(scenario), scenario.erp.walk(example.path)
        done = scenario.commit(one["id"])
        assert done["documents"]["committed"] == len(example.bodies)
        assert scenario.erp.walk(example.path) == shown
        assert set(snapshot(scenario) - before) == {("import", (example.kind, "committed"))}


@pytest.mark.parametrize("options", [{}, {"on_duplicate": "fail"}], ids=str)
def test_an_entity_created_between_validation_and_commit_is_respected(
    options: dict[str, str], scenario: ImportScenario
) -> None:
    for example in each_example(scenario, [*CREATED, *CHANGED]):
        first, *others = example.bodies
        content = as_csv(table(example.kind, example.rows()))
        one = scenario.import_file(example.kind, "new.csv", content, **options)
        assert scenario.erp.post(example.path, first, key="k").status == 201

        done = scenario.commit(one["id"])

        count, failed = len(example.bodies), len(options)
        assert done["documents"] == {
            "total": count,
            "valid": count - failed,
            "committed": count if example in CHANGED and not failed else len(others),
            "skipped": 0,
        }
        assert bool(done["error_report_url"]) == bool(failed)


def test_a_product_deleted_between_validation_and_commit_rejects_its_rows(
    scenario: ImportScenario,
) -> None:
    rows = [
        entry_row("A"),
        entry_row("B", item_code="CEMENT"),
        entry_row("A", qty="2"),
        entry_row("C", qty="3"),
    ]
    one = scenario.import_file("entry_documents", "in.csv", as_csv(table("entry_documents", rows)))
    assert one["rows"]["valid"] == 4
    assert scenario.erp.delete(BRICK).status == 200

    done = scenario.commit(one["id"])

    assert done["status"] == "committed"
    assert done["rows"] == {"total": 4, "valid": 1, "error": 3}
    assert done["documents"] == {"total": 3, "valid": 1, "committed": 1, "skipped": 0}
    assert report_problems(scenario, done) == {
        (row, "Item code", "no product has the code BRICK") for row in (2, 4, 5)
    }


def test_what_existing_products_do_not_allow_is_rejected_by_the_commit(
    scenario: ImportScenario,
) -> None:
    erp = scenario.erp
    number = erp.post("/products", {"item_code": "OLD", "name": "Product"}).id
    rows = [entry_row("A", item_code="OLD"), entry_row("B", item_code="BRICK")]
    file = as_csv(table("entry_documents", rows))
    scenario.commit(scenario.import_file("entry_documents", "in.csv", file)["id"])
    erp.post("/entry-documents/1/close").ok()
    erp.patch(f"/products/{number}", {"item_code": "NEW"}).ok()
    products = [["item_code", "name", "man_btch_num"], ["OLD", "Other", ""], ["BRICK", "B", "yes"]]

    one = scenario.import_file("products", "products.csv", as_csv(products))
    assert one["rows"] == {"total": 2, "valid": 2, "error": 0}
    done = scenario.commit(one["id"])

    assert done["rows"] == {"total": 2, "valid": 0, "error": 2}
    former, in_use = sorted(report_problems(scenario, done))
    assert former[1:] == (
        "item_code",
        f"was the code of NEW (product, id {number}); documents or stock movements name it",
    )
    assert "BRICK is on open documents" in in_use[2]


def test_an_existing_document_is_skipped_although_its_product_is_deleted(
    scenario: ImportScenario,
) -> None:
    content = as_csv(table("entry_documents", [entry_row("A")]))
    scenario.commit(scenario.import_file("entry_documents", "in.csv", content)["id"])
    assert scenario.erp.post("/entry-documents/1/close").status == 200
    assert scenario.erp.delete(BRICK).status == 200

    one = scenario.import_file("entry_documents", "in.csv", content)

    assert (one["status"], one["rows"]["error"]) == ("validated", 0)
    assert scenario.commit(one["id"])["documents"]["committed"] == 0


def test_the_same_content_results_in_a_warning(scenario: ImportScenario) -> None:
    first = scenario.erp.post("/imports", FILE)
    assert "warning" not in first.json()
    second = scenario.erp.post("/imports", FILE)
    warning = f"The same file was uploaded before, as import {first.data['id']}."
    assert second.json()["warning"] == warning
    assert scenario.erp.get(f"/imports/{second.data['id']}").json()["warning"] == warning
    assert "warning" not in scenario.erp.post("/imports", OTHER).json()
    other_tenant = ImportScenario(scenario.stack, "beta").erp.post("/imports", FILE)
    assert "warning" not in other_tenant.json()


def test_the_same_content_in_another_channel_results_in_a_warning(scenario: ImportScenario) -> None:
    assert FILE.file
    content = FILE.file[1]
    scenario.put_file("drop/products/goods.csv", content)
    scenario.drain_queue()
    requested = scenario.erp.post("/imports/uploads", {"kind": "products", "filename": "goods.csv"})
    scenario.put_file(requested.data["upload"]["fields"]["key"].partition("/")[2], content)
    scenario.drain_queue()
    shown = scenario.erp.get(f"/imports/{requested.data['id']}").json()
    assert shown["warning"] == "The same file was uploaded before, as import 1."


def test_a_repeated_request_creates_one_import(scenario: ImportScenario) -> None:
    first = scenario.erp.post("/imports", FILE, key="k")
    again = scenario.erp.post("/imports", FILE, key="k")
    assert (again.status, again.text) == (first.status, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    assert len(all_imports(scenario)) == 1
    for other in (OTHER, Form({**FILE.fields, "options[on_duplicate]": "fail"}, FILE.file)):
        refused = scenario.erp.post("/imports", other, key="k")
        assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    assert len(all_imports(scenario)) == 1
