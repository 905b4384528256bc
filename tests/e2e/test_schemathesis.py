"""Every operation of the deployed stack, called with a little of what schemathesis makes up."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis

from operations import provisioning
from shared.identity.auth import tokens
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.rules import TenantSettings
from shared.identity.tenancy.tenant import MODULES
from shared.kernel.errors import Conflict
from tests.e2e.conftest import Deployed, at_the_controls
from tests.fuzzing import headers, schema, told_the_seed

_SLUG = "schemathesis"
"""A tenant of its own: what is made up changes and deletes what it meets."""

document = schema(examples=1, coverage=False)


@pytest.fixture(scope="module")
def token(stack: Deployed) -> Iterator[str]:
    """A token of the tenant, with every scope."""
    with at_the_controls(stack):
        wanted = TenantSettings(_SLUG, plan="enterprise", base_url=stack.base_url, modules=MODULES)
        try:
            tenant = provisioning.create_tenant(wanted)
        except Conflict:  # an earlier run made it, at another address
            tenant = provisioning.set_address(_SLUG, base_url=stack.base_url)
        yield tokens.issue(tenant, "schemathesis", frozenset(SCOPES))


@document.parametrize()
def test_the_stack_keeps_to_the_document(
    case: schemathesis.Case[Any], stack: Deployed, token: str
) -> None:
    with told_the_seed():
        case.call_and_validate(base_url=stack.base_url, headers=headers(case, token))
