"""What an import makes is what single requests make, whatever the file looks like."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import pytest
from openpyxl import load_workbook

from shared.integration.imports.columns import LANGUAGES, Language
from shared.integration.imports.templates import template
from tests.gateway import Erp
from tests.import_desk import ImportDesk
from tests.integration.imports.bodies import CARGOES, ENTRIES, EXITS, PICK_FACES, PRODUCTS, Cargo
from tests.integration.imports.sheets import as_csv, as_xlsx, saved, table
from tests.stack import Stack
from tests.stock_invariants import prove
from tests.warehouse_scenario import WarehouseScenario

type Write = Callable[[Sequence[Sequence[object]]], bytes]

_OF_THE_MOMENT = ("created_at", "updated_at", "source")
_PATHS = {cargo.path for cargo in CARGOES}

EACH_KIND = pytest.mark.parametrize("cargo", CARGOES, ids=lambda cargo: cargo.kind)


def shown(erp: Erp, path: str) -> list[dict[str, Any]]:
    """Everything on a list, with its details, but for what tells how and when it was made."""
    found = [erp.get(f"{path}/{one['id']}").data for one in erp.walk(path)]
    plain = [{k: v for k, v in one.items() if k not in _OF_THE_MOMENT} for one in found]
    return sorted(plain, key=lambda one: int(one["id"]))


def told(stack: Stack, slug: str) -> list[tuple[str, ...]]:
    """What the outbox tells of a tenant, in its order, but for what is of the moment."""
    return [(event["type"]["S"], event["object"]["S"]) for event in stack.events(slug)]


def imported(desk: ImportDesk, cargo: Cargo, name: str, content: bytes) -> dict[str, Any]:
    """Import a file of which everything is valid."""
    one = desk.imported(cargo.kind, name, content)
    things, rows = len(cargo.bodies), len(cargo.records())
    assert (one["status"], one["structure_errors"]) == ("validated", []), one
    assert one["rows"] == {"total": rows, "valid": rows, "error": 0}
    assert one["documents"] == {"total": things, "valid": things, "committed": 0}
    done = desk.commit(one["id"])
    assert done["status"] == "committed"
    assert done["committed_at"]
    assert done["documents"] == {"total": things, "valid": things, "committed": things}
    assert done["error_report_url"] is None
    return done


@EACH_KIND
def test_a_file_makes_what_single_requests_make(
    cargo: Cargo, stack: Stack, desk: ImportDesk, beta: Erp
) -> None:
    WarehouseScenario.furnished(desk.erp, "YARD", "SHOP")
    WarehouseScenario.furnished(beta, "YARD", "SHOP")
    before = len(stack.events("beta"))
    for number, body in enumerate(cargo.bodies):
        answer = beta.post(cargo.path, body, key=f"k-{number}")
        assert answer.status == 201, answer.text
    wanted, events = shown(beta, cargo.path), told(stack, "beta")[before:]
    assert len(wanted) >= len(cargo.bodies)
    as_furnished = stack.keep()

    records = cargo.records()
    files = {
        "plain.csv": as_csv(table(cargo.kind, records)),
        "Titled, in Spanish.XLSX": as_xlsx(
            [
                ["Fichero mensual"],
                [None, "del patio"],
                [],
                *table(cargo.kind, records, language="es", backwards=True, strange="Notas"),
            ]
        ),
        "titled.csv": as_csv(
            [["Monthly file"], [], *table(cargo.kind, records, backwards=True, strange="Notes")],
            separator=";",
        ),
    }
    for name, content in files.items():
        before = len(stack.events())
        imported(desk, cargo, name, content)
        assert shown(desk.erp, cargo.path) == wanted, name
        assert told(stack, "acme")[before:] == events, name
        made = desk.erp.walk(cargo.path)[-len(cargo.bodies) :]
        assert {one.get("source", "import") for one in made} == {"import"}
        prove(stack.store())
        as_furnished()


@pytest.mark.parametrize("language", LANGUAGES)
def test_templates_are_filled_in_below_their_sample_row(
    language: Language, desk: ImportDesk, yard: WarehouseScenario
) -> None:
    for cargo in CARGOES:
        before = yard.erp.get(cargo.path).json()["meta"]["total"]
        imported(desk, cargo, "template.xlsx", filled_in(cargo, language))
        after = yard.erp.get(cargo.path).json()["meta"]["total"]
        assert after == before + len(cargo.bodies)


def filled_in(cargo: Cargo, language: Language) -> bytes:
    book = load_workbook(BytesIO(template(cargo.kind, language)))
    sheet = book.worksheets[0]
    places = {str(one.value).rstrip(" *"): at for at, one in enumerate(sheet[1], 1)}
    rows = table(cargo.kind, cargo.records(), language=language)
    header, below = rows[0], rows[1:]
    for at, row in enumerate(below, 3):
        for name, value in zip(header, row, strict=True):
            written = sheet.cell(at, places[str(name)])
            written.value = None if value is None else str(value)
            if written.value and written.value.startswith("="):
                written.data_type = "s"
    return saved(book)


def test_a_template_as_it_is_has_no_rows(desk: ImportDesk, yard: WarehouseScenario) -> None:
    del yard
    for cargo in CARGOES:
        one = desk.imported(cargo.kind, "template.xlsx", template(cargo.kind, "es"))
        assert one["status"] == "invalid"
        assert one["structure_errors"] == ["The file has no rows below its header."]


def test_blank_cells_leave_what_a_product_has(desk: ImportDesk, stack: Stack) -> None:
    for body in PRODUCTS.bodies:
        assert desk.erp.post("/products", body).status == 201
    [first, second, third] = shown(desk.erp, "/products")
    before = len(stack.events())
    rows: list[list[object]] = [
        ["item_code", "name", "barcode", "type", "sales_unit", "inventory item"],
        ["0042", "Trowel ", None, "hand tool", "  ", None],
        ["1E5", second["name"], None, None, "", "sí"],
        ["CALL-OUT", third["name"], "123", None, None, None],
        ["NEW", "New", None, None, None, None],
    ]

    one = desk.imported("products", "changes.xlsx", as_xlsx(rows))
    done = desk.commit(one["id"])

    assert done["documents"] == {"total": 4, "valid": 4, "committed": 4}
    assert shown(desk.erp, "/products")[:3] == [
        first | {"name": "Trowel", "type": "hand tool"},
        second,
        third | {"barcode": "123"},
    ]
    events = [event["type"]["S"] for event in stack.events()[before:]]
    assert sorted(events) == ["product.created", "product.updated", "product.updated"]


def test_a_product_that_changes_how_it_is_managed(
    desk: ImportDesk, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 1)
    rows = [["sku", "name", "man_btch_num"], ["BRICK", "Brick", "yes"], ["CEMENT", "Cement", "no"]]

    one = desk.imported("products", "managed.csv", as_csv(rows))
    done = desk.commit(one["id"])

    assert (done["status"], done["documents"]["committed"]) == ("committed", 1)
    assert done["rows"] == {"total": 2, "valid": 1, "error": 1}
    found = {one["item_code"]: one["man_btch_num"] for one in desk.erp.walk("/products")}
    assert (found["BRICK"], found["CEMENT"]) == (False, False)


def test_pick_faces_are_assigned_or_changed(desk: ImportDesk, yard: WarehouseScenario) -> None:
    first = PICK_FACES.bodies[0]
    answer = desk.erp.post("/pick-faces", {**first, "minimum": 1, "maximum": 99})
    assert answer.status == 201, answer.text
    rows = [
        ["item_code", "warehouse_code", "bin_code", "minimum"],
        ["BRICK", "YARD", "F-01", "2,5"],
        ["CEMENT", "YARD", "A-01", ""],
    ]

    desk.commit(desk.imported("pick_faces", "faces.csv", as_csv(rows, separator=";"))["id"])

    [changed, new] = shown(desk.erp, "/pick-faces")
    assert (changed["item_code"], changed["minimum"], changed["maximum"]) == ("BRICK", 2.5, 99)
    assert (new["item_code"], new["bin_code"], new["minimum"]) == ("CEMENT", "A-01", None)
    assert yard.erp.get("/pick-faces").json()["meta"]["total"] == 2


def test_exit_documents_that_allocate_are_picked(
    desk: ImportDesk, stack: Stack, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 6)
    yard.stock("CEMENT", 2, batch="L-1")
    yard.stock("DRILL", 1, serial="S-1")
    content = as_xlsx(table("exit_documents", EXITS.records()))

    one = desk.imported("exit_documents", "orders.xlsx", content, auto_allocate="true")
    assert yard.erp.walk("/pickings") == []
    desk.commit(one["id"])

    pickings = [yard.erp.get(f"/pickings/{p['id']}").data for p in yard.erp.walk("/pickings")]
    assert [p["document"]["external_ref"] for p in pickings[::-1]] == ["SO-1", "SO-2"]
    assert yard.level("BRICK") == (6, 6, 0)
    assert yard.level("CEMENT") == (2, 2, 0)
    assert yard.level("DRILL") == (1, 1, 0)
    assert {yard.document(number)["status"] for number in (1, 2)} == {"assigned"}
    prove(stack.store())


def test_documents_of_others_are_not_allocated(desk: ImportDesk, yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 20)
    first, _ = EXITS.bodies
    assert yard.erp.post("/exit-documents", first, key="k").status == 201
    content = as_csv(table("exit_documents", EXITS.records()))

    one = desk.imported("exit_documents", "orders.csv", content, auto_allocate="true")
    assert desk.commit(one["id"])["documents"]["committed"] == 1

    [picking] = yard.erp.walk("/pickings")
    assert picking["document"]["external_ref"] == "SO-2"


def test_entry_documents_never_allocate(desk: ImportDesk, yard: WarehouseScenario) -> None:
    content = as_csv(table("entry_documents", ENTRIES.records()))
    one = desk.imported("entry_documents", "in.csv", content, auto_allocate="true")
    assert desk.commit(one["id"])["status"] == "committed"
    assert yard.erp.walk("/pickings") == []
