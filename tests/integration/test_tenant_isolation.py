"""Tenants are isolated: ids of another tenant behave like ids that do not exist.

The caller belongs to another tenant, has every right there and knows all ids. The response must be
that for an unknown id, and the data of the tenant must not change.
"""

import re
from typing import Any

import pytest

from shared.identity.auth.scopes import PERMISSIONS
from tests.gateway import Erp, Form, Response
from tests.integration.entity_factories import address_of
from tests.integration.route_example import Example
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.sampling import sampled
from tests.stack import Stack

_UNKNOWN_ID = "999999"
"""An id that does not exist."""

_ROUTES = sorted(operations())
_OF_ONE = [route for route in _ROUTES if "{id}" in route]
_LISTS = [
    name
    for name, operation in sorted(operations().items())
    if operation.is_list and "{" not in name
]
_KINDS = ("client", "user")


def _caller_of_beta(stack: Stack, kind: str) -> Erp:
    """Return a caller of the tenant beta with all rights."""
    if kind == "client":
        return stack.erp("beta")
    token = stack.user_token("beta", sub="1", permissions=" ".join(PERMISSIONS))
    return Erp(stack.gateway, token)


def _create_resource(route: str, stack: Stack) -> tuple[str, Example | None]:
    """Create the resource of the route in acme; return its path and the example."""
    method, _, path = route.partition(" ")
    erp = stack.erp()
    if method == "GET":
        return address_of(path, erp, stack.store()), None
    example = EXAMPLES[route]
    return path.format(**example.prepared(erp)), example


def _send(who: Erp, route: str, path: str, example: Example | None) -> Response:
    method = route.partition(" ")[0]
    return who.send(method, path, example.body if example else None, key=path)


def _comparable(answer: Response, path: str) -> tuple[int, Any]:
    """Return status and body without the values that differ in each request."""
    text = re.sub('"request_id": ?"[^"]*"', "", answer.text)
    for name in path.split("/")[2:]:
        text = re.sub(rf"\b{re.escape(name)}\b", "ID", text)
    return answer.status, text


@pytest.mark.parametrize("route", _OF_ONE)
def test_id_of_another_tenant_is_an_unknown_id(route: str, stack: Stack) -> None:
    path, example = _create_resource(route, stack)
    before = stack.items()
    first, named, *below = path.lstrip("/").split("/")
    unknown = "/".join(["", first, _unknown(named), *below])

    for kind in sampled(route, _KINDS, every=2):
        caller = _caller_of_beta(stack, kind)
        answer = _send(caller, route, path, example)

        assert answer.status in {403, 404}, f"{kind}: {answer.text}"
        expected = _comparable(_send(caller, route, unknown, example), unknown)
        assert _comparable(answer, path) == expected, kind
        assert stack.items() == before, kind


def _unknown(name: str) -> str:
    """Return an unknown id of the same form."""
    if "." in name:
        return f"{_UNKNOWN_ID}.{name.partition('.')[2]}"
    return _UNKNOWN_ID if name.isdigit() else re.sub("[0-9a-f]{24}$", "0" * 24, name)


@pytest.mark.parametrize("route", _LISTS)
def test_lists_do_not_show_rows_of_another_tenant(route: str, stack: Stack) -> None:
    path = route.partition(" ")[2]
    made = address_of(path, stack.erp(), stack.store())
    assert stack.erp().get(made).json()["meta"]["total"] > 0

    answer = stack.erp("beta").get(made)

    assert answer.status == 200
    assert answer.data == []
    assert answer.json()["meta"]["total"] == 0


def _refers_by_id(body: Any) -> bool:
    """Return whether a body refers to a resource by its id."""
    match body:
        case dict():
            named = any(name.endswith(("_id", "_ids")) and name != "document_id" for name in body)
            return named or any(_refers_by_id(value) for value in body.values())
        case list():
            return any(_refers_by_id(value) for value in body)
        case _:
            return False


@pytest.mark.parametrize(
    "route",
    [
        route
        for route, example in sorted(EXAMPLES.items())
        if "{" not in route
        and not isinstance(example.body, Form | None)
        and _refers_by_id(dict(example.body))
    ],
)
def test_references_in_a_body_to_another_tenant_are_unknown(route: str, stack: Stack) -> None:
    path, example = _create_resource(route, stack)
    before = stack.items()

    answer = _send(stack.erp("beta"), route, path, example)

    assert answer.status in {404, 422}, answer.text
    assert stack.items() == before
