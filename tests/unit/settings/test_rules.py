"""Decisions about changes of settings."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.identity.tenancy.tenant import MODULES, Tenant
from shared.kernel.errors import ValidationFailed
from shared.kernel.validation import check, ensure_valid
from shared.warehouse.settings import rules
from shared.warehouse.settings.models import SettingsChange
from shared.warehouse.settings.values import Settings
from tests.cases import each_case

_SWITCHES = st.dictionaries(st.sampled_from(sorted(MODULES)), st.booleans())


def tenant(*modules: str) -> Tenant:
    return Tenant("acme", "active", "enterprise", frozenset(modules), "https://x/api/v1")


def change(**sent: Any) -> SettingsChange:
    return ensure_valid(check(SettingsChange, sent))


def test_empty_change_requests_nothing() -> None:
    assert rules.requested_settings(tenant("waves"), change()) == {}
    assert rules.requested_settings(tenant("waves"), change(modules={})) == {"modules": {"waves"}}


@given(st.frozensets(st.sampled_from(sorted(MODULES))), _SWITCHES)
def test_modules_are_switched_independently(
    before: frozenset[str], switches: dict[str, bool]
) -> None:
    after = rules.requested_settings(tenant(*before), change(modules=switches))["modules"]
    for module in MODULES:
        assert (module in after) == switches.get(module, module in before)


@pytest.mark.parametrize(
    ("before", "after", "is_switched_on"),
    [(False, True, True), (True, True, False), (True, False, False), (False, False, False)],
)
def test_only_a_disabled_module_can_be_enabled(
    *, before: bool, after: bool, is_switched_on: bool
) -> None:
    current = tenant("waves", "transfer_orders") if before else tenant("waves")
    switched = change(modules={"transfer_orders": after})
    assert rules.enables_transfer_orders(current, switched) is is_switched_on
    assert not rules.enables_transfer_orders(current, change(timezone="UTC"))


@pytest.mark.parametrize(("warehouses", "problems"), [(0, 1), (1, 1), (2, 0), (3, 0)])
def test_transfer_orders_require_two_warehouses(warehouses: int, problems: int) -> None:
    found = list(rules.transfer_order_problems(warehouses))
    assert [problem.field for problem in found] == ["modules.transfer_orders"] * problems


def changed(name: str, value: str) -> Settings:
    """Return the default settings with one number changed."""
    change: dict[str, Any] = {name: Decimal(value)}
    return Settings().model_copy(update=change)


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("receipt_tolerance", "0"), ("receipt_tolerance", "100"), ("receipt_tolerance", "2.5"),
        ("minutes_per_unit", "0.000001"), ("minutes_per_trip", "1440"),
    ],
)  # fmt: skip
def test_valid_setting_is_accepted(change: str, value: str) -> None:
    rules.check_settings("UTC", (), changed(change, value))


@each_case("change", ["receipt_tolerance", "minutes_per_unit", "minutes_per_trip"])
@each_case("value", ["-0.1", "1441", "0.0000001", "NaN", "Infinity", "1E+30"])
def test_invalid_setting_is_refused(change: str, value: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        rules.check_settings("UTC", (), changed(change, value))
    assert [problem.field for problem in refusal.value.problems] == [change]


def test_all_invalid_settings_are_reported_together() -> None:
    other: Any = "other"
    settings = Settings.model_construct(
        receipt_tolerance=Decimal("100.1"),
        pick_substitution=other,
        gs1_company_prefix="123",
        sscc_extension_digit=10,
    )
    with pytest.raises(ValidationFailed) as refusal:
        rules.check_settings("Europe/Atlantis", {"waves", "tides"}, settings)
    assert [problem.field for problem in refusal.value.problems] == [
        "timezone",
        "modules",
        "receipt_tolerance",
        "pick_substitution",
        "gs1_company_prefix",
        "sscc_extension_digit",
    ]
