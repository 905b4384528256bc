"""Products and documents over HTTP; every request takes effect once."""

from collections import Counter
from typing import Any

import httpx
import pytest

from tests.concurrency import run_concurrently
from tests.e2e.responses import data, fields, key, refused, walk

_REQUESTS = 20


@pytest.fixture
def entry(run: str) -> dict[str, Any]:
    """The body of a purchase order for the central warehouse of the sample."""
    return {
        "external_ref": f"PO-{run}",
        "type": "Orden de compra",
        "doc_date": "01/03/2026",
        "due_date": "2026-03-15",
        "partner_code": "P20001",
        "partner_name": "Midland Cable Works Ltd",
        "warehouse_code": "CEN",
        "comments": "Ring before\nunloading",
        "lines": [
            {"item_code": "CAB-TE-2R5-100", "qty": 12, "destination_bin": "D-02-1-01"},
            {"item_code": "CAB-TE-1R5-50", "qty": 0.125},
        ],
    }


@pytest.fixture
def exit_(run: str) -> dict[str, Any]:
    """The body of a sales order from the central warehouse of the sample."""
    return {
        "external_ref": f"SO-{run}",
        "type": "sale_order",
        "doc_date": "2026-03-01",
        "partner_code": "C10001",
        "warehouse_code": "CEN",
        "priority": "Alta",
        "ship_to": "Dock 4",
        "lines": [{"item_code": "CAB-TE-2R5-100", "qty": 3}],
    }


def test_product_is_created_changed_and_deleted(acme: httpx.Client, run: str) -> None:
    draft = {"item_code": f"E2E-{run}", "name": "Drum", "man_btch_num": True}
    made = acme.post("/products", json=draft, headers=key())
    product = data(made, 201)
    assert data(acme.get(made.headers["Location"])) == product
    assert product["sku"] == product["item_code"] == f"E2E-{run}"
    assert product["man_btch_num"] is True

    taken = acme.post("/products", json={"item_code": f"E2E-{run}", "name": "Again"})
    assert fields(taken) == ["item_code"]
    changed = data(acme.patch(f"/products/{product['id']}", json={"name": "Drum, large"}))
    assert (changed["name"], changed["item_code"]) == ("Drum, large", f"E2E-{run}")
    assert data(acme.delete(f"/products/{product['id']}")) == changed


def test_entry_document_is_created_once(acme: httpx.Client, entry: dict[str, Any]) -> None:
    same_key = key()
    first = acme.post("/entry-documents", json=entry, headers=same_key)
    document = data(first, 201)
    assert first.headers["Location"].endswith(f"/api/v1/entry-documents/{document['id']}")
    assert document["doc_num"] == f"EN-{document['id']}"
    assert (document["type"], document["status"]) == ("purchase_order", "open")
    assert (document["doc_date"], document["source"]) == ("2026-03-01", "api")
    assert [(line["qty"], line["open_qty"]) for line in document["lines"]] == [
        (12, 12),
        (0.125, 0.125),
    ]

    again = acme.post("/entry-documents", json=entry, headers=same_key)
    assert (again.status_code, again.text) == (201, first.text)
    assert again.headers["Location"] == first.headers["Location"]
    assert again.headers["Idempotent-Replayed"] == "true"

    other_key = acme.post("/entry-documents", json=entry, headers=key())
    assert data(other_key, 200) == document

    changed = entry | {"comments": None}
    other_request = acme.post("/entry-documents", json=changed, headers=same_key)
    refused(other_request, 422, "idempotency_key_reused")
    assert data(acme.get(first.headers["Location"])) == document
    (row,) = walk(acme, "/entry-documents", external_ref=entry["external_ref"])
    assert row | {"differences": [], "actions": document["actions"]} == document


def test_concurrent_requests_with_one_reference_create_one_document(
    acme: httpx.Client, exit_: dict[str, Any]
) -> None:
    answers = run_concurrently(
        _REQUESTS, lambda _: acme.post("/exit-documents", json=exit_, headers=key())
    )

    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: _REQUESTS - 1}
    assert len({answer.text for answer in answers}) == 1
    assert len(walk(acme, "/exit-documents", external_ref=exit_["external_ref"])) == 1


def test_concurrent_retries_with_one_key_create_one_document(
    acme: httpx.Client, entry: dict[str, Any]
) -> None:
    headers = key()
    answers = run_concurrently(
        _REQUESTS, lambda _: acme.post("/entry-documents", json=entry, headers=headers)
    )

    created = [answer for answer in answers if answer.status_code == 201]
    waiting = [answer for answer in answers if answer.status_code == 409]
    assert len(created) + len(waiting) == _REQUESTS
    assert len({answer.text for answer in created}) == 1
    for answer in waiting:
        refused(answer, 409, "duplicate_in_flight")
        assert int(answer.headers["Retry-After"]) >= 1
    late = acme.post("/entry-documents", json=entry, headers=headers)
    assert (late.status_code, late.text) == (201, created[0].text)
    assert len(walk(acme, "/entry-documents", external_ref=entry["external_ref"])) == 1


def test_etag_avoids_downloads_and_lost_updates(acme: httpx.Client, run: str) -> None:
    created = acme.post("/products", json={"item_code": f"E2E-{run}", "name": "Drum"})
    path = f"/products/{data(created, 201)['id']}"
    page = acme.get("/products", params={"item_code": f"E2E-{run}"})
    same = acme.get(page.url, headers={"If-None-Match": page.headers["ETag"]})
    assert (len(data(page)), same.status_code) == (1, 304)
    seen = acme.get(path).headers["ETag"]
    assert seen.startswith('W/"')

    unchanged = acme.get(path, headers={"If-None-Match": seen})
    assert (unchanged.status_code, unchanged.text) == (304, "")
    assert unchanged.headers["ETag"] == seen
    first = acme.patch(path, json={"name": "Drum, red"}, headers={"If-Match": seen})
    assert data(first)["name"] == "Drum, red"

    late = acme.patch(path, json={"name": "Drum, blue"}, headers={"If-Match": seen})
    refused(late, 409, "stale_state")
    changed = acme.get(path, headers={"If-None-Match": seen})
    assert data(changed)["name"] == "Drum, red"
    assert data(acme.delete(path, headers={"If-Match": changed.headers["ETag"]}))
