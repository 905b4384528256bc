"""Spreadsheets on the deployed stack, sent with a request: checked, told, and committed."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO, StringIO
from pathlib import Path

import httpx
import openpyxl
import pytest

from tests.e2e.import_calls import (
    HEADER,
    XLSX,
    announced,
    catalogue,
    committed,
    counts,
    imported,
    settled,
    upload,
)
from tests.e2e.responses import data, fields, key, refused, walk
from tests.integration.imports.sheets import as_csv, complaints, report_rows

_SAMPLES = Path(__file__).parents[2] / "sample" / "imports"
_AT_ONCE = 5


def filled(template: bytes, *records: Mapping[str, object]) -> bytes:
    """A template with rows below its sample row; each is header → what its cell holds."""
    book = openpyxl.load_workbook(BytesIO(template))
    sheet = book.worksheets[0]
    headers = [cell.value for cell in sheet[1]]
    for record in records:
        assert record.keys() <= set(headers)
        sheet.append([record.get(str(header)) for header in headers])
    out = BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("language", "code", "name"),
    [("en", "Item code *", "Name *"), ("es", "Código de artículo *", "Nombre *")],
)
def test_a_template_is_filled_in_uploaded_and_committed(
    importer: httpx.Client, run: str, language: str, code: str, name: str
) -> None:
    template = importer.get("/imports/templates/products", params={"lang": language})
    assert (template.status_code, template.headers["Content-Type"]) == (200, XLSX)
    assert f"products-{language}.xlsx" in template.headers["Content-Disposition"]
    drum, reel = ({code: f"{run}-{n}", name: n} for n in ("Drum", "Reel"))

    answer = upload(importer, "products", "new.xlsx", filled(template.content, drum, reel))

    one = data(answer, 202)
    assert answer.headers["Location"].endswith(f"/api/v1/imports/{one['id']}")
    assert "warning" not in answer.json()
    assert (one["status"], one["kind"], one["file"]) == ("validated", "products", "new.xlsx")
    assert one["rows"] == counts(2, 2, 0)
    assert (one["structure_errors"], one["error_report_url"]) == ([], None)
    assert not walk(importer, "/products", item_code=f"{run}-Drum"), "nothing is applied so far"

    after = data(importer.post(f"/imports/{one['id']}/commit"), 202)
    assert (after["status"], after["rows"]) == ("committed", one["rows"])
    assert after["documents"] == counts(2, 2, 2, "committed")
    assert after["committed_at"]
    assert data(importer.get(answer.headers["Location"])) == after
    [product] = walk(importer, "/products", item_code=f"{run}-Drum")
    assert (product["name"], product["inventory_item"]) == ("Drum", True)


def test_every_error_is_told_at_once_and_the_report_is_uploaded_corrected(
    importer: httpx.Client, run: str
) -> None:
    rows = [
        (f"{run}-0", "=1+1", "no"),
        (None, "Reel", "perhaps"),
        (f"{run}-2", "x" * 201, "no"),
    ]
    one = imported(importer, "products", "faulty.csv", as_csv([HEADER, *rows]))

    assert (one["status"], one["rows"]) == ("validated", counts(3, 1, 2))
    assert one["documents"] == counts(3, 1, 0, "committed")
    report = importer.get(one["error_report_url"])
    assert (report.status_code, report.headers["Content-Type"]) == (200, XLSX)
    assert {(row, field) for row, field, _ in complaints(report.content)} == {
        (3, "Item code"), (3, "Managed by batch"), (4, "Name"),
    }  # fmt: skip
    assert [row[3:] for row in report_rows(report.content)] == [
        list(HEADER), [None, "Reel", "perhaps"], [f"{run}-2", "x" * 201, "no"],
    ]  # fmt: skip
    assert committed(importer, one["id"])["documents"] == counts(3, 1, 1, "committed")
    assert [row["name"] for row in walk(importer, "/products", item_code=f"{run}-0")] == ["=1+1"]

    book = openpyxl.load_workbook(BytesIO(report.content))
    sheet = book.worksheets[0]
    sheet["D2"], sheet["F2"], sheet["E3"] = f"{run}-1", "yes", "Clip"
    book.save(corrected := BytesIO())
    again = imported(importer, "products", "errors.xlsx", corrected.getvalue())

    assert (again["status"], again["rows"]) == ("validated", counts(2, 2, 0))
    assert committed(importer, again["id"])["documents"] == counts(2, 2, 2, "committed")
    [reel] = walk(importer, "/products", item_code=f"{run}-1")
    assert (reel["name"], reel["man_btch_num"]) == ("Reel", True)


def test_the_sample_files_are_imported(importer: httpx.Client, run: str) -> None:
    products = imported(importer, "products", "p.xlsx", (_SAMPLES / "products.xlsx").read_bytes())
    assert (products["status"], products["rows"]) == ("validated", counts(2000, 2000, 0))
    assert committed(importer, products["id"])["documents"] == counts(2000, 2000, 2000, "committed")

    text = (_SAMPLES / "orders.csv").read_text(encoding="utf-8").replace("-2026-", f"-{run}-")
    orders = imported(importer, "exit_documents", "o.csv", text.encode())
    assert (orders["status"], orders["error_report_url"]) == ("validated", None)
    done = committed(importer, orders["id"])
    assert (done["status"], done["structure_errors"]) == ("committed", [])
    assert done["documents"] == counts(300, 300, 300, "committed")
    [order] = walk(importer, "/exit-documents", external_ref=f"SO-{run}-08001")
    order = data(importer.get(f"/exit-documents/{order['id']}"))
    assert (order["source"], order["doc_date"]) == ("import", "2026-11-02")
    rows = [row for row in csv.DictReader(StringIO(text)) if row["Reference"] == f"SO-{run}-08001"]
    assert [(line["item_code"], line["qty"]) for line in order["lines"]] == [
        (row["Item code"], float(row["Quantity"])) for row in rows
    ]
    assert len(rows) > 1

    errors = (_SAMPLES / "orders-with-errors.csv").read_text(encoding="utf-8")
    faulty = imported(
        importer, "exit_documents", "e.csv", errors.replace("-2026-", f"-{run}-").encode()
    )
    planted = json.loads((_SAMPLES / "planted-errors.json").read_text())
    assert faulty["status"] == "validated"
    assert faulty["documents"] == counts(100, 100 - len(planted["errors"]), 0, "committed")
    told = {row for row, *_ in complaints(importer.get(faulty["error_report_url"]).content)}
    assert {error["row"] for error in planted["errors"]} <= told


def test_the_same_file_again_is_taken_with_a_warning(importer: httpx.Client, run: str) -> None:
    content, once = catalogue(run, "Drum"), key()
    first = upload(importer, "products", "a.csv", content, once)
    number = data(first, 202)["id"]
    assert "warning" not in first.json()

    replayed = upload(importer, "products", "a.csv", content, once)
    assert (replayed.status_code, replayed.text) == (202, first.text)
    assert replayed.headers["Idempotent-Replayed"] == "true"
    again = upload(importer, "products", "b.csv", content)

    other = data(again, 202)["id"]
    assert other != number
    assert str(number) in again.json()["warning"]
    assert importer.get(f"/imports/{other}").json()["warning"] == again.json()["warning"]
    assert "warning" not in importer.get(f"/imports/{number}").json()


def test_an_import_is_committed_once(importer: httpx.Client, run: str) -> None:
    number = imported(importer, "products", "a.csv", catalogue(run, "Drum", "Reel"))["id"]
    path = f"/imports/{number}/commit"

    with ThreadPoolExecutor(_AT_ONCE) as senders:
        answers = list(senders.map(lambda _: importer.post(path), range(_AT_ONCE)))

    assert Counter(answer.status_code for answer in answers) == {202: 1, 409: _AT_ONCE - 1}
    for late in [*(answer for answer in answers if answer.is_error), importer.post(path)]:
        refused(late, 409, "import_refused")
    assert settled(importer, number)["documents"] == counts(2, 2, 2, "committed")
    refused(importer.post(f"/imports/{number}/cancel"), 409, "import_refused")


def test_what_was_given_up_or_has_no_valid_row_is_not_committed(
    importer: httpx.Client, run: str
) -> None:
    cancelled = imported(importer, "products", "a.csv", catalogue(run, "Drum"))["id"]
    assert data(importer.post(f"/imports/{cancelled}/cancel"))["status"] == "cancelled"
    invalid = imported(importer, "products", "b.csv", catalogue(run, "", ""))
    assert (invalid["status"], invalid["rows"]) == ("invalid", counts(2, 0, 2))
    headless = imported(importer, "products", "c.csv", as_csv([("Item code",), (run,)]))
    assert headless["status"] == "invalid"
    assert "Name" in " ".join(headless["structure_errors"])

    for number in (cancelled, invalid["id"], headless["id"]):
        refused(importer.post(f"/imports/{number}/commit"), 409, "import_refused")
    assert not walk(importer, "/products", item_code=f"{run}-0")
    for status, number in (("cancelled", cancelled), ("invalid", headless["id"])):
        newest = data(importer.get("/imports", params={"status": status, "kind": "products"}))
        assert number in {one["id"] for one in newest}


# What cannot be taken


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("orders.xlsx", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"),
        ("orders.csv", b""),
        ("orders.csv", b"\x00\x01\x02\x00" * 50),
        ("orders.pdf", b"Item code,Name\nA,B\n"),
    ],
)
def test_what_is_no_spreadsheet_is_refused(
    importer: httpx.Client, name: str, content: bytes
) -> None:
    refused(upload(importer, "products", name, content), 422, "import_refused")


def test_an_unknown_kind_is_told(importer: httpx.Client, run: str) -> None:
    assert fields(upload(importer, "people", "a.csv", catalogue(run, "Drum"))) == ["kind"]
    wanted = announced("a.csv") | {"kind": "people"}
    assert fields(importer.post("/imports/uploads", json=wanted)) == ["kind"]
    refused(importer.get("/imports/templates/people"), 404, "not_found")


def test_a_file_too_large_for_the_gateway_is_told_the_other_ways(importer: httpx.Client) -> None:
    answer = upload(importer, "products", "large.csv", b"Item code,Name\n" + b"x" * 5_500_000)

    message = refused(answer, 413, "payload_too_large")["message"]
    assert "/imports/uploads" in message
    assert "import bucket" in message


def test_without_the_module_nothing_is_imported(mini: httpx.Client, run: str) -> None:
    content = catalogue(run, "Drum")
    for answer in (
        upload(mini, "products", "a.csv", content),
        mini.post("/imports/uploads", json=announced("a.csv")),
        mini.get("/imports"),
        mini.get("/imports/1"),
        mini.get("/imports/1/error-report"),
        mini.get("/imports/templates/products"),
        mini.post("/imports/1/commit"),
        mini.post("/imports/1/cancel"),
    ):
        refused(answer, 404, "bulk_import_disabled")
