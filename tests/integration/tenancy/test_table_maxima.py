"""The most units per second that DynamoDB may serve of a tenant's table, by its request limit."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from operations import provisioning, tenant_tables
from operations.tenant_rules import NewTenant
from operations.upgrade import upgrade_tables
from shared.kernel.config import config
from shared.kernel.db.table import INDEX_COUNT, index_name
from tests.faults import AwsFaults, Recording, refusal, refuse_calls
from tests.gateway import Erp
from tests.integration.call_faults import at_calls
from tests.stack import ADDRESS, Stack


@pytest.fixture
def two_units(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A deployment whose tables may serve two units for each request per minute."""
    assert stack
    monkeypatch.setenv("TABLE_UNITS", "2")
    config.cache_clear()
    yield
    config.cache_clear()


def _changes(seen: Recording) -> list[Mapping[str, Any]]:
    """Return the maxima that the calls set, with their table."""
    return [
        call.request
        for call in seen.calls
        if call.operation == "UpdateTable" and "DeletionProtectionEnabled" not in call.request
    ]


def _expected(slug: str, units: int) -> Mapping[str, Any]:
    maxima = {"MaxReadRequestUnits": units, "MaxWriteRequestUnits": units}
    return {
        "TableName": config().tenant_table(slug),
        "OnDemandThroughput": maxima,
        "GlobalSecondaryIndexUpdates": [
            {"Update": {"IndexName": index_name(number), "OnDemandThroughput": maxima}}
            for number in range(1, INDEX_COUNT + 1)
        ],
    }


@pytest.mark.usefixtures("two_units")
def test_new_table_and_its_indexes_have_the_maxima_of_the_plan(aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as seen:
        provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))

    assert _changes(seen) == [_expected("mini", 2 * 600)]


@pytest.mark.usefixtures("two_units")
def test_maxima_follow_the_plan_and_an_agreed_limit(aws_faults: AwsFaults) -> None:
    provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
    with aws_faults.recorded() as seen:
        provisioning.set_plan("mini", "enterprise")
        provisioning.set_requests_per_minute("mini", 10)
        provisioning.set_requests_per_minute("mini", 4_000)

    assert _changes(seen) == [_expected("mini", 2 * 6_000), _expected("mini", 2 * 50)]


def test_upgrade_applies_a_changed_parameter(
    aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch, stack: Stack
) -> None:
    assert stack
    provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
    monkeypatch.setenv("TABLE_UNITS", "2")
    config.cache_clear()
    with aws_faults.recorded() as seen:
        upgraded = [*upgrade_tables(["mini"])]
    config.cache_clear()

    assert [one.rewritten for one in upgraded] == [0]
    assert _changes(seen) == [_expected("mini", 2 * 600)]


@pytest.mark.usefixtures("stack")
def test_table_has_no_maxima_by_default(aws_faults: AwsFaults) -> None:
    with aws_faults.recorded() as seen:
        provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
        provisioning.set_plan("mini", "enterprise")

    assert _changes(seen) == []


@pytest.mark.usefixtures("stack")
def test_maxima_are_removed_without_the_parameter(
    aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
    described = tenant_tables.describe_table

    def with_maximum(name: str) -> Mapping[str, Any]:
        return {**(described(name) or {}), "OnDemandThroughput": {"MaxReadRequestUnits": 500}}

    monkeypatch.setattr(tenant_tables, "describe_table", with_maximum)
    with aws_faults.recorded() as seen:
        tenant_tables.set_maxima("mini")

    maxima = {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1}
    assert _changes(seen) == [
        {"TableName": config().tenant_table("mini"), "OnDemandThroughput": maxima}
    ]


@pytest.mark.usefixtures("two_units", "clock")
def test_another_change_of_the_table_is_awaited(aws_faults: AwsFaults) -> None:
    provisioning.create_tenant(NewTenant("mini", base_url=ADDRESS))
    busy = at_calls("UpdateTable", range(3), answer=lambda _: refusal("ResourceInUseException"))
    with aws_faults.faulty(busy), aws_faults.recorded() as seen:
        tenant_tables.set_maxima("mini")

    assert len(_changes(seen)) == 4


@pytest.mark.parametrize("code", ["ThrottlingException", "ProvisionedThroughputExceededException"])
def test_throttled_request_is_503_with_retry_after(
    erp: Erp, aws_faults: AwsFaults, code: str
) -> None:
    with aws_faults.faulty(refuse_calls("GetItem", "Query", code=code)):
        answers = [erp.get(path) for path in ("/products/1", "/products")]

    for answer in answers:
        assert (answer.status, answer.code) == (503, "service_unavailable")
        assert answer.headers["Retry-After"] == "1"
