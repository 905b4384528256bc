"""`stowage smoke`: try the deployment in a tenant of its own."""

from dataclasses import asdict
from decimal import Decimal

import click
import httpx

from cli.operator import CommandContext, CommandFailed, command
from cli.upgrade import ensure_deployed_schema
from operations import smoke as smoke_test
from operations.smoke import SmokeFailed, SmokeTest, StepResult

_COLUMNS = ("step", "seconds", "outcome")
_TIMEOUT_SECONDS = 35
"""Seconds to wait for a response; API Gateway waits for 29."""


@click.command()
@command
def smoke(operator: CommandContext) -> None:
    """Try the deployment: order, receipt, pick, dispatch, imports and a webhook.

    The command creates a tenant of its own, sends requests to the API as a client of it, and
    removes it. The removal waits 2.5 minutes for running requests to end. If the command is cut
    off, a run half an hour later removes what it has left. It changes nothing of other tenants.

    \b
    Examples:
      stowage smoke
      stowage --local smoke
      stowage --stack stowage-prod --region eu-west-1 smoke
    """  # noqa: D301  click reads the backspace
    deployment = operator.deployment
    ensure_deployed_schema(deployment)
    slug = smoke_test.new_slug()
    done: list[StepResult] = []
    failure: SmokeFailed | None = None
    with operator.output.progress() as progress, httpx.Client(timeout=_TIMEOUT_SECONDS) as http:
        try:
            address = deployment.first_address_of(slug)
            for result in SmokeTest(slug, address, http, progress).run():
                done.append(result)
                operator.output.say(f"{result.step}: {result.outcome} ({result.seconds:.1f} s)")
        except SmokeFailed as error:
            failure = error
            operator.output.say(f"{error}\nThe tenant {slug} is removed now.")
        for each in (slug, *smoke_test.leftovers()):
            smoke_test.remove(each, progress=progress)
    if failure:
        raise CommandFailed(str(failure), "smoke_failed") from failure
    rows = [asdict(one) | {"seconds": Decimal(f"{one.seconds:.1f}")} for one in done]
    operator.output.many(rows, _COLUMNS)
