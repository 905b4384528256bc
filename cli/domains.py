"""`stowage domain …`."""

from typing import Any

import click

from cli.confirmation import confirm, confirm_address, yes_option
from cli.operator import CommandContext, CommandFailed, command
from operations import domains
from operations.domains import Domain
from operations.tenant_changes import show_tenant
from operations.tenant_rules import base_url_of
from shared.identity.tenancy.directory import directory

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
    """Manage host names of companies, each with its own certificate."""


@domain.command()
@click.argument("slug")
@click.argument("host")
@click.option(
    "--certificate-arn", "certificate", required=True, metavar="ARN",
    help="ACM certificate for HOST, in the Region of the stack.",
)  # fmt: skip
@click.option("--keep-address", is_flag=True, help="Do not make HOST the address of SLUG yet.")
@yes_option
@command
def add(  # noqa: PLR0913  the options of the command
    operator: CommandContext,
    *,
    slug: str,
    host: str,
    certificate: str,
    keep_address: bool,
    yes: bool,
) -> None:
    """Serve the tenant SLUG at HOST, and make https://HOST/api/v1 its address.

    Prints the target for the company's DNS record (CNAME). With --keep-address the record can be
    created and tested first; `stowage tenant address` then changes the address. Otherwise the
    command asks for confirmation before it changes the address. Run the command again with another
    certificate to replace the certificate.

    \b
    Examples:
      stowage domain add acme wms.acme.com --certificate-arn arn:aws:acm:eu-west-1:…
      stowage domain add acme wms.acme.com --certificate-arn arn:… --keep-address
    """  # noqa: D301  click reads the backspace
    tenant = domains.check_addition(slug, host, certificate)
    if not keep_address:
        confirm_address(operator, tenant, base_url_of(host), yes=yes)
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
    operator.output.say(f"DNS record for the company to create: {host} CNAME {added.target}")


@domain.command("list")
@click.argument("slug", required=False)
@command
def list_(operator: CommandContext, *, slug: str | None) -> None:
    """List the hosts of the tenant SLUG, or of all tenants.

    A host without certificate and target is a subdomain of the deployment's own domain.

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
@yes_option
@command
def remove(operator: CommandContext, *, host: str, yes: bool) -> None:
    """Remove HOST from its tenant. Refused while HOST is the tenant's address.

    The command asks for confirmation.

    \b
    Examples:
      stowage domain remove wms.acme.com
      stowage domain remove wms.acme.com --yes
    """  # noqa: D301  click reads the backspace
    found = domains.find_removable(host)
    if found is None:
        message = f"{host} belongs to no tenant. All hosts: stowage domain list"
        raise CommandFailed(message, "not_found")
    confirm(
        operator,
        f"This removes the host {host} of the tenant {found.tenant} and its domain in API "
        f"Gateway: requests to {base_url_of(host)} fail from then on.",
        yes=yes,
    )
    with operator.output.progress() as progress:
        domains.remove_domain(host, progress=progress)
    operator.output.say(f"{host} is removed.")
    operator.output.one({"host": host, "state": "removed"})
