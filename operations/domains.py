"""Host names of companies: custom domains of the API, each of which belongs to one tenant.

The control table is written before a domain is created in API Gateway, and cleared after the domain
is deleted there. An interrupted run therefore leaves an entry from which the next run continues.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from operations.control_table import read_items_of_tenant, scan_items
from operations.operator_identity import run_as_operator
from operations.progress import ReportProgress, no_progress
from operations.provisioning import domain_missing, host_taken, set_address
from operations.tenant_changes import show_tenant
from operations.tenant_rules import base_url_of, check_host
from shared.identity.audit import service as audit
from shared.identity.tenancy.directory import (
    HIDDEN_STATES,
    SHARED_ADDRESS_KEY,
    existing_tenant,
    host_key,
    read_item,
    tenant_key,
)
from shared.identity.tenancy.tenant import Tenant
from shared.kernel.aws import client
from shared.kernel.config import config
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, NotFound, Problem, ValidationFailed

STAGE = "api"
"""Stage of the API, and base path of each domain mapping: `https://HOST/api/v1`."""

_CERTIFICATE = re.compile(
    r"arn:aws[a-z-]*:acm:(?P<region>[a-z0-9-]+):[0-9]{12}:certificate/[A-Za-z0-9-]+", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Domain:
    """A host name that is registered for a tenant."""

    host: str
    tenant: str
    certificate: str | None
    """ARN of its certificate; None for a subdomain of the deployment's own domain."""
    target: str | None
    """Target of its DNS record; None until API Gateway has created the domain, and for a host
    without a certificate."""


def add_domain(  # noqa: PLR0913  each parameter is one property of the domain
    slug: str,
    host: str,
    *,
    certificate: str,
    api: str,
    keep_address: bool = False,
    progress: ReportProgress = no_progress,
) -> Domain:
    """Serve a tenant at its own host name. Safe to repeat; another certificate replaces the first.

    Args:
        slug: The tenant.
        host: Host name in lower case.
        certificate: ARN of an ACM certificate for the host, in the Region of the stack.
        api: Id of the API.
        keep_address: Serve the tenant at the host, but leave its address, which its tokens and
            links contain, unchanged.
        progress: Receives a description of each step.

    Raises:
        ValidationFailed: The host or the ARN is invalid.
        NotFound: There is no such tenant.
        Conflict: The host belongs to another tenant, or to another application of the account; or
            API Gateway refuses it (the message contains the reason).
    """
    check_addition(slug, host, certificate)
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


def check_addition(slug: str, host: str, certificate: str) -> Tenant:
    """Return the tenant for which a host can be added, as far as reads can tell.

    Raises:
        ValidationFailed: The host or the ARN is invalid.
        NotFound: There is no such tenant.
        Conflict: The host belongs to another tenant.
    """
    check_host(host)
    _check_certificate(certificate)
    tenant = show_tenant(slug)
    item = read_item(host_key(host))
    if item is not None and item["tenant"]["S"] != slug:
        raise host_taken(host)
    return tenant


def list_domains(slug: str | None = None) -> list[Domain]:
    """Return the host names of a tenant, or of all tenants, sorted by name."""
    items = scan_items(host_key("")) if slug is None else read_items_of_tenant(slug, host_key(""))
    found = [_domain_of(item) for item in items if item["pk"]["S"] != SHARED_ADDRESS_KEY]
    return sorted(found, key=lambda domain: domain.host)


def check_shared_address(base_url: str, shared: Collection[str]) -> None:
    """Raise ValidationFailed unless the deployment itself answers at an address.

    Args:
        base_url: The address that a tenant is to share with others.
        shared: The addresses of the deployment.
    """
    if base_url not in shared:
        at = " or ".join(sorted(shared))
        advice = f"it answers at {at}" if at else "its own address is switched off; use a host name"
        problem = f"the deployment does not answer at {base_url}; {advice}"
        raise ValidationFailed([Problem("base_url", problem)])


def check_added(slug: str, host: str, own_host: str | None) -> None:
    """Raise ValidationFailed unless a host was added for a tenant.

    Args:
        slug: The tenant.
        host: A valid host name.
        own_host: The tenant's host in the domain of the deployment, for the message.

    Raises:
        ValidationFailed: The host was not added, or its addition was interrupted.
    """
    if is_added(slug, host):
        return
    other = f", or use {own_host}" if own_host else ""
    problem = (
        f"nothing serves {host} for {slug}; add it first (stowage domain add {slug} {host} "
        f"--certificate-arn ARN --keep-address){other}"
    )
    raise ValidationFailed([Problem("host", problem)])


def is_added(slug: str, host: str) -> bool:
    """Return whether `add_domain` has added a host for a tenant."""
    item = read_item(host_key(host))
    return item is not None and item["tenant"]["S"] == slug and "target" in item


def find_removable(host: str) -> Domain | None:
    """Return a registered host that can be removed; None if it belongs to no tenant.

    Raises:
        ValidationFailed: `host` is not a valid host name.
        Conflict: The host is the tenant's address; change the address first.
    """
    check_host(host)
    item = read_item(host_key(host))
    if item is None:
        return None
    domain = _domain_of(item)
    tenant = _tenant_of(domain)
    if tenant and tenant.base_url == base_url_of(host):
        raise _in_use(domain)
    return domain


def remove_domain(host: str, *, progress: ReportProgress = no_progress) -> bool:
    """Remove a host from its tenant, and its custom domain from API Gateway.

    Returns:
        True if the host was registered; False if it belongs to no tenant.

    Raises:
        ValidationFailed: `host` is not a valid host name.
        Conflict: The host is the tenant's address; change the address first.
    """
    domain = find_removable(host)
    if domain is None:
        return False
    release_domain(domain, progress, audited=_tenant_of(domain) is not None)
    return True


def _tenant_of(domain: Domain) -> Tenant | None:
    holder = read_item(tenant_key(domain.tenant))
    return existing_tenant(holder) if holder else None


def release_domain(domain: Domain, progress: ReportProgress, *, audited: bool = False) -> None:
    """Remove a host regardless of its tenant's state; it must not be the tenant's address.

    `audited` writes an entry into the tenant's audit log; the tenant's table must exist.
    """
    if domain.certificate:
        progress(f"removing the domain {domain.host}")
        _delete_custom_domain(domain)
    table, address = config().control_table, base_url_of(domain.host)

    def delete(tx: Transaction) -> None:
        item = read_item(host_key(domain.host))
        if item is None or item["tenant"]["S"] != domain.tenant:
            return  # A concurrent run has removed it.
        not_the_address = {
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
        tx.add_action("ConditionCheck", not_the_address, lambda: _in_use(domain))
        delete_host = {
            "TableName": table,
            "Key": {"pk": {"S": host_key(domain.host)}},
            "ConditionExpression": "tenant = :slug",
            "ExpressionAttributeValues": {":slug": {"S": domain.tenant}},
        }
        tx.add_action("Delete", delete_host)
        if audited:
            changes = {"host": (domain.host, None)}
            audit.record(tx, "tenant.changed", "tenant", domain.tenant, changes=changes)

    run_as_operator(domain.tenant, delete)
    if domain.certificate:
        _delete_unregistered_domain(domain)


def _in_use(domain: Domain) -> Conflict:
    return Conflict(
        f"The host {domain.host} is the address of the tenant {domain.tenant}. Change the address "
        f"first (stowage tenant address {domain.tenant} …)."
    )


def _check_certificate(arn: str) -> None:
    found = _CERTIFICATE.fullmatch(arn)
    region = client("apigateway").meta.region_name
    problem = None
    if found is None:
        problem = "must be the ARN of an ACM certificate, arn:aws:acm:REGION:ACCOUNT:certificate/ID"
    elif found["region"] != region:
        problem = f"must be a certificate in the Region of the stack, {region}"
    if problem:
        raise ValidationFailed([Problem("certificate_arn", problem)])


def _register_host(slug: str, host: str, certificate: str) -> None:
    """Register the host for the tenant, on condition that the tenant exists."""
    table = config().control_table
    absent_states = {f":{state}": {"S": state} for state in sorted(HIDDEN_STATES)}

    def register(tx: Transaction) -> None:
        item = read_item(host_key(host))
        seen = _domain_of(item) if item else Domain(host, slug, None, None)
        if seen.tenant != slug:
            raise host_taken(host)
        values = {":slug": {"S": slug}, ":certificate": {"S": certificate}}
        # Conditioned on the values that were read, so that the audit entry names the right ones.
        unchanged = ["tenant = :slug" if item else "attribute_not_exists(pk)"]
        if seen.certificate:
            unchanged.append("certificate = :seen")
            values[":seen"] = {"S": seen.certificate}
        else:
            unchanged.append("attribute_not_exists(certificate)")
        update_host = {
            "TableName": table,
            "Key": {"pk": {"S": host_key(host)}},
            "UpdateExpression": "SET tenant = :slug, certificate = :certificate",
            "ConditionExpression": " AND ".join(unchanged),
            "ExpressionAttributeValues": values,
        }
        tenant_exists = {
            "TableName": table,
            "Key": {"pk": {"S": tenant_key(slug)}},
            "ConditionExpression": (
                f"attribute_exists(pk) AND NOT #state IN ({', '.join(absent_states)})"
            ),
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": absent_states,
        }
        tx.add_action("Update", update_host)
        tx.add_action("ConditionCheck", tenant_exists, lambda: NotFound(f"The tenant {slug}"))
        if seen.certificate != certificate:
            changes = {"certificate_arn": (seen.certificate, certificate)}
            if item is None:
                changes["host"] = (None, host)
            details = {"host": host}
            audit.record(tx, "tenant.changed", "tenant", slug, changes=changes, details=details)

    run_as_operator(slug, register)


def _ensure_custom_domain(slug: str, host: str, certificate: str) -> str:
    """Create the custom domain unless it exists; return the target of its DNS record."""
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
            found = _find_custom_domain(host)  # A concurrent run may have created it.
            if found is None:
                raise _gateway_refusal(host, error) from error
    if not _belongs_to(found, slug):
        raise Conflict(
            f"The account already has a domain {host} that does not belong to the tenant {slug}."
        )
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
    """Return the tags that identify the domains of a tenant of this deployment."""
    return {"service": "stowage", "stack": config().stack, "tenant": slug}


def _belongs_to(found: Mapping[str, Any], slug: str) -> bool:
    """Compare the tags; the account may have added more, such as a cost center."""
    tags: Mapping[str, str] = found.get("tags", {})
    return _tags(slug).items() <= tags.items()


def _ensure_mapping(host: str, api: str) -> None:
    gateway = client("apigateway")
    try:
        mapped = _map(host, api)
    except gateway.exceptions.NotFoundException as error:
        raise domain_missing(host) from error
    if mapped != (api, STAGE):
        raise Conflict(
            f"https://{host}/{STAGE} is mapped to the API {mapped[0]}, stage {mapped[1]}, not to "
            f"{api}."
        )


def _map(host: str, api: str) -> tuple[str, str]:
    """Map the host to the stage of the API, unless it is mapped; return API and stage."""
    gateway = client("apigateway")
    mapping = {"domainName": host, "basePath": STAGE}
    try:
        gateway.create_base_path_mapping(**mapping, restApiId=api, stage=STAGE)
    except gateway.exceptions.ConflictException:
        found = gateway.get_base_path_mapping(**mapping)
        return found["restApiId"], found["stage"]
    return api, STAGE


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
        _delete_unregistered_domain(Domain(host, slug, None, target))
        raise domain_missing(host) from error


def _delete_unregistered_domain(domain: Domain) -> None:
    """Delete a custom domain left unregistered by a concurrent addition and removal."""
    if read_item(host_key(domain.host)) is None:
        _delete_custom_domain(domain)


def _delete_custom_domain(domain: Domain) -> None:
    found = _find_custom_domain(domain.host)
    if found is None or not _belongs_to(found, domain.tenant):
        return  # Already deleted, or a domain of another application.
    gateway = client("apigateway")
    try:
        gateway.delete_domain_name(domainName=domain.host)
    except gateway.exceptions.NotFoundException:
        return  # A concurrent run has deleted it.


def _domain_of(item: Mapping[str, Any]) -> Domain:
    return Domain(
        host=item["pk"]["S"].removeprefix(host_key("")),
        tenant=item["tenant"]["S"],
        certificate=item["certificate"]["S"] if "certificate" in item else None,
        target=item["target"]["S"] if "target" in item else None,
    )
