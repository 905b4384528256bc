"""Compressed responses: what the functions send lets API Gateway compress it once and correctly.

The double of API Gateway (`tests/gateway.py`) compresses as AWS documents it
(docs/operating/aws.md).
"""

import pytest

from tests.cases import each_case
from tests.gateway import Erp
from tests.stack import Stack

GZIP = {"Accept-Encoding": "gzip, deflate, br"}


def test_a_list_is_the_same_and_smaller(erp: Erp) -> None:
    for number in range(10):
        erp.post("/products", {"item_code": f"P-{number}", "name": f"Product {number}"})
    plain, compressed = erp.get("/products"), erp.get("/products", headers=GZIP)
    assert compressed.json() == plain.json()
    assert compressed.headers["ETag"] == plain.headers["ETag"]
    assert compressed.sent_bytes
    assert compressed.sent_bytes < len(plain.text) / 4
    again = erp.get("/products", headers={**GZIP, "If-None-Match": plain.headers["ETag"]})
    assert (again.status, again.text, again.sent_bytes) == (304, "", None)


def test_a_spreadsheet_keeps_its_bytes(erp: Erp) -> None:
    path = "/imports/templates/products"
    plain, compressed = erp.get(path), erp.get(path, headers=GZIP)
    assert plain.content.startswith(b"PK")
    assert compressed.content == plain.content
    assert compressed.sent_bytes


def test_an_error_is_short_and_not_compressed(erp: Erp) -> None:
    answer = erp.get("/products/4711", headers=GZIP)
    assert (answer.status, answer.sent_bytes) == (404, None)


@pytest.fixture
def reader(stack: Stack) -> Erp:
    """A caller without a token."""
    return Erp(stack.gateway, None)


@each_case("accepted", ["gzip", "GZIP;q=0.5", "br;q=1, gzip;q=0.8", "deflate,gzip"])
def test_the_document_is_sent_compressed_to_callers_that_accept_it(
    accepted: str, reader: Erp
) -> None:
    plain = reader.get("/openapi.json")
    answer = reader.get("/openapi.json", headers={"Accept-Encoding": accepted})
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.text == plain.text
    assert answer.sent_bytes
    assert answer.sent_bytes < len(plain.text) / 10


@each_case("accepted", ["", "identity", "gzip;q=0", "gzip; q=0.0, br"])
def test_the_document_is_not_compressed_for_other_callers(accepted: str, reader: Erp) -> None:
    answer = reader.get("/openapi.json", headers={"Accept-Encoding": accepted})
    assert answer.sent_bytes is None
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert answer.json()["openapi"].startswith("3.1")


@each_case("name", ["swagger-ui-bundle.js", "swagger-ui.css"])
def test_files_of_the_page_are_always_sent_as_they_are_stored(name: str, reader: Erp) -> None:
    for headers in ({}, {"Accept-Encoding": "identity"}, GZIP):
        answer = reader.get(f"/docs/{name}", headers=headers)
        assert answer.sent_bytes
        assert answer.sent_bytes < len(answer.text) / 3
