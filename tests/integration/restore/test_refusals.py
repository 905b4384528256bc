"""A restore that is impossible is refused with one sentence that says what is possible."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from operations.deletion import delete_tenant
from operations.provisioning import set_state
from operations.restore import plan_restore, restore_tenant, switch_table
from shared.kernel import aws
from shared.kernel.clock import now_ms
from shared.kernel.errors import Conflict, NotFound, ServiceError, ValidationFailed
from tests.integration.restore.conftest import Recovery, item, text_of
from tests.integration.restore.test_restore import FIRST
from tests.stack import set_attributes

pytestmark = pytest.mark.usefixtures("recovery")


def problem_of(error: ServiceError) -> str:
    (problem,) = error.problems
    return f"{problem.field}: {problem.message}"


def refused(at: str) -> str:
    with pytest.raises(ValidationFailed) as caught:
        restore_tenant("acme", at)
    assert "restoring" not in item()
    assert "table_lease" not in item()
    return problem_of(caught.value)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-11-23T25:00Z", "0001-01-01T00:00+14:00"]
)
def test_malformed_time_is_refused(text: str) -> None:
    expected = f"at: {text} is not a time; write it like 2026-11-23T02:10:00Z"
    assert refused(text) == expected


@pytest.mark.parametrize("text", ["2026-11-23T02:10:00", "2026-11-23"])
def test_time_without_time_zone_is_refused(text: str) -> None:
    message = refused(text)
    assert message.startswith(f"at: {text} has no time zone; add Z for UTC or an offset, as in ")
    assert message.endswith("+01:00")


def test_offset_is_understood(recovery: Recovery) -> None:
    moment = datetime.fromisoformat(recovery.remember())
    local = moment.astimezone(datetime.fromisoformat("2026-01-01T00:00+05:30").tzinfo)
    assert plan_restore("acme", local.isoformat()).at == recovery.at


def _created(recovery: Recovery) -> datetime:
    assert recovery
    described = aws.client("dynamodb").describe_table(TableName=FIRST)["Table"]
    created: datetime = described["CreationDateTime"].astimezone(UTC)
    return created


def _window(recovery: Recovery) -> tuple[datetime, datetime, str]:
    now = datetime.fromtimestamp(now_ms() / 1000, UTC)
    earliest, latest = now - timedelta(days=35), now - timedelta(minutes=5)
    recovery.set_window(earliest, latest)
    return earliest, latest, f"possible is {text_of(earliest)} to {text_of(latest)}"


def test_future_time_is_refused(recovery: Recovery) -> None:
    _, latest, possible = _window(recovery)
    at = text_of(latest + timedelta(days=1))
    assert refused(at) == f"at: {at} is in the future; {possible}"


def test_time_after_the_latest_is_refused(recovery: Recovery) -> None:
    _, latest, possible = _window(recovery)
    at = text_of(latest + timedelta(minutes=2))
    assert refused(at) == f"at: {at} is later than DynamoDB can restore yet; {possible}"


def test_time_before_the_earliest_is_refused(recovery: Recovery) -> None:
    created = _created(recovery)
    earliest, latest = created + timedelta(days=1), created + timedelta(days=2)
    recovery.clock.advance(3 * 86_400)
    recovery.set_window(earliest, latest)
    at = text_of(earliest - timedelta(minutes=1))
    possible = f"possible is {text_of(earliest)} to {text_of(latest)}"
    assert refused(at) == f"at: {at} is earlier than the backups go back; {possible}"


def test_time_before_the_table_existed_is_refused(recovery: Recovery) -> None:
    _, _, possible = _window(recovery)
    created = _created(recovery)
    at = text_of(created - timedelta(days=40))
    message = f"is before the table {FIRST} was created ({text_of(created)}); {possible}"
    assert refused(at) == f"at: {at} {message}"


def test_time_before_a_restored_table_names_the_earlier_one(recovery: Recovery) -> None:
    restore_tenant("acme", recovery.remember())
    message = refused("2020-01-01T00:00:00Z")
    assert f"stowage tenant restore acme --to-table {FIRST}" in message


def test_table_without_recovery_is_refused(recovery: Recovery) -> None:
    at = recovery.remember()
    aws.client("dynamodb").update_continuous_backups(
        TableName=FIRST, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False}
    )
    with pytest.raises(Conflict, match=r"Point-in-time recovery of the table .* is disabled"):
        restore_tenant("acme", at)


def test_unknown_tenant_is_refused(recovery: Recovery) -> None:
    with pytest.raises(NotFound, match="The tenant nobody"):
        restore_tenant("nobody", recovery.remember())


@pytest.mark.parametrize(
    ("state", "reason"),
    [("creating", "was not created completely"), ("deleting", "was not deleted completely")],
)
def test_tenant_that_is_created_or_deleted_is_refused(
    state: str, reason: str, recovery: Recovery
) -> None:
    at = recovery.remember()
    set_attributes(state={"S": state})
    with pytest.raises(NotFound, match=reason):
        restore_tenant("acme", at)
    with pytest.raises(NotFound, match=reason):
        switch_table("acme", FIRST)


def test_deleted_tenant_is_refused(recovery: Recovery) -> None:
    at = recovery.remember()
    set_state("acme", "cancelled")
    delete_tenant("acme")
    with pytest.raises(NotFound, match="was deleted"):
        restore_tenant("acme", at)


def test_other_restore_is_refused_until_the_first_has_ended(recovery: Recovery) -> None:
    at = recovery.remember()
    prepared = restore_tenant("acme", at, prepare_only=True)
    other = text_of(datetime.fromisoformat(at) - timedelta(minutes=1))
    wanted = re.escape(f"stowage tenant restore acme --at {at}")
    with pytest.raises(Conflict, match=f"Another restore of acme is not finished.*{wanted}"):
        restore_tenant("acme", other)
    with pytest.raises(Conflict, match=f"Another restore of acme is not finished.*{wanted}"):
        switch_table("acme", prepared.table)


def test_unknown_table_is_refused() -> None:
    for name in ("stowage-tenant-beta", f"{FIRST}.r20260101T000000", "x"):
        with pytest.raises(ValidationFailed) as caught:
            switch_table("acme", name)
        expected = f"to_table: {name} is not a table of acme; its tables are {FIRST}"
        assert problem_of(caught.value) == expected
