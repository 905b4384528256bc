"""Invalid requests are refused in the error envelope, by the gateway or by a function."""

import json
from typing import Any

import httpx
import pytest

from tests.e2e.responses import data, fields, key, refused, walk

_JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "path",
    ["/", "/nothing", "/productsx", "/products/1/2", "/products/x", "/products/0",
     "/products/999999999", "/entry-documents/999999999/lines", "/oauth/nothing"],
)  # fmt: skip
def test_unknown_path_or_id_is_404(acme: httpx.Client, path: str) -> None:
    refused(acme.get(path), 404, "not_found")


def test_unknown_path_has_the_limit_headers_for_a_caller_with_a_token(acme: httpx.Client) -> None:
    url = f"{str(acme.base_url).rstrip('/')}/nothing"
    assert int(acme.get("/nothing").headers["RateLimit-Remaining"]) >= 0
    anonymous = httpx.get(url)
    refused(anonymous, 404, "not_found")
    assert "RateLimit-Limit" not in anonymous.headers
    forged = httpx.get(url, headers={"Authorization": "Bearer nonsense"})
    refused(forged, 401, "unauthenticated")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/products", "GET, POST"),
        ("PUT", "/products", "GET, POST"),
        ("POST", "/products/1", "DELETE, GET, PATCH, PUT"),
        ("PATCH", "/entry-documents/1", "GET"),
        ("GET", "/entry-documents/1/close", "POST"),
        ("OPTIONS", "/warehouses", "GET, POST"),
    ],
)
def test_other_method_is_405(acme: httpx.Client, method: str, path: str, allowed: str) -> None:
    answer = acme.request(method, path)
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize("megabytes", [2, 7])
def test_body_that_is_too_large_is_413(acme: httpx.Client, megabytes: int) -> None:
    """2 MB is above the limit of JSON bodies; 7 MB is above the limit of the gateway."""
    body = json.dumps({"item_code": "HUGE", "name": "x" * megabytes * 1_000_000})
    refused(acme.post("/products", content=body, headers=_JSON), 413, "payload_too_large")


def test_body_of_one_megabyte_is_accepted(acme: httpx.Client) -> None:
    body = json.dumps({"item_code": "HUGE", "name": "x" * 1_000_000})
    assert fields(acme.post("/products", content=body, headers=_JSON)) == ["name"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"item_code=X",
        b"[]",
        b'["item_code"]',
        b'"text"',
        b"null",
        b'{"item_code": "NAN", "name": "x", "qty": NaN}',
        b'{"item_code": "NAN", "name": -Infinity}',
        b"[" * 100_000,
    ],
    ids=lambda body: body[:20].decode(),
)
def test_body_that_is_not_a_json_object_is_400(acme: httpx.Client, body: bytes) -> None:
    refused(acme.post("/products", content=body, headers=_JSON), 400, "bad_request")
    document = acme.post("/entry-documents", content=body, headers=_JSON | key())
    refused(document, 400, "bad_request")


@pytest.mark.parametrize(
    "media",
    ["text/plain", "application/xml", "application/x-www-form-urlencoded",
     "application/json; charset=latin-1"],
)  # fmt: skip
def test_unsupported_content_type_is_400(acme: httpx.Client, media: str) -> None:
    answer = acme.post("/products", content=b"{}", headers={"Content-Type": media})
    refused(answer, 400, "bad_request")


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ('"\\ud800"', ["name"]),
        ('"a\\udfffb"', ["name"]),
        ('"a\\u0000b"', ["name"]),
        ('"a\\u001bb"', ["name"]),
        ('"   "', ["name"]),
        ("null", ["name"]),
        ("5", ["name"]),
        ("1e400", ["name"]),
        (f'"{"x" * 201}"', ["name"]),
    ],
)
def test_invalid_text_is_422(acme: httpx.Client, value: str, wrong: list[str]) -> None:
    body = f'{{"item_code": "NEVER", "name": {value}}}'
    assert fields(acme.post("/products", content=body, headers=_JSON)) == wrong
    assert not walk(acme, "/products", item_code="NEVER")


@pytest.mark.parametrize("sent", ["with\tab", "x" * 256, ""])
def test_invalid_idempotency_key_is_400(acme: httpx.Client, sent: str) -> None:
    answer = acme.post("/products", json={}, headers=key(sent))
    refused(answer, 400, "bad_request")


@pytest.fixture
def order(run: str) -> dict[str, Any]:
    """A valid purchase order."""
    return {
        "external_ref": f"BAD-{run}",
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "P20001",
        "warehouse_code": "CEN",
        "lines": [{"item_code": "CAB-TE-2R5-100", "qty": 12}],
    }


def test_all_problems_of_a_document_are_reported(acme: httpx.Client, order: dict[str, Any]) -> None:
    line = order["lines"][0]
    wrong = order | {
        "doc_date": "2026-02-30",
        "type": "gift",
        "warehouse_code": None,
        "partner_code": "x" * 51,
        "lines": [
            line | {"item_code": "NO-SUCH"},
            line | {"qty": "12"},
            line | {"qty": -1},
            line | {"qty": 1e30},
            line | {"qty": 0.1234567},
            line | {"batch": "B1", "serials": ["S1", "S1"]},
            "a line",
        ],
    }
    answer = acme.post("/entry-documents", json=wrong, headers=key())
    assert {*fields(answer)} == {
        "doc_date", "type", "warehouse_code", "partner_code",
        "lines.0.item_code", "lines.1.qty", "lines.2.qty", "lines.3.qty", "lines.4.qty",
        "lines.5.batch", "lines.5.serials", "lines.5.serials.1", "lines.6",
    }  # fmt: skip
    assert not walk(acme, "/entry-documents", external_ref=order["external_ref"])


def test_document_has_at_most_1000_lines(acme: httpx.Client, order: dict[str, Any]) -> None:
    lines = order["lines"] * 1001
    too_many = acme.post("/entry-documents", json=order | {"lines": lines}, headers=key())
    assert fields(too_many) == ["lines"]
    none = acme.post("/entry-documents", json=order | {"lines": []}, headers=key())
    assert fields(none) == ["lines"]

    full = acme.post("/entry-documents", json=order | {"lines": lines[:1000]}, headers=key())

    document = data(full, 201)
    assert len(document["lines"]) == 1000
    assert data(acme.get(f"/entry-documents/{document['id']}")) == document
