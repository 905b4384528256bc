"""Imports of the returns of dispatched exit documents."""

import pytest

from operations.provisioning import set_settings
from shared.identity.tenancy.access import store_for
from shared.integration.imports.context import import_context
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.languages import Language
from shared.warehouse.settings.values import settings_of
from tests.cases import each_case
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv, as_xlsx
from tests.integration.imports.outcome import report_problems
from tests.integration.settings.api_client_requests import expire_tenant_cache
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
    assert one["documents"] == {"total": 5, "valid": 3, "committed": 0, "skipped": 0}

    done = scenario.commit(one["id"])

    assert done["documents"] == {"total": 5, "valid": 2, "committed": 2, "skipped": 0}
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


def test_an_exit_document_is_named_by_number_reference_or_id(
    scenario: ImportScenario, dispatched: ReturnScenario
) -> None:
    order = dispatched.order
    reference = scenario.erp.get(f"/exit-documents/{order}").data["external_ref"]
    names = [f"EX-{order}", f"ex-{order}", reference, str(order)]
    header: list[object] = ["Referencia", "Documento de salida", "SKU", "Cantidad", "Motivo"]
    rows = [[f"R-{number}", name, "BRICK", "1", "DAÑADO"] for number, name in enumerate(names)]

    for content in (
        as_csv([header, *rows]),
        as_xlsx([header, ["R-X", order, "BRICK", 1, "Other"]]),
    ):
        name = "returns.xlsx" if content[:2] == b"PK" else "returns.csv"
        one = scenario.import_file("returns", name, content)
        assert one["rows"]["error"] == 0, report_problems(scenario, one)
        scenario.commit(one["id"])

    shown = scenario.erp.walk("/returns", sort="created_at")
    assert [row["exit_document_id"] for row in shown] == [order] * 5
    reasons = [
        scenario.erp.get(f"/returns/{row['id']}").data["lines"][0]["reason"] for row in shown
    ]
    assert reasons == [*["damaged"] * 4, "other"]


def test_a_name_of_several_exit_documents_is_refused(
    scenario: ImportScenario, dispatched: ReturnScenario
) -> None:
    order = dispatched.order
    body = {
        "external_ref": str(order), "type": "sale_order", "doc_date": "2026-03-01",
        "partner_code": "C-1", "warehouse_code": "YARD",
        "lines": [{"item_code": "BRICK", "qty": 1}],
    }  # fmt: skip
    other = scenario.erp.post("/exit-documents", body, key="k").id
    header = ["external_ref", "exit_document_id", "item_code", "qty"]
    rows = [["R-1", str(order), "BRICK", "1"], ["R-2", f"EX-{order}", "BRICK", "1"]]

    one = scenario.import_file("returns", "returns.csv", as_csv([header, *rows]))

    message = f"{order} may mean EX-{order}, EX-{other}; write one of these numbers"
    assert report_problems(scenario, one) == {(2, "exit_document_id", message)}


@pytest.mark.parametrize("language", ["en", "es"])
def test_reasons_are_read_in_both_languages(language: Language) -> None:
    column = importer_of("returns").layout.by_field["reason"]
    for key, choice in zip(column.keys, column.choices, strict=True):
        for text in (key, key.upper().replace("_", " "), choice.in_(language).upper()):
            assert column.key_of(text) == key
    assert column.key_of("broken") == "broken"


@each_case(
    ("name", "message"),
    [
        ("EX-99", "no exit document has the id 99"),
        ("99", "no exit document has the number, reference or id 99"),
        ("WEB-1", "no exit document has the number, reference or id WEB-1"),
        ("x" * 101, "must have at most 100 characters"),
    ],
)
@pytest.mark.usefixtures("dispatched")
def test_an_exit_document_that_cannot_be_found_is_the_only_problem_of_its_row(
    scenario: ImportScenario, name: str, message: str
) -> None:
    header: list[object] = ["external_ref", "exit_document_id", "item_code", "qty"]
    rows: list[list[object]] = [header, ["R-1", name, "BRICK", "1"]]

    one = scenario.import_file("returns", "returns.csv", as_csv(rows))

    assert report_problems(scenario, one) == {(2, "exit_document_id", message)}


def test_next_step_of_an_import_has_the_present_settings(stack: Stack) -> None:
    tenant = stack.tenant()
    context = import_context(tenant, store_for(tenant))

    set_settings("acme", {"blind_returns": True})
    expire_tenant_cache()

    assert not settings_of(context.store.company).blind_returns
    assert settings_of(context.renewed().store.company).blind_returns
