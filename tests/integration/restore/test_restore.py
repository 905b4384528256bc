"""A tenant gets its data of an earlier moment in a new table, and the earlier table stays."""

from pathlib import Path
from typing import Any

import pytest

from operations.deletion import delete_tenant
from operations.draining import DRAIN_SECONDS
from operations.export import export_tenant
from operations.progress import ReportProgress
from operations.provisioning import create_tenant, set_state
from operations.restore import cancel_restore, restore_tenant, switch_table
from operations.table_lease import Lease
from operations.tenant_rules import NewTenant
from operations.tenant_tables import tables_of, write_version
from operations.upgrade import expand_table, upgrade_tables
from operations.verify import Findings, verify_table
from shared.identity.tenancy.access import operator_store, session_policy, store_for
from shared.identity.tenancy.directory import directory
from shared.identity.users.models import PasswordReset, UserChange
from shared.identity.users.service import change_user, delete_user, reset_password
from shared.integration.webhooks.repository import WEBHOOKS
from shared.kernel import aws
from shared.kernel.db import schema
from shared.kernel.db.store import Store, key_attributes
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, TableReplaced
from shared.kernel.events.feed import FeedHead, read_head
from shared.kernel.validation import check
from tests.faults import AwsFaults, Call, before_each
from tests.gateway import Erp
from tests.import_scenario import ImportScenario, leave_all_to_worker
from tests.integration.held_lease import OTHER_OPERATOR, hold_lease
from tests.integration.restore.conftest import Recovery, item, items_of
from tests.integration.user_grants.oauth_requests import (
    create_example_user,
    enable_two_step,
    is_accepted,
    refresh,
)
from tests.stack import ADDRESS, Stack, set_attributes
from tests.webhook_scenario import URL, run_relay, stream_batch

FIRST = "stowage-tenant-acme"
METADATA = {"ERP.id": "0017"}


def product(erp: Erp, code: str) -> int:
    made = erp.post("/products", {"item_code": code, "name": code, "type": "item"})
    assert made.status == 201, made.text
    number: int = made.json()["data"]["id"]
    return number


def codes(erp: Erp) -> list[str]:
    answer = erp.get("/products", query={"sort": "item_code"})
    assert answer.status == 200, answer.text
    assert answer.json()["meta"]["total"] == len(answer.json()["data"])
    return [each["item_code"] for each in answer.json()["data"]]


@pytest.fixture
def changed(recovery: Recovery, stack: Stack) -> Recovery:
    """A remembered moment with the product BEFORE; LATER was created an hour after it.

    Its metadata was changed after that, too.
    """
    path = f"/products/{product(stack.erp(), 'BEFORE')}"
    stack.erp().patch(path, {"metadata": METADATA}).ok()
    recovery.remember()
    product(stack.erp(), "LATER")
    stack.erp().patch(path, {"metadata": {"ERP.id": "18", "memo": "later"}}).ok()
    return recovery


def test_data_of_the_moment_is_back_and_the_earlier_table_stays(
    changed: Recovery, stack: Stack
) -> None:
    before = items_of(FIRST)
    set_attributes(expiry_day={"S": "2030-01-01"})
    done = restore_tenant("acme", changed.at)

    assert (done.previous_table, done.is_switched) == (FIRST, True)
    assert done.table.startswith(f"{FIRST}.r20")
    changed.let_caches_expire()
    assert codes(stack.erp()) == ["BEFORE"]
    assert stack.erp().get("/products/1").data["metadata"] == METADATA
    assert items_of(FIRST) == before
    assert stack.erp().get("/products/2").status == 404
    # Expired goods of that moment are blocked again.
    assert not item().keys() & {"restoring", "table_lease", "expiry_day"}
    assert item()["table_name"]["S"] == done.table


def test_followers_start_again_after_a_restore(changed: Recovery, stack: Stack) -> None:
    before = _feed()
    restore_tenant("acme", changed.at)
    changed.let_caches_expire()
    after = _feed()
    assert after.epoch > before.epoch
    assert after.is_complete
    answer = stack.erp().get("/changes", query={"epoch": before.epoch})
    assert (answer.status, answer.code) == (410, "gone")
    switch_table("acme", FIRST)
    changed.let_caches_expire()
    assert stack.erp().get("/changes", query={"epoch": after.epoch}).status == 410


def _feed() -> FeedHead:
    head = read_head(operator_store("acme"))
    assert head
    return head


def test_requests_after_the_switch_write_into_the_new_table_only(
    changed: Recovery, stack: Stack
) -> None:
    restore_tenant("acme", changed.at)
    changed.let_caches_expire()
    before = items_of(FIRST)

    assert product(stack.erp(), "AFTER") == 3  # 2 was LATER
    assert codes(stack.erp()) == ["AFTER", "BEFORE"]
    assert items_of(FIRST) == before


def test_no_sequence_is_lower_than_in_the_earlier_table(changed: Recovery) -> None:
    done = restore_tenant("acme", changed.at)
    earlier, new = items_of(FIRST), items_of(done.table)
    kinds = [key for key in earlier if key[0] == "sequence"]
    assert kinds
    for key in kinds:
        assert int(new[key]["last"]["N"]) >= int(earlier[key]["last"]["N"])


def test_new_table_is_protected_and_tagged_like_every_other(changed: Recovery) -> None:
    done = restore_tenant("acme", changed.at)
    dynamodb = aws.client("dynamodb")

    def settings(name: str) -> tuple[Any, ...]:
        table = dynamodb.describe_table(TableName=name)["Table"]
        recovery = dynamodb.describe_continuous_backups(TableName=name)
        tags = dynamodb.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"]
        expiry = dynamodb.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
        window = recovery["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        return (
            table["DeletionProtectionEnabled"],
            sorted(index["IndexName"] for index in table["GlobalSecondaryIndexes"]),
            window["PointInTimeRecoveryStatus"],
            sorted((tag["Key"], tag["Value"]) for tag in tags),
            expiry["TimeToLiveStatus"],
            expiry["AttributeName"],
        )

    assert settings(done.table) == settings(FIRST)
    assert settings(done.table)[0]


def test_requests_are_refused_until_the_switch(
    changed: Recovery, stack: Stack, aws_faults: AwsFaults
) -> None:
    """While DynamoDB restores, because what they would change is missing in the new table."""
    seen: list[tuple[int, str | None]] = []
    refused_at = 0.0

    def watch(call: Call) -> None:
        nonlocal refused_at
        if call.operation == "TagResource":
            changed.let_caches_expire()
            answer = stack.erp().post("/products", {"item_code": "X", "name": "X", "type": "item"})
            seen.append((answer.status, answer.headers.get("Retry-After")))
            with pytest.raises(TableReplaced, match="acme is being restored"):
                operator_store("acme")
            refused_at = int(item()["restoring"]["M"]["refused_at"]["N"]) / 1000
        if "table_name" in str(call.request):
            assert changed.clock.time() - refused_at >= DRAIN_SECONDS - 0.1

    with aws_faults.faulty(before_each(watch)):
        restore_tenant("acme", changed.at)
    assert seen == [(503, "60")]


def test_events_of_a_tenant_are_relayed_during_its_restore(
    changed: Recovery, stack: Stack, aws_faults: AwsFaults
) -> None:
    """A record that fails holds up the events of other tenants in its shard of the stream."""
    failed: list[list[str]] = []

    def watch(call: Call) -> None:
        if call.operation == "TagResource":
            changed.let_caches_expire()
            with pytest.raises(TableReplaced):
                store_for(directory.tenant("acme"))  # type: ignore[arg-type]
            failed.append(run_relay(stream_batch(stack.events())))

    with aws_faults.faulty(before_each(watch)):
        restore_tenant("acme", changed.at)
    assert failed == [[]]


def test_prepared_table_is_used_by_the_restore(
    changed: Recovery, stack: Stack, aws_faults: AwsFaults
) -> None:
    prepared = restore_tenant("acme", changed.at, prepare_only=True)

    assert not prepared.is_switched
    changed.let_caches_expire()
    assert codes(stack.erp()) == ["BEFORE", "LATER"]
    product(stack.erp(), "MEANWHILE")
    with aws_faults.recorded() as seen:
        done = restore_tenant("acme", changed.at)
    assert done.table == prepared.table
    assert "RestoreTableToPointInTime" not in seen.operations
    changed.let_caches_expire()
    assert codes(stack.erp()) == ["BEFORE"]
    assert product(stack.erp(), "AFTER") == 4


def test_switch_back_returns_the_earlier_data(changed: Recovery, stack: Stack) -> None:
    done = restore_tenant("acme", changed.at)
    changed.let_caches_expire()
    product(stack.erp(), "AFTER")
    back = switch_table("acme", FIRST)

    assert (back.table, back.previous_table) == (FIRST, done.table)
    changed.let_caches_expire()
    assert codes(stack.erp()) == ["BEFORE", "LATER"]
    assert product(stack.erp(), "NEXT") == 4
    assert switch_table("acme", FIRST).is_switched  # again, without effect


def test_repeated_restore_changes_nothing(changed: Recovery, aws_faults: AwsFaults) -> None:
    done = restore_tenant("acme", changed.at)
    with aws_faults.recorded() as seen:
        again = restore_tenant("acme", changed.at)
    assert (again.table, again.previous_table) == (done.table, done.previous_table)
    assert {*seen.operations} == {"GetItem"}


def test_failed_check_switches_nothing_until_the_restore_is_cancelled(
    changed: Recovery, stack: Stack
) -> None:
    def verify(lease: Lease, store: Store, report: ReportProgress) -> Findings:
        alias = key_attributes(("item_code#BEFORE", "ALIAS"))
        aws.client("dynamodb").delete_item(TableName=store.table, Key=alias)
        return verify_table(lease, store, report)

    with pytest.raises(Conflict, match=r"1 findings, such as alias.missing .*nothing was switched"):
        restore_tenant("acme", changed.at, verify=verify)
    table = item()["restoring"]["M"]["table"]["S"]
    assert cancel_restore("acme") == table
    assert cancel_restore("acme") is None
    changed.let_caches_expire()
    assert codes(stack.erp()) == ["BEFORE", "LATER"]


def test_session_of_a_tenant_is_for_its_present_table_only(changed: Recovery, stack: Stack) -> None:
    """The cached session for the earlier table is replaced."""
    erp = stack.erp()
    assert codes(erp) == ["BEFORE", "LATER"]
    done = restore_tenant("acme", changed.at)
    changed.let_caches_expire()
    policies: list[str] = []
    aws.client("sts").meta.events.register(
        "before-parameter-build.sts.AssumeRole",
        lambda params, **_: policies.append(params["Policy"]),
    )
    codes(stack.erp())
    (policy,) = policies
    assert f'table/{done.table}"' in policy
    assert f'table/{FIRST}"' not in policy
    arn = policy.split(":table/")[0].split('"')[-1]
    assert policy == session_policy("acme", done.table, arn, access="warehouse")


def test_deletion_removes_every_table_of_the_tenant(changed: Recovery) -> None:
    restore_tenant("acme", changed.at)
    assert len(tables_of("acme")) == 2
    set_state("acme", "cancelled")
    delete_tenant("acme")
    assert tables_of("acme") == []
    assert tables_of("beta") == ["stowage-tenant-beta"]


def test_repeated_creation_keeps_the_restored_table(changed: Recovery, stack: Stack) -> None:
    done = restore_tenant("acme", changed.at)
    dynamodb = aws.client("dynamodb")
    dynamodb.update_table(TableName=FIRST, DeletionProtectionEnabled=False)
    dynamodb.delete_table(TableName=FIRST)
    known = stack.tenant()
    create_tenant(NewTenant("acme", known.plan, base_url=ADDRESS, modules=known.modules))
    assert tables_of("acme") == [done.table]


# Access


def test_every_session_and_token_ends(recovery: Recovery) -> None:
    anna = create_example_user()
    recovery.remember()
    tokens = anna.sign_in()
    assert tokens.status == 200
    restore_tenant("acme", recovery.at)
    recovery.let_caches_expire()

    assert not is_accepted(tokens.access_token)
    assert refresh(tokens.refresh_token).status == 400
    assert is_accepted(anna.sign_in().access_token)
    assert item()["users"]["N"] == "1"


def test_session_that_was_open_at_the_moment_ends(recovery: Recovery) -> None:
    anna = create_example_user()
    tokens = anna.sign_in()
    recovery.remember()
    restore_tenant("acme", recovery.at)
    recovery.let_caches_expire()
    assert refresh(tokens.refresh_token).status == 400


def test_password_and_second_factor_of_today_stay(recovery: Recovery) -> None:
    anna = create_example_user()
    recovery.remember()
    reset = check(PasswordReset, {"password": "another correct horse"})
    run_transaction(operator_store("acme"), lambda tx: reset_password(tx, anna.id, reset))
    old, anna.password = anna.password, "another correct horse"
    enable_two_step(anna)
    restore_tenant("acme", recovery.at)
    recovery.let_caches_expire()

    assert anna.sign_in(code=anna.code()).status == 200
    anna.password = old
    assert anna.sign_in(code=anna.code(periods=1)).status == 400


def test_user_who_was_deleted_or_disabled_cannot_sign_in(recovery: Recovery) -> None:
    admin = create_example_user("boss", permissions=["users.manage"])
    anna, bert = create_example_user("anna"), create_example_user("bert")
    recovery.remember()
    run_transaction(operator_store("acme"), lambda tx: delete_user(tx, anna.id))
    disabled = check(UserChange, {"is_active": False})
    run_transaction(operator_store("acme"), lambda tx: change_user(tx, bert.id, disabled))
    done = restore_tenant("acme", recovery.at)
    recovery.let_caches_expire()

    assert done.locked_users == ("anna", "bert")
    assert anna.sign_in().status == bert.sign_in().status == 400
    assert admin.sign_in().status == 200
    assert item()["users"]["N"] == "3"
    reset = check(PasswordReset, {"password": anna.password})
    run_transaction(operator_store("acme"), lambda tx: reset_password(tx, anna.id, reset))
    assert anna.sign_in().status == 200


def test_subscription_that_was_deleted_stays_inactive(recovery: Recovery, stack: Stack) -> None:
    erp = stack.erp()
    for _ in range(2):
        erp.post("/webhooks", {"url": URL, "events": ["product.created"]}).ok(201)
    recovery.remember()
    assert stack.erp().delete("/webhooks/1").status == 200
    done = restore_tenant("acme", recovery.at)

    assert done.deactivated_webhooks == (1,)
    store = operator_store("acme")
    assert not WEBHOOKS.get(store, 1).entity.is_active
    assert WEBHOOKS.get(store, 2).entity.is_active


# Imports


def test_import_that_was_running_has_failed_and_is_committed_again(
    recovery: Recovery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No message continues it. While it was running for ever, the tenant could not be moved."""
    leave_all_to_worker(monkeypatch)
    imports = ImportScenario(recovery.stack)
    file = b"item_code,name\nIMPORTED,One\n"
    committing = imports.import_file("products", "a.csv", file)["id"]
    assert imports.erp.post(f"/imports/{committing}/commit").status == 202
    validating = imports.upload("products", "b.csv", file).data["id"]
    recovery.remember()
    imports.drain_queue()
    restore_tenant("acme", recovery.at)
    recovery.let_caches_expire()

    for number, action in ((committing, "Commit"), (validating, "Upload")):
        found = imports.get_import(number)
        assert found["status"] == "failed"
        assert action in found["structure_errors"][0]
    assert imports.commit(committing)["status"] == "committed"
    assert codes(imports.erp) == ["IMPORTED"]
    set_state("acme", "suspended")
    export_tenant("acme", tmp_path, passphrase="a passphrase of some length")


# The version of the table


def test_restored_table_has_the_version_of_its_moment(
    changed: Recovery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its contents say it; nobody is asked."""
    old, new = schema.SCHEMA_VERSION, schema.SCHEMA_VERSION + 1
    monkeypatch.setattr(schema, "SCHEMA_VERSION", new)
    directory.clear()
    list(upgrade_tables(["acme"]))
    assert operator_store("acme").version.complete == new
    done = restore_tenant("acme", changed.at)
    assert (done.version, item()["table_version"]["N"]) == (old, str(old))
    back = switch_table("acme", FIRST)
    assert (back.version, item()["table_version"]["N"]) == (new, str(new))


def test_new_table_of_a_later_version_names_it(stack: Stack) -> None:
    assert stack
    create_tenant(NewTenant("gamma", base_url=ADDRESS))
    assert items_of("stowage-tenant-gamma")["schema", "HEAD"]["version"] == {
        "N": f"{schema.SCHEMA_VERSION}"
    }
    write_version("gamma", schema.SCHEMA_VERSION)  # again


def test_unfinished_restore_refuses_an_upgrade(changed: Recovery) -> None:
    restore_tenant("acme", changed.at, prepare_only=True)
    with pytest.raises(Conflict, match="The restore of acme is not finished"):
        expand_table("acme")
    assert "table_lease" not in item()


def test_error_of_a_second_run_names_who_runs_the_restore(
    changed: Recovery, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_lease("restore", changed.clock, monkeypatch)
    with pytest.raises(Conflict, match=f"The restore of acme, which {OTHER_OPERATOR} has"):
        restore_tenant("acme", changed.at)
    assert "restoring" not in item()
