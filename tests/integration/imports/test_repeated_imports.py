"""What is there already, files that come again, requests that are repeated."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_before
from tests.gateway import Form
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv, table
from tests.integration.imports.kind_examples import CARGOES, Cargo
from tests.integration.imports.outcome import complained, imports, made
from tests.warehouse_scenario import WarehouseScenario

CREATED = [cargo for cargo in CARGOES if cargo.kind not in {"products", "pick_faces"}]
CHANGED = [cargo for cargo in CARGOES if cargo not in CREATED]
FILE = Form({"kind": "products"}, ("goods.csv", as_csv([["item_code", "name"], ["A", "Good"]])))
OTHER = Form({"kind": "products"}, ("goods.csv", as_csv([["item_code", "name"], ["B", "Good"]])))


def again(desk: ImportDesk, cargo: Cargo, **options: str) -> dict[str, Any]:
    """Import the same file a second time."""
    content = as_csv(table(cargo.kind, cargo.records()))
    one = desk.imported(cargo.kind, "first.csv", content)
    assert desk.commit(one["id"])["documents"]["committed"] == len(cargo.bodies)
    return desk.imported(cargo.kind, "second.csv", content, **options)


def each(desk: ImportDesk, cargoes: Sequence[Cargo]) -> Iterator[Cargo]:
    """Take one kind after the other, each on a floor that is as it was."""
    as_furnished = desk.stack.keep()
    for cargo in cargoes:
        yield cargo
        as_furnished()
        desk.take()


@pytest.mark.parametrize("options", [{}, {"on_duplicate": "skip"}], ids=str)
def test_documents_that_exist_are_skipped(
    options: dict[str, str], desk: ImportDesk, yard: WarehouseScenario
) -> None:
    del yard
    for cargo in each(desk, CREATED):
        one = again(desk, cargo, **options)
        before = made(desk)
        done = desk.commit(one["id"])
        count = len(cargo.bodies)
        assert done["documents"] == {"total": count, "valid": count, "committed": 0}
        assert set(made(desk) - before) == {("import", (cargo.kind, "committed"))}


def test_what_exists_fails_where_that_is_asked(desk: ImportDesk, yard: WarehouseScenario) -> None:
    del yard
    for cargo in each(desk, CARGOES):
        one = again(desk, cargo, on_duplicate="fail")
        assert one["status"] == "invalid"
        rows = len(cargo.records())
        assert one["rows"] == {"total": rows, "valid": 0, "error": rows}
        told = {reason for _, _, reason in complained(desk, one)}
        reasons = {reason for reason in told if "rejected with" not in reason}
        assert reasons
        assert all("exists already" in reason or "is already taken" in reason for reason in reasons)


def test_what_can_be_changed_is_left_where_that_is_asked(
    desk: ImportDesk, yard: WarehouseScenario
) -> None:
    del yard
    for cargo in each(desk, CHANGED):
        content = as_csv(table(cargo.kind, cargo.records()))
        desk.commit(desk.imported(cargo.kind, "first.csv", content)["id"])
        before, shown = made(desk), desk.erp.walk(cargo.path)
        changed = {**cargo.records()[0], "name": "Other", "minimum": 77, "maximum": 78}
        content = as_csv(table(cargo.kind, [changed]))

        one = desk.imported(cargo.kind, "other.csv", content, on_duplicate="skip")
        done = desk.commit(one["id"])

        assert done["documents"] == {"total": 1, "valid": 1, "committed": 0}
        assert desk.erp.walk(cargo.path) == shown
        assert set(made(desk) - before) == {("import", (cargo.kind, "committed"))}


def test_the_same_again_changes_nothing(desk: ImportDesk, yard: WarehouseScenario) -> None:
    del yard
    for cargo in each(desk, CHANGED):
        one = again(desk, cargo)
        before, shown = made(desk), desk.erp.walk(cargo.path)
        done = desk.commit(one["id"])
        assert done["documents"]["committed"] == len(cargo.bodies)
        assert desk.erp.walk(cargo.path) == shown
        assert set(made(desk) - before) == {("import", (cargo.kind, "committed"))}


@pytest.mark.parametrize("options", [{}, {"on_duplicate": "fail"}], ids=str)
def test_what_appears_between_validation_and_commit_is_seen(
    options: dict[str, str], desk: ImportDesk, yard: WarehouseScenario
) -> None:
    for cargo in each(desk, CARGOES):
        first, *others = cargo.bodies
        content = as_csv(table(cargo.kind, cargo.records()))
        one = desk.imported(cargo.kind, "new.csv", content, **options)
        assert yard.erp.post(cargo.path, first, key="k").status == 201

        done = desk.commit(one["id"])

        count, failed = len(cargo.bodies), len(options)
        assert done["documents"] == {
            "total": count,
            "valid": count - failed,
            "committed": count if cargo in CHANGED and not failed else len(others),
        }
        assert bool(done["error_report_url"]) == bool(failed)


def test_what_goes_between_validation_and_commit_is_told(
    desk: ImportDesk, yard: WarehouseScenario
) -> None:
    header = [
        "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
    ]  # fmt: skip
    common = ["purchase_order", "2026-03-01", "V-1", "YARD"]
    rows = [
        header,
        ["A", *common, "BRICK", "1"],
        ["B", *common, "CEMENT", "1"],
        ["A", *common, "BRICK", "2"],
        ["C", *common, "BRICK", "3"],
    ]
    one = desk.imported("entry_documents", "in.csv", as_csv(rows))
    assert one["rows"]["valid"] == 4
    [brick] = [p for p in yard.erp.walk("/products") if p["item_code"] == "BRICK"]
    assert yard.erp.delete(f"/products/{brick['id']}").status == 200

    done = desk.commit(one["id"])

    assert done["status"] == "committed"
    assert done["rows"] == {"total": 4, "valid": 1, "error": 3}
    assert done["documents"] == {"total": 3, "valid": 1, "committed": 1}
    assert complained(desk, done) == {
        (row, "item_code", "no product has the code BRICK") for row in (2, 4, 5)
    }


def test_an_order_that_is_there_may_name_what_is_gone(
    desk: ImportDesk, yard: WarehouseScenario
) -> None:
    header = [
        "external_ref", "type", "doc_date", "partner_code", "warehouse_code", "item_code", "qty",
    ]  # fmt: skip
    rows = [header, ["A", "purchase_order", "2026-03-01", "V-1", "YARD", "BRICK", "1"]]
    first = desk.imported("entry_documents", "in.csv", as_csv(rows))
    desk.commit(first["id"])
    [document] = yard.erp.walk("/entry-documents")
    assert yard.erp.post(f"/entry-documents/{document['id']}/close").status == 200
    [brick] = [p for p in yard.erp.walk("/products") if p["item_code"] == "BRICK"]
    assert yard.erp.delete(f"/products/{brick['id']}").status == 200

    one = desk.imported("entry_documents", "in.csv", as_csv(rows))

    assert (one["status"], one["rows"]["error"]) == ("validated", 0)
    assert desk.commit(one["id"])["documents"]["committed"] == 0


# The same file, the same request


def test_the_same_bytes_are_warned_of(desk: ImportDesk) -> None:
    first = desk.erp.post("/imports", FILE)
    assert "warning" not in first.json()
    second = desk.erp.post("/imports", FILE)
    warning = f"The same file was uploaded before, as import {first.data['id']}."
    assert second.json()["warning"] == warning
    assert desk.erp.get(f"/imports/{second.data['id']}").json()["warning"] == warning
    assert "warning" not in desk.erp.post("/imports", OTHER).json()
    neighbour = ImportDesk(desk.stack, "beta").erp.post("/imports", FILE)
    assert "warning" not in neighbour.json()


def test_the_same_bytes_are_warned_of_whatever_their_way(desk: ImportDesk) -> None:
    assert FILE.file
    content = FILE.file[1]
    desk.put("drop/products/goods.csv", content)
    desk.drain()
    announced = desk.erp.post("/imports/uploads", {"kind": "products", "filename": "goods.csv"})
    desk.put(announced.data["upload"]["fields"]["key"].partition("/")[2], content)
    desk.drain()
    shown = desk.erp.get(f"/imports/{announced.data['id']}").json()
    assert shown["warning"] == "The same file was uploaded before, as import 1."


def test_a_request_that_is_repeated_makes_one_import(desk: ImportDesk) -> None:
    first = desk.erp.post("/imports", FILE, key="k")
    again = desk.erp.post("/imports", FILE, key="k")
    assert (again.status, again.text) == (first.status, first.text)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    assert len(imports(desk)) == 1
    for other in (OTHER, Form({**FILE.fields, "options[on_duplicate]": "fail"}, FILE.file)):
        refused = desk.erp.post("/imports", other, key="k")
        assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    assert len(imports(desk)) == 1


def test_a_key_is_no_other_requests_after_a_death(
    desk: ImportDesk, aws_faults: AwsFaults, clock: Clock
) -> None:
    erp = desk.erp
    erp.post("/imports", FILE, key="1")
    with aws_faults.recorded() as seen:
        erp.post("/imports", FILE, key="2")
    desk.take()
    with pytest.raises(Killed), aws_faults.faulty(kill_before(len(seen.calls) - 1)):
        erp.post("/imports", OTHER, key="k")
    clock.advance(61)
    refused = desk.erp.post("/imports", FILE, key="k")
    assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    answer = desk.erp.post("/imports", OTHER, key="k")
    assert (answer.status, answer.data["id"]) == (202, 3)
    desk.drain()
    assert [one["status"] for one in imports(desk)] == ["validated"] * 3
