"""The successful, repeated and refused requests of a route, for tests that record AWS calls."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from tests.integration.entity_factories import address_of
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.sampling import sampled
from tests.stack import Stack

_LONG_AGO = "2020-01-01T00:00:00Z"

type Preparing = Callable[[], AbstractContextManager[None]]


def call_route(route: str, stack: Stack, preparing: Preparing = nullcontext) -> None:
    """Send the successful request of a route, and a sample of its repetitions and refused requests.

    What the route needs is created before, within `preparing`.
    """
    method, _, path = route.partition(" ")
    if method == "GET":
        _read(path, stack, preparing)
        return
    erp = stack.erp()
    example = EXAMPLES[route]
    with preparing():
        values = example.prepared(erp)
    target, body = path.format(**values), example.filled(values)
    sender = example.sender(erp, values)
    answer = sender.send(method, target, body, key="first")
    assert answer.status == example.status, answer.text

    def repeat() -> None:
        again = sender.send(method, target, body, key="first")
        # A change of the own user may have revoked the token of the request.
        assert again.text == answer.text or (example.own and again.status == 401)

    unknown = path.format(**{**values, "id": 999})
    others: list[Callable[[], object]] = [
        repeat,
        lambda: sender.send(method, target, body, key="second"),
        lambda: sender.send(method, target, {"item_code": 5}, key="third"),
        lambda: erp.send(method, unknown, body, key="fourth"),
    ]
    for send in sampled(route, others, every=4):
        send()


def _read(path: str, stack: Stack, preparing: Preparing) -> None:
    erp = stack.erp()
    with preparing():
        address = address_of(path, erp, stack.store())
    assert erp.get(address).status == 200
    if "{id}" in path:
        missing = re.sub("^(/[^/]+)/[^/.]+", r"\1/999", address)
        assert erp.get(missing).status == 404
    if operations()[f"GET {path}"].is_list:
        filters = {"search": "a", "updated_since": _LONG_AGO, "per_page": 1}
        for query in sampled(path, [{"per_page": 1, "page": 2}, filters], every=2):
            erp.get(address, query=query)
