"""The cache of the control table: maximum age and size."""

import pytest

from operations.provisioning import create_tenant, set_shared_address, set_state
from operations.tenant_rules import NewTenant
from shared.identity.tenancy import directory as module
from shared.identity.tenancy.directory import TenantDirectory
from tests.faults import AwsFaults
from tests.stack import ADDRESS


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def state(directory: TenantDirectory, max_age: float = module.CACHE_SECONDS) -> str:
    tenant = directory.tenant("acme", max_age)
    assert tenant
    return tenant.state


def test_change_takes_effect_within_ten_seconds(aws_faults: AwsFaults) -> None:
    clock = Clock()
    directory = TenantDirectory(clock)
    create_tenant(NewTenant("acme", base_url=ADDRESS))
    with aws_faults.recorded() as calls:
        assert state(directory) == "active"
        clock.now += 9.99
        assert state(directory) == "active"
    assert calls.operations == ["GetItem"]
    set_state("acme", "suspended")
    assert state(directory) == "active"
    clock.now += 0.01
    assert state(directory) == "suspended"


def test_max_age_of_a_cached_item_can_be_raised(aws_faults: AwsFaults) -> None:
    clock = Clock()
    directory = TenantDirectory(clock)
    create_tenant(NewTenant("acme", base_url=ADDRESS))
    state(directory)
    set_state("acme", "suspended")
    clock.now += 200
    with aws_faults.recorded() as calls:
        assert state(directory, max_age=300) == "active"
    assert calls.operations == []
    assert state(directory) == "suspended"
    assert state(directory, max_age=300) == "suspended"


def test_missing_items_are_cached(aws_faults: AwsFaults) -> None:
    directory = TenantDirectory(Clock())
    with aws_faults.recorded() as calls:
        for _ in range(3):
            assert directory.tenant("nobody") is None
            assert directory.tenant_for_host("nowhere.test") is None
    assert calls.operations == ["GetItem", "GetItem"]


def test_number_of_cached_items_is_limited(
    aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert aws_faults
    monkeypatch.setattr(module, "_CAPACITY", 5)
    directory = TenantDirectory(Clock())
    for number in range(20):
        directory.tenant_for_host(f"host-{number}.test")
    assert len(directory._cache) == 5
    with aws_faults.recorded() as calls:
        directory.tenant_for_host("host-19.test")
        directory.tenant_for_host("host-0.test")
    assert calls.operations == ["GetItem"]


def test_shared_address_is_not_a_host_of_a_tenant(aws_faults: AwsFaults) -> None:
    assert aws_faults
    set_shared_address(ADDRESS)
    create_tenant(NewTenant("acme", base_url="https://partner.test/api/v1"))
    directory = TenantDirectory(Clock())
    assert directory.tenant_for_host("*") is None
    assert directory.shared_address() == ADDRESS
