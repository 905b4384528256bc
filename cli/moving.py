"""`stowage tenant import`: make a tenant from the export of another deployment."""

from pathlib import Path

import click

from cli.operator import CommandFailed, Operator, command
from cli.passphrase import read_passphrase
from cli.upgrade import ensure_deployed_schema
from operations import domains, provisioning
from operations.tenant_import import import_tenant, open_export


@click.command("import")
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--host", help="Its own host name here.  [default: SLUG.DOMAIN if the deployment has a domain]"
)
@click.option(
    "--base-url", help="Address shared with other tenants.  [default: the deployment's address]"
)
@command
def import_(operator: Operator, *, source: Path, host: str | None, base_url: str | None) -> None:
    """Make the tenant whose export is in DIR, with all its data, in this deployment.

    DIR is what `stowage tenant export SLUG --to DIR --with-secrets` wrote in the other deployment.
    The passphrase is asked for, or is the value of the environment variable STOWAGE_PASSPHRASE.
    Requests are refused until everything is written and compared with the export, item by item. An
    interrupted import is continued by the same command. The whole move is in docs/moving.md.

    \b
    Examples:
      stowage tenant import acme-move
      stowage tenant import acme-move --host wms.acme.com
    """  # noqa: D301  click reads the backspace
    if host and base_url:
        raise click.UsageError("--host cannot be used with --base-url.")
    deployment = operator.deployment
    ensure_deployed_schema(deployment)
    try:
        export = open_export(source, read_passphrase(new=False))
        if host is None and base_url is None:
            host = deployment.host_of(export.slug)
            base_url = None if host else deployment.address
        if base_url:
            domains.check_shared_address(base_url, deployment.shared_addresses)
        if base_url == deployment.address:
            provisioning.set_shared_address(base_url)
        with operator.output.progress() as progress:
            done = import_tenant(export, base_url=base_url, host=host, progress=progress)
    except OSError as error:
        message = f"{source} cannot be read: {error.strerror or error}"
        raise CommandFailed(message, "cannot_read") from error
    operator.output.one(
        {
            "tenant": done.slug,
            "address": done.base_url,
            "compared": [each._asdict() for each in done.compared],
            "clients_without_secret": list(done.clients_without_secret),
        }
    )
    for client_id in done.clients_without_secret:
        operator.output.say(
            f"The secret of {client_id} could not be moved. Give it a new one: stowage client "
            f"rotate {client_id}."
        )
