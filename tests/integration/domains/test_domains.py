"""Host names of companies: registered, created, mapped; whatever dies in between."""

from typing import Any

import pytest
from moto.apigateway.models import apigateway_backends

from operations import provisioning
from operations.domains import Domain, add_domain, list_domains, remove_domain
from shared.identity.tenancy.directory import directory, host_key, read
from shared.kernel import aws
from shared.kernel.errors import Conflict, NotFound, ValidationFailed
from tests.faults import (
    Answer,
    AwsFaults,
    Call,
    Forward,
    Killed,
    kill_after,
    kill_before,
    refusal,
    success,
)
from tests.integration.offboarding.company import (CERTIFICATE, HOST, deploy_api)
from tests.stack import ACCOUNT, ADDRESS, REGION, Stack

OTHER_CERTIFICATE = f"arn:aws:acm:{REGION}:{ACCOUNT}:certificate/1a2b"
MOST_CALLS = 30


@pytest.fixture
def api(stack: Stack) -> str:
    """Id of an API that is deployed."""
    assert stack
    return deploy_api()


def add(api: str, slug: str = "acme", **more: Any) -> Domain:
    return add_domain(slug, HOST, **{"certificate": CERTIFICATE, "api": api, **more})


def domains() -> dict[str, Any]:
    """Custom domains of the account: host → its paths, and the API each leads to."""
    gateway = apigateway_backends[ACCOUNT][REGION]
    return {
        host: {
            path: (mapping.rest_api_id, mapping.stage)
            for path, mapping in gateway.base_path_mappings.get(host, {}).items()
        }
        for host in gateway.domain_names
    }


def assert_served(api: str) -> None:
    """The host leads to the API, belongs to acme and is its address."""
    directory.forget()
    assert domains() == {HOST: {"api": (api, "api")}}
    assert directory.tenant_for_host(HOST) == "acme"
    assert provisioning.show_tenant("acme").base_url == f"https://{HOST}/api/v1"
    (domain,) = list_domains("acme")
    assert domain == Domain(HOST, "acme", CERTIFICATE, domain.target)
    assert domain.target
    assert domain.target.startswith("d-")


def test_a_host_becomes_the_tenants_address(api: str) -> None:
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


def test_the_address_can_be_kept_until_the_record_is_there(api: str) -> None:
    add(api, keep_address=True)
    assert provisioning.show_tenant("acme").base_url == ADDRESS
    assert directory.tenant_for_host(HOST) == "acme"
    provisioning.set_address("acme", host=HOST)
    assert_served(api)


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_what_died_is_finished_by_the_next_run(
    stack: Stack, api: str, aws_faults: AwsFaults, fault: Any
) -> None:
    as_it_was = stack.keep()
    for call in range(MOST_CALLS):
        as_it_was()
        reset_domains()
        try:
            with aws_faults.faulty(fault(call)):
                add(api)
        except Killed:
            add(api)
            assert_served(api)
        else:
            break
    assert 10 <= call < MOST_CALLS


def reset_domains() -> None:
    """Have the account and the control table as they were before the host."""
    gateway = apigateway_backends[ACCOUNT][REGION]
    gateway.domain_names.clear()
    gateway.base_path_mappings.clear()
    # the table of the first day knows no host, moto's snapshot only puts back what it has
    aws.client("dynamodb").delete_item(
        TableName="stowage-ControlTable", Key={"pk": {"S": host_key(HOST)}}
    )


def test_two_at_once_make_one_domain(api: str, aws_faults: AwsFaults) -> None:
    inside = False

    def interleave(call: Call, forward: Forward) -> Answer:
        nonlocal inside
        if not inside:
            inside = True
            add(api)
            inside = False
            if call.operation == "CreateDomainName":
                return refusal("BadRequestException")  # as AWS says of one that is there
        return forward()

    with aws_faults.faulty(interleave):
        add(api)
    assert_served(api)


def test_another_certificate_replaces_the_former_one(api: str, aws_faults: AwsFaults) -> None:
    add(api)
    changes = []

    def update(call: Call, forward: Forward) -> Answer:
        """Moto does not know the operation."""
        if call.operation == "UpdateDomainName":
            changes.append(call.request["patchOperations"])
            return success()
        return forward()

    with aws_faults.faulty(update):
        assert add(api, certificate=OTHER_CERTIFICATE).certificate == OTHER_CERTIFICATE
    change = {"op": "replace", "path": "/regionalCertificateArn", "value": OTHER_CERTIFICATE}
    assert changes == [[change]]
    assert list_domains("acme")[0].certificate == OTHER_CERTIFICATE


@pytest.mark.parametrize("operation", ["CreateDomainName", "UpdateDomainName"])
def test_what_api_gateway_refuses_is_said(api: str, aws_faults: AwsFaults, operation: str) -> None:
    if operation == "UpdateDomainName":
        add(api)

    def refuse(call: Call, forward: Forward) -> Answer:
        return refusal("BadRequestException") if call.operation == operation else forward()

    with (
        aws_faults.faulty(refuse),
        pytest.raises(Conflict, match=f"API Gateway refuses the domain {HOST}: BadRequest"),
    ):
        add(api, certificate=OTHER_CERTIFICATE)
    assert add(api).target


def test_a_host_is_one_tenants(api: str) -> None:
    add(api)
    with pytest.raises(Conflict, match=f"{HOST} belongs to another tenant"):
        add(api, "beta")
    assert_served(api)
    assert provisioning.show_tenant("beta").base_url == ADDRESS


def test_a_domain_of_something_else_is_left_alone(api: str) -> None:
    aws.client("apigateway").create_domain_name(
        domainName=HOST, regionalCertificateArn=CERTIFICATE, tags={"service": "shop"}
    )
    with pytest.raises(Conflict, match="not this tenant's"):
        add(api)
    assert provisioning.show_tenant("acme").base_url == ADDRESS
    assert domains() == {HOST: {}}
    assert remove_domain(HOST)
    assert domains() == {HOST: {}}


def test_tags_that_the_account_adds_are_no_hindrance(api: str) -> None:
    add(api, keep_address=True)
    tags = apigateway_backends[ACCOUNT][REGION].domain_names[HOST].tags
    assert tags is not None
    tags["cost-centre"] = "4711"
    assert add(api, keep_address=True).target
    assert remove_domain(HOST)
    assert domains() == {}


def test_a_domain_of_another_stack_is_left_alone(api: str) -> None:
    aws.client("apigateway").create_domain_name(
        domainName=HOST,
        regionalCertificateArn=CERTIFICATE,
        tags={"service": "stowage", "stack": "other", "tenant": "acme", "cost-centre": "4711"},
    )
    with pytest.raises(Conflict, match="not this tenant's"):
        add(api)
    assert domains() == {HOST: {}}


def test_a_path_that_leads_to_another_api_is_left_alone(api: str) -> None:
    other = deploy_api()
    add(other, keep_address=True)
    with pytest.raises(Conflict, match="leads to another API"):
        add(api)
    assert domains() == {HOST: {"api": (other, "api")}}


@pytest.mark.parametrize(
    "host",
    [
        "", "localhost", "10.0.0.1", "2001:db8::1", "[::1]", "*.acme.test", "*", "WMS.acme.test",
        "wms.acme.test.", ".acme.test", "wms..acme.test", "wms_1.acme.test", "-a.acme.test",
        "a-.acme.test", "https://wms.acme.test", "wms.acme.test/api", "wms.acme.test:443",
        "wms.acme.test\n", "wms acme.test", "w\u00e4re.acme.test", f"{'a' * 64}.acme.test",
        f"{'a.' * 130}test", "1.2.3.0x4", "2130706433", "user@acme.test",
    ],
)  # fmt: skip
def test_what_is_no_host_name_is_refused(api: str, aws_faults: AwsFaults, host: str) -> None:
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
def test_what_is_a_host_name(api: str, host: str) -> None:
    added = add_domain("acme", host, certificate=CERTIFICATE, api=api)
    assert list_domains("acme") == [added]


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("", "the ARN of a certificate in ACM"),
        ("0f6c", "the ARN of a certificate in ACM"),
        (f"arn:aws:iam:{REGION}:{ACCOUNT}:certificate/0f6c", "the ARN of a certificate in ACM"),
        (f"arn:aws:acm:us-east-1:{ACCOUNT}:certificate/0f6c", "in the Region of the stack"),
    ],
)
def test_a_certificate_that_cannot_be_is_refused(api: str, arn: str, message: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        add(api, certificate=arn)
    (problem,) = refused.value.problems
    assert problem.field == "certificate_arn"
    assert message in problem.message
    assert list_domains() == []


def test_a_tenant_that_is_not_there_gets_no_domain(api: str) -> None:
    with pytest.raises(NotFound):
        add(api, "nobody")
    assert read(host_key(HOST)) is None


# Removing


def test_the_address_of_a_tenant_is_not_removed(api: str) -> None:
    add(api)
    with pytest.raises(Conflict, match="is the address of acme"):
        remove_domain(HOST)
    assert_served(api)


@pytest.mark.parametrize("fault", [kill_before, kill_after])
def test_a_removal_that_died_is_finished_by_the_next_run(
    stack: Stack, api: str, aws_faults: AwsFaults, fault: Any
) -> None:
    add(api, keep_address=True)
    as_it_was = stack.keep()
    for call in range(MOST_CALLS):
        as_it_was()
        add(api, keep_address=True)
        try:
            with aws_faults.faulty(fault(call)):
                remove_domain(HOST)
        except Killed:
            remove_domain(HOST)
            assert domains() == {}
            assert list_domains() == []
        else:
            break
    assert 5 <= call < MOST_CALLS
    assert remove_domain(HOST) is False


def test_one_that_becomes_the_address_while_it_is_removed_stays_the_tenants(
    api: str, aws_faults: AwsFaults
) -> None:
    """It can be added again: what must not be lost is whose it is."""
    add(api, keep_address=True)

    def hurry(call: Call, forward: Forward) -> Answer:
        if call.operation == "DeleteDomainName":
            provisioning.set_address("acme", host=HOST)
        return forward()

    with aws_faults.faulty(hurry), pytest.raises(Conflict, match="is the address of acme"):
        remove_domain(HOST)
    assert directory.tenant_for_host(HOST, 0) == "acme"
    add(api)
    assert_served(api)


def test_a_host_of_the_deployments_own_domain_has_nothing_to_remove_at_the_gateway(
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
