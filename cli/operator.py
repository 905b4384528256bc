"""Context and error handling of every command: deployment, output and exit codes."""

import sys
from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, NoReturn

import click
from botocore.exceptions import BotoCoreError, ClientError

from cli.deployment import Deployment, DeploymentNotFound, Target, connect
from cli.output import Output, printable
from shared.kernel.errors import ServiceError, ServiceUnavailable

REFUSED = 1
"""Exit code: the service refused the command and the reason was printed. 2 means wrong usage."""
UNREACHABLE = 3
"""Exit code: the deployment was not found, or AWS failed or was busy; a retry may succeed."""


class Operator:
    """Context of a command: the output, and the deployment, which is found at its first use."""

    def __init__(self, target: Target, output: Output) -> None:
        self._target = target
        self.output = output

    @cached_property
    def deployment(self) -> Deployment:
        """The deployment that the options select."""
        return connect(self._target)


pass_operator = click.make_pass_decorator(Operator)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Pass the connected operator to a command, and turn errors into exit codes."""

    @pass_operator
    @wraps(function)
    def run(operator: Operator, /, *args: Any, **options: Any) -> None:
        try:
            operator.deployment  # noqa: B018  sets the environment variables that `config` reads
            function(operator, *args, **options)
        except ServiceUnavailable as error:
            _fail(f"{error} Run the command again; it continues where it stopped.", UNREACHABLE)
        except ServiceError as error:
            _fail(_format_error(error), REFUSED)
        except DeploymentNotFound as error:
            _fail(str(error), UNREACHABLE)
        except (ClientError, BotoCoreError) as error:
            _fail(f"AWS failed: {error}", UNREACHABLE)

    return run


def _format_error(error: ServiceError) -> str:
    lines = [f"{problem.field}: {problem.message}" for problem in error.problems]
    return "\n".join(lines) or error.message


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"Error: {printable(message)}", err=True)
    sys.exit(code)
