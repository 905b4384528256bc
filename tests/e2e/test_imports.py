"""Files in requests to the deployed stack: validation, error reports and commits."""

import csv
import json
from collections.abc import Mapping
from io import BytesIO, StringIO
from pathlib import Path

import httpx
import openpyxl
import pytest

from tests.e2e.import_calls import (
    XLSX,
    commit_import,
    counts,
    import_file,
    upload,
)
from tests.e2e.responses import data, refused, walk
from tests.integration.imports.import_files import reported_problems

_SAMPLES = Path(__file__).parents[2] / "sample" / "imports"


def filled_in(template: bytes, *rows: Mapping[str, object]) -> bytes:
    """Return a template with rows below its sample row, each given as cells by header."""
    book = openpyxl.load_workbook(BytesIO(template))
    sheet = book.worksheets[0]
    headers = [cell.value for cell in sheet[1]]
    for row in rows:
        assert row.keys() <= set(headers)
        sheet.append([row.get(str(header)) for header in headers])
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

    answer = upload(importer, "products", "new.xlsx", filled_in(template.content, drum, reel))

    one = data(answer, 202)
    assert answer.headers["Location"].endswith(f"/api/v1/imports/{one['id']}")
    assert "warning" not in answer.json()
    assert (one["status"], one["kind"], one["file"]) == ("validated", "products", "new.xlsx")
    assert one["rows"] == counts(2, 2, 0)
    assert (one["structure_errors"], one["error_report_url"]) == ([], None)
    assert not walk(importer, "/products", item_code=f"{run}-Drum"), (
        "nothing is applied before the commit"
    )

    after = data(importer.post(f"/imports/{one['id']}/commit"), 202)
    assert (after["status"], after["rows"]) == ("committed", one["rows"])
    assert after["documents"] == counts(2, 2, 2, "committed")
    assert after["committed_at"]
    assert data(importer.get(answer.headers["Location"])) == after
    [product] = walk(importer, "/products", item_code=f"{run}-Drum")
    assert (product["name"], product["inventory_item"]) == ("Drum", True)


def test_the_sample_files_are_imported(importer: httpx.Client, run: str) -> None:
    products = import_file(
        importer, "products", "p.xlsx", (_SAMPLES / "products.xlsx").read_bytes()
    )
    assert (products["status"], products["rows"]) == ("validated", counts(2000, 2000, 0))
    assert commit_import(importer, products["id"])["documents"] == counts(
        2000, 2000, 2000, "committed"
    )

    text = (_SAMPLES / "orders.csv").read_text(encoding="utf-8").replace("-2026-", f"-{run}-")
    orders = import_file(importer, "exit_documents", "o.csv", text.encode())
    assert (orders["status"], orders["error_report_url"]) == ("validated", None)
    done = commit_import(importer, orders["id"])
    assert (done["status"], done["structure_errors"]) == ("committed", [])
    assert done["documents"] == counts(300, 300, 300, "committed")
    [order] = walk(importer, "/exit-documents", external_ref=f"SO-{run}-08001")
    order = data(importer.get(f"/exit-documents/{order['id']}"))
    assert (order["source"], order["doc_date"]) == ("import", "2026-11-02")
    rows = [row for row in csv.DictReader(StringIO(text)) if row["Reference"] == f"SO-{run}-08001"]
    assert [(one["item_code"], one["qty"], one["external_ref"]) for one in order["lines"]] == [
        (row["Item code"], float(row["Quantity"]), row["Line reference"]) for row in rows
    ]
    assert order["ship_to_address"]["city"] == rows[0]["Ship to city"]
    assert order["metadata"] == {"route": rows[0]["metadata.route"]}
    assert len(rows) > 1

    errors = (_SAMPLES / "orders-with-errors.csv").read_text(encoding="utf-8")
    with_errors = import_file(
        importer, "exit_documents", "e.csv", errors.replace("-2026-", f"-{run}-").encode()
    )
    expected = json.loads((_SAMPLES / "expected-errors.json").read_text())
    assert with_errors["status"] == "validated"
    assert with_errors["documents"] == counts(100, 100 - len(expected["errors"]), 0, "committed")
    reported_rows = {
        row for row, *_ in reported_problems(importer.get(with_errors["error_report_url"]).content)
    }
    assert {error["row"] for error in expected["errors"]} <= reported_rows


def test_a_file_too_large_for_the_gateway_is_answered_with_the_other_channels(
    importer: httpx.Client,
) -> None:
    answer = upload(importer, "products", "large.csv", b"Item code,Name\n" + b"x" * 5_500_000)

    message = refused(answer, 413, "payload_too_large")["message"]
    assert "/imports/uploads" in message
    assert "import bucket" in message
