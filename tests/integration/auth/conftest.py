from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from operations.api_clients import Credentials, create_client
from operations.provisioning import create_tenant, set_shared_address
from operations.tenant_rules import NewTenant
from tests.faults import AwsFaults
from tests.integration.control_plane import deployed
from tests.snapshot import Snapshot
from tests.stack import ACCOUNT, ADDRESS, REGION


@contextmanager
def deployed_with_tenants() -> Iterator[AwsFaults]:
    """Deploy a stack with the tenants acme and beta at the shared host, and gamma at its own."""
    tenants = _tenants()
    with deployed() as aws_faults:
        tenants.restore()
        yield aws_faults


@cache
def _tenants() -> Snapshot:
    """Create the tenants once per process."""
    with deployed():
        set_shared_address(ADDRESS)
        for slug in ("acme", "beta"):
            create_tenant(NewTenant(slug, plan="enterprise", base_url=ADDRESS))
        create_tenant(NewTenant("gamma", plan="enterprise", host="wms.gamma.test"))
        return Snapshot.take(ACCOUNT, REGION)


@pytest.fixture
def aws_faults() -> Iterator[AwsFaults]:
    """A deployed stack with the tenants acme, beta and gamma."""
    with deployed_with_tenants() as aws_faults:
        yield aws_faults


@pytest.fixture
def acme(aws_faults: AwsFaults) -> Credentials:
    """An integration client of acme with every scope."""
    assert aws_faults
    return create_client("acme", "ERP")
