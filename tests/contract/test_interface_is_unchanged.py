"""What never changes within v1 is as in the last release (docs/reference/versioning.md).

`tests/recorded/interface.json.xz` has the interface of that release. Only the recipe "Release"
writes it, so no change of the interface brings its own measure.
"""

import copy
from collections.abc import Callable
from typing import Any

from tests.cases import each_case
from tests.contract.compatibility import broken_promises
from tests.recorded.interface import current, last_release, recorded

type Document = dict[str, Any]


def test_interface_keeps_the_promises_of_the_last_release() -> None:
    assert broken_promises(recorded(), current()) == []


def test_recorded_interface_is_that_of_the_last_release() -> None:
    assert recorded()["version"] == last_release()


def _operation(document: Document, name: str) -> Document:
    method, path = name.split(" ")
    found: Document = document["paths"][path][method.lower()]
    return found


def _schema(document: Document, name: str) -> Document:
    found: Document = document["components"]["schemas"][name]
    return found


def _parameter(document: Document, operation: str, name: str) -> Document:
    parameters = _operation(document, operation)["parameters"]
    found: Document = next(one for one in parameters if one.get("name") == name)
    return found


def _remove_route(document: Document) -> None:
    del document["paths"]["/pick-faces/{id}"]["delete"]


def _remove_filter(document: Document) -> None:
    parameters = _operation(document, "GET /exit-documents")["parameters"]
    parameters.remove(_parameter(document, "GET /exit-documents", "card_code"))


def _remove_sort(document: Document) -> None:
    _parameter(document, "GET /products", "sort")["schema"]["enum"].remove("-name")


def _remove_event(document: Document) -> None:
    del document["webhooks"]["wave.planned"]


def _remove_error_code(document: Document) -> None:
    for response in document["components"]["responses"].values():
        codes = response.get("x-error-codes", [])
        codes[:] = [code for code in codes if code != "order_in_wave"]


def _change_status_of_error(document: Document) -> None:
    for methods in document["paths"].values():
        for operation in methods.values():
            if "410" in operation["responses"]:
                operation["responses"]["409"] = operation["responses"].pop("410")


def _change_success(document: Document) -> None:
    responses = _operation(document, "POST /products")["responses"]
    responses["200"] = responses.pop("201")


def _remove_header(document: Document) -> None:
    del _operation(document, "POST /products")["responses"]["201"]["headers"]["Location"]


def _change_media_type(document: Document) -> None:
    content = _operation(document, "GET /warehouses/{id}/layout.svg")["responses"]["200"]["content"]
    content["image/png"] = content.pop("image/svg+xml")


def _require_permission(document: Document) -> None:
    _operation(document, "GET /products")["x-permission"] = "inventory.manage"


def _require_parameter(document: Document) -> None:
    _parameter(document, "GET /stocks", "product_id")["required"] = True


def _remove_field_of_response(document: Document) -> None:
    del _schema(document, "Product")["properties"]["barcode"]


def _remove_field_of_part(document: Document) -> None:
    del _schema(document, "PickingLine")["properties"]["picked_qty"]


def _remove_field_of_request(document: Document) -> None:
    del _schema(document, "ProductCreate")["properties"]["barcode"]


def _require_field(document: Document) -> None:
    _schema(document, "ProductCreate")["required"].append("barcode")


def _change_type(document: Document) -> None:
    _schema(document, "Product")["properties"]["id"]["type"] = "string"


def _change_format(document: Document) -> None:
    del _schema(document, "Product")["properties"]["created_at"]["format"]


def _make_nullable(document: Document) -> None:
    _schema(document, "Product")["properties"]["name"]["type"] = ["string", "null"]


def _refuse_null(document: Document) -> None:
    _schema(document, "ProductCreate")["properties"]["barcode"]["type"] = "string"


def _refuse_value(document: Document) -> None:
    events = _schema(document, "WebhookCreate")["properties"]["events"]
    events["items"]["enum"].remove("wave.planned")


def _lower_limit(document: Document) -> None:
    _schema(document, "ProductCreate")["properties"]["name"]["maxLength"] = 100


def _change_default(document: Document) -> None:
    _parameter(document, "GET /products", "sort")["schema"]["default"] = "name"


def _add_status(document: Document) -> None:
    _schema(document, "WorkStatus")["enum"].append("paused")


_PLANTED: dict[Callable[[Document], None], str] = {
    _remove_route: "DELETE /pick-faces/{id}: removed",
    _remove_filter: "GET /exit-documents: parameter card_code (query) removed",
    _remove_sort: "GET /products: parameter sort (query): -name is refused now",
    _remove_event: "event wave.planned: removed",
    _remove_error_code: "error order_in_wave: removed",
    _change_status_of_error: "error gone: no longer has the status 410",
    _change_success: "POST /products: no longer responds with 201",
    _remove_header: "POST /products: 201 has no header Location",
    _change_media_type: "GET /warehouses/{id}/layout.svg: 200: no image/svg+xml any more",
    _require_permission: "GET /products: x-permission inventory.manage instead of None",
    _require_parameter: "GET /stocks: parameter product_id (query) is required now",
    _remove_field_of_response: " barcode: removed",
    _remove_field_of_part: " picked_qty: removed",
    _remove_field_of_request: "POST /products: body barcode: removed",
    _require_field: "POST /products: body barcode: is required now",
    _change_type: " id: type string instead of integer",
    _change_format: " created_at: format None instead of date-time",
    _make_nullable: " name: may be null now",
    _refuse_null: "POST /products: body barcode: null is refused now",
    _refuse_value: "events[]: wave.planned is refused now",
    _lower_limit: "POST /products: body name: maxLength 100 instead of 200",
    _change_default: "GET /products: parameter sort (query): default name instead of id",
    _add_status: " status: may be paused now",
}
"""Changes that break a promise → what the comparison says of each."""


@each_case(("change", "message"), _PLANTED.items())
def test_change_that_breaks_a_promise_is_found(
    change: Callable[[Document], None], message: str
) -> None:
    changed = copy.deepcopy(recorded())
    change(changed)
    found = broken_promises(recorded(), changed)
    assert any(one.endswith(message) for one in found), found


def _add_route(document: Document) -> None:
    document["paths"]["/kits"] = {"get": _operation(document, "GET /products")}


def _add_filter(document: Document) -> None:
    parameters = _operation(document, "GET /products")["parameters"]
    parameters.append({"name": "color", "in": "query", "schema": {"type": "string"}})


def _add_fields(document: Document) -> None:
    for name in ("Product", "ProductCreate"):
        _schema(document, name)["properties"]["color"] = {"type": ["string", "null"]}
    _schema(document, "Product")["required"].append("color")


def _add_event(document: Document) -> None:
    document["webhooks"]["kit.created"] = document["webhooks"]["product.created"]
    events = _schema(document, "WebhookCreate")["properties"]["events"]
    events["items"]["enum"].append("kit.created")


def _raise_limit(document: Document) -> None:
    _schema(document, "ProductCreate")["properties"]["name"]["maxLength"] = 300


def _require_less(document: Document) -> None:
    _schema(document, "ProductCreate")["required"].remove("name")
    _operation(document, "POST /users")["x-permission"] = None


@each_case(
    "change", [_add_route, _add_filter, _add_fields, _add_event, _raise_limit, _require_less]
)
def test_addition_breaks_no_promise(change: Callable[[Document], None]) -> None:
    changed = copy.deepcopy(recorded())
    change(changed)
    assert broken_promises(recorded(), changed) == []
