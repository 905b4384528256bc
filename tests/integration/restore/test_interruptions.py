"""A restore that died at any call is completed by the next run."""

import pytest
from moto.dynamodb.models import dynamodb_backends

from operations import table_lease
from operations.restore import restore_tenant, switch_table
from operations.tenant_tables import tables_of
from shared.identity.tenancy.access import operator_store
from shared.identity.users.service import delete_user
from shared.kernel.db.unit_of_work import run_transaction
from tests.faults import AwsFaults, Call, Killed, before_each, kill_after
from tests.integration.restore.conftest import Recovery, item, items_of
from tests.integration.restore.test_restore import FIRST, codes, product
from tests.integration.user_grants.oauth_requests import create_example_user
from tests.sampling import deadly_calls, is_complete
from tests.stack import ACCOUNT, REGION, Stack
from tests.webhook_scenario import URL

_PARTS = 4 if is_complete() else 1
"""Parts of the kills, which the processes of the tests share."""


def remove_new_tables() -> None:
    """Remove what restores have made."""
    tables = dynamodb_backends[ACCOUNT][REGION].tables
    for name in tables_of("acme"):
        if name != FIRST:
            del tables[name]


@pytest.mark.parametrize("part", range(_PARTS))
def test_killed_restore_is_completed_by_the_next_run(
    part: int,
    recovery: Recovery,
    stack: Stack,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It dies after each of its calls took effect, which is before the next one."""
    recovery.clock.freeze()
    monkeypatch.setattr(table_lease, "_KEEP_SECONDS", 3_600)  # renewals change nothing else
    create_example_user()
    product(stack.erp(), "BEFORE")
    recovery.remember()
    product(stack.erp(), "LATER")
    earlier, undo = items_of(FIRST), stack.take_snapshot()
    with aws_faults.recorded() as seen:
        restore_tenant("acme", recovery.at)
    assert {"RestoreTableToPointInTime", "TransactWriteItems"} <= {*seen.operations}
    for call in deadly_calls("restore", seen.operations, every=16)[part::_PARTS]:
        remove_new_tables()
        undo()
        assert aws_faults.kills(kill_after(call), lambda: restore_tenant("acme", recovery.at))
        done = restore_tenant("acme", recovery.at)

        assert tables_of("acme") == [FIRST, done.table], call
        assert item()["table_name"]["S"] == done.table
        assert not item().keys() & {"restoring", "table_lease"}, call
        assert items_of(FIRST) == earlier
        recovery.let_caches_expire()
        assert codes(stack.erp()) == ["BEFORE"]
        assert product(stack.erp(), "AFTER") == 3, call


def test_restore_that_died_before_the_switch_still_names_what_it_ends(
    recovery: Recovery, stack: Stack, aws_faults: AwsFaults
) -> None:
    def die_at_the_switch(call: Call) -> None:
        if call.operation == "TransactWriteItems" and "table_name" in str(call.request):
            raise Killed

    for _ in range(2):
        stack.erp().post("/webhooks", {"url": URL, "events": ["product.created"]}).ok(201)
    anna = create_example_user()
    recovery.remember()
    stack.erp().delete("/webhooks/1").ok(200)
    run_transaction(operator_store("acme"), lambda tx: delete_user(tx, anna.id))
    dying = before_each(die_at_the_switch)

    assert aws_faults.kills(dying, lambda: restore_tenant("acme", recovery.at))
    done = restore_tenant("acme", recovery.at)
    assert (done.locked_users, done.deactivated_webhooks) == (("anna",), (1,))


@pytest.mark.parametrize("part", range(_PARTS))
def test_killed_switch_back_is_completed_by_the_next_run(
    part: int,
    recovery: Recovery,
    stack: Stack,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recovery.clock.freeze()
    monkeypatch.setattr(table_lease, "_KEEP_SECONDS", 3_600)
    product(stack.erp(), "BEFORE")
    recovery.remember()
    product(stack.erp(), "LATER")
    restored = restore_tenant("acme", recovery.at)
    recovery.let_caches_expire()
    product(stack.erp(), "AFTER")
    contents, undo = items_of(restored.table), stack.take_snapshot()
    with aws_faults.recorded() as seen:
        switch_table("acme", FIRST)
    for call in deadly_calls("switch back", seen.operations, every=16)[part::_PARTS]:
        undo()
        assert aws_faults.kills(kill_after(call), lambda: switch_table("acme", FIRST))
        switch_table("acme", FIRST)

        assert item()["table_name"]["S"] == FIRST
        assert not item().keys() & {"restoring", "restored", "table_lease"}, call
        assert items_of(restored.table) == contents
        recovery.let_caches_expire()
        assert codes(stack.erp()) == ["BEFORE", "LATER"]
        assert product(stack.erp(), "NEXT") == 4, call
