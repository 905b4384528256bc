"""The audit log: exactly one entry per change, never changed."""

import os
import pwd
from decimal import Decimal
from typing import Any

import boto3
import pytest

from operations.api_clients import create_client
from operations.operator_identity import operator_name
from shared.identity.audit import service
from shared.identity.audit.models import Actor, AuditAction
from shared.identity.auth.scopes import SCOPES
from shared.kernel import aws
from shared.kernel.db.unit_of_work import run_transaction
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.write_settings import ERP, SETTINGS_CHANGE
from tests.people import add_user
from tests.stack import ACCOUNT, Stack
from tests.warehouse_scenario import WarehouseScenario

_SETTING = {"receipt_tolerance": 2.5}


def entries(erp: Erp, action: AuditAction | None = None) -> list[dict[str, Any]]:
    """Return the audit entries, newest first; only those of `action` if it is given."""
    return erp.walk("/audit-log", **({"action": action} if action else {}))


# Content of entries


def test_entry_contains_actor_target_changes_and_request_id(stack: Stack) -> None:
    admin = Erp(stack.gateway, stack.user_token(permissions="users.manage", sub="7"))

    answer = admin.patch("/settings", SETTINGS_CHANGE)

    (entry,) = entries(admin, "settings.changed")
    assert entry == {
        "id": entry["id"],
        "action": "settings.changed",
        "actor": {"type": "user", "id": "7", "name": None},
        "target": {"type": "settings", "id": None},
        "changes": {
            "timezone": {"from": "UTC", "to": "Europe/Madrid"},
            "modules.waves": {"from": True, "to": False},
            "receipt_tolerance": {"from": 0, "to": 2.5},
            "pick_substitution": {"from": "none", "to": "batch"},
            "commit_drops": {"from": False, "to": True},
        },
        "details": {},
        "reason": None,
        "request_id": answer.headers["X-Request-Id"],
        "created_at": answer.data["updated_at"],
    }


def test_entry_keeps_the_name_that_the_user_had(stack: Stack, erp: Erp) -> None:
    user = str(erp.post("/users", {"username": "ana", "name": "Ana Ruiz"}).data["id"])
    admin = Erp(stack.gateway, stack.user_token(permissions="users.manage", sub=user))
    admin.patch("/settings", {"receipt_tolerance": 1})
    assert admin.patch(f"/users/{user}", {"name": "Ana Gil"}).status == 200
    admin.patch("/settings", {"receipt_tolerance": 2})
    assert erp.delete(f"/users/{user}").status == 200

    log = [(entry["action"], entry["actor"]["name"]) for entry in entries(erp)]

    assert log == [
        ("user.deleted", None), ("settings.changed", "Ana Gil"), ("user.changed", "Ana Ruiz"),
        ("settings.changed", "Ana Ruiz"), ("user.created", None),
    ]  # fmt: skip


def test_entry_names_the_integration_client(stack: Stack, erp: Erp) -> None:
    made = erp.post("/api-clients", {"name": "ERP Köln", "scopes": list(SCOPES)}).data
    client = stack.erp(client=made["id"])
    client.patch("/settings", _SETTING)
    WarehouseScenario.with_master_data(erp, "YARD")
    WarehouseScenario(client).stock("BRICK", 1)
    for action in ("settings.changed", "stock.adjusted"):
        actor = entries(erp, action)[0]["actor"]
        assert actor == {"type": "client", "id": made["id"], "name": "ERP Köln"}


def test_the_name_of_a_user_takes_no_round_trip_of_its_own(
    stack: Stack, erp: Erp, aws_faults: AwsFaults
) -> None:
    add_user(7, "Ana Ruiz")
    admin = Erp(stack.gateway, stack.user_token(permissions="users.manage", sub="7"))
    round_trips = []
    for caller in (erp, admin):
        assert caller.get("/settings").status == 200, "the caches are warm"
    for caller, tolerance in ((erp, 1), (admin, 2)):
        with aws_faults.recorded() as seen:
            assert caller.patch("/settings", {"receipt_tolerance": tolerance}).status == 200
        round_trips.append(seen.round_trips)
    assert round_trips[0] == round_trips[1]


def test_client_entries_contain_no_secrets(stack: Stack, erp: Erp) -> None:
    made = erp.post("/api-clients", ERP).data
    path = f"/api-clients/{made['id']}"
    secrets = [made["client_secret"]]
    erp.patch(path, {"name": "Shop", "scopes": ["stocks:read"]})
    secrets += [erp.post(f"{path}/rotate-secret").data["client_secret"] for _ in range(2)]
    erp.delete(f"{path}/previous-secret")
    erp.delete(path)

    log = entries(erp)[::-1]

    assert [entry["action"] for entry in log] == [
        "client.created", "client.changed", "client.rotated", "client.rotated",
        "client.changed", "client.revoked",
    ]  # fmt: skip
    assert {entry["target"]["id"] for entry in log} == {made["id"]}
    assert {entry["actor"]["id"] for entry in log} == {"erp"}
    assert log[0]["details"] == {"name": "ERP", "kind": "integration", "scopes": ERP["scopes"]}
    assert log[1]["changes"]["name"] == {"from": "ERP", "to": "Shop"}
    assert log[1]["changes"]["scopes"] == {"from": ERP["scopes"], "to": ["stocks:read"]}
    assert log[4]["changes"] == {"secrets": {"from": 2, "to": 1}}
    everything = repr([*stack.items(), *stack.control_items()])
    assert made["id"] in everything
    assert not any(secret in everything for secret in secrets)


def test_stock_adjustments_are_audited_with_their_reason(stack: Stack) -> None:
    erp = stack.erp()
    yard = WarehouseScenario.with_master_data(erp, "YARD")
    yard.stock("BRICK", 7.5)
    made = yard.adjust(counted_qty=6.25, reason="Cycle count").data
    # a count without a difference is not an adjustment
    assert yard.adjust(counted_qty=6.25, reason="Cycle count").status == 200
    yard.adjust(to_status="damaged", qty=2, reason="Fork lift")
    assert yard.adjust(decrease=99).status == 409

    last, counted, first = entries(erp, "stock.adjusted")

    assert first["changes"] == {"qty": {"from": 0, "to": 7.5}}
    assert counted["changes"] == {"qty": {"from": 7.5, "to": 6.25}}
    assert counted["reason"] == "Cycle count"
    assert counted["target"] == {"type": "stock_movement", "id": str(made["movement_id"])}
    assert counted["details"] == {
        "product_id": made["product_id"], "item_code": "BRICK", "whs_code": "YARD",
        "bin_code": "A-01", "batch_num": None, "serial_number": None,
        "inventory_status": "available", "to_status": None,
    }  # fmt: skip
    assert last["changes"] == {"qty": {"from": 6.25, "to": 4.25}}
    assert (last["details"]["to_status"], last["reason"]) == ("damaged", "Fork lift")


def test_operator_is_recorded_with_the_identity_of_the_aws_credentials(
    erp: Erp, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "\x1b[31mmarta")
    create_client("acme", "ERP")
    (entry,) = entries(erp, "client.created")
    arn = f"arn:aws:sts::{ACCOUNT}:user/moto"
    assert entry["actor"] == {"type": "operator", "id": None, "name": arn}


def test_operator_of_an_emulator_is_recorded_with_the_operating_system_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("USER", "marta")
    monkeypatch.setenv("LOGNAME", "marta")
    emulator = boto3.client(
        "dynamodb", endpoint_url="http://localhost:4566", region_name="us-east-1"
    )
    monkeypatch.setattr(aws, "client", {"dynamodb": emulator}.__getitem__)
    assert operator_name() == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    assert operator_name() == "uid 4000000000"


def test_change_without_caller_and_operator_has_no_name(stack: Stack, erp: Erp) -> None:
    run_transaction(
        stack.store(), lambda tx: service.record(tx, "tenant.exported", "tenant", "acme")
    )
    (entry,) = entries(erp, "tenant.exported")
    assert entry["actor"] == {"type": "operator", "id": None, "name": None}


def test_explicit_actor_is_recorded(stack: Stack, erp: Erp) -> None:
    run_transaction(
        stack.store(),
        lambda tx: service.record(
            tx, "session.reused", "session", "5f1e", details={"qty": Decimal("2.50")},
            actor=Actor(type="user", id="7", name="maria"),
        ),
    )  # fmt: skip
    (entry,) = entries(erp, "session.reused")
    assert entry["actor"] == {"type": "user", "id": "7", "name": "maria"}
    assert entry["details"] == {"qty": 2.5}


# Consistency of entries and changes


def test_refused_and_replayed_requests_have_no_entry(erp: Erp) -> None:
    assert erp.patch("/settings", {"timezone": "Mars"}, key="no").status == 422
    for _ in range(3):
        assert erp.patch("/settings", _SETTING, key="once").status == 200
    assert erp.patch("/settings", _SETTING).status == 200, "the value is unchanged"
    assert len(entries(erp, "settings.changed")) == 1


def test_entries_cannot_be_changed_or_deleted(stack: Stack, erp: Erp) -> None:
    erp.patch("/settings", _SETTING)
    before = [item for item in stack.items() if item["PK"]["S"].startswith("audit#")]

    for method in ("POST", "PUT", "PATCH", "DELETE"):
        for path in ("/audit-log", f"/audit-log/{entries(erp)[0]['id']}"):
            assert erp.send(method, path, {}).status in {404, 405}
    erp.patch("/settings", {"receipt_tolerance": 3})

    after = [item for item in stack.items() if item["PK"]["S"].startswith("audit#")]
    assert len(after) == len(before) + 1
    assert all(item in after for item in before)


def test_existing_entry_cannot_be_overwritten(stack: Stack, erp: Erp) -> None:
    """Resetting the id sequence must not allow overwriting an entry."""
    erp.patch("/settings", _SETTING)
    (before,) = entries(erp, "settings.changed")
    store = stack.store()

    def forge(tx: Any) -> None:
        tx._attempts.ids["audit"] = [before["id"]]
        service.record(tx, "client.revoked", "client", "stw_acme_1")

    store.deadline._ends = 0
    with pytest.raises(Exception, match="busy"):
        run_transaction(store, forge)
    assert entries(erp, "settings.changed") == [before]
