"""A route that is declared as deprecated says so in its responses and in the OpenAPI document."""

from dataclasses import replace
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from pydantic import BaseModel, Field

from functions.catalog import app
from shared.http.api_handler import ApiHandler
from shared.http.routes import Deprecation, Routes
from shared.kernel.config import config
from tests.gateway import Erp, Response
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.stack import Stack
from tools.openapi import declared, document
from tools.openapi.responses import Refusals, Wrappers
from tools.openapi.schemas import component_schemas, query_parameters

_DEPRECATION = Deprecation(since=date(2027, 3, 1), sunset=date(2028, 3, 1), page="errors#gone")
_DEPRECATED = {"GET /products", "POST /products", "GET /products/{id}"}


@pytest.fixture
def erp(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Erp:
    """An ERP of a stack in which three routes of the catalog are deprecated."""
    routes = Routes()
    for one in app.lambda_handler.operations:
        is_deprecated = one.name in _DEPRECATED
        routes.add(replace(one, deprecation=_DEPRECATION) if is_deprecated else one)
    monkeypatch.setattr(app, "lambda_handler", ApiHandler(routes))
    return stack.erp()


def _assert_deprecated(answer: Response, status: int) -> None:
    assert answer.status == status
    since = datetime(2027, 3, 1, tzinfo=UTC)
    assert answer.headers["Deprecation"] == f"@{since.timestamp():.0f}"
    assert answer.headers["Sunset"] == "Wed, 01 Mar 2028 00:00:00 GMT"
    assert parsedate_to_datetime(answer.headers["Sunset"]) == datetime(2028, 3, 1, tzinfo=UTC)
    page = f"{config().docs_base}/errors#gone"
    assert answer.headers["Link"] == f'<{page}>; rel="deprecation"; type="text/html"'


def test_every_response_of_a_deprecated_route_has_the_headers(erp: Erp) -> None:
    body = EXAMPLES["POST /products"].body
    created = erp.post("/products", body, key="one")
    _assert_deprecated(created, 201)
    _assert_deprecated(erp.post("/products", body, key="one"), 201)  # a repeated response
    _assert_deprecated(erp.post("/products", {}), 422)
    _assert_deprecated(erp.get("/products"), 200)
    _assert_deprecated(erp.get("/products/999"), 404)
    known = erp.get(f"/products/{created.data['id']}")
    headers = {"If-None-Match": known.headers["ETag"]}
    _assert_deprecated(erp.send("GET", f"/products/{created.data['id']}", headers=headers), 304)


def test_caller_without_the_right_does_not_learn_that_the_route_exists(
    stack: Stack, erp: Erp
) -> None:
    assert erp.get("/products").headers["Sunset"]
    refused = stack.erp(scopes=["stocks:read"]).get("/products")
    assert refused.status == 403
    assert "Sunset" not in refused.headers


def test_other_routes_have_no_such_header(erp: Erp) -> None:
    number = erp.post("/products", EXAMPLES["POST /products"].body).data["id"]
    for answer in (
        erp.get("/product-categories"), erp.patch(f"/products/{number}", {"name": "B"}),
        erp.put("/products", {}), erp.get("/nothing"),
    ):  # fmt: skip
        assert not {"deprecation", "sunset", "link"} & answer.headers.keys()


def test_deprecated_route_is_marked_in_the_openapi_document() -> None:
    operation = operations()["GET /products"]
    deprecated = replace(operation, deprecation=_DEPRECATION)
    shown = document._operation(deprecated, Refusals(), Wrappers())
    assert shown["deprecated"] is True
    assert "from 2027-03-01" in shown["description"]
    assert "until 2028-03-01" in shown["description"]
    assert {"Deprecation", "Sunset", "Link"} <= shown["responses"]["200"]["headers"].keys()
    present = document._operation(operation, Refusals(), Wrappers())
    assert "deprecated" not in present
    assert "Deprecation" not in present["responses"]["200"]["headers"]


def test_deprecated_fields_and_parameters_are_marked_in_the_openapi_document() -> None:
    mark: dict[str, Any] = {"deprecated": True}

    class Old(BaseModel):
        name: str
        title: str | None = Field(default=None, json_schema_extra=mark)

    assert query_parameters(Old)["title"]["deprecated"] is True
    for schemas in (component_schemas([Old], []), component_schemas([], [Old])):
        fields = schemas["Old"]["properties"]
        assert [name for name, field in fields.items() if field.get("deprecated")] == ["title"]


def test_route_works_for_a_year_after_its_deprecation() -> None:
    with pytest.raises(ValueError, match="365 days"):
        Deprecation(since=date(2027, 3, 1), sunset=date(2028, 2, 28))


def test_no_route_is_deprecated_today() -> None:
    """The page says so; a deprecated route needs a row in its table."""
    assert [one.name for one in declared.operations() if one.deprecation] == []
