"""Documents that exist and differ from the file: left as they are, and reported."""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pytest
from openpyxl import load_workbook

from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import RowValues, as_csv, entry_row, table
from tests.integration.imports.kind_examples import KIND_EXAMPLES, KindExample
from tests.integration.imports.outcome import report_problems

pytestmark = pytest.mark.usefixtures("yard_with_returns")

WITH_REFERENCE = [one for one in KIND_EXAMPLES if "external_ref" in one.bodies[0]]
SKIPPED = 1
"""The second sheet of the report."""


def imported(scenario: ImportScenario, rows: Sequence[RowValues], name: str = "a.csv") -> Any:
    """Import entry documents without a commit."""
    content = as_csv(table("entry_documents", rows))
    return scenario.import_file("entry_documents", name, content)


def warning_of(scenario: ImportScenario, one: dict[str, Any]) -> str | None:
    warning: str | None = scenario.erp.get(f"/imports/{one['id']}").json().get("warning")
    return warning


def counts(total: int, valid: int, committed: int, skipped: int) -> dict[str, int]:
    return {"total": total, "valid": valid, "committed": committed, "skipped": skipped}


def test_rows_of_documents_that_exist_and_differ_are_reported(scenario: ImportScenario) -> None:
    first = [entry_row("A"), entry_row("A", item_code="CEMENT", batch="L-1"), entry_row("B")]
    scenario.commit(imported(scenario, first)["id"])
    before = scenario.erp.walk("/entry-documents")
    changed = [
        entry_row("A", doc_date="2026-03-02", qty="2"),
        entry_row("A", doc_date="", item_code="CEMENT", batch="L-2"),
        entry_row("B"),
        entry_row("C"),
        entry_row("D", item_code="NONE"),
    ]
    number = next(row["id"] for row in before if row["external_ref"] == "A")
    message = f"differs from what exists with the id {number}"
    differing = {
        (2, "Document date", message), (2, "Quantity", message), (3, "Batch", message),
    }  # fmt: skip
    warning = (
        "1 of 4 documents in the file exist and differ; the commit leaves them as they are. Their"
        " rows are in the sheet Skipped of the error report."
    )

    one = imported(scenario, changed, "b.csv")
    assert one["documents"] == counts(4, 3, 0, 1)
    assert warning_of(scenario, one) == warning
    assert report_problems(scenario, one, SKIPPED) == differing

    committed = scenario.erp.post(f"/imports/{one['id']}/commit")
    assert committed.json()["warning"] == warning
    done = scenario.get_import(one["id"])
    assert done["documents"] == counts(4, 3, 1, 1)
    assert report_problems(scenario, done) == {(6, "Item code", "no product has the code NONE")}
    assert report_problems(scenario, done, SKIPPED) == differing
    after = scenario.erp.walk("/entry-documents")
    assert [row for row in after if row["external_ref"] != "C"] == before


def test_cells_of_addresses_and_metadata_that_differ_are_named(scenario: ImportScenario) -> None:
    header = (
        "Reference,Type,Document date,Partner code,Warehouse,Ship to city,Ship to country,"
        "metadata.route,Item code,Quantity,lines.metadata.shelf\n"
    )
    row = "A,Sales order,2026-03-01,C-1,YARD,{},GB,{},BRICK,1,{}\n"
    first = header + row.format("Bath", "north", "1")
    scenario.commit(scenario.import_file("exit_documents", "first.csv", first.encode())["id"])
    other = header + row.format("Bristol", "south", "2")

    one = scenario.import_file("exit_documents", "second.csv", other.encode())

    message = "differs from what exists with the id 1"
    columns = ("Ship to city", "metadata.route", "lines.metadata.shelf")
    assert report_problems(scenario, one, SKIPPED) == {(2, name, message) for name in columns}


@pytest.mark.parametrize("example", WITH_REFERENCE, ids=lambda one: str(one.kind))
def test_another_quantity_is_reported_for_every_kind(
    scenario: ImportScenario, example: KindExample
) -> None:
    content = as_csv(table(example.kind, example.rows()))
    scenario.commit(scenario.import_file(example.kind, "first.csv", content)["id"])
    [row, *others] = example.rows()
    other = as_csv(table(example.kind, [{**row, "qty": "1.5"}, *others], language="es"))

    one = scenario.import_file(example.kind, "second.csv", other)
    done = scenario.commit(one["id"])

    assert one["documents"]["skipped"] == done["documents"]["skipped"] == 1
    [found, *rest] = sorted(report_problems(scenario, done, SKIPPED))
    assert found[:2] == (2, "Cantidad")
    assert found[2].startswith("difiere de lo que ya existe con el id ")
    assert {reason for *_, reason in rest} == {"omitida porque la fila 2 del documento difiere"}
    assert report_problems(scenario, done) == set()


def test_report_has_the_skipped_rows_even_if_no_row_is_rejected(scenario: ImportScenario) -> None:
    scenario.commit(imported(scenario, [entry_row("A")])["id"])
    one = imported(scenario, [entry_row("A"), entry_row("A", qty="2")], "b.csv")
    report = scenario.erp.get(f"/imports/{one['id']}/error-report").content
    book = load_workbook(BytesIO(report))
    assert book.sheetnames == ["Errors", "Skipped"]
    assert [row[:3] for row in book["Skipped"].iter_rows(min_row=2, values_only=True)] == [
        (2, "lines", "differs from what exists with the id 1"),
        (3, "", "skipped because row 2 of the document differs"),
    ]
    assert [cell.value for cell in book["Skipped"][1]] == [cell.value for cell in book["Errors"][1]]


def test_what_differs_at_the_commit_counts(scenario: ImportScenario) -> None:
    one = imported(scenario, [entry_row("A"), entry_row("B")])
    assert (one["documents"]["skipped"], warning_of(scenario, one)) == (0, None)
    other = imported(scenario, [entry_row("A", qty="2")], "b.csv")
    scenario.commit(other["id"])

    done = scenario.commit(one["id"])

    assert done["documents"] == counts(2, 2, 1, 1)
    assert len(report_problems(scenario, done, SKIPPED)) == 1


def test_both_warnings_are_given(scenario: ImportScenario) -> None:
    first = imported(scenario, [entry_row("A")])
    scenario.commit(imported(scenario, [entry_row("A", qty="2")], "b.csv")["id"])
    again = imported(scenario, [entry_row("A")], "c.csv")
    warning = warning_of(scenario, again)
    assert warning is not None
    assert warning.startswith(f"The same file was uploaded before, as import {first['id']}. 1 of 1")


def test_result_of_a_dropped_file_has_the_warning(scenario: ImportScenario) -> None:
    scenario.commit(imported(scenario, [entry_row("A")])["id"])
    content = as_csv(table("entry_documents", [entry_row("A", qty="2")]))
    scenario.put_file("drop/entry_documents/a.csv", content)
    scenario.drain_queue()
    files = scenario.files()
    result = json.loads(files["drop/entry_documents/a.csv.result.json"])
    assert result["documents"] == counts(1, 1, 0, 1)
    assert result["warning"].startswith("1 of 1 documents in the file exist and differ")
    assert "drop/entry_documents/a.csv.errors.xlsx" in files
