"""An upgrade that was interrupted goes on, and only one run at a time upgrades a table."""

from typing import Any

import pytest

from operations import table_lease
from operations.draining import DRAIN_SECONDS
from operations.operator_identity import operator_name
from operations.table_indexes import add_missing_indexes, missing_indexes, remove_unused_indexes
from operations.table_lease import LEASE_SECONDS, Lease
from operations.upgrade import (
    contract_table,
    expand_table,
    plan_upgrade,
    upgrade_tables,
)  # fmt: skip
from shared.identity.tenancy.directory import read_item, tenant_key
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.db import table
from shared.kernel.db.schema import TableVersion
from shared.kernel.errors import Conflict, NotFound
from shared.warehouse.catalog.repository import PRODUCTS
from shared.warehouse.picking.repository import PICKINGS
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after, refusal, refuse_calls
from tests.integration.call_faults import at_calls
from tests.integration.held_lease import OTHER_OPERATOR, hold_lease
from tests.integration.upgrade.conftest import PutTable
from tests.integration.upgrade.invention import TARGET, changed_kinds, invented_version
from tests.integration.upgrade.writers import store_of
from tests.recorded import recorded
from tests.sampling import deadly_calls, is_complete
from tests.stack import Stack

_PARTS = 4 if is_complete() else 1
"""Parts of the kills, which the processes of the tests share."""


def upgrade(slug: str = "acme", **options: Any) -> None:
    list(upgrade_tables([slug], **options))


def tenant() -> dict[str, Any]:
    return read_item(tenant_key("acme")) or {}


def contents(stack: Stack) -> list[dict[str, Any]]:
    """Return the items of acme except its audit log, whose entries have a time."""
    left_out = ("audit#", "count#", "sequence")
    return [item for item in stack.items() if not item["PK"]["S"].startswith(left_out)]


def totals(stack: Stack) -> dict[tuple[str, str], int]:
    """Return the totals of the pickings, whichever shard they are in."""
    found: dict[tuple[str, str], int] = {}
    for item in stack.items():
        if item["PK"]["S"] == "count#picking":
            for name, value in item.items():
                if name == "n" or "=" in name:
                    key = (item["PK"]["S"], name)
                    found[key] = found.get(key, 0) + int(value["N"])
    return found


@pytest.mark.parametrize("part", range(_PARTS))
def test_killed_upgrade_is_completed_by_the_next_run(  # noqa: PLR0917
    part: int,
    put_table: PutTable,
    stack: Stack,
    clock: Clock,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It dies after each of its calls took effect, which is before the next one."""
    clock.freeze()
    monkeypatch.setattr(table_lease, "_KEEP_SECONDS", 3_600)  # renewals change nothing else
    put_table("/pickings")
    with invented_version(monkeypatch, PICKINGS):
        restore = stack.take_snapshot()
        with aws_faults.recorded() as seen:
            upgrade()
        assert {"UpdateTable", "UpdateItem", "Scan", "TransactWriteItems"} <= {*seen.operations}
        upgraded, counted = contents(stack), totals(stack)
        for call in deadly_calls("upgrade", seen.operations, every=16)[part::_PARTS]:
            restore()
            assert aws_faults.kills(kill_after(call), upgrade)
            upgrade()
            assert store_of("acme").version == TableVersion.of(TARGET)
            assert not tenant().keys() & {"upgrade", "table_lease"}
            assert missing_indexes("acme") == []
            assert contents(stack) == upgraded, call
            assert totals(stack) == counted, call


def test_interrupted_pass_goes_on_where_it_stopped(
    put_table: PutTable, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/pickings")
    monkeypatch.setattr("operations.upgrade._PAGE", 1)
    with invented_version(monkeypatch, PICKINGS):

        def kill(call: Any, forward: Any) -> Any:
            if call.operation == "Scan" and call.request.get("ExclusiveStartKey"):
                raise Killed
            return forward()

        assert aws_faults.kills(kill, upgrade)
        position = tenant()["upgrade"]["M"]["position"]["M"]
        with aws_faults.recorded() as seen:
            upgrade()
        scans = [call for call in seen.calls if call.operation == "Scan"]
        assert scans[0].request["ExclusiveStartKey"] == position


def test_upgrade_waits_for_running_requests_twice(
    put_table: PutTable, clock: Clock, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before changes write the new form, and before the first entity is rewritten."""
    put_table("/products")
    moments: dict[str, float] = {}

    def watch(call: Any, forward: Any) -> Any:
        text = str(call.request)
        if "announced_at" in text:
            name = "written" if "written_at" in text else "announced"
            moments.setdefault(name, clock.monotonic())
        if call.operation == "Scan":
            moments.setdefault("scanned", clock.monotonic())
        return forward()

    with invented_version(monkeypatch, PRODUCTS), aws_faults.faulty(watch):
        upgrade()
    assert moments["written"] - moments["announced"] >= DRAIN_SECONDS - 0.1
    assert moments["scanned"] - moments["written"] >= DRAIN_SECONDS - 0.1


def test_upgrade_keeps_to_its_rate(
    put_table: PutTable, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")

    def seconds(rate: int) -> float:
        began = clock.monotonic()
        upgrade(rate=rate)
        return clock.monotonic() - began

    with invented_version(monkeypatch, PRODUCTS):
        # 5 products at 1 per second, and two passes of 500 items at 10 per second.
        assert seconds(1) >= 2 * DRAIN_SECONDS + 5 + 100 - 1


# One run at a time


def test_error_of_a_second_run_names_who_runs_the_upgrade(
    put_table: PutTable, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")
    hold_lease("upgrade", clock, monkeypatch)
    with (
        invented_version(monkeypatch, PRODUCTS),
        pytest.raises(Conflict, match=f"{OTHER_OPERATOR} has been running since .*"),
    ):
        upgrade()
    assert "upgrade" not in tenant()


def test_run_waits_for_the_lease_of_a_dead_one(
    put_table: PutTable, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")
    assert Lease("acme", "upgrade", by="ana").take()
    steps: list[str] = []
    began = clock.monotonic()
    with invented_version(monkeypatch, PRODUCTS):
        upgrade(progress=steps.append)
        assert store_of("acme").version == TableVersion.of(TARGET)
    assert "waiting to see whether the upgrade that ana" in steps[0]
    assert clock.monotonic() - began < LEASE_SECONDS + 2 * DRAIN_SECONDS + 20


def test_run_that_lost_its_lease_ends_and_changes_nothing(
    put_table: PutTable, stack: Stack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its computer may have slept: another run has completed the upgrade meanwhile."""
    put_table("/products")
    is_completed = False

    def complete_once(_step: str) -> None:
        nonlocal is_completed
        if not is_completed:
            is_completed = True
            clock.advance(LEASE_SECONDS + 1)
            upgrade()

    with invented_version(monkeypatch, PRODUCTS):
        with pytest.raises(Conflict, match="Another run has taken over the upgrade of acme"):
            upgrade(progress=complete_once)
        assert store_of("acme").version == TableVersion.of(TARGET)
        before = stack.items()
        upgrade()
        assert stack.items() == before


def test_failed_run_gives_its_lease_back(
    put_table: PutTable, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")

    with invented_version(monkeypatch, PRODUCTS):
        denied = aws_faults.faulty(refuse_calls("UpdateTable"))
        with denied, pytest.raises(Exception, match="AccessDenied"):
            upgrade()
        assert "table_lease" not in tenant()


def test_tenant_that_is_deleted_ends_its_upgrade(
    put_table: PutTable, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")

    def delete() -> None:
        monkeypatch.setattr(table_lease, "_KEEP_SECONDS", 0)
        aws.client("dynamodb").update_item(
            TableName=config().control_table,
            Key={"pk": {"S": tenant_key("acme")}},
            UpdateExpression="SET #state = :deleting",
            ExpressionAttributeNames={"#state": "state"},
            ExpressionAttributeValues={":deleting": {"S": "deleting"}},
        )

    with (
        invented_version(monkeypatch, PRODUCTS),
        aws_faults.faulty(at_calls("Scan", after=delete)),
        pytest.raises((Conflict, NotFound), match="acme"),
    ):
        upgrade()


# Indexes


def test_indexes_are_added_one_at_a_time_and_waited_for(
    put_table: PutTable, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")
    busy, steps = 3, list[str]()

    def slow(call: Any, forward: Any) -> Any:
        """Answer as DynamoDB does while it still adds the index before."""
        nonlocal busy
        if call.operation == "UpdateTable":
            assert len(call.request["GlobalSecondaryIndexUpdates"]) == 1
            if busy:
                busy -= 1
                return refusal(("LimitExceededException", "ResourceInUseException")[busy % 2])
        return forward()

    with invented_version(monkeypatch, PRODUCTS):
        plan = plan_upgrade("acme")
        with aws_faults.faulty(slow), aws_faults.recorded() as seen:
            added = expand_table("acme", progress=steps.append)
        first = table.INDEX_COUNT - 2
        assert added == [f"GSI{number}" for number in range(first, first + 3)]
        assert list(plan.missing_indexes) == added
        assert list(plan.kinds) == changed_kinds()
        assert seen.operations.count("UpdateTable") == 6
        assert plan_upgrade("acme").missing_indexes == ()
        assert store_of("acme").version.complete == recorded().version  # only expanded
    assert "acme: adding indexes, 3 left" in steps


def test_index_that_is_being_added_is_waited_for(
    put_table: PutTable, clock: Clock, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")
    ready_at = clock.monotonic() + 300

    def creating(call: Any, forward: Any) -> Any:
        answer, error = forward()
        if call.operation == "DescribeTable" and clock.monotonic() < ready_at:
            for index in answer[1]["Table"]["GlobalSecondaryIndexes"][-1:]:
                index["IndexStatus"] = "CREATING"
        return answer, error

    with invented_version(monkeypatch, PRODUCTS), aws_faults.faulty(creating):
        add_missing_indexes("acme", lambda _: None)
    assert clock.monotonic() >= ready_at


def test_index_of_another_shape_is_refused(
    put_table: PutTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")
    definition = table.table_definition()
    definition["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "ALL"}
    monkeypatch.setattr("operations.table_indexes.table_definition", lambda: definition)
    with pytest.raises(Conflict, match="The index GSI1 of the table of acme has another key or pr"):
        missing_indexes("acme")


def test_contraction_removes_indexes_only_after_the_upgrade(
    put_table: PutTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")
    last = f"GSI{table.INDEX_COUNT}"
    with invented_version(monkeypatch), monkeypatch.context() as inner:
        inner.setattr(table, "INDEX_COUNT", table.INDEX_COUNT - 4)
        with pytest.raises(Conflict, match="Upgrade it first"):
            contract_table("acme")
        upgrade()
        assert plan_upgrade("acme").unused_indexes == (last,)
        assert contract_table("acme") == [last]
        assert contract_table("acme") == []
        assert remove_unused_indexes("acme", lambda _: None) == []


def test_upgrade_is_in_the_audit_log_of_the_tenant(
    put_table: PutTable, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_table("/products")
    with invented_version(monkeypatch, PRODUCTS):
        upgrade()
        (entry, *_) = stack.erp().get("/audit-log").json()["data"]
    assert entry["action"] == "tenant.changed"
    assert entry["changes"] == {"table_version": {"from": recorded().version, "to": TARGET}}
    assert entry["actor"]["id"] == operator_name() or entry["actor"]["name"] == operator_name()
