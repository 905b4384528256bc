"""Runs of a verification: interruptions, leases, refusals, rate, and what they leave unchanged."""

from typing import Any

import pytest

from operations import table_lease
from operations.table_lease import LEASE_SECONDS, Lease
from operations.verify import run, verify_tenant
from operations.verify.metering import default_rate
from shared.identity.tenancy.directory import read_item, tenant_key
from shared.kernel.db import schema
from shared.kernel.db.table import SORT_KEY
from shared.kernel.errors import Conflict, NotFound, UnservedTable
from shared.kernel.events.feed import HEAD_KEY
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, before_first, kill_after, refusal
from tests.integration.call_faults import at_calls
from tests.integration.held_lease import OTHER_OPERATOR, hold_lease
from tests.integration.verify.changes import SEARCH_ENTRIES, YARD
from tests.integration.verify.planting import Table
from tests.integration.verify.plants import PLANTS
from tests.sampling import deadly_calls, is_complete, sampled
from tests.stack import set_attributes

pytestmark = pytest.mark.usefixtures("stack")

_PARTS = 4 if is_complete() else 1
"""Parts of the kills, which the processes of the tests share."""
_PLANTED = (
    "index_key_missing", "alias_of_product_missing", "sequence_below_the_greatest_id",
    "quantity_of_a_row", "on_hand_of_level_total", "count_of_a_position_too_high",
    "open_quantity_of_a_document", "ended_orders_of_a_wave", "total_of_a_status",
    "unreadable_data",
)  # fmt: skip


def _plant(table: Table) -> None:
    """Plant drifts in a table without a feed, because the number of calls of its check varies.

    Which partitions of the outbox have entries depends on random digits.
    """
    table.delete(HEAD_KEY)
    by_name = {plant.name: plant for plant in PLANTS}
    for name in _PLANTED:
        by_name[name].apply(table)


def _tenant() -> dict[str, Any]:
    return read_item(tenant_key("acme")) or {}


def _without_times(table: Table) -> dict[Any, Any]:
    """Return the items without what differs between two repairs of the same drift."""
    volatile = {"data", "version", "touched", "tx", "S2"}
    return {
        key: {name: value for name, value in item.items() if name not in volatile}
        for key, item in table.contents().items()
        if not key[0].startswith("count#")
    }


def _interrupt(aws_faults: AwsFaults) -> None:
    """Kill a verification when it looks at the totals of entry documents."""

    def kill(call: Any, forward: Any) -> Any:
        if call.operation == "Query" and "count#entry" in str(call.request):
            raise Killed
        return forward()

    assert aws_faults.kills(kill, lambda: verify_tenant("acme"))


@pytest.mark.parametrize("part", range(_PARTS))
def test_killed_verification_is_completed_by_the_next_run(
    part: int, table: Table, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies after each of its calls took effect, which is before the next one."""
    monkeypatch.setattr(table_lease, "_KEEP_SECONDS", 3_600)  # renewals change nothing else
    _plant(table)
    restore = table.stack.take_snapshot()
    with aws_faults.recorded() as seen:
        wanted = verify_tenant("acme", repair=True)
    repaired = _without_times(table)
    writes = [at for at, one in enumerate(seen.calls) if one.operation == "TransactWriteItems"]
    calls = deadly_calls("verification", seen.operations, every=580)
    for call in sorted({*sampled("repairs", writes, every=50), *calls})[part::_PARTS]:
        restore()
        assert aws_faults.kills(kill_after(call), lambda: verify_tenant("acme", repair=True))
        found = verify_tenant("acme", repair=True)
        assert not _tenant().keys() & {"verification", "table_lease"}
        if call < writes[-1]:  # nothing is left of a run that has completed
            assert set(found.listed) == set(wanted.listed), (call, seen.calls[call].operation)
        assert _without_times(table) == repaired, call


def test_interrupted_verification_goes_on_where_it_stopped(
    table: Table, aws_faults: AwsFaults
) -> None:
    _plant(table)
    _interrupt(aws_faults)
    assert "verification" in _tenant()
    steps: list[str] = []
    found = verify_tenant("acme", report=steps.append)
    assert not any("acme: items" in step for step in steps)
    assert any("going on with the verification" in step for step in steps)
    assert {"index.missing", "stock.qty", "counter.partition"} <= found.counts.keys()


def test_interrupted_verification_without_repair_is_not_continued_by_a_repair(
    table: Table, aws_faults: AwsFaults
) -> None:
    _plant(table)
    _interrupt(aws_faults)
    found = verify_tenant("acme", repair=True)
    assert {one.kind for one in found.listed if not one.repaired} == {"entity.unreadable"}


def test_verification_without_repair_changes_nothing(table: Table) -> None:
    _plant(table)
    before, tenant = table.contents(), _tenant()
    found = verify_tenant("acme")
    assert found.left == found.found >= len(_PLANTED)
    assert table.contents() == before
    assert _tenant() == tenant


def test_repairs_are_in_the_audit_log_of_the_tenant(small_table: Table) -> None:
    small_table.add_to_total("product", "n", 1)
    verify_tenant("acme", repair=True)
    (entry, *_) = small_table.stack.erp().get("/audit-log").json()["data"]
    assert entry["action"] == "tenant.changed"
    assert entry["details"] == {"repaired": 1, "found": {"counter.n": 1}}
    before = len(small_table.stack.erp().get("/audit-log").json()["data"])
    verify_tenant("acme", repair=True)
    assert len(small_table.stack.erp().get("/audit-log").json()["data"]) == before


def test_repaired_data_has_a_new_time_so_that_clients_get_it(small_table: Table) -> None:
    before = small_table.record("stock", 1).entity
    small_table.edit("stock", 1, qty=before.qty + 5)
    verify_tenant("acme", repair=True)
    after = small_table.record("stock", 1)
    assert after.entity.qty == before.qty
    assert after.entity.updated_at > before.updated_at


def test_repair_never_overwrites_a_concurrent_change(
    small_table: Table, aws_faults: AwsFaults
) -> None:
    """A request changes the row between the look that confirms its drift, and the repair."""
    before = small_table.record("stock", 1).entity.qty
    small_table.edit("stock", 1, qty=before + 5)
    erp = small_table.stack.erp()
    body = {"item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "increase": 7,
            "reason": "Found"}  # fmt: skip

    def change() -> None:
        assert erp.post("/stock-adjustments", body).status == 201

    with aws_faults.faulty(before_first("TransactWriteItems", change)):
        found = verify_tenant("acme", repair=True)
    assert {one.kind for one in found.listed} == {"stock.qty"}
    assert small_table.record("stock", 1).entity.qty == before + 7
    assert verify_tenant("acme").listed == []


def test_removal_of_left_over_search_entries_spares_those_of_a_new_name(
    small_table: Table, aws_faults: AwsFaults
) -> None:
    """A request gives the warehouse so long a name that it needs the item that is removed."""
    second = (SEARCH_ENTRIES[0], "SEARCH#002")
    small_table.put(second, {**small_table.item(SEARCH_ENTRIES), SORT_KEY: second[1]})
    erp = small_table.stack.erp()
    name = "Yard behind the northern building of the printing works"

    def rename() -> None:
        erp.patch(f"/warehouses/{YARD}", {"name": name}).ok()

    with aws_faults.faulty(before_first("TransactWriteItems", rename)):
        found = verify_tenant("acme", repair=True)
    assert {one.kind for one in found.listed} == {"lookup.orphan"}
    for word in name.split():
        assert [row["id"] for row in erp.walk("/warehouses", search=word)] == [YARD], word
    assert verify_tenant("acme").listed == []


# Who may run it, and when


def test_error_of_a_second_run_names_who_runs_the_verification(
    small_table: Table, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert small_table
    hold_lease("verification", clock, monkeypatch)
    message = f"The verification of acme, which {OTHER_OPERATOR} has been running since"
    with pytest.raises(Conflict, match=message):
        verify_tenant("acme")


def test_run_that_lost_its_lease_ends(small_table: Table, clock: Clock) -> None:
    """Its computer may have slept, so that another run has taken over."""
    other = Lease("acme", "verification", by="ben")

    def overtake(_step: str) -> None:
        clock.advance(LEASE_SECONDS + 1)
        other.take()

    assert small_table
    with pytest.raises(Conflict, match="Another run has taken over the verification of acme"):
        verify_tenant("acme", report=overtake)


def test_lease_is_kept_while_transactions_have_the_item_of_the_tenant(
    clock: Clock, aws_faults: AwsFaults
) -> None:
    """A request that changes a user or a setting writes the item, too."""
    conflict = at_calls(
        "UpdateItem", range(0, 100, 2), answer=lambda _: refusal("TransactionConflictException")
    )
    lease = Lease("acme", "verification", by="ana")
    with aws_faults.faulty(conflict):
        assert lease.take()
        clock.advance(LEASE_SECONDS / 2)
        lease.keep()
        lease.save("SET verification = :none", {":none": {"M": {}}})
        assert {"table_lease", "verification"} <= _tenant().keys()
        lease.release()
    assert "table_lease" not in _tenant()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("creating", "The tenant acme was not created completely; create it again."),
        ("deleting", "The tenant acme was not deleted completely; delete it again."),
        ("deleted", "The tenant acme was deleted."),
    ],
)
def test_tenant_without_a_complete_table_is_refused(state: str, message: str) -> None:
    set_attributes(state={"S": state})
    with pytest.raises(NotFound, match=message):
        verify_tenant("acme")
    assert "table_lease" not in _tenant()


def test_unknown_tenant_is_refused() -> None:
    with pytest.raises(NotFound, match="The tenant nobody"):
        verify_tenant("nobody")


@pytest.mark.parametrize("state", ["suspended", "cancelled", "moved"])
def test_tenant_that_is_not_active_can_be_verified(state: str, clock: Clock) -> None:
    assert clock
    set_attributes(state={"S": state})
    assert verify_tenant("acme").listed == []


def test_table_that_is_being_upgraded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    target = schema.SCHEMA_VERSION + 1
    monkeypatch.setattr(schema, "SCHEMA_VERSION", target)
    set_attributes(upgrade={"M": {"to": {"N": str(target)}, "announced_at": {"N": "1"}}})
    message = rf"is being upgraded to version {target}\. Complete the upgrade"
    with pytest.raises(Conflict, match=message):
        verify_tenant("acme")


def test_table_of_another_release_is_refused() -> None:
    set_attributes(table_version={"N": "9"})
    with pytest.raises(UnservedTable, match="has version 9"):
        verify_tenant("acme")


def test_verification_that_is_a_day_old_begins_anew(
    small_table: Table, clock: Clock, aws_faults: AwsFaults
) -> None:
    assert aws_faults.kills(kill_after(20), lambda: verify_tenant("acme"))
    assert small_table
    clock.advance(run._RESUMED_MS / 1000 + 1)
    with aws_faults.recorded() as seen:
        verify_tenant("acme")
    scans = [call for call in seen.calls if call.operation == "Scan"]
    assert "ExclusiveStartKey" not in scans[0].request


# Its rate


def test_verification_keeps_to_its_rate(table: Table, clock: Clock, aws_faults: AwsFaults) -> None:
    assert table
    began = clock.monotonic()
    with aws_faults.recorded() as seen:
        verify_tenant("acme", rate=2)
    metered = [call for call in seen.calls if "ReturnConsumedCapacity" in call.request]
    assert len(metered) > 100
    assert clock.monotonic() - began >= len(metered) / 2 - 1


def test_rate_is_one_percent_of_what_the_table_has(monkeypatch: pytest.MonkeyPatch) -> None:
    described: dict[str, Any] = {"BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"}}
    monkeypatch.setattr("operations.verify.metering.describe_table", lambda _name: described)
    assert default_rate("acme") == 400
    described["OnDemandThroughput"] = {"MaxReadRequestUnits": 3_000, "MaxWriteRequestUnits": -1}
    assert default_rate("acme") == 30
    described.clear()
    provisioned = {"ReadCapacityUnits": 2_000, "WriteCapacityUnits": 1_000}
    described["ProvisionedThroughput"] = provisioned
    assert default_rate("acme") == 10
    slow = {"ReadCapacityUnits": 500, "WriteCapacityUnits": 20}
    described["GlobalSecondaryIndexes"] = [{"ProvisionedThroughput": slow}]
    assert default_rate("acme") == 1  # never less
