"""`stowage domain …`."""

from typing import Any

import click

from cli.operator import Operator, command
from operations import domains
from operations.domains import Domain
from operations.provisioning import show_tenant
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.rules import base_url_of

_COLUMNS = ("host", "tenant", "is_address", "target", "certificate_arn")


def _row(found: Domain) -> dict[str, Any]:
    tenant = directory.tenant(found.tenant, 0)
    return {
        "host": found.host,
        "tenant": found.tenant,
        "is_address": tenant is not None and tenant.base_url == base_url_of(found.host),
        "target": found.target,
        "certificate_arn": found.certificate,
    }


@click.group()
def domain() -> None:
    """Host names that companies bring along, each with a certificate of its own."""


@domain.command()
@click.argument("slug")
@click.argument("host")
@click.option(
    "--certificate-arn", "certificate", required=True, metavar="ARN",
    help="Certificate of HOST in ACM, in the Region of the stack.",
)  # fmt: skip
@click.option("--keep-address", is_flag=True, help="Leave the address of SLUG as it is, for now.")
@command
def add(operator: Operator, *, slug: str, host: str, certificate: str, keep_address: bool) -> None:
    """Serve SLUG at HOST, and make https://HOST/api/v1 its address.

    It prints the target that the company's DNS record (CNAME) has to point at. With
    --keep-address the record can be made and tried first; then `stowage tenant address` changes
    the address. Run it again with another certificate to replace it.

    \b
    Examples:
      stowage domain add acme wms.acme.com --certificate-arn arn:aws:acm:eu-west-1:…
      stowage domain add acme wms.acme.com --certificate-arn arn:… --keep-address
    """  # noqa: D301  click reads the backspace
    with operator.output.progress() as progress:
        added = domains.add_domain(
            slug,
            host,
            certificate=certificate,
            api=operator.deployment.api,
            keep_address=keep_address,
            progress=progress,
        )
    operator.output.one(_row(added))
    operator.output.say(f"The DNS record: {host} CNAME {added.target}")


@domain.command("list")
@click.argument("slug", required=False)
@command
def list_(operator: Operator, *, slug: str | None) -> None:
    """List the hosts of SLUG, or of all tenants.

    Without a certificate of its own is a host that the deployment's domain covers.

    \b
    Examples:
      stowage domain list
      stowage --json domain list acme
    """  # noqa: D301  click reads the backspace
    if slug is not None:
        show_tenant(slug)
    operator.output.many([_row(each) for each in domains.list_domains(slug)], _COLUMNS)


@domain.command()
@click.argument("host")
@command
def remove(operator: Operator, *, host: str) -> None:
    """Take HOST away from its tenant; not while it is the tenant's address.

    \b
    Example:
      stowage domain remove wms.acme.com
    """  # noqa: D301  click reads the backspace
    with operator.output.progress() as progress:
        removed = domains.remove_domain(host, progress=progress)
    operator.output.say(f"{host} is removed." if removed else f"{host} belongs to no tenant.")
    operator.output.one({"host": host, "state": "removed"})
