"""Imports of the returns of dispatched exit documents."""

import pytest

from tests.faults import Answer, AwsFaults, Call, Forward
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv
from tests.integration.imports.outcome import report_problems
from tests.return_scenario import ReturnScenario
from tests.stack import Stack
from tests.stock_invariants import assert_invariants


@pytest.fixture
def dispatched(scenario: ImportScenario) -> ReturnScenario:
    """An exit document that was dispatched, of a company without blind returns."""
    return ReturnScenario(scenario.erp)


def test_returns_of_one_document_take_at_most_what_was_dispatched(
    scenario: ImportScenario, dispatched: ReturnScenario, stack: Stack
) -> None:
    order = dispatched.order
    rows: list[list[object]] = [
        ["external_ref", "exit_document_id", "item_code", "qty", "reason", "serials"],
        ["R-1", order, "BRICK", "6", "damaged", ""],
        ["R-1", order, "DRILL", "1", "", "S-1"],
        ["R-2", order, "BRICK", "6", "other", ""],
        ["R-3", order, "BRICK", "11", "other", ""],
        ["R-4", order, "DRILL", "1", "", "S-2"],
        ["R-5", "", "BRICK", "1", "", ""],
    ]
    one = scenario.import_file("returns", "returns.csv", as_csv(rows))
    refused = f"11 of BRICK to return; 10 dispatched with EX-{order}, 0 returned, 10 left"
    assert (5, "qty", refused) in report_problems(scenario, one)
    assert one["documents"] == {"total": 5, "valid": 3, "committed": 0}

    done = scenario.commit(one["id"])

    assert done["documents"] == {"total": 5, "valid": 2, "committed": 2}
    refused = f"6 of BRICK to return; 10 dispatched with EX-{order}, 6 returned, 4 left"
    assert (4, "qty", refused) in report_problems(scenario, done)
    shown = scenario.erp.walk("/returns", sort="created_at")
    assert [(row["external_ref"], row["source"], row["card_code"]) for row in shown] == [
        ("R-1", "import", "C-1"),
        ("R-4", "import", "C-1"),
    ]
    assert_invariants(stack.store())


def test_return_that_is_created_during_the_validation_of_its_row_is_skipped(
    scenario: ImportScenario, dispatched: ReturnScenario, aws_faults: AwsFaults
) -> None:
    """The references of all rows are read before what was returned."""
    rows: list[list[object]] = [
        ["external_ref", "exit_document_id", "item_code", "qty"],
        ["R-1", dispatched.order, "BRICK", "6"],
    ]
    pending = [lambda: dispatched.expected(("BRICK", 6), external_ref="R-1")]

    def create_before(call: Call, forward: Forward) -> Answer:
        if pending and "returned#" in str(call.request):
            pending.pop()()
        return forward()

    with aws_faults.faulty(create_before):
        one = scenario.import_file("returns", "returns.csv", as_csv(rows))

    assert not pending
    assert (one["status"], one["documents"]["valid"]) == ("validated", 1), one
    assert scenario.commit(one["id"])["documents"]["committed"] == 0


@pytest.mark.usefixtures("dispatched")
def test_an_exit_document_that_cannot_be_read_is_the_only_problem_of_its_row(
    scenario: ImportScenario,
) -> None:
    header: list[object] = ["external_ref", "exit_document_id", "item_code", "qty"]
    rows: list[list[object]] = [header, ["R-1", "EX-12", "BRICK", "1"]]

    one = scenario.import_file("returns", "returns.csv", as_csv(rows))

    assert report_problems(scenario, one) == {(2, "exit_document_id", "must be a number")}
