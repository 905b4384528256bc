"""Each company behind its own wall: what one tenant has is nothing to another.

A neighbour who knows every id, and says it with a token that may do everything at home, is told
what anybody is told of an id that nothing has; and nothing of the tenant changes.
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
from tests.stack import Stack

_NOTHING = "999999"
"""An id that no tenant has given."""

_ROUTES = sorted(operations())
_OF_ONE = [route for route in _ROUTES if "{id}" in route]
_LISTS = [
    name
    for name, operation in sorted(operations().items())
    if operation.is_list and "{" not in name
]
_KINDS = ("client", "user")


def _neighbour(stack: Stack, kind: str) -> Erp:
    """Somebody of beta with all rights there."""
    if kind == "client":
        return stack.erp("beta")
    token = stack.user_token("beta", sub="1", permissions=" ".join(PERMISSIONS))
    return Erp(stack.gateway, token)


def _made(route: str, stack: Stack) -> tuple[str, Example | None]:
    """Have acme make what the route is about; the path that names it, and the example."""
    method, _, path = route.partition(" ")
    erp = stack.erp()
    if method == "GET":
        return address_of(path, erp, stack.store()), None
    example = EXAMPLES[route]
    return path.format(**example.prepared(erp)), example


def _send(who: Erp, route: str, path: str, example: Example | None) -> Response:
    method = route.partition(" ")[0]
    return who.send(method, path, example.body if example else None, key=path)


def _told(answer: Response, path: str) -> tuple[int, Any]:
    """Status and answer without what differs from request to request."""
    text = re.sub('"request_id": ?"[^"]*"', "", answer.text)
    for name in path.split("/")[2:]:
        text = re.sub(rf"\b{re.escape(name)}\b", "ID", text)
    return answer.status, text


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("route", _OF_ONE)
def test_an_id_of_another_tenant_is_one_that_nothing_has(
    route: str, kind: str, stack: Stack
) -> None:
    path, example = _made(route, stack)
    before = stack.items()
    neighbour = _neighbour(stack, kind)
    first, named, *below = path.lstrip("/").split("/")
    unknown = "/".join(["", first, _unknown(named), *below])

    answer = _send(neighbour, route, path, example)

    assert answer.status in {403, 404}, answer.text
    assert _told(answer, path) == _told(_send(neighbour, route, unknown, example), unknown)
    assert stack.items() == before


def _unknown(name: str) -> str:
    """An id of the same form that no tenant has given."""
    if "." in name:
        return f"{_NOTHING}.{name.partition('.')[2]}"
    return _NOTHING if name.isdigit() else re.sub("[0-9a-f]{24}$", "0" * 24, name)


@pytest.mark.parametrize("route", _LISTS)
def test_lists_show_nothing_of_another_tenant(route: str, stack: Stack) -> None:
    path = route.partition(" ")[2]
    made = address_of(path, stack.erp(), stack.store())
    assert stack.erp().get(made).json()["meta"]["total"] > 0

    answer = stack.erp("beta").get(made)

    assert answer.status == 200
    assert answer.data == []
    assert answer.json()["meta"]["total"] == 0


def _names_numbers(body: Any) -> bool:
    """Tell whether a body refers to something by its number."""
    match body:
        case dict():
            named = any(name.endswith(("_id", "_ids")) and name != "document_id" for name in body)
            return named or any(_names_numbers(value) for value in body.values())
        case list():
            return any(_names_numbers(value) for value in body)
        case _:
            return False


@pytest.mark.parametrize(
    "route",
    [
        route
        for route, example in sorted(EXAMPLES.items())
        if "{" not in route
        and not isinstance(example.body, Form | None)
        and _names_numbers(dict(example.body))
    ],
)
def test_what_a_body_names_of_another_tenant_is_not_there(route: str, stack: Stack) -> None:
    path, example = _made(route, stack)
    before = stack.items()

    answer = _send(stack.erp("beta"), route, path, example)

    assert answer.status in {404, 422}, answer.text
    assert stack.items() == before
