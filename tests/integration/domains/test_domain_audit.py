"""Audit entries for adding and removing hosts."""

from collections.abc import Callable
from typing import Any

import pytest

from operations import provisioning
from operations.domains import list_domains, remove_domain
from shared.identity.audit import service as audit
from shared.identity.audit import views
from shared.identity.audit.models import AuditParameters
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import directory, host_key
from shared.kernel import aws
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Forward,
    Killed,
    kill_after,
    kill_before,
    success,
)
from tests.integration.domains.test_domains import (
    MOST_CALLS,
    OTHER_CERTIFICATE,
    add,
    reset_domains,
)
from tests.integration.offboarding.company import CERTIFICATE, HOST, deploy_api
from tests.stack import Stack


@pytest.fixture
def api(stack: Stack) -> str:
    """The id of a deployed API."""
    assert stack
    return deploy_api()


def audit_entries() -> list[dict[str, Any]]:
    """Return details and changes of acme's audit entries about hosts, the oldest first."""
    store = operator_store("acme")
    page = audit.list_entries(store, AuditParameters(sort="created_at"), "UTC")
    entries = [views.audit_entry(record) for record in page.records]
    assert {(entry.action, entry.target.id) for entry in entries} <= {("tenant.changed", "acme")}
    return [
        entry.details
        | {name: (change.before, change.after) for name, change in entry.changes.items()}
        for entry in entries
        if "base_url" not in entry.changes
    ]


ADDED = {"certificate_arn": (None, CERTIFICATE), "host": (None, HOST)}
REMOVED = {"host": (HOST, None)}


def test_each_change_of_a_host_is_recorded_once(api: str, aws_faults: AwsFaults) -> None:
    for _ in range(2):
        add(api, keep_address=True)
    assert audit_entries() == [ADDED]

    def update(call: Call, forward: Forward) -> Answer:
        return success() if call.operation == "UpdateDomainName" else forward()

    with aws_faults.faulty(update):
        add(api, certificate=OTHER_CERTIFICATE, keep_address=True)
    replaced = {"certificate_arn": (CERTIFICATE, OTHER_CERTIFICATE), "host": HOST}
    assert audit_entries() == [ADDED, replaced]
    for _ in range(2):
        remove_domain(HOST)
    assert audit_entries() == [ADDED, replaced, REMOVED]


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_interrupted_change_of_a_host_is_recorded_once(
    stack: Stack, api: str, aws_faults: AwsFaults, fault: Any
) -> None:
    restore = stack.take_snapshot()
    call = 0
    while True:
        restore()
        reset_domains()
        try:
            with aws_faults.faulty(fault(call)):
                add(api, keep_address=True)
                remove_domain(HOST)
        except Killed:
            add(api, keep_address=True)
            remove_domain(HOST)
            assert audit_entries() in ([ADDED, REMOVED], [ADDED, REMOVED, ADDED, REMOVED])
            call += 1
        else:
            break
    assert 15 <= call < MOST_CALLS


def test_concurrent_changes_of_a_host_are_recorded_once(api: str, aws_faults: AwsFaults) -> None:
    for act in (lambda: add(api, keep_address=True), lambda: remove_domain(HOST)):
        others: list[Callable[[], object]] = [act]

        def meanwhile(
            call: Call, forward: Forward, others: list[Callable[[], object]] = others
        ) -> Answer:
            if call.operation == "TransactWriteItems" and others:
                others.pop()()
            return forward()

        with aws_faults.faulty(meanwhile):
            act()
        assert not others
    assert audit_entries() == [ADDED, REMOVED]
    assert list_domains() == []


def test_host_given_to_another_tenant_during_its_removal_stays_there(
    api: str, aws_faults: AwsFaults
) -> None:
    add(api, keep_address=True)

    def meanwhile(call: Call, forward: Forward) -> Answer:
        if call.operation == "DeleteDomainName":
            answer = forward()
            aws.client("dynamodb").delete_item(
                TableName="stowage-ControlTable", Key={"pk": {"S": host_key(HOST)}}
            )
            provisioning.set_address("beta", host=HOST)
            return answer
        return forward()

    with aws_faults.faulty(meanwhile):
        remove_domain(HOST)
    assert directory.tenant_for_host(HOST, 0) == "beta"
    assert audit_entries() == [ADDED]
