"""The settings over HTTP."""

from collections import Counter
from functools import partial
from typing import Any

import pytest

from operations.provisioning import set_plan, set_settings
from operations.tenant_changes import show_tenant
from shared.warehouse.settings import values
from tests.cases import each_case
from tests.gateway import Erp
from tests.integration.settings.api_client_requests import expire_tenant_cache
from tests.interleaving import Scheduler, each_seed
from tests.stack import Stack

_SETTINGS = {name: field.annotation for name, field in values.Settings.model_fields.items()}
DEFAULTS: dict[str, Any] = {
    **{name: False if kind is bool else None for name, kind in _SETTINGS.items()},
    "timezone": "UTC",
    "modules": {"waves": True, "transfer_orders": True, "bulk_import": True},
    "receipt_tolerance": 0,
    "pick_substitution": "none",
    "dispatch_rest": "close",
    "expired_stock": "block",
    "oversell": "allow",
    "capacity": "ignore",
    "minutes_per_unit": 0.5,
    "minutes_per_trip": 5,
    "sscc_extension_digit": 0,
}
"""The defaults; a setting that is not named is off."""
_CHANGED_SETTINGS: dict[str, Any] = {
    **{name: True if kind is bool else 12.5 for name, kind in _SETTINGS.items()},
    "timezone": "Europe/Madrid",
    "modules": {"waves": False, "transfer_orders": False, "bulk_import": False},
    "receipt_tolerance": 12.345678,
    "pick_substitution": "any",
    "dispatch_rest": "keep",
    "expired_stock": "allow",
    "oversell": "refuse",
    "capacity": "enforce",
    "minutes_per_unit": 0,
    "minutes_per_trip": 1440,
    "approval_shortage_percent": 0,
    "gs1_company_prefix": "4006381",
    "sscc_extension_digit": 9,
}


def settings_of(erp: Erp) -> dict[str, Any]:
    """Return the changeable settings in the response of GET."""
    data = erp.get("/settings").data
    return {name: data[name] for name in DEFAULTS}


def test_settings_contain_plan_features_and_limits(erp: Erp) -> None:
    set_plan("acme", "professional")
    expire_tenant_cache()

    shown = erp.get("/settings").data

    assert settings_of(erp) == DEFAULTS
    assert shown["tenant"] == "acme"
    assert shown["plan"] == "professional"
    assert shown["base_url"] == "https://api.stowage.test/api/v1"
    assert shown["features"] == ["api.public.enabled", "webhooks.enabled"]
    assert shown["limits"]["integration_clients"] == 10
    assert shown["limits"]["mobile_clients"] == 10
    assert shown["updated_at"] is None


def test_change_is_visible_at_once_and_effective_within_ten_seconds(erp: Erp) -> None:
    assert erp.get("/waves").status == 200

    changed = erp.patch("/settings", _CHANGED_SETTINGS)

    assert changed.status == 200, changed.text
    assert (
        settings_of(erp)
        == _CHANGED_SETTINGS
        == {name: changed.data[name] for name in _CHANGED_SETTINGS}
    )
    assert erp.get("/settings").text == changed.text
    assert erp.get("/waves").status == 200
    expire_tenant_cache()
    assert erp.get("/waves").status == 404
    assert erp.get("/transfer-orders").code == "transfer_orders_disabled"


@pytest.mark.parametrize("name", sorted(DEFAULTS))
def test_only_sent_fields_change(erp: Erp, name: str) -> None:
    erp.patch("/settings", {name: _CHANGED_SETTINGS[name]}).ok()
    assert settings_of(erp) == DEFAULTS | {name: _CHANGED_SETTINGS[name]}


def test_fields_of_the_operator_are_ignored(erp: Erp) -> None:
    wanted: dict[str, Any] = {
        "tenant": "beta", "plan": "free", "state": "active", "base_url": "https://x.example",
        "limits": {"integration_clients": 99}, "features": [], "updated_at": None, "color": "red",
    }  # fmt: skip
    before = erp.get("/settings").text

    assert erp.patch("/settings", wanted).text == before
    assert erp.get("/settings").text == before
    assert show_tenant("acme").plan == "enterprise"


def test_limits_of_approvals_can_be_switched_off_again(erp: Erp) -> None:
    for limit in (5, None):
        answer = erp.patch("/settings", {"approval_adjustment_qty": limit})
        assert (answer.status, answer.data["approval_adjustment_qty"]) == (200, limit)
        assert values.settings_of(show_tenant("acme").company).approval_adjustment_qty == limit


@each_case("prefix", ["", "1234567890123", "123a", " 1234", "١٢٣٤", 1234])
def test_company_prefixes_of_another_form_are_refused(erp: Erp, prefix: object) -> None:
    assert erp.patch("/settings", {"gs1_company_prefix": prefix}).invalid_fields == [
        "gs1_company_prefix"
    ]


def test_company_prefix_can_be_removed(erp: Erp) -> None:
    assert erp.patch("/settings", {"gs1_company_prefix": "0012"}).status == 200
    assert settings_of(erp)["gs1_company_prefix"] == "0012"
    assert erp.patch("/settings", {"gs1_company_prefix": None}).status == 200
    assert settings_of(erp) == DEFAULTS


def test_enabling_transfer_orders_requires_two_warehouses(erp: Erp) -> None:
    on, off = {"modules": {"transfer_orders": True}}, {"modules": {"transfer_orders": False}}
    # an enabled module stays enabled; only enabling it is checked
    assert erp.patch("/settings", on).status == 200
    assert erp.patch("/settings", off).status == 200
    for number in range(2):
        refused = erp.patch("/settings", {**on, "timezone": "Europe/Madrid"})
        assert (refused.status, refused.code) == (422, "rule_blocked")
        assert refused.json()["errors"][0]["field"] == "modules.transfer_orders"
        assert str(number) in refused.json()["message"]
        body = {"whs_code": f"W{number}", "name": "Hall"}
        assert erp.post("/warehouses", body).status == 201
    assert settings_of(erp)["timezone"] == "UTC"
    assert erp.patch("/settings", on).status == 200
    # a deleted warehouse does not count
    assert erp.patch("/settings", off).status == 200
    assert erp.delete("/warehouses/1").status == 200
    assert erp.patch("/settings", on).code == "rule_blocked"


def test_one_of_several_concurrent_changes_with_the_same_etag_succeeds(
    stack: Stack, erp: Erp, scheduler: Scheduler
) -> None:
    for seed in each_seed(stack):
        seen = {"If-Match": erp.get("/settings").headers["ETag"]}
        bodies: list[dict[str, Any]] = [
            {"receipt_tolerance": 1},
            {"minutes_per_trip": 1},
            {"timezone": "Asia/Tokyo"},
        ]
        acts = [partial(erp.patch, "/settings", body, headers=seen) for body in bodies]
        answers = scheduler.run(acts, seed)
        assert Counter(answer.status for answer in answers) == {200: 1, 409: 2}
        (won,) = (n for n, answer in enumerate(answers) if answer.status == 200)
        assert settings_of(erp) == DEFAULTS | bodies[won]


def test_concurrent_changes_of_different_settings_are_all_kept(
    stack: Stack, erp: Erp, scheduler: Scheduler
) -> None:
    for seed in each_seed(stack):
        bodies: list[dict[str, Any]] = [
            {"modules": {"waves": False}},
            {"modules": {"bulk_import": False}},
            {"receipt_tolerance": 3},
            {"commit_drops": True},
        ]
        acts = [partial(erp.patch, "/settings", body) for body in bodies]
        assert {answer.status for answer in scheduler.run(acts, seed)} == {200}
        assert settings_of(erp) == DEFAULTS | {
            "modules": {"waves": False, "transfer_orders": True, "bulk_import": False},
            "receipt_tolerance": 3,
            "commit_drops": True,
        }
        assert len(erp.get("/audit-log", query={"action": "settings.changed"}).data) == 4


def test_operators_change_the_same_settings(stack: Stack, erp: Erp) -> None:
    seen = erp.get("/settings").headers["ETag"]

    set_settings("acme", {"pick_substitution": "batch", "modules": ["waves"]})

    assert settings_of(erp)["pick_substitution"] == "batch"
    assert erp.patch("/settings", {}, headers={"If-Match": seen}).code == "stale_state"
    (entry,) = erp.get("/audit-log", query={"action": "settings.changed"}).data
    assert entry["actor"]["type"] == "operator"
    assert entry["changes"]["pick_substitution"] == {"from": "none", "to": "batch"}
    assert entry["changes"]["modules.bulk_import"] == {"from": True, "to": False}
    assert values.settings_of(stack.tenant().company).pick_substitution == "batch"
