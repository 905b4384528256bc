"""Access to the data of one tenant: the session policy, and the cache of clients."""

import datetime as dt
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.identity.tenancy import access as module
from shared.identity.tenancy.access import ACCESSES, TenantAccess, dynamodb_for, session_policy
from shared.kernel import aws
from shared.kernel.config import config
from shared.kernel.events import outbox
from tests import iam
from tests.faults import AwsFaults
from tests.iam import read_policy
from tests.integration.roles import USER_KEYS
from tests.stack import ACCOUNT, REGION
from tests.template import Template

DYNAMODB = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}"


@pytest.fixture(autouse=True)
def _bucket(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aws_faults
    monkeypatch.setenv("IMPORT_BUCKET", "stowage-imports")
    config.cache_clear()


def allows(policy: str, action: str, resource: str, leading_key: str | None = None) -> bool:
    """Return whether a session policy allows one call."""
    keys = () if leading_key is None else (leading_key,)
    statements = read_policy(json.loads(policy)["Statement"], str)
    return iam.allows(statements, iam.Access(action, resource, keys))


_READS = ("GetItem", "BatchGetItem", "ConditionCheckItem", "Query")
_WRITES = ("PutItem", "UpdateItem", "DeleteItem")


def test_policy_allows_the_data_of_the_tenant() -> None:
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access="imports")
    table = f"{DYNAMODB}:table/stowage-tenant-acme"
    for action in (*_READS, *_WRITES):
        for key in ("product#000000000001", "login#000000000001", "rate#user#7", "count#product"):
            assert allows(policy, f"dynamodb:{action}", table, key)
    assert allows(policy, "dynamodb:Query", f"{table}/index/GSI1")
    for partition in outbox.partitions("acme"):
        for action in ("GetItem", "PutItem"):
            assert allows(
                policy, f"dynamodb:{action}", f"{DYNAMODB}:table/stowage-outbox", partition
            )
    for action in ("GetObject", "PutObject", "DeleteObject"):
        assert allows(policy, f"s3:{action}", "arn:aws:s3:::stowage-imports/acme/drop/x.csv")


@pytest.mark.parametrize("key", USER_KEYS)
def test_only_a_function_that_changes_users_may_write_them(key: str) -> None:
    table = f"{DYNAMODB}:table/stowage-tenant-acme"
    for access in ACCESSES.keys() - {"requests", "labels", "changes"}:
        policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access=access)
        for action in _READS:
            assert allows(policy, f"dynamodb:{action}", table, key)
        for action in (*_WRITES, "BatchWriteItem"):
            changes_users = access in {"settings", "everything"}
            assert allows(policy, f"dynamodb:{action}", table, key) is changes_users


@pytest.mark.parametrize("access", ["requests", "labels", "changes"])
def test_a_function_that_only_counts_requests_writes_nothing_else(access: str) -> None:
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access=access)
    table = f"{DYNAMODB}:table/stowage-tenant-acme"
    written = {
        (action, key)
        for action in (*_WRITES, "BatchWriteItem")
        for key in ("rate#user#7", "product#000000000001", "user#000000000001", "sequence")
        if allows(policy, f"dynamodb:{action}", table, key)
    }
    assert written == {("UpdateItem", "rate#user#7")}
    for action in _READS:
        reads = allows(policy, f"dynamodb:{action}", table, "product#000000000001")
        assert reads is (access != "requests")
    outbox_table, control = (f"{DYNAMODB}:table/stowage-{name}" for name in ("outbox", "control"))
    assert not allows(policy, "dynamodb:GetItem", outbox_table, "acme#0")
    reads_control = allows(policy, "dynamodb:GetItem", control, "TENANT#acme")
    assert reads_control is (access == "changes")


@pytest.mark.parametrize("access", sorted(ACCESSES))
def test_only_the_worker_of_deliveries_queries_the_outbox(access: str) -> None:
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access=access)
    table = f"{DYNAMODB}:table/stowage-outbox"
    assert allows(policy, "dynamodb:Query", table, "acme#0") is (access == "deliveries")
    assert not allows(policy, "dynamodb:Query", table, "beta#0")


@pytest.mark.parametrize("access", sorted(ACCESSES))
def test_only_sessions_of_imports_reach_files(access: str) -> None:
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access=access)
    assert ("s3:" in policy) is (access in {"imports", "everything"})


@pytest.mark.parametrize("other_tenant", ["beta", "acme2", "acm", "acme-", "acme#0"])
def test_policy_allows_no_data_of_another_tenant(other_tenant: str) -> None:
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access="imports")
    for action in ("GetItem", "Query", "PutItem", "DeleteItem"):
        other = f"{DYNAMODB}:table/stowage-tenant-{other_tenant}"
        assert not allows(policy, f"dynamodb:{action}", other)
        for partition in outbox.partitions(other_tenant):
            table = f"{DYNAMODB}:table/stowage-outbox"
            assert not allows(policy, f"dynamodb:{action}", table, partition)
    assert not allows(policy, "s3:GetObject", f"arn:aws:s3:::stowage-imports/{other_tenant}/x")


def _control_keys(slug: str) -> list[str]:
    return [f"TENANT#{slug}", f"CLIENT#stw_{slug}_0123456789ab", f"CLIENT#stm_{slug}_0123456789ab"]


def test_policy_allows_the_items_of_the_tenant_in_the_control_table() -> None:
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access="imports")
    control = f"{DYNAMODB}:table/stowage-control"
    for action in ("GetItem", "PutItem", "UpdateItem"):
        for key in _control_keys("acme"):
            assert allows(policy, f"dynamodb:{action}", control, key)
        for other in ("beta", "acme2", "acm", "ac-acme", "acme-2"):
            for key in _control_keys(other):
                assert not allows(policy, f"dynamodb:{action}", control, key)
        assert not allows(policy, f"dynamodb:{action}", control, "HOST#wms.acme.com")
        assert not allows(policy, f"dynamodb:{action}", control, "KEYS")
    assert allows(policy, "dynamodb:Query", f"{control}/index/by_tenant", "acme")
    for other in ("beta", "beta#revoked", "acme#revoked"):
        assert not allows(policy, "dynamodb:Query", f"{control}/index/by_tenant", other)
    for action in ("DeleteItem", "Scan", "BatchGetItem", "UpdateTable"):
        assert not allows(policy, f"dynamodb:{action}", control, "TENANT#acme")


def test_policy_denies_scans_changes_of_tables_and_reading_the_outbox() -> None:
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access="imports")
    table = f"{DYNAMODB}:table/stowage-tenant-acme"
    for action in ("Scan", "DeleteTable", "UpdateTable", "CreateBackup", "PartiQLSelect"):
        assert not allows(policy, f"dynamodb:{action}", table)
    table = f"{DYNAMODB}:table/stowage-outbox"
    for action in ("Query", "Scan", "DeleteItem", "UpdateItem"):
        assert not allows(policy, f"dynamodb:{action}", table, "acme#0")
    assert allows(policy, "dynamodb:BatchGetItem", table, "acme#0")  # for reconciliations
    assert not allows(policy, "dynamodb:BatchGetItem", table, "other#0")
    policy = session_policy("acme", "stowage-tenant-acme", DYNAMODB, access="warehouse")
    assert not allows(policy, "dynamodb:BatchGetItem", table, "acme#0")
    assert not allows(policy, "kms:Sign", "*")


@pytest.fixture
def longest_names(monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A deployment with the longest names; return that of its stack and the ARN of its tables."""
    pattern = Template({}).resources("AWS::SSM::Parameter")["StackNameCheck"]["AllowedPattern"]
    (longest,) = re.findall(r"\{1,(\d+)\}", pattern)
    stack = "s" * int(longest)
    monkeypatch.setenv("STACK_NAME", stack)
    for table, variable in (("ControlTable", "CONTROL_TABLE"), ("OutboxTable", "OUTBOX_TABLE")):
        # CloudFormation names them: `NAME-ControlTable-1A2B3C4D5E6F7`.
        assert "TableName" not in Template({}).resources("AWS::DynamoDB::Table")[table]
        monkeypatch.setenv(variable, f"{stack}-{table}-{'X' * 13}")
    monkeypatch.setenv("IMPORT_BUCKET", "b" * 63)
    monkeypatch.setenv("IMPORT_WORK_BUCKET", "w" * 63)
    config.cache_clear()
    return stack, f"arn:aws-us-gov:dynamodb:ap-northeast-1:{ACCOUNT}"


def test_policy_stays_within_2048_characters_for_the_longest_names(
    longest_names: tuple[str, str],
) -> None:
    stack, longest = longest_names
    table = f"{stack}-tenant-{'t' * 32}.r20261123T021005"
    assert len(session_policy("t" * 32, table, longest, access="imports")) <= 2048


def test_policy_can_have_one_more_key_of_the_control_table(longest_names: tuple[str, str]) -> None:
    (stack, longest), host = longest_names, f"{'h' * 61}.{'h' * 63}.{'h' * 63}.{'h' * 57}.test"
    table = f"{stack}-tenant-{'t' * 32}"
    policy = session_policy("t" * 32, table, longest, f"HOST#{host}", access="everything")
    assert len(policy) <= 2048
    control = f"{longest}:table/{config().control_table}"
    assert allows(policy, "dynamodb:UpdateItem", control, f"HOST#{host}")
    assert not allows(policy, "dynamodb:UpdateItem", control, "HOST#other.test")


def test_client_of_a_tenant_is_created_once_with_its_own_credentials(
    aws_faults: AwsFaults,
) -> None:
    with aws_faults.recorded() as calls:
        acme = dynamodb_for("acme", "stowage-tenant-acme")
        assert dynamodb_for("acme", "stowage-tenant-acme") is acme
        beta = dynamodb_for("beta", "stowage-tenant-beta")
    assert calls.operations == ["AssumeRole", "AssumeRole"]
    ambient = aws.client("dynamodb")
    used = {each._request_signer._credentials.access_key for each in (acme, beta, ambient)}
    assert len(used) == 3


def test_assume_role_receives_the_policy_of_the_tenant() -> None:
    seen: list[dict[str, Any]] = []
    sts = aws.client("sts")
    sts.meta.events.register(
        "before-parameter-build.sts.AssumeRole", lambda params, **_: seen.append(params)
    )
    dynamodb_for("acme", "stowage-tenant-acme")
    (request,) = seen
    assert request["RoleArn"] == f"arn:aws:iam::{ACCOUNT}:role/stowage-data"
    assert request["Policy"] == session_policy(
        "acme", "stowage-tenant-acme", DYNAMODB, access="warehouse"
    )
    assert request["DurationSeconds"] == 3600


def test_credentials_are_renewed_before_they_expire(aws_faults: AwsFaults) -> None:
    now = [dt.datetime.now(dt.UTC).timestamp()]
    access = TenantAccess(clock=lambda: now[0])
    first = access.client("dynamodb", "acme", "stowage-tenant-acme")
    now[0] += 2500
    assert access.client("dynamodb", "acme", "stowage-tenant-acme") is first
    now[0] += 110
    with aws_faults.recorded() as calls:
        assert access.client("dynamodb", "acme", "stowage-tenant-acme") is not first
    assert calls.operations == ["AssumeRole"]


def test_least_recently_used_tenant_is_evicted(
    aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CAPACITY", 2)
    access = TenantAccess()
    for slug in ("acme", "beta", "acme", "gamma"):
        access.client("dynamodb", slug, f"stowage-tenant-{slug}")
    with aws_faults.recorded() as calls:
        access.client("dynamodb", "acme", "stowage-tenant-acme")
        access.client("dynamodb", "gamma", "stowage-tenant-gamma")
    assert calls.operations == []
    with aws_faults.recorded() as calls:
        access.client("dynamodb", "beta", "stowage-tenant-beta")
    assert calls.operations == ["AssumeRole"]


def test_default_client_is_used_if_no_role_is_configured(
    aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENANT_DATA_ROLE_ARN", "")
    config.cache_clear()
    with aws_faults.recorded() as calls:
        assert (
            dynamodb_for("acme", "stowage-tenant-acme")
            is dynamodb_for("beta", "stowage-tenant-beta")
            is aws.client("dynamodb")
        )
    assert calls.operations == []


def test_concurrent_threads_assume_the_role_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assumed: list[str] = []

    def narrowed(_role: str, slug: str, _table: str, **_: bool) -> dict[str, object]:
        assumed.append(slug)
        threading.Event().wait(0.02)
        ends = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
        names = ("AccessKeyId", "SecretAccessKey", "SessionToken")
        return {**dict.fromkeys(names, "x"), "Expiration": ends}

    monkeypatch.setattr(module, "_narrowed_credentials", narrowed)
    monkeypatch.setattr(module, "_CAPACITY", 2)
    ours = TenantAccess()
    monkeypatch.setenv("TENANT_DATA_ROLE_ARN", f"arn:aws:iam::{ACCOUNT}:role/data")
    config.cache_clear()
    slugs = ["acme", "beta", "gamma"] * 10
    with ThreadPoolExecutor(len(slugs)) as threads:
        clients = list(
            threads.map(
                lambda slug: ours.client("dynamodb", slug, f"stowage-tenant-{slug}"), ["acme"] * 10
            )
        )
        assert assumed == ["acme"]
        assert all(client is clients[0] for client in clients)
        assert (
            len(
                list(
                    threads.map(
                        lambda slug: ours.client("dynamodb", slug, f"stowage-tenant-{slug}"), slugs
                    )
                )
            )
            == 30
        )
