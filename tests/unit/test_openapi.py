"""The OpenAPI document is valid, current and complete, and its examples are valid."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from pydantic import BaseModel, Field

from shared.http.routes import Idempotency, Operation
from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from shared.kernel.config import config
from shared.kernel.errors import CODES
from shared.kernel.events.kinds import EVENT_KINDS, TEST_EVENT
from shared.kernel.json_text import loads
from shared.kernel.validation import check, problems_of
from tests.cases import each_case
from tests.openapi import generated_texts, objects
from tools.openapi import declared
from tools.openapi.examples import example
from tools.openapi.schemas import component_schemas, query_parameters

ROOT = Path(__file__).parents[2]
OPERATIONS = {operation.name: operation for operation in declared.operations()}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(generated_texts()["docs/reference/openapi.json"])
    return found


def of(document: dict[str, Any], operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"][operation.path][operation.method.lower()]
    return found


def resolve(document: dict[str, Any], node: Any) -> Any:
    while isinstance(node, dict) and "$ref" in node:
        found: Any = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def test_document_is_valid_openapi(document: dict[str, Any]) -> None:
    from openapi_spec_validator import validate  # noqa: PLC0415 - slow to import

    assert document["openapi"].startswith("3.1.")
    validate(document)


@each_case("name", generated_texts())
def test_committed_file_matches_the_declared_routes(name: str) -> None:
    assert (ROOT / name).read_text() == generated_texts()[name], "run python -m tools.openapi"


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    names = [
        operation["operationId"]
        for item in document["paths"].values()
        for operation in item.values()
    ]
    assert len(names) == len(set(names)) > len(OPERATIONS)


@each_case("operation", OPERATIONS.values(), named=OPERATIONS.keys())
def test_operation_shows_its_declaration(document: dict[str, Any], operation: Operation) -> None:
    shown = of(document, operation)
    parameters = [resolve(document, node) for node in shown["parameters"]]
    named = {(node["in"], node["name"]): node for node in parameters}

    assert shown["summary"] == operation.summary
    scopes = [operation.scope] if operation.scope else []
    needed = f"the scope `{operation.scope}`" if scopes else "a valid token"
    assert f"Integration clients need {needed}, users" in shown["description"]
    assert shown["security"] == [{"client": scopes}, {"user": []}]
    assert SCOPES.keys() >= {*scopes}
    assert (shown["x-scope"], shown["x-permission"]) == (operation.scope, operation.permission)
    assert operation.permission is None or operation.permission in PERMISSIONS
    assert {str(status) for status in operation.statuses} <= shown["responses"].keys()
    assert all(node.get("description") for node in parameters)
    if operation.parameters:
        fields = operation.parameters.model_fields
        queries = {name for place, name in named if place == "query"}
        assert queries == {info.alias or name for name, info in fields.items()}
    if operation.writes:
        key = named["header", "Idempotency-Key"]
        assert key["required"] is (operation.idempotency is Idempotency.REQUIRED)


@each_case("operation", OPERATIONS.values(), named=OPERATIONS.keys())
def test_error_codes_have_status_and_example(
    document: dict[str, Any], operation: Operation
) -> None:
    responses = of(document, operation)["responses"]

    for code in (*operation.errors, "unauthenticated", "tenant_suspended", "rate_limited"):
        for status in operation.error_statuses.get(code, (CODES[code].status,)):
            answer = resolve(document, responses[str(status)])
            assert f"`{code}`" in answer["description"]
            shown = answer["content"]["application/json"]["examples"][code]["value"]
            assert shown["error"]["code"] == code
    if "{id}" in operation.path:
        assert "404" in responses


def test_rate_limited_responses_document_the_limit_headers(document: dict[str, Any]) -> None:
    limits = {f"RateLimit-{name}" for name in ("Limit", "Remaining", "Reset")}
    counted = {(operation.path, operation.method.lower()) for operation in OPERATIONS.values()}
    counted.add(("/mcp", "post"))
    for path, methods in document["paths"].items():
        for method, shown in methods.items():
            for answer in shown["responses"].values():
                headers = resolve(document, answer)["headers"].keys()
                assert limits & headers == (limits if (path, method) in counted else set())
                refused = {"$ref": "#/components/responses/RateLimited"}
                assert answer != refused or "Retry-After" in headers


def _contents(document: dict[str, Any], node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every media type object below a node with its path."""
    if isinstance(node, dict):
        if "schema" in node and ("example" in node or "examples" in node) and "in" not in node:
            yield path, node
        for name, inner in node.items():
            yield from _contents(document, inner, f"{path}/{name}")


def test_every_example_satisfies_its_schema(document: dict[str, Any]) -> None:
    parts = {key: document[key] for key in ("paths", "components", "webhooks")}
    contents = list(_contents(document, parts))
    bodies = [operation for operation in OPERATIONS.values() if operation.body]
    assert len(contents) > len(OPERATIONS) + len(bodies)

    for where, content in contents:
        checker = Draft202012Validator(
            {**content["schema"], "components": document["components"]},
            format_checker=FormatChecker(),
        )
        shown = [content["example"]] if "example" in content else []
        shown += [named["value"] for named in content.get("examples", {}).values()]
        for value in shown:
            assert [error.message for error in checker.iter_errors(value)] == [], where


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of a deployment, which determine the allowed webhook addresses."""
    for name in ("STACK_NAME", "CONTROL_TABLE"):
        monkeypatch.setenv(name, "stowage")
    config.cache_clear()
    yield
    config.cache_clear()


@pytest.mark.usefixtures("settings")
def test_every_example_body_is_valid() -> None:
    for operation in OPERATIONS.values():
        if operation.body and not operation.is_form:
            raw = loads(json.dumps(example(operation.body)))
            assert not problems_of(check(operation.body, raw)), operation.name


def test_error_responses_have_one_plain_schema(document: dict[str, Any]) -> None:
    for name, answer in document["components"]["responses"].items():
        content = answer["content"]["application/json"]
        assert content["schema"] == {"$ref": "#/components/schemas/ErrorResponse"}, name
        assert set(answer["x-error-codes"]) == set(content["examples"])


def test_values_of_enums_have_names(document: dict[str, Any]) -> None:
    """Generated clients name the values `CREATED_AT_DESC`, not `VALUE_1`."""
    parts = [document["paths"], document["components"]]
    found = [one for one in objects(parts) if isinstance(one.get("enum"), list)]
    assert len(found) > 80
    for schema in found:
        values = [value for value in schema["enum"] if value is not None]
        names = schema.get("x-enum-varnames", values)
        assert len(set(names)) == len(values), schema
        assert all(name.isidentifier() for name in names), schema


def test_operation_ids_have_one_scheme(document: dict[str, Any]) -> None:
    verbs = {"list", "get", "create", "put", "update", "delete"}
    for operation in OPERATIONS.values():
        verb = declared.operation_id(operation).partition("_")[0]
        if operation.method != "POST":
            lists = operation.is_list or (operation.responds_with_list and not operation.writes)
            assert verb == ("list" if lists else None) or verb in verbs - {"list"}
    assert declared.operation_id(OPERATIONS["GET /product-categories"]) == "list_product_categories"
    names = {
        "PATCH /product-categories/{id}": "update_product_category",
        "POST /webhooks/{id}/rotate-secret": "rotate_webhook_secret",
        "POST /warehouse-positions/bulk": "create_warehouse_positions",
        "GET /webhooks/{id}/deliveries": "list_webhook_deliveries",
        "POST /transfer-orders/{id}/finish-picking": "finish_transfer_order_picking",
    }
    assert {name: declared.operation_id(OPERATIONS[name]) for name in names} == names
    assert document["paths"]["/oauth/token"]["post"]["operationId"] == "create_token"


def test_each_kind_of_event_has_a_request_with_its_payload(document: dict[str, Any]) -> None:
    assert set(document["webhooks"]) == {*EVENT_KINDS, TEST_EVENT}
    for kind, item in document["webhooks"].items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        assert "example" in content
        schema = resolve(document, content["schema"])
        assert schema["properties"]["type"]["const"] == kind


def test_events_have_a_tag_that_no_route_has(document: dict[str, Any]) -> None:
    """Generators make one class of a tag: with routes in it, they leave some of them out."""
    tags = {
        tag for item in document["paths"].values() for one in item.values() for tag in one["tags"]
    }
    of_events = {tag for item in document["webhooks"].values() for tag in item["post"]["tags"]}
    assert of_events == {"Events"}
    assert not tags & of_events


def test_patterns_begin_at_the_first_character(document: dict[str, Any]) -> None:
    """Generated clients in Python match a pattern from the start of a text."""
    patterns = [one["pattern"] for one in objects(document) if isinstance(one.get("pattern"), str)]
    assert len(patterns) > 20
    assert [one for one in patterns if not one.startswith("^")] == []


def test_no_key_is_given_as_an_example(document: dict[str, Any]) -> None:
    """Tools send an example as it stands: the second request would get the first response."""
    parameters = document["components"]["parameters"]
    for name in ("IdempotencyKey", "IdempotencyKeyRequired"):
        assert not {"example", "examples", "default"} & parameters[name].keys()


_RUNTIME_CLASSES = {
    "ApiClient", "ApiException", "ApiResponse", "Configuration", "JSON", "Pair", "RequestContext",
    "ResponseContext",
}  # fmt: skip
"""Classes that openapi-generator writes into every client."""


def test_schemas_and_properties_suit_generators_of_clients(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert not _RUNTIME_CLASSES & schemas.keys()
    for item in document["paths"].values():
        for operation in item.values():
            for media, content in operation.get("requestBody", {}).get("content", {}).items():
                forms = (
                    [] if media == "application/json" else [resolve(document, content["schema"])]
                )
                for form in forms:
                    variants = [resolve(document, one) for one in form.get("oneOf", [form])]
                    assert not [one for one in variants if "additionalProperties" in one]


def test_creation_that_finds_a_resource_has_one_type_for_each_status(
    document: dict[str, Any],
) -> None:
    """A client of whom the fields are hidden gets the id: the rest of the one type is optional."""
    found = [operation for operation in OPERATIONS.values() if operation.finds_existing]
    assert len(found) > 3
    for operation in found:
        types = {}
        for status in ("200", "201"):
            content = of(document, operation)["responses"][status]["content"]["application/json"]
            types[status] = resolve(document, content["schema"])["properties"]["data"]
        existing, new = (resolve(document, types[status]) for status in ("200", "201"))
        assert existing["properties"] == new["properties"]
        assert existing["required"] == ["id"] != new["required"]


_ROWS = {
    one.response.__name__
    for one in OPERATIONS.values()
    if one.is_list and not isinstance(one.response, str)
}
_IF_ASKED = {
    ("FeedTransaction", "action"),
    ("ResourceChange", "resource"),
    ("StockLevel", "id"),
    *((name, "version") for name in _ROWS),
}
"""Fields of responses that a parameter asks for."""


def test_all_response_fields_are_required(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    models = {
        found.response for found in OPERATIONS.values() if not isinstance(found.response, str)
    }
    answers = component_schemas([], models)
    objects = [name for name, schema in answers.items() if "properties" in schema]
    assert len(objects) > 70
    for name in objects:
        properties = [one for one in schemas[name]["properties"] if (name, one) not in _IF_ASKED]
        assert schemas[name]["required"] == properties, name


def test_required_query_parameters_are_marked_and_have_an_example(
    document: dict[str, Any],
) -> None:
    parameters = document["paths"]["/putaway-suggestions"]["get"]["parameters"]
    marked = {one.get("name"): one.get("example") for one in parameters if one.get("required")}
    assert marked == {"warehouse": "CEN", "item_code": "CHM-SIL-WHT"}


def test_deprecated_fields_and_parameters_are_marked() -> None:
    mark: dict[str, Any] = {"deprecated": True}

    class Old(BaseModel):
        name: str
        title: str | None = Field(default=None, json_schema_extra=mark)

    assert query_parameters(Old)["title"]["deprecated"] is True
    for schemas in (component_schemas([Old], []), component_schemas([], [Old])):
        fields = schemas["Old"]["properties"]
        assert [name for name, field in fields.items() if field.get("deprecated")] == ["title"]


def test_picking_needs_a_body_with_one_of_two_fields(document: dict[str, Any]) -> None:
    body = of(document, OPERATIONS["POST /pickings"])["requestBody"]
    assert body["required"] is True
    components = {"components": document["components"]}
    schema = body["content"]["application/json"]["schema"] | components
    valid = Draft202012Validator(schema).is_valid
    for good in (
        {"document_id": 1},
        {"document_ids": [1, 2]},
        {"document_id": 1, "document_ids": None},
        {"document_id": None, "document_ids": [1]},
    ):
        assert valid(good), good
    refused: list[dict[str, Any]] = [
        {},
        {"allocate": True},
        {"document_id": None, "document_ids": None},
        {"document_id": 1, "document_ids": [1]},
        {"document_ids": []},
    ]
    for bad in refused:
        assert not valid(bad), bad


def test_documented_pattern_of_keys_admits_spaces_inside(document: dict[str, Any]) -> None:
    for name in ("IdempotencyKey", "IdempotencyKeyRequired"):
        pattern = document["components"]["parameters"][name]["schema"]["pattern"]
        for good in ("k", "a b", "order 7 of acme", "x" * 255):
            assert re.search(pattern, good)
        for bad in ("", " ", " a", "a ", "x" * 256, "é", "a\tb"):
            assert not re.search(pattern, bad)


def test_head_is_documented_for_the_files_without_a_token(document: dict[str, Any]) -> None:
    with_head = {path for path, item in document["paths"].items() if "head" in item}
    assert with_head == {"/console", "/docs", "/openapi.json"}
    for path in with_head:
        answer = document["paths"][path]["head"]["responses"]["200"]
        assert "content" not in answer
        assert answer["headers"] == document["paths"][path]["get"]["responses"]["200"]["headers"]


_IMPORT_REFUSED = {
    "POST /reconciliations/files": {"413", "422"},
    "POST /imports": {"413", "422"},
    "POST /imports/uploads": {"422"},
    "POST /imports/{id}/commit": {"409"},
}
"""Route → the statuses of import_refused; tests/integration/imports sends such requests."""


@each_case("operation", OPERATIONS.values(), named=OPERATIONS.keys())
def test_import_refused_is_documented_where_it_happens(
    document: dict[str, Any], operation: Operation
) -> None:
    responses = of(document, operation)["responses"]
    statuses = {
        status
        for status, answer in responses.items()
        if "`import_refused`" in resolve(document, answer)["description"]
    }
    assert statuses == _IMPORT_REFUSED.get(operation.name, set())


def test_import_kinds_with_a_module_are_documented(document: dict[str, Any]) -> None:
    named = {
        name
        for name, operation in OPERATIONS.items()
        if operation.module == "bulk_import"
        and "`transfer_orders_disabled`"
        in resolve(document, of(document, operation)["responses"]["404"])["description"]
    }
    assert named == {
        "POST /imports",
        "POST /imports/uploads",
        "POST /imports/{id}/commit",
        "GET /imports/templates/{kind}",
    }


def test_two_models_with_one_name_are_refused() -> None:
    first = type("Pallet", (BaseModel,), {"__annotations__": {"height": int}, "__module__": "a"})
    second = type("Pallet", (BaseModel,), {"__annotations__": {"width": int}, "__module__": "b"})

    with pytest.raises(ValueError, match="Pallet"):
        component_schemas([], [first, second])
    with pytest.raises(ValueError, match="Pallet"):
        component_schemas([first], [second])


def test_model_without_an_example_is_reported() -> None:
    model = type("Forklift", (BaseModel,), {"__annotations__": {"id": int}})

    with pytest.raises(KeyError, match="Forklift"):
        example(model)
