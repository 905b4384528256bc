from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from operations.provisioning import Credentials, create_client, create_tenant, share_address
from shared.identity.tenancy.rules import TenantSettings
from tests.integration.control_plane import ADDRESS, Wire, deployed


@contextmanager
def deployed_with_tenants() -> Iterator[Wire]:
    """Deploy a stack with the tenants acme and beta at the shared host, and gamma at its own."""
    with deployed() as aws_faults:
        share_address(ADDRESS)
        for slug in ("acme", "beta"):
            create_tenant(TenantSettings(slug, plan="enterprise", base_url=ADDRESS))
        create_tenant(TenantSettings("gamma", plan="enterprise", host="wms.gamma.test"))
        yield aws_faults


@pytest.fixture
def aws_faults() -> Iterator[Wire]:
    """A deployed stack with the tenants acme, beta and gamma."""
    with deployed_with_tenants() as aws_faults:
        yield aws_faults


@pytest.fixture
def acme(aws_faults: Wire) -> Credentials:
    """An integration client of acme with every scope."""
    assert aws_faults
    return create_client("acme", "ERP")
