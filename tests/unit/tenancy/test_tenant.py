"""Plans, states and names of tenants."""

from dataclasses import replace
from typing import Any

import pytest

from operations.tenant_rules import (
    RESERVED_SLUGS,
    NewTenant,
    check_moved_to,
)
from shared.identity.tenancy.tenant import (
    MODULES,
    PLANS,
    PUBLIC_API,
    Tenant,
    ensure_active,
    limit_reached,
)
from shared.kernel.config import config
from shared.kernel.errors import (
    FeatureNotInPlan,
    ValidationFailed,
)
from tests.cases import each_case

ACME = Tenant("acme", "active", "professional", frozenset({"waves"}), "https://a.test/api/v1")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACK_NAME", "stowage")
    monkeypatch.setenv("CONTROL_TABLE", "stowage-control")
    monkeypatch.setenv("UPGRADE_URL", "https://stowage.test/plans")
    config.cache_clear()


def test_tenant_whose_plan_lacks_the_public_api_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = {**PLANS, "professional": replace(PLANS["professional"], features=frozenset())}
    monkeypatch.setattr("shared.identity.tenancy.tenant.PLANS", closed)
    with pytest.raises(FeatureNotInPlan) as refusal:
        ensure_active(ACME)
    assert refusal.value.extra == {
        "feature": PUBLIC_API,
        "upgrade_url": "https://stowage.test/plans",
    }


def test_error_of_a_reached_limit_offers_the_next_plan() -> None:
    refusal = limit_reached(ACME, "integration_clients", 10)
    assert (refusal.status, refusal.code) == (402, "limit_reached")
    assert refusal.extra["offer"] == {
        "limit": 10,
        "used": 10,
        "plan": "professional",
        "next_plan": "enterprise",
        "upgrade_url": "https://stowage.test/plans",
    }


GOOD = NewTenant("acme", base_url="https://api.stowage.test/api/v1")


@pytest.mark.parametrize("slug", ["acme", "a1b", "my-company", "a" + "b" * 31])
def test_valid_slug_is_accepted(slug: str) -> None:
    replace(GOOD, slug=slug).check()


@each_case(
    "slug",
    [
        *("", "ab", "a" * 33, "Acme", "1acme", "-acme", "acme-", "ac_me", "ac.me", "acme\n"),
        *("ácme", "ac me", "xn--acme-k1a", "\u0430cme", "\uff41cme", "a\u200bcme", "acme\u0000"),
        *("acme/..", "{slug}", "acme#1", *sorted(RESERVED_SLUGS)),
    ],
)
def test_invalid_slug_is_refused(slug: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        replace(GOOD, slug=slug).check()
    assert [problem.field for problem in refusal.value.problems] == ["slug"]


def test_all_problems_of_the_settings_are_reported_together() -> None:
    free: Any = "free"
    wrong = NewTenant("-", free, modules=frozenset({"x"}), timezone="Mars/Base")
    with pytest.raises(ValidationFailed) as refusal:
        wrong.check()
    assert [problem.field for problem in refusal.value.problems] == [
        "slug",
        "plan",
        "base_url",
        "modules",
        "timezone",
    ]


@pytest.mark.parametrize(
    "base_url",
    [
        "https://api.stowage.test/api/v1",
        "https://abc.execute-api.eu-west-1.amazonaws.com/api/v1",
        "http://127.0.0.1:4566/_aws/execute-api/abc/api/v1",
        "http://localhost:4566/api/v1",
    ],
)
def test_valid_address_is_accepted(base_url: str) -> None:
    replace(GOOD, base_url=base_url).check()


@each_case(
    "base_url",
    [
        "https://api.stowage.test/api/v1/",
        "https://api.stowage.test",
        "http://api.stowage.test/api/v1",
        "ftp://api.stowage.test/api/v1",
        "https:///api/v1",
        "https://user:pw@api.stowage.test/api/v1",
        "https://api.stowage.test?/api/v1",
        "https://api.stowage.test#/api/v1",
        "https://[::1/api/v1",
        "https://api.stowage.test:x/api/v1",
        "https://api stowage.test/api/v1",
        "",
    ],
)
def test_invalid_address_is_refused(base_url: str) -> None:
    with pytest.raises(ValidationFailed):
        replace(GOOD, base_url=base_url).check()


@each_case("host", ["localhost", "127.0.0.1", "a.b:80", "A.test", "a..test", "é.test"])
def test_invalid_host_is_refused(host: str) -> None:
    with pytest.raises(ValidationFailed):
        NewTenant("acme", host=host).check()


def test_address_follows_from_the_host() -> None:
    settings = NewTenant("acme", host="wms.acme.test")
    settings.check()
    assert settings.full_base_url == "https://wms.acme.test/api/v1"


def test_new_address_is_required_for_a_move_and_refused_otherwise() -> None:
    check_moved_to("moved", "https://wms.acme.test")
    check_moved_to("suspended", None)
    for state, address in (
        ("moved", None),
        ("moved", "http://wms.acme.test"),
        ("moved", "http://localhost"),
        ("active", "https://wms.acme.test"),
    ):
        with pytest.raises(ValidationFailed):
            check_moved_to(state, address)


def test_next_plan_includes_features_and_limits_of_the_previous_one() -> None:
    for plan in PLANS.values():
        if plan.next_plan:
            bigger = PLANS[plan.next_plan]
            assert plan.features <= bigger.features
            assert all(plan.limits[name] <= bigger.limits[name] for name in plan.limits)
    assert {"waves", "transfer_orders", "bulk_import"} == MODULES
