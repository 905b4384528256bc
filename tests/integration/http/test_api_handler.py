"""The API handler: order of its checks, responses to invalid input, and the error envelope."""

import base64
import gzip
import importlib
import json
from typing import Any

import pytest

from operations import api_clients, provisioning
from shared.kernel.config import config
from shared.kernel.errors import CODES
from tests.cases import each_case
from tests.gateway import Erp, Headers, LambdaContext, Response
from tests.integration.write_routes import BOLT, EXAMPLES
from tests.stack import Stack
from tests.tenant_cache import apply_now

_TEN = [f"p{n}" for n in range(10)]


def _assert_envelope(answer: Response, status: int, code: str) -> None:
    """Assert the exact error envelope and the headers of every response."""
    assert (answer.status, answer.code) == (status, code), answer.text
    assert status == CODES[code].status
    body = answer.json()
    assert set(body) == {"error", "errors", "message"}
    assert body["message"] == body["error"]["message"]
    assert body["error"]["doc_url"] == f"{config().docs_base}/errors#{code}"
    assert body["error"]["request_id"] == answer.headers["X-Request-Id"]
    assert all(set(problem) == {"field", "message"} for problem in body["errors"])
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "application/json"


# Ignored query parameters


def test_unknown_query_parameters_are_ignored_and_named(erp: Erp) -> None:
    assert erp.post("/products?dry_run=1", BOLT).headers["X-Ignored-Parameters"] == "dry_run"
    for path, named in (
        ("/products?item_code=BOLT-M8&per_page=9&sort=name", None),
        ("/receipts?from=2026-01-01&to=2026-12-31", None),
        ("/products?itemcode=BOLT-M8&perpage=9", "itemcode, perpage"),
        ("/products/1?expand=lines", "expand"),
        ("/products?q%0D%0ASet-Cookie%3A%20x=1&%C3%A9=2", "q%0D%0ASet-Cookie%3A%20x, %C3%A9"),
        ("/products?" + "&".join(f"p{n}=1" for n in range(30)), ", ".join(_TEN)),
        (f"/products?{'p' * 1000}=1", "p" * 64),
        # cut between two characters, not within an escape or a character of several bytes
        (f"/products?{'p' * 63}%20p=1", "p" * 63),
        (f"/products?{'p' * 60}%C3%A9=1", "p" * 60),
        (f"/products?{'p' * 58}%C3%A9%C3%A9=1", "p" * 58 + "%C3%A9"),
    ):
        answer = erp.get(path)
        assert answer.status == 200
        assert answer.headers.get("X-Ignored-Parameters") == named, path


def test_unknown_fields_of_a_body_are_ignored_and_named(erp: Erp) -> None:
    """Of objects and entries, too; with the paths that errors have; also of an ignored body."""
    example = EXAMPLES["POST /entry-documents"]
    order = example.filled(example.prepared(erp))
    assert isinstance(order, dict)
    line = order["lines"][0]
    lines = [line, line | {"uom": "BOX", "tax": {"rate": 1}}]
    order = {**order, "lines": lines, "vendor": 1}
    many = {f"f{n}{'x' * 200}": 1 for n in range(30)}
    cases = (
        ("POST", "/clients", {"name": "C", "document_id": 7, "taxid": "1"}, "taxid"),
        ("PATCH", "/clients/1", {"name": "D"}, None),
        ("PUT", "/clients/1", {"name": "D", "name ,\r\n": 1, "é": 2}, "name%20%2C%0D%0A, %C3%A9"),
        ("POST", "/entry-documents", order, "lines.1.uom, lines.1.tax, vendor"),
        ("POST", "/entry-documents/1/close", {"reason": "x"}, "reason"),
        ("PATCH", "/settings", {"modules": {"bulk_import": True, "rfid": True}}, "modules.rfid"),
        ("PATCH", "/clients/1", many, ", ".join([name[:100] for name in many][:20])),
        ("PATCH", "/clients/1", {"name": "E", "": 2, "\ud800": 1}, "%3F"),
    )
    for number, (method, path, body, named) in enumerate(cases):
        for _ in "first", "replay":
            answer = erp.send(method, path, body, key=f"key-{number}")
            assert answer.status in {200, 201}, answer.text
            assert answer.headers.get("X-Ignored-Fields") == named, path


def test_errors_name_nothing_ignored(erp: Erp) -> None:
    """A caller without rights does not learn from the header whether a route exists."""
    assert "X-Ignored-Fields" not in erp.post("/clients", {"vendor": 1}).headers
    for path in ("/products/9?expand=1", "/nothing?expand=1", "/products?page=0&expand=1"):
        answer = erp.get(path)
        assert answer.status in {404, 422}
        assert "X-Ignored-Parameters" not in answer.headers


def test_parameter_with_several_values_is_refused(erp: Erp) -> None:
    answer = erp.get("/products?item_code=BOLT-M8&item_code=NUT-M8&page=0")
    assert answer.status == 422
    assert [each["field"] for each in answer.json()["errors"]] == ["page", "item_code"]
    same = erp.get("/products?item_code=BOLT-M8&item_code=BOLT-M8&proxy=1&proxy=2")
    assert (same.status, same.headers["X-Ignored-Parameters"]) == (200, "proxy")


# Order of the checks: each request also fails all later checks


def _worst_request(erp: Erp) -> Response:
    return erp.send("POST", "/products", raw="{", key=" ")


def test_tenant_state_is_checked_before_everything_else(stack: Stack) -> None:
    erp = stack.erp(scopes=["products:read"])
    for state, status, code in (
        ("suspended", 402, "tenant_suspended"),
        ("cancelled", 402, "tenant_cancelled"),
    ):
        apply_now(provisioning.set_state, "acme", state)  # type: ignore[arg-type]
        _assert_envelope(_worst_request(erp), status, code)
    apply_now(provisioning.set_state, "acme", "moved", moved_to="https://wms.acme.test")
    _assert_envelope(_worst_request(erp), 410, "tenant_moved")


def test_revocation_is_checked_before_the_scope(stack: Stack) -> None:
    credentials = api_clients.create_client("acme", "ERP", ["products:read"])
    erp = stack.erp(client=credentials.client_id, scopes=["products:read"])
    apply_now(api_clients.revoke_client, credentials.client_id)

    _assert_envelope(_worst_request(erp), 401, "unauthenticated")


def test_scope_is_checked_before_key_and_body(stack: Stack) -> None:
    answer = _worst_request(stack.erp(scopes=["products:read"]))

    _assert_envelope(answer, 403, "missing_scope")
    assert answer.json()["error"]["scope"] == "products:write"


def test_permission_is_checked_before_key_and_body(stack: Stack) -> None:
    user = Erp(stack.gateway, stack.user_token(permissions="exits.manage"))

    _assert_envelope(_worst_request(user), 403, "forbidden")
    assert user.get("/products").status == 200


def test_key_is_checked_before_the_body(erp: Erp) -> None:
    answer = erp.send("POST", "/entry-documents", raw="{")

    _assert_envelope(answer, 400, "idempotency_key_required")


def test_body_is_checked_before_the_resource(erp: Erp) -> None:
    assert erp.patch("/products/999", {"name": 5}).code in {"validation_failed", "not_found"}
    _assert_envelope(erp.send("PATCH", "/products/999", raw="{"), 400, "bad_request")


# Bodies


def test_body_that_needs_one_of_two_fields_is_required(erp: Erp) -> None:
    _assert_envelope(erp.post("/pickings"), 400, "bad_request")
    for body in ({}, {"document_id": 1, "document_ids": [1]}):
        answer = erp.post("/pickings", body)
        assert (answer.status, answer.json()["error"]["field"]) == (422, "document_id")


_NOT_JSON = {
    "empty": "",
    "half": "{",
    "array": "[]",
    "array of objects": '[{"item_code":"A","name":"B"}]',
    "null": "null",
    "text": '"x"',
    "number": "1",
    "NaN": '{"qty":NaN}',
    "Infinity": '{"qty":-Infinity}',
    "deep": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "deep array": "[" * 400_000,
    "digits": '{"id":' + "9" * 5000 + "}",
    "control character": '{"name":"a\nb"}',
    "trailing": '{"name":"a"} x',
    "single quotes": "{'name':'a'}",
    "two BOMs": '\ufeff\ufeff{"name":"a"}',
}


@each_case("name", _NOT_JSON)
def test_body_that_is_not_a_json_object_is_refused(stack: Stack, erp: Erp, name: str) -> None:
    answer = erp.send("POST", "/products", raw=_NOT_JSON[name])

    _assert_envelope(answer, 400, "bad_request")
    assert stack.items() == []


@each_case(
    "content_type",
    ["text/plain", "text/json", "application/xml", "multipart/form-data; boundary=x", "json",
     "application/x-www-form-urlencoded", "application/json; charset=utf-16", "*/*"],
)  # fmt: skip
def test_unsupported_content_type_is_refused(erp: Erp, content_type: str) -> None:
    answer = erp.post("/products", BOLT, headers={"Content-Type": content_type})

    _assert_envelope(answer, 400, "bad_request")


@each_case("sent", [
    {"body": {}, "headers": {"Content-Type": "text/plain"}},
    {"raw": "<start/>"},
    {"raw": "[]"},
])  # fmt: skip
def test_body_that_a_route_ignores_must_be_a_json_object_too(
    erp: Erp, sent: dict[str, Any]
) -> None:
    created = erp.post("/products", BOLT).headers["Location"].partition("/v1")[2]
    for method, path in (("DELETE", created), ("GET", created), ("POST", "/receipts/1/start")):
        _assert_envelope(erp.send(method, path, **sent), 400, "bad_request")

    assert erp.delete(created, {}).status == 200


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "application/json; charset=UTF-8", "APPLICATION/JSON ;charset=utf-8",
     "application/merge-patch+json"],
)  # fmt: skip
def test_variants_of_the_json_content_type_are_accepted(erp: Erp, content_type: str) -> None:
    assert erp.post("/products", BOLT, headers={"Content-Type": content_type}).status == 201


def test_byte_order_mark_is_accepted(erp: Erp) -> None:
    raw = ("\ufeff" + json.dumps(BOLT)).encode()

    assert erp.send("POST", "/products", raw=raw).status == 201


def test_last_value_of_a_repeated_name_is_used(erp: Erp) -> None:
    raw = '{"item_code":"A","name":"first","name":"last"}'

    assert erp.send("POST", "/products", raw=raw).data["name"] == "last"


def test_code_in_place_of_an_id_is_answered_with_the_way_to_find_the_id(erp: Erp) -> None:
    erp.post("/products", BOLT).ok(201)
    answer = erp.get("/products/BOLT-M8")

    _assert_envelope(answer, 404, "not_found")
    path = answer.json()["message"].partition("GET ")[2].rstrip(".")
    assert [row["item_code"] for row in erp.get(path).data] == ["BOLT-M8"]


def test_body_of_one_megabyte_is_accepted_and_a_larger_one_refused(erp: Erp) -> None:
    body = json.dumps(BOLT)
    fits = body[:-1] + " " * (2**20 - len(body)) + "}"

    _assert_envelope(erp.send("POST", "/products", raw=fits + " "), 413, "payload_too_large")
    assert erp.send("POST", "/products", raw=fits).status == 201


def _send_packed(erp: Erp, raw: bytes, encoding: str = "gzip") -> Response:
    body = {"Content-Type": "application/json", "Content-Encoding": encoding}
    return erp.send("POST", "/products", raw=raw, headers=body)


def test_body_packed_with_gzip_is_read(erp: Erp) -> None:
    raw = json.dumps(BOLT).encode()

    assert _send_packed(erp, gzip.compress(raw)).status == 201
    # API Gateway unpacks a body and may leave the header.
    assert _send_packed(erp, raw.replace(b"M8", b"M9")).status == 201


def test_packed_body_is_bounded_and_must_be_whole(stack: Stack, erp: Erp) -> None:
    raw = json.dumps(BOLT).encode()
    for refused in (
        _send_packed(erp, gzip.compress(raw)[:-1]),
        _send_packed(erp, gzip.compress(raw) + b"more"),
        _send_packed(erp, b"\x1f\x8b nothing"),
        _send_packed(erp, raw, "br"),
    ):
        _assert_envelope(refused, 400, "bad_request")
    large = _send_packed(erp, gzip.compress(raw + b" " * 50_000_000))
    _assert_envelope(large, 413, "payload_too_large")
    assert stack.items() == []


@each_case("body", [b'{"name":"\xff"}', b"\xc3\x28", b"\xed\xa0\x80", b"\x00"])
def test_body_that_is_not_utf_8_is_refused(stack: Stack, body: bytes) -> None:
    answer = _call_catalog(stack, body=base64.b64encode(body).decode(), isBase64Encoded=True)

    _assert_envelope(answer, 400, "bad_request")


@each_case("body", ["%", "A", "eyJ9\u00e9"])
def test_body_that_is_not_base64_is_refused(stack: Stack, body: str) -> None:
    _assert_envelope(_call_catalog(stack, body=body, isBase64Encoded=True), 400, "bad_request")


# Queries


# Internal errors


def test_unexpected_failure_reveals_no_details(erp: Erp, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the secret of table acme")

    monkeypatch.setattr("shared.warehouse.catalog.service.list_products", fail)

    answer = erp.get("/products")

    _assert_envelope(answer, 500, "internal_error")
    assert "secret" not in answer.text


def test_response_above_the_lambda_limit_is_413(erp: Erp, monkeypatch: pytest.MonkeyPatch) -> None:
    product = erp.post("/products", BOLT).data
    monkeypatch.setattr("shared.http.results.dumps", lambda _: '"' * 3_100_000)

    _assert_envelope(erp.get(f"/products/{product['id']}"), 413, "payload_too_large")


def test_base_path_of_a_custom_domain_is_ignored(stack: Stack, erp: Erp) -> None:
    product = erp.post("/products", BOLT).data

    answer = _call_catalog(
        stack, httpMethod="GET", path=f"/api/v1/products/{product['id']}", body=None
    )

    assert answer.data == product


def _call_catalog(stack: Stack, **event: Any) -> Response:
    """Call the catalog handler with a gateway event; `event` replaces entries."""
    handler = importlib.import_module("functions.catalog.app").lambda_handler
    authorizer = importlib.import_module("functions.authorizer.app").lambda_handler
    headers = {
        "Authorization": f"Bearer {stack.token()}",
        "Host": "api.stowage.test",
        "Content-Type": "application/json",
    }
    arn = "arn:aws:execute-api:eu-west-1:123456789012:api/api/GET/v1"
    context = authorizer({"headers": headers, "methodArn": arn}, None)["context"]
    answer = handler(
        {
            "httpMethod": "POST",
            "path": "/v1/products",
            "headers": headers,
            "queryStringParameters": None,
            "requestContext": {"requestId": "r1", "authorizer": context},
            "isBase64Encoded": False,
            **event,
        },
        LambdaContext(),
    )
    return Response(answer["statusCode"], Headers(answer["headers"]), answer["body"])
