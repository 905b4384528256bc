"""Context and error handling of every command: deployment, output and exit codes."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any

import click
from botocore.exceptions import BotoCoreError, ClientError

from cli.deployment import Deployment, DeploymentNotFound, StackTarget, connect
from cli.output import Output
from shared.kernel.errors import Problem, ServiceError, ServiceUnavailable

REFUSED = 1
"""Exit code: the service refused the command and the reason was printed. 2 means wrong usage."""
UNREACHABLE = 3
"""Exit code: the deployment was not found, or AWS failed or was busy; a retry may succeed."""


class CommandFailed(click.ClickException):
    """The end of a command with a message, a code for programs, and an exit code.

    `extra` and `problems` are those of the error envelope of the API.
    """

    def __init__(
        self,
        message: str,
        code: str,
        exit_code: int = REFUSED,
        *,
        extra: Mapping[str, Any] | None = None,
        problems: Sequence[Problem] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code
        self.extra = extra or {}
        self.problems = problems


class CommandContext:
    """Context of a command: the output, and the deployment, which is found at its first use."""

    def __init__(self, target: StackTarget, output: Output) -> None:
        self._target = target
        self.output = output

    @property
    def is_local(self) -> bool:
        """Whether the deployment is the stack of `make run`."""
        return self._target.local

    @cached_property
    def deployment(self) -> Deployment:
        """The deployment that the options select."""
        return connect(self._target)


pass_operator = click.make_pass_decorator(CommandContext)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Pass the connected operator to a command, and turn errors into messages and exit codes."""

    @pass_operator
    @wraps(function)
    def run(operator: CommandContext, /, *args: Any, **options: Any) -> None:
        try:
            operator.deployment  # noqa: B018  sets the environment variables that `config` reads
            function(operator, *args, **options)
        except ServiceUnavailable as error:
            message = f"{error} Run the command again; it continues where it stopped."
            raise CommandFailed(message, error.code, UNREACHABLE) from error
        except ServiceError as error:
            raise _refusal(error) from error
        except DeploymentNotFound as error:
            raise CommandFailed(str(error), "stack_not_found", UNREACHABLE) from error
        except (ClientError, BotoCoreError) as error:
            raise CommandFailed(f"AWS failed: {error}", "aws_failed", UNREACHABLE) from error

    return run


def _refusal(error: ServiceError) -> CommandFailed:
    lines = [f"{problem.field}: {problem.message}" for problem in error.problems]
    message = "\n".join(lines) or error.message
    return CommandFailed(message, error.code, extra=error.extra, problems=error.problems)
