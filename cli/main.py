"""`stowage`, the operator's command line."""

import click

from cli.audit import audit
from cli.clients import client
from cli.deployment import Target
from cli.domains import domain
from cli.events import events
from cli.keys import key
from cli.offboarding import (delete, export)
from cli.operator import Operator
from cli.output import Output
from cli.roles import role
from cli.tenants import tenant
from cli.users import user


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 refused, 2 wrong command line, 3 AWS or stack not reached.",
)
@click.option(
    "--stack", envvar="STOWAGE_STACK", default="stowage", show_default=True, show_envvar=True,
    help="Name of the deployed stack.",
)  # fmt: skip
@click.option("--region", envvar="STOWAGE_REGION", show_envvar=True, help="AWS Region.")
@click.option(
    "--endpoint-url", envvar="STOWAGE_ENDPOINT_URL", show_envvar=True,
    help="AWS endpoint of an emulator.",
)  # fmt: skip
@click.option("--local", is_flag=True, help="The stack that `make run` started on this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")
@click.pass_context
def main(  # noqa: PLR0913  the options of every command
    context: click.Context,
    *,
    stack: str,
    region: str | None,
    endpoint_url: str | None,
    local: bool,
    as_json: bool,
) -> None:
    """Operate a Stowage deployment: its tenants, their hosts, clients and users, its keys.

    Every command can be repeated; one that failed half-way finishes when it is run again.
    docs/operating.md tells when to use which.

    \b
    Examples:
      stowage --local tenant list
      stowage --stack stowage-prod --region eu-west-1 tenant create acme --plan professional
      stowage --json client create acme --name ERP
      stowage tenant delete --help
    """  # noqa: D301  click reads the backspace
    target = Target(stack, region, endpoint_url, local)
    context.obj = Operator(target, Output(as_json=as_json))


tenant.add_command(export)
tenant.add_command(delete)
main.add_command(tenant)
main.add_command(domain)
main.add_command(client)
main.add_command(user)
main.add_command(role)
main.add_command(audit)
main.add_command(key)
main.add_command(events)
