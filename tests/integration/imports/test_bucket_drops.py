"""Files that are dropped into the bucket: taken or turned away, with the answer beside them."""

import json
from typing import Any
from urllib.parse import quote_plus

import pytest

from operations import provisioning
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import MODULES
from shared.integration.imports.models import MAX_FILE
from tests.import_scenario import ImportDesk
from tests.integration.imports.import_files import as_csv, as_xlsx, complaints, table
from tests.integration.imports.kind_examples import CARGOES
from tests.integration.imports.outcome import complained, imports
from tests.warehouse_scenario import WarehouseScenario

GOODS = as_csv([["item_code", "name"], ["A", "Good"], ["B", ""]])
COMPLAINTS = {(3, "name", "is required")}


def drop(desk: ImportDesk, name: str, content: bytes = GOODS) -> dict[str, bytes]:
    """Drop a file, let the worker work, and look at what is in the bucket then."""
    desk.put(f"drop/{name}", content)
    desk.drain()
    return desk.files()


def result(files: dict[str, bytes], name: str) -> dict[str, Any]:
    """Read what was left beside a dropped file."""
    shown: dict[str, Any] = json.loads(files[f"drop/{name}.result.json"])
    return shown


def test_every_kind_is_taken(desk: ImportDesk, yard: WarehouseScenario) -> None:
    for cargo in CARGOES:
        name = f"{cargo.kind}/file.xlsx"
        files = drop(desk, name, as_xlsx(table(cargo.kind, cargo.records())))
        one = imports(desk)[-1]
        assert (one["kind"], one["status"], one["file"]) == (cargo.kind, "validated", "file.xlsx")
        assert result(files, name) == one
        before = yard.erp.get(cargo.path).json()["meta"]["total"]
        done = desk.commit(one["id"])
        assert done["status"] == "committed"
        assert result(desk.files(), name) == done
        after = yard.erp.get(cargo.path).json()["meta"]["total"]
        assert after == before + len(cargo.bodies)


def test_rejected_rows_lie_beside_the_file(desk: ImportDesk) -> None:
    files = drop(desk, "products/goods.csv")
    assert set(files) == {
        "drop/products/goods.csv",
        "drop/products/goods.csv.result.json",
        "drop/products/goods.csv.errors.xlsx",
    }
    assert files["drop/products/goods.csv"] == GOODS
    assert complaints(files["drop/products/goods.csv.errors.xlsx"]) == COMPLAINTS
    [one] = imports(desk)
    assert complained(desk, one) == COMPLAINTS


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
        f"{'long' * 50}.csv",
    ],
)
def test_names_of_all_sorts(name: str, desk: ImportDesk) -> None:
    files = drop(desk, f"products/{name}")
    [one] = imports(desk)
    assert (one["status"], one["rows"]["valid"]) == ("validated", 1)
    assert result(files, f"products/{name}") == one


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("product/a.csv", GOODS, "There is no kind of import 'product'."),
        ("Products/a.csv", GOODS, "There is no kind of import 'Products'."),
        ("a.csv", GOODS, "There is no kind of import 'a.csv'."),
        ("products/today/a.csv", GOODS, "There is no kind of import"),
        ("products/a.txt", GOODS, "The file must be a workbook (.xlsx) or a text file (.csv)."),
        ("products/a.csv.exe", GOODS, "The file must be a workbook"),
        ("products/a", GOODS, "The file must be a workbook"),
        ("products/a.csv", b"", "The file is empty."),
    ],
)
def test_what_cannot_be_taken_is_moved(
    name: str, content: bytes, reason: str, desk: ImportDesk
) -> None:
    files = drop(desk, name, content)
    told = files.pop(f"rejected/{name}.reason.txt").decode()
    assert files == {f"rejected/{name}": content}
    assert reason in told
    assert told.endswith("\n")
    assert imports(desk) == []


def test_a_file_that_is_too_large_is_moved(desk: ImportDesk) -> None:
    desk.put("drop/products/a.csv", GOODS)
    [body] = desk.take()
    larger = body.replace(f'"size": {len(GOODS)}', f'"size": {MAX_FILE + 1}')
    assert larger != body
    assert not desk.work(larger)
    told = desk.files()["rejected/products/a.csv.reason.txt"].decode()
    assert told == f"The file has {MAX_FILE + 1} bytes; at most {MAX_FILE} are accepted.\n"


@pytest.mark.parametrize(
    ("state", "reason"), [("suspended", "suspended"), ("cancelled", "cancelled"), ("moved", "own")]
)
def test_files_of_who_is_not_served_are_moved(state: Any, reason: str, desk: ImportDesk) -> None:
    moved_to = "https://wms.acme.example/api/v1" if state == "moved" else None
    provisioning.set_state(desk.slug, state, moved_to=moved_to)
    directory.forget()
    files = drop(desk, "products/goods.csv")
    told = files.pop("rejected/products/goods.csv.reason.txt").decode()
    assert files == {"rejected/products/goods.csv": GOODS}
    assert reason in told


def test_files_are_moved_while_the_module_is_off(desk: ImportDesk) -> None:
    provisioning.set_modules(desk.slug, MODULES - {"bulk_import"})
    directory.forget()
    files = drop(desk, "products/goods.csv")
    told = files.pop("rejected/products/goods.csv.reason.txt").decode()
    assert files == {"rejected/products/goods.csv": GOODS}
    assert told == "Bulk import is inactive.\n"


def test_an_announced_file_of_who_is_not_served_fails(desk: ImportDesk) -> None:
    answer = desk.erp.post("/imports/uploads", {"kind": "products", "filename": "goods.csv"})
    provisioning.set_state(desk.slug, "suspended")
    directory.forget()
    desk.put(answer.data["upload"]["fields"]["key"].partition("/")[2], GOODS)
    desk.drain()
    provisioning.set_state(desk.slug, "active")
    directory.forget()
    [one] = imports(desk)
    assert one["status"] == "failed"
    assert "suspended" in one["structure_errors"][0]


def test_drops_commit_themselves_where_that_is_set(desk: ImportDesk) -> None:
    WarehouseScenario(desk.erp).settle(commit_drops=True)
    files = drop(desk, "products/goods.csv")
    [one] = imports(desk)
    assert (one["status"], one["documents"]["committed"]) == ("committed", 1)
    assert result(files, "products/goods.csv") == one
    assert complaints(files["drop/products/goods.csv.errors.xlsx"]) == COMPLAINTS
    assert [product["item_code"] for product in desk.erp.walk("/products")] == ["A"]


def test_only_drops_commit_themselves(desk: ImportDesk) -> None:
    WarehouseScenario(desk.erp).settle(commit_drops=True)
    assert desk.imported("products", "goods.csv", GOODS)["status"] == "validated"


def test_an_invalid_drop_says_so(desk: ImportDesk) -> None:
    WarehouseScenario(desk.erp).settle(commit_drops=True)
    files = drop(desk, "products/goods.csv", b"nothing,here\n1,2\n")
    [one] = imports(desk)
    assert one["status"] == "invalid"
    assert result(files, "products/goods.csv") == one


def test_a_cancelled_drop_says_so(desk: ImportDesk) -> None:
    drop(desk, "products/goods.csv")
    assert desk.erp.post("/imports/1/cancel").status == 200
    desk.drain()
    one = desk.show(1)
    assert one["status"] == "cancelled"
    assert result(desk.files(), "products/goods.csv") == one


def test_results_are_no_arrivals(desk: ImportDesk) -> None:
    files = drop(desk, "products/goods.csv")
    for name in files:
        if name != "drop/products/goods.csv":
            desk.put(name, files[name])
    desk.put("rejected/products/x.csv", GOODS)
    desk.put("rejected/products/x.csv.reason.txt", b"no")
    desk.put("drop/products/", b"")
    desk.drain()
    assert len(imports(desk)) == 1
    assert set(desk.files()) == {
        *files, "rejected/products/x.csv", "rejected/products/x.csv.reason.txt", "drop/products/",
    }  # fmt: skip


def test_one_arrival_makes_one_import_and_a_new_file_a_second(desk: ImportDesk) -> None:
    desk.put("drop/products/goods.csv", GOODS)
    [notice] = desk.take()
    for _ in range(3):
        assert not desk.work(notice, notice)
    desk.drain()
    assert len(imports(desk)) == 1

    new = as_csv([["item_code", "name"], ["C", "New"]])
    drop(desk, "products/goods.csv", new)
    assert not desk.work(notice)
    desk.drain()
    first, second = imports(desk)
    assert (first["rows"]["total"], second["rows"]["total"]) == (2, 1)
    # The same bytes once more are a new arrival, too.
    desk.put("drop/products/goods.csv", new)
    [again] = desk.take()
    assert not desk.work(again.replace('"sequencer": "', '"sequencer": "1'))
    assert len(imports(desk)) == 3


def test_notices_are_read_as_s3_writes_them(desk: ImportDesk) -> None:
    desk.put("drop/products/a b+c.csv", GOODS)
    [notice] = desk.take()
    [record] = json.loads(notice)["Records"]
    assert record["s3"]["object"]["key"] == f"acme/drop/products/{quote_plus('a b+c.csv')}"
    assert not desk.work(notice)
    [one] = imports(desk)
    assert one["file"] == "a b+c.csv"
