"""Host names of companies are registered, created and mapped, also after interruptions."""

from contextlib import suppress
from typing import Any

import pytest
from moto.apigateway.models import apigateway_backends

from operations import provisioning, tenant_changes
from operations.domains import Domain, add_domain, list_domains, remove_domain
from shared.identity.audit import service as audit
from shared.identity.audit import views
from shared.identity.audit.models import AuditParameters
from shared.identity.tenancy.access import operator_store
from shared.identity.tenancy.directory import directory, host_key
from shared.kernel import aws
from shared.kernel.errors import Conflict, ValidationFailed
from tests.cases import each_case
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Forward,
    kill_after,
    kill_before,
    refusal,
    refuse_calls,
    stuck_before,
    success,
)
from tests.integration.call_faults import at_calls
from tests.integration.offboarding.company import CERTIFICATE, HOST, deploy_api
from tests.stack import ACCOUNT, ADDRESS, REGION, Stack

OTHER_CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/1a2b"
MOST_CALLS = 30


@pytest.fixture
def api(stack: Stack) -> str:
    """The id of a deployed API."""
    assert stack
    return deploy_api()


def add(api: str, slug: str = "acme", **more: Any) -> Domain:
    return add_domain(slug, HOST, **{"certificate": CERTIFICATE, "api": api, **more})


def audit_entries() -> list[dict[str, Any]]:
    """Return details and changes of acme's audit entries about hosts, the oldest first."""
    store = operator_store("acme")
    page = audit.list_entries(store, AuditParameters(sort="created_at"))
    entries = [views.audit_entry(record) for record in page.records]
    assert {(entry.action, entry.target.id) for entry in entries} <= {("tenant.changed", "acme")}
    return [
        entry.details
        | {name: (change.before, change.after) for name, change in entry.changes.items()}
        for entry in entries
        if "base_url" not in entry.changes
    ]


_ADDED = {"certificate_arn": (None, CERTIFICATE), "host": (None, HOST)}
_REMOVED = {"host": (HOST, None)}


def domains() -> dict[str, Any]:
    """Return the custom domains of the account: host → base path → (API, stage)."""
    gateway = apigateway_backends[ACCOUNT][REGION]
    return {
        host: {
            path: (mapping.rest_api_id, mapping.stage)
            for path, mapping in gateway.base_path_mappings.get(host, {}).items()
        }
        for host in gateway.domain_names
    }


def assert_served(api: str) -> None:
    """Assert that the host is mapped to the API, belongs to acme and is its address."""
    directory.clear()
    assert domains() == {HOST: {"api": (api, "api")}}
    assert directory.tenant_for_host(HOST) == "acme"
    assert tenant_changes.show_tenant("acme").base_url == f"https://{HOST}/api/v1"
    (domain,) = list_domains("acme")
    assert domain == Domain(HOST, "acme", CERTIFICATE, domain.target)
    assert domain.target
    assert domain.target.startswith("d-")


def test_added_host_becomes_the_address_of_the_tenant(api: str) -> None:
    steps: list[str] = []
    added = add(api, progress=steps.append)
    assert_served(api)
    assert list_domains() == [added]
    assert list_domains("beta") == []
    found = aws.client("apigateway").get_domain_name(domainName=HOST)
    assert found["regionalCertificateArn"] == CERTIFICATE
    assert found["securityPolicy"] == "TLS_1_2"
    assert found["endpointConfiguration"]["types"] == ["REGIONAL"]
    assert found["tags"] == {"service": "stowage", "stack": "stowage", "tenant": "acme"}
    assert steps[0] == f"registering {HOST}"
    assert steps[-1] == "making it the address of acme"


def test_address_can_be_changed_after_the_dns_record_exists(api: str) -> None:
    add(api, keep_address=True)
    assert tenant_changes.show_tenant("acme").base_url == ADDRESS
    assert directory.tenant_for_host(HOST) == "acme"
    provisioning.set_address("acme", host=HOST)
    assert_served(api)


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_interrupted_command_is_completed_by_the_next_run(
    stack: Stack, api: str, aws_faults: AwsFaults, fault: Any
) -> None:
    restore = stack.take_snapshot()
    for call in range(MOST_CALLS):
        restore()
        reset_domains()
        if not aws_faults.kills(fault(call), lambda: add(api)):
            break
        add(api)
        assert_served(api)
        assert audit_entries() == [_ADDED]
    assert 10 <= call < MOST_CALLS


def reset_domains() -> None:
    """Remove the host from the account and from the control table."""
    gateway = apigateway_backends[ACCOUNT][REGION]
    gateway.domain_names.clear()
    gateway.base_path_mappings.clear()
    # The snapshot restores changed items, but does not remove new ones.
    _delete_host()


def _delete_host() -> None:
    aws.client("dynamodb").delete_item(
        TableName="stowage-ControlTable", Key={"pk": {"S": host_key(HOST)}}
    )


def test_concurrent_commands_create_one_domain(api: str, aws_faults: AwsFaults) -> None:
    inside = False

    def interleave(call: Call, forward: Forward) -> Answer:
        nonlocal inside
        if not inside:
            inside = True
            add(api)
            inside = False
            if call.operation == "CreateDomainName":
                return refusal("BadRequestException")  # as AWS answers for an existing domain
        return forward()

    with aws_faults.faulty(interleave):
        add(api)
    assert_served(api)
    assert audit_entries() == [_ADDED]


_updated_domain = at_calls("UpdateDomainName", answer=lambda _: success())
"""Answers a call that moto does not support."""


def test_another_certificate_replaces_the_first(api: str, aws_faults: AwsFaults) -> None:
    add(api)
    with aws_faults.faulty(_updated_domain), aws_faults.recorded() as seen:
        assert add(api, certificate=OTHER_CERTIFICATE).certificate == OTHER_CERTIFICATE
    [update] = [call.request for call in seen.calls if call.operation == "UpdateDomainName"]
    change = {"op": "replace", "path": "/regionalCertificateArn", "value": OTHER_CERTIFICATE}
    assert update["patchOperations"] == [change]
    assert list_domains("acme")[0].certificate == OTHER_CERTIFICATE


@pytest.mark.parametrize("operation", ["CreateDomainName", "UpdateDomainName"])
def test_refusal_of_api_gateway_is_reported_with_its_reason(
    api: str, aws_faults: AwsFaults, operation: str
) -> None:
    if operation == "UpdateDomainName":
        add(api)

    with (
        aws_faults.faulty(refuse_calls(operation, code="BadRequestException")),
        pytest.raises(Conflict, match=f"API Gateway refuses the domain {HOST}: BadRequest"),
    ):
        add(api, certificate=OTHER_CERTIFICATE)
    assert add(api).target


def test_host_of_another_tenant_is_refused(api: str) -> None:
    add(api)
    with pytest.raises(Conflict, match=f"{HOST} belongs to another tenant"):
        add(api, "beta")
    assert_served(api)
    assert tenant_changes.show_tenant("beta").base_url == ADDRESS


@pytest.mark.parametrize(
    "tags",
    [
        {"service": "shop"},
        {"service": "stowage", "stack": "other", "tenant": "acme", "cost-center": "4711"},
    ],
)
def test_domain_of_another_application_or_stack_is_left_unchanged(
    api: str, tags: dict[str, str]
) -> None:
    aws.client("apigateway").create_domain_name(
        domainName=HOST, regionalCertificateArn=CERTIFICATE, tags=tags
    )
    with pytest.raises(Conflict, match="does not belong to the tenant acme"):
        add(api)
    assert tenant_changes.show_tenant("acme").base_url == ADDRESS
    assert domains() == {HOST: {}}
    assert remove_domain(HOST)
    assert domains() == {HOST: {}}


def test_domain_with_additional_tags_is_recognized(api: str) -> None:
    add(api, keep_address=True)
    tags = apigateway_backends[ACCOUNT][REGION].domain_names[HOST].tags
    assert tags is not None
    tags["cost-center"] = "4711"
    assert add(api, keep_address=True).target
    assert remove_domain(HOST)
    assert domains() == {}


def test_mapping_to_another_api_is_left_unchanged(api: str) -> None:
    other = deploy_api()
    add(other, keep_address=True)
    with pytest.raises(Conflict, match=f"is mapped to the API {other}, stage api, not to {api}"):
        add(api)
    assert domains() == {HOST: {"api": (other, "api")}}


@each_case(
    "host",
    [
        "", "localhost", "10.0.0.1", "2001:db8::1", "[::1]", "*.acme.test", "*", "WMS.acme.test",
        "wms.acme.test.", ".acme.test", "wms..acme.test", "wms_1.acme.test", "-a.acme.test",
        "a-.acme.test", "https://wms.acme.test", "wms.acme.test/api", "wms.acme.test:443",
        "wms.acme.test\n", "wms acme.test", "w\u00e4re.acme.test", f"{'a' * 64}.acme.test",
        f"{'a.' * 130}test", "1.2.3.0x4", "2130706433", "user@acme.test",
    ],
)  # fmt: skip
def test_invalid_host_name_is_refused(api: str, aws_faults: AwsFaults, host: str) -> None:
    with aws_faults.recorded() as seen:
        for attempt in (
            lambda: add_domain("acme", host, certificate=CERTIFICATE, api=api),
            lambda: remove_domain(host),
        ):
            with pytest.raises(ValidationFailed) as refused:
                attempt()
            assert [problem.field for problem in refused.value.problems] == ["host"]
    assert seen.calls == []


@pytest.mark.parametrize("host", ["wms.acme.test", "xn--wre-qla.acme.test", "a.xn--p1ai", "3.io"])
def test_valid_host_name_is_accepted(api: str, host: str) -> None:
    added = add_domain("acme", host, certificate=CERTIFICATE, api=api)
    assert list_domains("acme") == [added]


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("", "the ARN of an ACM certificate"),
        ("0f6c", "the ARN of an ACM certificate"),
        (f"arn:aws:iam:{REGION}:{ACCOUNT}:certificate/0f6c", "the ARN of an ACM certificate"),
        (f"arn:aws:acm:us-east-1:{ACCOUNT}:certificate/0f6c", "in the Region of the stack"),
    ],
)
def test_invalid_certificate_arn_is_refused(api: str, arn: str, message: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        add(api, certificate=arn)
    (problem,) = refused.value.problems
    assert problem.field == "certificate_arn"
    assert message in problem.message
    assert list_domains() == []


# Removal


def test_removal_of_the_address_of_a_tenant_is_refused(api: str) -> None:
    add(api)
    with pytest.raises(Conflict, match="is the address of the tenant acme"):
        remove_domain(HOST)
    assert_served(api)


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_interrupted_removal_is_completed_by_the_next_run(
    stack: Stack, api: str, aws_faults: AwsFaults, fault: Any
) -> None:
    add(api, keep_address=True)
    restore = stack.take_snapshot()
    for call in range(MOST_CALLS):
        restore()
        add(api, keep_address=True)
        if not aws_faults.kills(fault(call), lambda: remove_domain(HOST)):
            break
        remove_domain(HOST)
        assert domains() == {}
        assert list_domains() == []
        assert audit_entries() == [_ADDED, _REMOVED]
    assert 5 <= call < MOST_CALLS
    assert remove_domain(HOST) is False


def test_host_that_becomes_the_address_during_its_removal_stays_registered(
    api: str, aws_faults: AwsFaults
) -> None:
    """The custom domain can be created again, but the registration must not be lost."""
    add(api, keep_address=True)

    def change_address() -> None:
        provisioning.set_address("acme", host=HOST)

    with (
        aws_faults.faulty(at_calls("DeleteDomainName", before=change_address)),
        pytest.raises(Conflict, match="is the address of the tenant acme"),
    ):
        remove_domain(HOST)
    assert directory.tenant_for_host(HOST, 0) == "acme"
    add(api)
    assert_served(api)


def test_each_change_of_a_host_is_recorded_once(api: str, aws_faults: AwsFaults) -> None:
    for _ in range(2):
        add(api, keep_address=True)
    assert audit_entries() == [_ADDED]
    with aws_faults.faulty(_updated_domain):
        add(api, certificate=OTHER_CERTIFICATE, keep_address=True)
    replaced = {"certificate_arn": (CERTIFICATE, OTHER_CERTIFICATE), "host": HOST}
    assert audit_entries() == [_ADDED, replaced]
    for _ in range(2):
        remove_domain(HOST)
    assert audit_entries() == [_ADDED, replaced, _REMOVED]


def test_host_given_to_another_tenant_during_its_removal_stays_there(
    api: str, aws_faults: AwsFaults
) -> None:
    add(api, keep_address=True)

    def give_to_another() -> None:
        _delete_host()
        provisioning.set_address("beta", host=HOST)

    with aws_faults.faulty(at_calls("DeleteDomainName", after=give_to_another)):
        remove_domain(HOST)
    assert directory.tenant_for_host(HOST, 0) == "beta"
    assert audit_entries() == [_ADDED]


@pytest.mark.parametrize("is_removed_first", [False, True])
def test_addition_and_removal_at_once_leave_no_domain_without_a_registration(
    stack: Stack, api: str, aws_faults: AwsFaults, *, is_removed_first: bool
) -> None:
    """No command would remove the domain, and no other tenant could get the host."""

    def add_host() -> None:
        with suppress(Conflict):
            add(api, keep_address=True)

    def remove_host() -> None:
        remove_domain(HOST)

    first, second = (remove_host, add_host) if is_removed_first else (add_host, remove_host)
    restore = stack.take_snapshot()
    for call in range(MOST_CALLS):
        restore()
        if is_removed_first:
            add_host()
        with aws_faults.recorded() as seen, aws_faults.faulty(stuck_before(call, second)):
            first()
        assert {*domains()} <= {domain.host for domain in list_domains()}, call
        if len(seen.calls) <= call:
            break
    assert 5 <= call < MOST_CALLS


def test_removal_of_a_subdomain_of_the_deployment_does_not_call_api_gateway(
    api: str, aws_faults: AwsFaults
) -> None:
    assert api
    provisioning.set_address("acme", host="acme.stowage.test")
    provisioning.set_address("acme", base_url=ADDRESS)
    (domain,) = list_domains("acme")
    assert (domain.certificate, domain.target) == (None, None)
    with aws_faults.recorded() as seen:
        assert remove_domain("acme.stowage.test")
    assert not {"GetDomainName", "DeleteDomainName"} & set(seen.operations)
    assert list_domains() == []
