"""`stowage`, the operator's command line."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, override

import click

from cli.audit import audit
from cli.clients import client
from cli.deployment import StackTarget
from cli.domains import domain
from cli.events import events
from cli.keys import key
from cli.moving import import_
from cli.offboarding import delete, export
from cli.operator import CommandContext, CommandFailed
from cli.output import Output, json_text, printable
from cli.queues import queues
from cli.restore import restore
from cli.roles import role
from cli.smoke import smoke
from cli.tenant_settings import settings
from cli.tenants import tenant
from cli.upgrade import upgrade
from cli.users import user
from cli.verify import verify


class _JsonError(click.ClickException):
    """An error that is printed as one JSON object, in the form of the API's error envelope."""

    def __init__(self, error: CommandFailed) -> None:
        super().__init__(error.message)
        self.exit_code = error.exit_code
        self._content: dict[str, Any] = {
            "error": {**error.extra, "code": error.code, "message": error.message},
            "errors": [{"field": one.field, "message": one.message} for one in error.problems],
        }

    @override
    def show(self, file: Any = None) -> None:
        click.echo(json_text(self._content), file=file, err=True)


@contextmanager
def _shown(*, as_json: bool) -> Iterator[None]:
    """Turn errors into printable ones, or into JSON."""
    try:
        yield
    except (click.Abort, EOFError, KeyboardInterrupt) as error:
        if not as_json:
            raise
        message = "The command was interrupted. Run it again; it continues where it stopped."
        raise _JsonError(CommandFailed(message, "interrupted")) from error
    except click.ClickException as error:
        if isinstance(error, CommandFailed) and as_json:
            raise _JsonError(error) from error
        if as_json:
            message = error.format_message()
            usage = CommandFailed(message, "wrong_usage", error.exit_code)
            raise _JsonError(usage) from error
        error.message = printable(error.message)
        raise


class _Commands(click.Group):
    """The commands, whose errors are printed like all other output: as text or as JSON."""

    @override
    def make_context(
        self, info_name: str | None, args: list[str], *rest: Any, **options: Any
    ) -> click.Context:
        with _shown(as_json="--json" in args):
            return super().make_context(info_name, args, *rest, **options)

    @override
    def invoke(self, ctx: click.Context) -> Any:
        with _shown(as_json=ctx.params["as_json"]):
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
@click.option(
    "--local", is_flag=True, envvar="STOWAGE_LOCAL", show_envvar=True,
    help="Use the stack that `make run` started here.",
)  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True,
    help="Print results and errors as JSON, for programs.",
)  # fmt: skip
@click.version_option(package_name="stowage", prog_name="stowage", message="%(prog)s %(version)s")
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

    Every command can be repeated; a command that failed continues when it is run again. A command
    that ends access or removes something asks first; --yes skips the question. The commands are
    explained in docs/operating/operating.md.

    \b
    Examples:
      stowage --local tenant list
      stowage --stack stowage-prod --region eu-west-1 tenant create acme --plan professional
      stowage --json client create acme --name ERP --scope products:read
      stowage tenant delete --help
    """  # noqa: D301  click reads the backspace
    target = StackTarget(stack, region, endpoint_url, local)
    context.obj = CommandContext(target, Output(as_json=as_json))


tenant.add_command(settings)
tenant.add_command(export)
tenant.add_command(import_)
tenant.add_command(delete)
tenant.add_command(upgrade)
tenant.add_command(restore)
main.add_command(tenant)
main.add_command(domain)
main.add_command(client)
main.add_command(user)
main.add_command(role)
main.add_command(audit)
main.add_command(key)
main.add_command(events)
main.add_command(smoke)
main.add_command(queues)
main.add_command(verify)
