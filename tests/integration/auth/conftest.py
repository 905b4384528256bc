from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

from shared.tenancy.provisioning import Credentials, create_client, create_tenant, share_address
from shared.tenancy.settings import TenantSettings
from tests.integration.control_plane import ACCOUNT, ADDRESS, REGION, Wire, deployed
from tests.snapshot import Snapshot


@contextmanager
def with_tenants() -> Iterator[Wire]:
    """A deployed stack with the tenants acme and beta at one address, and gamma at its own."""
    tenants = _tenants()
    with deployed() as wire:
        tenants.restore()
        yield wire


@cache
def _tenants() -> Snapshot:
    """Create the tenants once per process."""
    with deployed():
        share_address(ADDRESS)
        for slug in ("acme", "beta"):
            create_tenant(TenantSettings(slug, plan="enterprise", base_url=ADDRESS))
        create_tenant(TenantSettings("gamma", plan="enterprise", host="wms.gamma.test"))
        return Snapshot.take(ACCOUNT, REGION)


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A stack of its own for the test."""
    with with_tenants() as wire:
        yield wire


@pytest.fixture
def acme(wire: Wire) -> Credentials:
    """An integration client of acme with every scope."""
    assert wire
    return create_client("acme", "ERP")
