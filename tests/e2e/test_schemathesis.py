"""Every operation of the deployed stack, called with requests that schemathesis generates."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis

from operations import provisioning
from operations.tenant_rules import NewTenant
from shared.identity.auth import tokens
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.tenant import MODULES
from shared.kernel.errors import Conflict
from tests.e2e.conftest import Deployed, operator_access
from tests.fuzzing import headers, schema, seed_in_failure

_SLUG = "schemathesis"
"""A separate tenant, since generated requests change and delete its data."""

document = schema(examples=1)


@pytest.fixture(scope="module")
def token(stack: Deployed) -> Iterator[str]:
    """A token of the tenant with every scope."""
    with operator_access(stack):
        wanted = NewTenant(_SLUG, plan="enterprise", base_url=stack.base_url, modules=MODULES)
        try:
            tenant = provisioning.create_tenant(wanted)
        except Conflict:  # created by an earlier run with another address
            tenant = provisioning.set_address(_SLUG, base_url=stack.base_url)
        yield tokens.issue_to_client(tenant, "schemathesis", frozenset(SCOPES))


@document.parametrize()
def test_stack_conforms_to_the_openapi_document(
    case: schemathesis.Case[Any], stack: Deployed, token: str
) -> None:
    with seed_in_failure():
        case.call_and_validate(base_url=stack.base_url, headers=headers(case, token))
