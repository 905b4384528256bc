"""Every write route reports all problems of its body in one 422, and writes nothing.

The cases are made from the declared routes and their models, so that no route can be left out.
"""

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, TypeAliasType, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from shared.kernel.json_text import loads
from shared.kernel.validation import check, problems_of
from shared.warehouse.rfid.models import SUBJECT_KINDS
from tests.cases import each_case
from tests.gateway import Form, Response
from tests.integration.route_example import Values
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.sampling import sampled
from tests.stack import Stack

_ROUTES = {
    name: operation
    for name, operation in operations().items()
    if operation.writes and operation.body is not None
}
_OF_JSON = [name for name, operation in _ROUTES.items() if not operation.is_form]
_WRONG_TYPE: Mapping[str, Any] = {}
"""A value that no field accepts which is not an object itself."""
_NO_METADATA = 5
"""A value of a wrong type for metadata, which is an object."""
_UNKNOWN_ID = 987_654
_UNKNOWN_CODE = "NO-SUCH"

_CODES = {
    "item_code", "warehouse_code", "warehouse", "whs_code", "from_warehouse", "to_warehouse",
    "document_id", "document_ids", "operator_id", "picker_id", "picking_ids", "pick_face_ids",
    "roles",    "warehouse_id", "exit_document_id", "parent_id", "hold_id",
    *(f"{kind}_id" for kind in SUBJECT_KINDS),
}  # fmt: skip
"""Fields that refer to something by its code or id."""
_BINS = {"bin_code", "from_bin", "to_bin", "destination_bin"}
"""Fields that refer to a position of a warehouse that the body or the work names."""
_NO_REFERENCES = {
    "partner_code", "carrier_code", "service_code", "carrier_id", "site_code", "zip_code",
    "zone_id",
}  # fmt: skip
"""Fields that name something which the service does not keep, or need not know."""
_OWN_CODES = {
    "/products": {"item_code"},
    "/clients": {"document_id"},
    "/warehouses": {"whs_code"},
    "/warehouse-positions": {"bin_code"},
}
"""Start of the path → fields that are the code of the resource itself."""


def _references(route: str, names: set[str]) -> set[str]:
    resource = "/" + route.partition("/")[2].split("/")[0]
    return names - _OWN_CODES.get(resource, set())


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the name of every field that is no model and no list of models."""
    for name, info in model.model_fields.items():
        inner, is_list = _inner_model(info.annotation)
        path = f"{prefix}{info.alias or name}"
        if inner:
            yield from _fields(inner, f"{path}.0." if is_list else f"{path}.")
        else:
            yield path, name


def _inner_model(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """Return the model in an annotation, and whether the field is a list of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation, False
    if isinstance(annotation, TypeAliasType):
        return _inner_model(annotation.__value__)
    for part in get_args(annotation):
        found, is_list = _inner_model(part)
        if found:
            is_union = get_origin(annotation) in {Union, UnionType}
            return found, is_list or (not is_union and get_origin(annotation) is list)
    return None, False


def _body(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body with these values by path."""
    body: dict[str, Any] = {}
    for path, value in values.items():
        *parents, last = path.split(".")
        here: Any = body
        for at, part in enumerate(parents):
            if part == "0":
                continue
            is_list = at + 1 < len(parents) and parents[at + 1] == "0"
            inner = here.setdefault(part, [{}] if is_list else {})
            here = inner[0] if is_list else inner
        here[last] = value
    return body


def _unknown(name: str) -> Any:
    if name in {"document_ids", "picking_ids", "pick_face_ids", "roles"}:
        return [_UNKNOWN_ID]
    return _UNKNOWN_ID if name.endswith("_id") else _UNKNOWN_CODE


def _wrong_value(path: str) -> object:
    return _NO_METADATA if path.endswith("metadata") else _WRONG_TYPE


def _unreported(wanted: set[str], reported: list[str]) -> set[str]:
    """Return the paths without a problem; one of an entry of a list counts for the list."""
    return {
        path
        for path in wanted
        if not any(field == path or field.startswith(f"{path}.") for field in reported)
    }


def _send(route: str, stack: Stack, values: Values, body: object) -> Response:
    """Send a body to a route, with the values of the path; assert that nothing is written."""
    example = EXAMPLES[route]
    method, path = route.split()
    before, events = stack.items(), stack.events()
    erp = example.sender(stack.erp(), values)
    answer = erp.send(method, path.format(**values), body, key="refused")
    assert (stack.items(), stack.events()) == (before, events)
    return answer


def test_every_field_that_looks_like_a_reference_is_classified() -> None:
    known = _CODES | _BINS | _NO_REFERENCES
    found = {
        name
        for operation in _ROUTES.values()
        for _, name in _fields(operation.body)  # type: ignore[arg-type]
        if name.endswith(("_code", "_id", "_ids", "_bin")) or name in known
    }
    assert found == known


@each_case("route", _OF_JSON)
def test_every_field_of_a_wrong_type_is_a_problem(route: str) -> None:
    body = _ROUTES[route].body
    assert body is not None
    wrong = {path: _wrong_value(path) for path, _ in _fields(body)}
    reported = [problem.field for problem in problems_of(check(body, _body(wrong)))]
    assert _unreported(set(wrong), reported) == set()


_WRONG_FORMS = {
    "POST /imports": (
        {"kind": "", "options[on_duplicate]": "?"}, {"kind", "file", "options.on_duplicate"},
    ),
    "POST /reconciliations/files": (
        {"position": "-1", "epoch": "?", "warehouse_code": "", "complete": "?"},
        {"file", "position", "epoch", "warehouse_code", "complete"},
    ),
}  # fmt: skip
"""Fields of a form that are wrong, and the fields that are reported."""


@pytest.mark.parametrize(
    "route",
    [
        *(name for name in _ROUTES if name not in _OF_JSON),
        *sampled("fields of a wrong type", _OF_JSON, every=6),
    ],
)
def test_every_field_of_a_wrong_type_is_reported_at_once(route: str, stack: Stack) -> None:
    operation = _ROUTES[route]
    assert operation.body is not None
    values = EXAMPLES[route].prepared(stack.erp())
    wrong = {path: _wrong_value(path) for path, _ in _fields(operation.body)}
    if operation.is_form:
        fields, wanted = _WRONG_FORMS[route]
        answer = _send(route, stack, values, Form(fields))
    else:
        answer, wanted = _send(route, stack, values, _body(wrong)), set(wrong)
    assert _unreported(wanted, answer.invalid_fields) == set()


_NAMED = "line_num"
"""Names a line in a change. The service reports a number, of any size, that no line has."""


@each_case("number", ["1e309", "1e3000000", "-1e3000000", "1e300000000", "1e" + "9" * 30])
@each_case("shape", ["{}", "[{}]", "[[{}, {}]]"])
@each_case("route", _OF_JSON)
def test_number_of_any_size_is_a_problem_of_its_field(route: str, shape: str, number: str) -> None:
    body = _ROUTES[route].body
    assert body is not None
    value = loads(shape.replace("{}", number))
    sent = {path: value for path, name in _fields(body) if (route[:5], name) != ("PATCH", _NAMED)}
    checked = check(body, _body(sent))
    reported = [problem.field for problem in problems_of(checked)]
    assert _unreported(set(sent), reported) == set()


def _with_references() -> Iterator[tuple[str, str]]:
    for route, operation in _ROUTES.items():
        assert operation.body is not None
        for kind, names in (("codes", _CODES), ("positions", _BINS)):
            wanted = _references(route, names)
            if not operation.is_form and any(n in wanted for _, n in _fields(operation.body)):
                yield route, kind


@pytest.mark.parametrize(("route", "kind"), list(_with_references()))
def test_unknown_references_are_reported_with_the_fields_of_a_wrong_type(
    route: str, kind: str, stack: Stack
) -> None:
    operation = _ROUTES[route]
    assert operation.body is not None
    others = _references(route, _CODES | _BINS)
    planted = _references(route, _CODES if kind == "codes" else _BINS)
    example = EXAMPLES[route]
    prepared = example.prepared(stack.erp())
    valid = example.filled(prepared)
    assert isinstance(valid, Mapping)
    values: dict[str, Any] = {}
    wanted: set[str] = set()
    for path, name in _fields(operation.body):
        if name in planted:
            values[path] = _unknown(name)
            wanted.add(path)
        elif name not in others:
            values[path] = _wrong_value(path)
            wanted.add(path)
        elif (present := _value(valid, path)) is not None:
            values[path] = present
    reported = _send(route, stack, prepared, _body(values)).invalid_fields
    assert _unreported(wanted, reported) == set()


def _value(body: Any, path: str) -> Any:
    """Return the value of an example body at a path; None when it has none."""
    for part in path.split("."):
        if isinstance(body, list):
            body = body[int(part)]
        elif isinstance(body, Mapping):
            body = body.get(part)
    return body
