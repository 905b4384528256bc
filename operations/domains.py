"""Host names that companies bring along: custom domains of the API, one tenant each.

A host is registered in the control table before API Gateway hears of it, and forgotten there
after API Gateway has: so a run that died is found, and the next one finishes it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from operations.provisioning import set_address, show_tenant
from shared.identity.audit import service as audit
from shared.identity.tenancy.access import operators_store
from shared.identity.tenancy.directory import (
    NOT_THERE,
    SHARED_ADDRESS_KEY,
    host_key,
    read,
    read_all_of,
    scan,
    tenant_key,
    tenant_of,
)
from shared.identity.tenancy.settings import address_of, check_host
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, NotFound, Problem, ValidationFailed

STAGE = "api"
"""Stage of the API, and the base path under which each domain has it: `https://HOST/api/v1`."""

_CERTIFICATE = re.compile(
    r"arn:aws[a-z-]*:acm:(?P<region>[a-z0-9-]+):[0-9]{12}:certificate/[A-Za-z0-9-]+", re.ASCII
)

type Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Domain:
    """A host name that is registered for a tenant."""

    host: str
    tenant: str
    certificate: str | None
    """ARN of its certificate; None for a host that the deployment's own domain covers."""
    target: str | None
    """Where its DNS record points; None until API Gateway has it, or without a certificate."""


def add_domain(  # noqa: PLR0913  what a domain consists of
    slug: str,
    host: str,
    *,
    certificate: str,
    api: str,
    keep_address: bool = False,
    progress: Progress = lambda _: None,
) -> Domain:
    """Serve a tenant at a host of its own. Safe to repeat; another certificate replaces the old.

    Args:
        slug: The tenant.
        host: Host name, lower case.
        certificate: ARN of a certificate in ACM for it, in the Region of the stack.
        api: Id of the API.
        keep_address: The tenant also answers at the host, but its address, which its tokens
            and links bear, stays what it is.
        progress: Is told each step, in a few words.

    Raises:
        ValidationFailed: The host or the ARN cannot be.
        NotFound: There is no such tenant.
        Conflict: The host belongs to another tenant, or to something else in the account; or
            API Gateway refuses it, for a reason that the message tells.
    """
    check_host(host)
    _check_certificate(certificate)
    show_tenant(slug)
    progress(f"registering {host}")
    _register_host(slug, host, certificate)
    progress("creating the domain")
    target = _ensure_custom_domain(slug, host, certificate)
    progress("mapping it to the API")
    _ensure_mapping(host, api)
    _save_target(slug, host, target)
    if not keep_address:
        progress(f"making it the address of {slug}")
        set_address(slug, host=host)
    return Domain(host, slug, certificate, target)


def list_domains(slug: str | None = None) -> list[Domain]:
    """Host names of a tenant, or of all tenants, by name."""
    items = scan(host_key("")) if slug is None else read_all_of(slug, host_key(""))
    found = [_domain_of(item) for item in items if item["pk"]["S"] != SHARED_ADDRESS_KEY]
    return sorted(found, key=lambda domain: domain.host)


def remove_domain(host: str, *, progress: Progress = lambda _: None) -> bool:
    """Take a host away from its tenant, and its custom domain from API Gateway.

    Returns:
        Whether there was one: False when it was removed before.

    Raises:
        ValidationFailed: It is no host name.
        Conflict: It is the tenant's address, which must be another one first.
    """
    check_host(host)
    item = read(host_key(host))
    if item is None:
        return False
    domain = _domain_of(item)
    holder = read(tenant_key(domain.tenant))
    tenant = tenant_of(holder) if holder else None
    if tenant and tenant.base_url == address_of(host):
        raise _in_use(domain)
    release_domain(domain, progress, audited=tenant is not None)
    return True


def release_domain(domain: Domain, progress: Progress, *, audited: bool = False) -> None:
    """Remove a host, whatever its tenant's state; the tenant's address must be another one.

    With `tell`, the audit log of the tenant, which must be there, tells of it.
    """
    if domain.certificate:
        progress(f"removing the domain {domain.host}")
        _delete_custom_domain(domain)
    table, address = config().control_table, address_of(domain.host)

    def forget(tx: Transaction) -> None:
        item = read(host_key(domain.host))
        if item is None or item["tenant"]["S"] != domain.tenant:
            return  # another run was faster
        unused = {
            "TableName": table,
            "Key": {"pk": {"S": tenant_key(domain.tenant)}},
            "ConditionExpression": (
                "attribute_not_exists(base_url) OR base_url <> :address OR #state = :deleting"
            ),
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": {
                ":address": {"S": address},
                ":deleting": {"S": "deleting"},
            },
        }
        tx.add_action("ConditionCheck", unused, lambda: _in_use(domain))
        still_its = {
            "TableName": table,
            "Key": {"pk": {"S": host_key(domain.host)}},
            "ConditionExpression": "tenant = :slug",
            "ExpressionAttributeValues": {":slug": {"S": domain.tenant}},
        }
        tx.add_action("Delete", still_its)
        if audited:
            changes = {"host": (domain.host, None)}
            audit.record(tx, "tenant.changed", "tenant", domain.tenant, changes=changes)

    run_transaction(operators_store(domain.tenant), forget)


def _in_use(domain: Domain) -> Conflict:
    return Conflict(
        f"{domain.host} is the address of {domain.tenant}; give it another one first "
        f"(stowage tenant address {domain.tenant} …)."
    )


def _check_certificate(arn: str) -> None:
    found = _CERTIFICATE.fullmatch(arn)
    region = client("apigateway").meta.region_name
    problem = None
    if found is None:
        problem = "the ARN of a certificate in ACM is needed, arn:aws:acm:REGION:ACCOUNT:…"
    elif found["region"] != region:
        problem = f"the certificate must be in the Region of the stack, {region}"
    if problem:
        raise ValidationFailed([Problem("certificate_arn", problem)])


def _register_host(slug: str, host: str, certificate: str) -> None:
    """Claim the host, while there is such a tenant."""
    table = config().control_table
    gone = {f":{state}": {"S": state} for state in sorted(NOT_THERE)}

    def claim(tx: Transaction) -> None:
        item = read(host_key(host))
        seen = _domain_of(item) if item else Domain(host, slug, None, None)
        if seen.tenant != slug:
            raise Conflict(f"The host {host} belongs to another tenant.")
        values = {":slug": {"S": slug}, ":certificate": {"S": certificate}}
        # conditioned on all that was seen, so that the entry tells the truth
        as_seen = ["tenant = :slug" if item else "attribute_not_exists(pk)"]
        if seen.certificate:
            as_seen.append("certificate = :seen")
            values[":seen"] = {"S": seen.certificate}
        else:
            as_seen.append("attribute_not_exists(certificate)")
        ours = {
            "TableName": table,
            "Key": {"pk": {"S": host_key(host)}},
            "UpdateExpression": "SET tenant = :slug, certificate = :certificate",
            "ConditionExpression": " AND ".join(as_seen),
            "ExpressionAttributeValues": values,
        }
        there = {
            "TableName": table,
            "Key": {"pk": {"S": tenant_key(slug)}},
            "ConditionExpression": f"attribute_exists(pk) AND NOT #state IN ({', '.join(gone)})",
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": gone,
        }
        tx.add_action("Update", ours)
        tx.add_action("ConditionCheck", there, lambda: NotFound(f"The tenant {slug}"))
        if seen.certificate != certificate:
            changes = {"certificate_arn": (seen.certificate, certificate)}
            if item is None:
                changes["host"] = (None, host)
            details = {"host": host}
            audit.record(tx, "tenant.changed", "tenant", slug, changes=changes, details=details)

    run_transaction(operators_store(slug), claim)


def _ensure_custom_domain(slug: str, host: str, certificate: str) -> str:
    """Create the custom domain, or take it as it is; return where its DNS record points."""
    gateway = client("apigateway")
    found = _find_custom_domain(host)
    if found is None:
        try:
            found = gateway.create_domain_name(
                domainName=host,
                regionalCertificateArn=certificate,
                endpointConfiguration={"types": ["REGIONAL"]},
                securityPolicy="TLS_1_2",
                tags=_tags(slug),
            )
        except (
            gateway.exceptions.BadRequestException,
            gateway.exceptions.ConflictException,
        ) as error:
            found = _find_custom_domain(host)  # created by another run in the meantime?
            if found is None:
                raise _gateway_refusal(host, error) from error
    if not _belongs_to(found, slug):
        raise Conflict(f"The account has a domain {host} that is not this tenant's.")
    if found.get("regionalCertificateArn") != certificate:
        _replace_certificate(host, certificate)
    target: str = found["regionalDomainName"]
    return target


def _replace_certificate(host: str, certificate: str) -> None:
    gateway = client("apigateway")
    change = {"op": "replace", "path": "/regionalCertificateArn", "value": certificate}
    try:
        gateway.update_domain_name(domainName=host, patchOperations=[change])
    except gateway.exceptions.BadRequestException as error:
        raise _gateway_refusal(host, error) from error


def _gateway_refusal(host: str, error: ClientError) -> Conflict:
    reason = error.response["Error"].get("Message", str(error))
    return Conflict(f"API Gateway refuses the domain {host}: {reason}")


def _find_custom_domain(host: str) -> Mapping[str, Any] | None:
    gateway = client("apigateway")
    try:
        found: Mapping[str, Any] = gateway.get_domain_name(domainName=host)
    except gateway.exceptions.NotFoundException:
        return None
    return found


def _tags(slug: str) -> dict[str, str]:
    """Tell our domains from others of the account."""
    return {"service": "stowage", "stack": config().stack, "tenant": slug}


def _belongs_to(found: Mapping[str, Any], slug: str) -> bool:
    """Tell by the tags; an account may add others, such as a cost centre."""
    tags: Mapping[str, str] = found.get("tags", {})
    return _tags(slug).items() <= tags.items()


def _ensure_mapping(host: str, api: str) -> None:
    gateway = client("apigateway")
    mapping = {"domainName": host, "basePath": STAGE}
    try:
        gateway.create_base_path_mapping(**mapping, restApiId=api, stage=STAGE)
    except gateway.exceptions.ConflictException as error:
        found = gateway.get_base_path_mapping(**mapping)
        if (found["restApiId"], found["stage"]) != (api, STAGE):
            raise Conflict(f"https://{host}/{STAGE} leads to another API.") from error


def _save_target(slug: str, host: str, target: str) -> None:
    dynamodb = client("dynamodb")
    try:
        dynamodb.update_item(
            TableName=config().control_table,
            Key={"pk": {"S": host_key(host)}},
            UpdateExpression="SET target = :target",
            ConditionExpression="tenant = :slug",
            ExpressionAttributeValues={":target": {"S": target}, ":slug": {"S": slug}},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException as error:
        raise Conflict(f"{host} was removed at the same time; look, then try again.") from error


def _delete_custom_domain(domain: Domain) -> None:
    found = _find_custom_domain(domain.host)
    if found is None or not _belongs_to(found, domain.tenant):
        return  # gone already, or somebody else's
    gateway = client("apigateway")
    try:
        gateway.delete_domain_name(domainName=domain.host)
    except gateway.exceptions.NotFoundException:
        return  # another run was faster


def _domain_of(item: Mapping[str, Any]) -> Domain:
    return Domain(
        host=item["pk"]["S"].removeprefix(host_key("")),
        tenant=item["tenant"]["S"],
        certificate=item["certificate"]["S"] if "certificate" in item else None,
        target=item["target"]["S"] if "target" in item else None,
    )
