"""Every operation of the deployed stack, called with requests that schemathesis generates."""

from typing import Any

import pytest
import schemathesis

from tests.e2e.conftest import Deployed, token_of_tenant
from tests.fuzzing import headers, schema, seed_in_failure

_SLUG = "schemathesis"
"""A separate tenant, since generated requests change and delete its data."""

document = schema(examples=1)


@pytest.fixture(scope="module")
def token(stack: Deployed) -> str:
    """A token of the tenant with every scope."""
    return token_of_tenant(stack, _SLUG)


@document.parametrize()
def test_stack_conforms_to_the_openapi_document(
    case: schemathesis.Case[Any], stack: Deployed, token: str
) -> None:
    with seed_in_failure():
        case.call_and_validate(base_url=stack.base_url, headers=headers(case, token))
