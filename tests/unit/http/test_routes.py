"""Route declarations: their options agree with the handlers that they decorate."""

import inspect
from types import NoneType
from typing import Any, get_args, get_origin

import pytest

from shared.http.request import Request
from shared.http.routes import Operation, Routes
from shared.kernel.validation import Checked
from tests.cases import each_case
from tools.openapi.declared import operations


def test_route_with_a_secret_cannot_require_approvals() -> None:
    with pytest.raises(ValueError, match="has a secret"):
        Routes().declare(
            "POST", "/users", "Create", request_has_secret=True, errors=("approval_required",)
        )


@each_case("operation", operations(), named=lambda operation: operation.name)
def test_a_handler_takes_the_body_and_the_query_that_its_route_declares(
    operation: Operation,
) -> None:
    annotation: Any = list(inspect.signature(operation.handler).parameters.values())[1].annotation
    arguments = [None if one is NoneType else one for one in get_args(annotation)]
    body, parameters = (*arguments, None, None)[:2]
    declared: Any = operation.body

    assert annotation is Request or get_origin(annotation) is Request
    assert parameters == operation.parameters
    if body is not Any:  # PUT and PATCH of master data share one handler for bodies of any model
        assert body == (None if declared is None else Checked[declared])
