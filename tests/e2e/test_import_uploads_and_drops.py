"""Files in the import bucket of the deployed stack: uploads with a form, and drops."""

import base64
import json
import os
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import IMPORTER, TIMEOUT, Deployed
from tests.e2e.import_calls import (
    XLSX,
    ImportBucket,
    catalog_file,
    commit_import,
    counts,
    eventually,
    upload_request,
    wait_until_processed,
)
from tests.e2e.responses import data, key, refused, walk
from tests.integration.imports.import_files import report_rows, reported_problems


def send(form: Mapping[str, Any], content: bytes) -> httpx.Response:
    """Send a file with a presigned form as a browser does."""
    return httpx.post(form["url"], data=form["fields"], files={"file": content}, timeout=TIMEOUT)


def test_a_file_is_uploaded_with_a_presigned_form(
    stack: Deployed, importer: httpx.Client, run: str
) -> None:
    answer = importer.post("/imports/uploads", json=upload_request("new.csv"), headers=key())
    pending = data(answer, 201)
    assert (pending["status"], pending["rows"]["total"]) == ("uploaded", None)
    assert pending["upload"]["url"].startswith(stack.endpoint_url)
    refused(importer.post(f"/imports/{pending['id']}/commit"), 409, "import_refused")

    sent = send(pending["upload"], catalog_file(run, "Drum", ""))

    assert sent.is_success, sent.text
    one = wait_until_processed(importer, pending["id"])
    assert (one["status"], one["file"], one["rows"]) == ("validated", "new.csv", counts(2, 1, 1))
    assert [
        row for row, *_ in reported_problems(importer.get(one["error_report_url"]).content)
    ] == [3]
    assert commit_import(importer, one["id"])["status"] == "committed"
    assert [row["name"] for row in walk(importer, "/products", item_code=f"{run}-0")] == ["Drum"]


def test_a_large_report_is_downloaded_from_storage(importer: httpx.Client, run: str) -> None:
    pending = data(importer.post("/imports/uploads", json=upload_request("long.csv")), 201)
    names = [base64.b64encode(os.urandom(24_000)).decode() for _ in range(220)]
    sent = send(pending["upload"], catalog_file(run, *names))
    assert sent.is_success, sent.text
    one = wait_until_processed(importer, pending["id"])
    assert (one["status"], one["rows"]) == ("invalid", counts(220, 0, 220))

    answer = importer.get(one["error_report_url"])

    assert answer.status_code == 302, answer.text
    report = httpx.get(answer.headers["Location"], timeout=TIMEOUT)
    assert (report.status_code, report.headers["Content-Type"]) == (200, XLSX)
    assert f"import-{one['id']}-errors.xlsx" in report.headers["Content-Disposition"]
    assert [row[4] for row in report_rows(report.content)[1:]] == names


def test_a_form_limits_the_size_of_the_file(importer: httpx.Client) -> None:
    form = data(importer.post("/imports/uploads", json=upload_request("large.csv")), 201)["upload"]
    sent = send(form, b"x" * 25_000_001)
    assert (sent.status_code, "EntityTooLarge" in sent.text) == (400, True)


def test_a_dropped_file_is_validated_and_has_results(
    importer: httpx.Client, bucket: ImportBucket, run: str
) -> None:
    name = f"{IMPORTER}/drop/products/cátalogo nº {run}.csv"
    bucket.put(name, catalog_file(run, "Drum", "", "Reel"))

    result = json.loads(eventually(lambda: bucket.read(f"{name}.result.json"), "the result"))

    assert (result["status"], result["kind"]) == ("validated", "products")
    assert result["rows"] == counts(3, 2, 1)
    assert result == data(importer.get(f"/imports/{result['id']}"))
    report = bucket.read(f"{name}.errors.xlsx")
    assert report is not None
    assert {(row, field) for row, field, _ in reported_problems(report)} == {(3, "Name")}
    assert report == importer.get(result["error_report_url"]).content
    assert not walk(importer, "/products", item_code=f"{run}-2")
    assert commit_import(importer, result["id"])["documents"] == counts(3, 2, 2, "committed")
    assert [row["name"] for row in walk(importer, "/products", item_code=f"{run}-2")] == ["Reel"]


def rejected(bucket: ImportBucket, name: str, content: bytes) -> str:
    """Wait until a dropped file is moved to the rejected files, and return the reason."""
    moved = name.replace("/drop/", "/rejected/", 1)
    eventually(lambda: None if bucket.read(name) else True, f"{name} moved")
    assert bucket.read(moved) == content
    assert bucket.read(f"{name}.result.json") is None
    reason = bucket.read(f"{moved}.reason.txt")
    assert reason is not None
    return reason.decode()


@pytest.mark.parametrize(
    ("slug", "name", "reason"),
    [
        (IMPORTER, "people/{}.csv", "is not a valid name"),
        (IMPORTER, "products/{}.pdf", ".xlsx"),
        ("mini", "products/{}.csv", "disabled"),
        ("suspended", "products/{}.csv", "suspended"),
    ],
)
@pytest.mark.usefixtures("importer")
def test_a_refused_file_is_moved_with_the_reason(
    bucket: ImportBucket, run: str, slug: str, name: str, reason: str
) -> None:
    file, content = f"{slug}/drop/{name.format(run)}", catalog_file(run, "Drum")
    bucket.put(file, content)
    assert reason in rejected(bucket, file, content)
