"""Concurrent creation of one tenant, with equal or with different settings."""

from dataclasses import replace
from typing import Any

import pytest

from operations.provisioning import create_tenant
from operations.tenant_changes import show_tenant
from operations.tenant_rules import NewTenant
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.errors import Conflict
from tests.faults import AwsFaults, before_each, stuck_before
from tests.integration.tenancy.test_provisioning import ACME, STEPS, assert_complete
from tests.sampling import sampled


def test_concurrent_runs_create_one_tenant(aws_faults: AwsFaults) -> None:
    """A second run executes completely before each call of the first."""
    made: list[Tenant] = []
    with aws_faults.faulty(before_each(lambda _: made.append(create_tenant(ACME)))):
        create_tenant(ACME)
    assert len(made) > 5
    assert_complete()


@pytest.mark.parametrize("at", sampled("two creations", range(STEPS), every=3))
def test_one_of_two_concurrent_runs_with_different_settings_is_refused(
    at: int, aws_faults: AwsFaults
) -> None:
    """The second run executes completely before call `at` of the first."""
    other = replace(ACME, plan="enterprise", host="other.acme.test")
    outcomes: list[Any] = []

    def attempt(settings: NewTenant) -> None:
        try:
            outcomes.append(create_tenant(settings))
        except Conflict as refusal:
            outcomes.append(refusal)

    with aws_faults.faulty(stuck_before(at, lambda: attempt(other))):
        attempt(ACME)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict", "Tenant"]
    (made,) = (outcome for outcome in outcomes if isinstance(outcome, Tenant))
    assert show_tenant("acme") == made
    hosts = [directory.tenant_for_host(host, 0) for host in ("wms.acme.test", "other.acme.test")]
    assert sorted(hosts, key=str) == [None, "acme"]
