"""`stowage`, the operator's command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, override

import click

from cli.audit import audit
from cli.clients import client
from cli.deployment import Target
from cli.domains import domain
from cli.events import events
from cli.keys import key
from cli.offboarding import delete, export
from cli.operator import Operator
from cli.output import Output, printable
from cli.roles import role
from cli.tenants import tenant
from cli.users import user


@contextmanager
def _printable_messages() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        error.message = printable(error.message)
        raise


class _Commands(click.Group):
    """The commands; messages about their use lose control characters, like all other output."""

    @override
    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _printable_messages():
            return super().make_context(*args, **options)

    @override
    def invoke(self, ctx: click.Context) -> Any:
        with _printable_messages():
            return super().invoke(ctx)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 refused, 2 wrong usage, 3 AWS or the stack cannot be reached.",
)
@click.option(
    "--stack", envvar="STOWAGE_STACK", default="stowage", show_default=True, show_envvar=True,
    help="Name of the deployed stack.",
)  # fmt: skip
@click.option(
    "--region", envvar="STOWAGE_REGION", show_envvar=True,
    help="AWS Region of the stack.  [default: that of the AWS environment]",
)  # fmt: skip
@click.option(
    "--endpoint-url", envvar="STOWAGE_ENDPOINT_URL", show_envvar=True,
    help="Endpoint of an AWS emulator.",
)  # fmt: skip
@click.option("--local", is_flag=True, help="Use the stack that `make run` started here.")
@click.option("--json", "as_json", is_flag=True, help="Print results as JSON, for programs.")
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
    """Operate a Stowage deployment: tenants, hosts, API clients, users, roles and signing keys.

    Every command can be repeated; a command that failed continues when it is run again. The
    commands are explained in docs/operating.md.

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
