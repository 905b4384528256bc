"""Invalid requests are refused in the error envelope, by the gateway or by a function."""

import json

import httpx
import pytest

from tests.e2e.responses import fields, refused

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
        ("DELETE", "/products", "GET, HEAD, POST"),
        ("PUT", "/products", "GET, HEAD, POST"),
        ("POST", "/products/1", "DELETE, GET, HEAD, PATCH, PUT"),
        ("DELETE", "/entry-documents/1", "GET, HEAD, PATCH"),
        ("GET", "/entry-documents/1/close", "POST"),
        ("OPTIONS", "/warehouses", "GET, HEAD, POST"),
        ("TRACE", "/products", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
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
