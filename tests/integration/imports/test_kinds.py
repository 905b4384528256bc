"""An import of each kind has the same result as single requests, in every file format."""

from io import BytesIO
from typing import Any

import pytest
from openpyxl import load_workbook

from operations import provisioning
from shared.integration.imports.languages import LANGUAGES, Language
from shared.integration.imports.template import template
from tests.gateway import Erp
from tests.import_scenario import ImportScenario
from tests.integration.imports.import_files import as_csv, as_xlsx, table, workbook_bytes
from tests.integration.imports.kind_examples import (
    ENTRIES,
    EXITS,
    KIND_EXAMPLES,
    PICK_FACES,
    PRODUCTS,
    KindExample,
)
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.tenant_cache import apply_now
from tests.warehouse_scenario import WarehouseScenario

_VARIABLE_FIELDS = ("created_at", "updated_at", "source")

EACH_KIND = pytest.mark.parametrize("example", KIND_EXAMPLES, ids=lambda example: example.kind)


def details(erp: Erp, path: str) -> list[dict[str, Any]]:
    """Return all entities of a list with their details, without source and times."""
    found = [erp.get(f"{path}/{one['id']}").data for one in erp.walk(path)]
    comparable = [{k: v for k, v in one.items() if k not in _VARIABLE_FIELDS} for one in found]
    return sorted(comparable, key=lambda one: int(one["id"]))


def event_names(stack: Stack, slug: str) -> list[tuple[str, ...]]:
    """Return the events of a tenant in their order, without ids and times.

    Those of levels are left out: a transaction that changes a level several times raises one.
    """
    names = [(event["type"]["S"], event["object"]["S"]) for event in stack.events(slug)]
    return [name for name in names if name != ("stock.updated", "stock_level")]


def import_valid_file(
    scenario: ImportScenario, example: KindExample, name: str, content: bytes
) -> dict[str, Any]:
    """Import a file in which all rows are valid."""
    one = scenario.import_file(example.kind, name, content)
    entities, rows = len(example.bodies), len(example.rows())
    assert (one["status"], one["structure_errors"]) == ("validated", []), one
    assert one["rows"] == {"total": rows, "valid": rows, "error": 0}
    assert one["documents"] == {"total": entities, "valid": entities, "committed": 0, "skipped": 0}
    done = scenario.commit(one["id"])
    assert done["status"] == "committed"
    assert done["committed_at"]
    assert done["documents"] == {
        "total": entities,
        "valid": entities,
        "committed": entities,
        "skipped": 0,
    }
    assert done["error_report_url"] is None
    return done


@EACH_KIND
def test_an_import_creates_the_same_entities_and_events_as_single_requests(
    example: KindExample, stack: Stack, scenario: ImportScenario, beta: Erp
) -> None:
    for erp, slug in ((scenario.erp, "acme"), (beta, "beta")):
        WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
        apply_now(provisioning.set_settings, slug, {"blind_returns": True})
    before = len(stack.events("beta"))
    for number, body in enumerate(example.bodies):
        beta.post(example.path, body, key=f"k-{number}").ok(201)
    expected, events = details(beta, example.list_path), event_names(stack, "beta")[before:]
    assert len(expected) >= len(example.bodies)
    as_furnished = stack.take_snapshot()

    rows = example.rows()
    files = {
        "plain.csv": as_csv(table(example.kind, rows)),
        "Titled, in Spanish.XLSX": as_xlsx(
            [
                ["Fichero mensual"],
                [None, "del patio"],
                [],
                *table(
                    example.kind, rows, language="es", reverse_columns=True, extra_header="Notas"
                ),
            ]
        ),
        "titled.csv": as_csv(
            [
                ["Monthly file"],
                [],
                *table(example.kind, rows, reverse_columns=True, extra_header="Notes"),
            ],
            separator=";",
        ),
    }
    for name, content in files.items():
        before = len(stack.events())
        import_valid_file(scenario, example, name, content)
        assert details(scenario.erp, example.list_path) == expected, name
        assert event_names(stack, "acme")[before:] == events, name
        created = scenario.erp.walk(example.list_path)[-len(example.bodies) :]
        assert {one.get("source", "import") for one in created} == {"import"}
        assert_invariants(stack.store())
        as_furnished()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_template_that_is_filled_in_can_be_imported(
    language: Language, scenario: ImportScenario, yard_with_returns: WarehouseScenario
) -> None:
    for example in KIND_EXAMPLES:
        before = yard_with_returns.erp.get(example.list_path).json()["meta"]["total"]
        import_valid_file(scenario, example, "template.xlsx", filled_in(example, language))
        after = yard_with_returns.erp.get(example.list_path).json()["meta"]["total"]
        assert after == before + len(example.bodies)


def filled_in(example: KindExample, language: Language) -> bytes:
    book = load_workbook(BytesIO(template(example.kind, language)))
    sheet = book.worksheets[0]
    columns = {str(one.value).rstrip(" *"): column for column, one in enumerate(sheet[1], 1)}
    header, *rows = table(example.kind, example.rows(), language=language)
    for title in map(str, header):  # a template has no columns of metadata
        sheet.cell(1, columns.setdefault(title, len(columns) + 1)).value = title
    for number, row in enumerate(rows, 3):
        for name, value in zip(header, row, strict=True):
            cell = sheet.cell(number, columns[str(name)])
            cell.value = None if value is None else str(value)
            if cell.value and cell.value.startswith("="):
                cell.data_type = "s"
    return workbook_bytes(book)


def test_stock_follows_the_name_that_an_import_gives_to_a_product(
    scenario: ImportScenario, yard_with_returns: WarehouseScenario
) -> None:
    yard_with_returns.stock("BRICK", 1)
    rows = [["item_code", "name"], ["BRICK", "Red brick"]]
    one = scenario.import_file("products", "names.xlsx", as_xlsx(rows))
    scenario.commit(one["id"])

    [row] = scenario.erp.get("/stocks").data
    assert row["product_name"] == "Red brick"


def test_blank_cells_do_not_change_a_product(scenario: ImportScenario, stack: Stack) -> None:
    for body in PRODUCTS.bodies:
        assert scenario.erp.post("/products", body).status == 201
    [first, second, third] = details(scenario.erp, "/products")
    before = len(stack.events())
    rows: list[list[object]] = [
        ["item_code", "name", "barcode", "type", "sales_unit", "inventory item"],
        ["0042", "Trowel ", None, "hand tool", "  ", None],
        ["1E5", second["name"], None, None, "", "sí"],
        ["CALL-OUT", third["name"], "123", None, None, None],
        ["NEW", "New", None, None, None, None],
    ]

    one = scenario.import_file("products", "changes.xlsx", as_xlsx(rows))
    done = scenario.commit(one["id"])

    assert done["documents"] == {"total": 4, "valid": 4, "committed": 4, "skipped": 0}
    assert details(scenario.erp, "/products")[:3] == [
        first | {"name": "Trowel", "type": "hand tool"},
        second,
        third | {"barcode": "123"},
    ]
    events = [event["type"]["S"] for event in stack.events()[before:]]
    assert sorted(events) == ["product.created", "product.updated", "product.updated"]


def test_pick_faces_are_created_or_changed(
    scenario: ImportScenario, yard_with_returns: WarehouseScenario
) -> None:
    first = PICK_FACES.bodies[0]
    scenario.erp.post("/pick-faces", {**first, "minimum": 1, "maximum": 99}).ok(201)
    rows = [
        ["item_code", "warehouse_code", "bin_code", "minimum"],
        ["BRICK", "YARD", "F-01", "2,5"],
        ["CEMENT", "YARD", "A-01", ""],
    ]

    scenario.commit(
        scenario.import_file("pick_faces", "faces.csv", as_csv(rows, separator=";"))["id"]
    )

    [changed, new] = details(scenario.erp, "/pick-faces")
    assert (changed["item_code"], changed["minimum"], changed["maximum"]) == ("BRICK", 2.5, 99)
    assert (new["item_code"], new["bin_code"], new["minimum"]) == ("CEMENT", "A-01", None)
    assert yard_with_returns.erp.get("/pick-faces").json()["meta"]["total"] == 2


def test_exit_documents_are_allocated_if_requested(
    scenario: ImportScenario, stack: Stack, yard_with_returns: WarehouseScenario
) -> None:
    yard_with_returns.stock("BRICK", 6)
    yard_with_returns.stock("CEMENT", 2, batch="L-1")
    yard_with_returns.stock("DRILL", 1, serial="S-1")
    content = as_xlsx(table("exit_documents", EXITS.rows()))

    one = scenario.import_file("exit_documents", "orders.xlsx", content, auto_allocate="true")
    assert yard_with_returns.erp.walk("/pickings") == []
    scenario.commit(one["id"])

    pickings = [
        yard_with_returns.erp.get(f"/pickings/{p['id']}").data
        for p in yard_with_returns.erp.walk("/pickings")
    ]
    assert [p["document"]["external_ref"] for p in pickings[::-1]] == ["SO-1", "SO-2"]
    assert yard_with_returns.level("BRICK") == (6, 6, 0)
    assert yard_with_returns.level("CEMENT") == (2, 2, 0)
    assert yard_with_returns.level("DRILL") == (1, 1, 0)
    assert {yard_with_returns.document(number)["status"] for number in (1, 2)} == {"assigned"}
    assert_invariants(stack.store())


def test_documents_that_the_import_did_not_create_are_not_allocated(
    scenario: ImportScenario, yard_with_returns: WarehouseScenario
) -> None:
    yard_with_returns.stock("BRICK", 20)
    first, _ = EXITS.bodies
    assert yard_with_returns.erp.post("/exit-documents", first, key="k").status == 201
    content = as_csv(table("exit_documents", EXITS.rows()))

    one = scenario.import_file("exit_documents", "orders.csv", content, auto_allocate="true")
    assert scenario.commit(one["id"])["documents"]["committed"] == 1

    [picking] = yard_with_returns.erp.walk("/pickings")
    assert picking["document"]["external_ref"] == "SO-2"


def test_entry_documents_are_not_allocated(
    scenario: ImportScenario, yard_with_returns: WarehouseScenario
) -> None:
    content = as_csv(table("entry_documents", ENTRIES.rows()))
    one = scenario.import_file("entry_documents", "in.csv", content, auto_allocate="true")
    assert scenario.commit(one["id"])["status"] == "committed"
    assert yard_with_returns.erp.walk("/pickings") == []
