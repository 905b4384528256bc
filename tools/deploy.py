"""Prepare a deployment: ask for the parameters, check them and the account, and keep them.

`make deploy` calls this before it builds. `sam deploy` reads the answers from samconfig.toml.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import click
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ProfileNotFound
from samcli.lib.config.samconfig import SamConfig

from tools.deploy_account import (
    Warned,
    access_log_problems,
    concurrency_problems,
    name_problems,
    reserved_by,
    topic_problems,
)
from tools.deploy_parameters import (
    ROOT,
    Template,
    format_overrides,
    malformed_overrides,
    parse_overrides,
    problems,
    profile_problem,
    read_profile,
    read_template,
    region_problem,
    stack_name_problem,
    unknown_parameters,
    value_problem,
)

VARIABLES = ("YES", "STACK_NAME", "REGION", "PARAMETERS", "PROFILE")
"""Variables of the environment in which `make deploy` passes the answers of scripts."""

_OWN_OUTPUTS = {"ControlTable", "ApiId"}
_CREDENTIALS = "sign in with `aws sso login`, or set AWS_PROFILE or AWS_ACCESS_KEY_ID"


class CannotDeploy(Exception):
    """The deployment would fail; the message has one sentence for each reason."""


class Answers:
    """Name of the stack, Region and parameters, as kept in samconfig.toml."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        saved = SamConfig(directory).get_all(["deploy"], "parameters", env="prod")
        self.stack: str = saved.get("stack_name", "stowage")
        self.region: str = saved.get("region", "")
        self.parameters = parse_overrides(saved.get("parameter_overrides", ""))

    def keep(self) -> None:
        """Write the answers for `sam deploy` and for the next run."""
        file = SamConfig(self._directory)  # reading has merged the sections of the first one
        overrides = format_overrides(self.parameters)
        # CloudFormation gives the tags to every resource of the stack.
        tags = f"service=stowage stack={self.stack}"
        file.put(["global"], "parameters", "stack_name", self.stack, env="prod")
        file.put(["global"], "parameters", "region", self.region, env="prod")
        file.put(["deploy"], "parameters", "parameter_overrides", overrides, env="prod")
        file.put(["deploy"], "parameters", "tags", tags, env="prod")
        file.flush()


def defaults(template: Template) -> dict[str, str]:
    """Return the default value of every parameter."""
    return {name: str(one["Default"]) for name, one in template["Parameters"].items()}


def ask(template: Template, answers: Answers) -> None:
    """Ask for everything at the terminal; a wrong answer is explained and asked for again."""
    answers.stack = _prompt("Stack name", answers.stack, stack_name_problem)
    regions = boto3.Session().get_available_regions("lambda")

    def unknown_region(region: str) -> str | None:
        return None if region in regions else f"Region: {region} is none of {', '.join(regions)}."

    answers.region = _prompt("Region", answers.region, unknown_region)
    for group in template["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]:
        click.secho(f"\n{group['Label']['default']}", bold=True)
        for name in group["Parameters"]:
            declared = template["Parameters"][name]
            click.echo(f"\n{declared['Description']}")
            if allowed := declared.get("AllowedValues"):
                click.echo(f"One of {', '.join(map(str, allowed))}.")
            answers.parameters[name] = _prompt(
                name,
                answers.parameters[name],
                partial(value_problem, template, name),
            )


def _prompt(title: str, current: str, problem: Callable[[str], str | None]) -> str:
    """Return a valid answer; Enter keeps the current value, and a hyphen is the empty one."""

    def valid(value: str) -> str:
        answer = "" if value == "-" else value.strip()
        if wrong := problem(answer):
            raise click.UsageError(wrong)
        return answer

    answer: str = click.prompt(title, default=current or "-", value_proc=valid)
    return answer


def check_account(answers: Answers) -> str:
    """Check credentials, the stack and what the parameters name; return whose credentials they are.

    Raises:
        CannotDeploy: The deployment would fail, or it would change a stack of something else.
    """
    session = boto3.Session(region_name=answers.region)
    try:
        identity = _client(session, "sts").get_caller_identity()["Arn"]
    except NoCredentialsError as error:
        raise CannotDeploy(f"There are no AWS credentials: {_CREDENTIALS}.") from error
    except ClientError as error:
        reason = error.response["Error"]["Message"]
        raise CannotDeploy(f"AWS refuses the credentials ({reason}): {_CREDENTIALS}.") from error
    except BotoCoreError as error:
        raise CannotDeploy(
            f"AWS cannot be reached in {answers.region} ({error}): check the network, the Region"
            f" and the credentials; {_CREDENTIALS}."
        ) from error
    stack, wrong = _read_stack(session, answers.stack)
    found = [
        *wrong,
        *_stack_problems(answers.stack, stack),
        *name_problems(_client(session, "iam"), answers.stack, exists=stack is not None),
        *_certificate_problems(session, answers.parameters),
        *topic_problems(
            _client(session, "sns"), _client(session, "kms"), answers.parameters["AlarmTopicArn"]
        ),
        *access_log_problems(_client(session, "apigateway"), answers.parameters),
        *concurrency_problems(_client(session, "lambda"), answers.parameters, reserved_by(stack)),
    ]
    if refused := [one for one in found if isinstance(one, str)]:
        raise CannotDeploy("\n".join(refused))
    for one in found:
        if isinstance(one, Warned):
            _warn(one.sentence)
    return str(identity)


def _warn(sentence: str) -> None:
    click.secho(f"Warning: {sentence}", fg="yellow", err=True)


def _client(session: boto3.Session, service: Any) -> Any:
    config = Config(connect_timeout=10, read_timeout=20, retries={"total_max_attempts": 2})
    return session.client(service, config=config)


def _read_stack(session: boto3.Session, name: str) -> tuple[Mapping[str, Any] | None, list[str]]:
    """Return the deployed stack, or None, with what is wrong if it cannot be read."""
    try:
        (stack,) = _client(session, "cloudformation").describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        message = error.response["Error"]["Message"]
        known = "does not exist" in message
        return None, [] if known else [f"Stack {name}: it cannot be read: {message}."]
    return stack, []


def _stack_problems(name: str, stack: Mapping[str, Any] | None) -> Iterator[str]:
    if stack is None or stack["StackStatus"] == "REVIEW_IN_PROGRESS":
        return
    status = stack["StackStatus"]
    if status == "UPDATE_ROLLBACK_FAILED":
        yield (
            f"Stack {name}: an update could not be undone; remove the reason, then run `aws"
            f" cloudformation continue-update-rollback --stack-name {name}`."
        )
    elif status in {"ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"}:
        yield (
            f"Stack {name}: it is {status} and cannot be updated; delete it as"
            ' docs/operating/deploy.md describes in "When the first deployment fails".'
        )
    elif status.endswith("_IN_PROGRESS"):
        yield f"Stack {name}: it is {status}; wait until that has ended."
    elif not {one["OutputKey"] for one in stack.get("Outputs", ())} >= _OWN_OUTPUTS:
        yield (
            f"Stack {name}: it exists and is no deployment of Stowage; choose another name, because"
            " the deployment would replace its resources."
        )


def _certificate_problems(session: boto3.Session, parameters: Mapping[str, str]) -> Iterator[str]:
    if not (arn := parameters["CertificateArn"]):
        return
    try:
        answer = _client(session, "acm").describe_certificate(CertificateArn=arn)
    except ClientError as error:
        yield f"CertificateArn: {error.response['Error']['Message']}"
        return
    certificate = answer["Certificate"]
    wildcard = f"*.{parameters['DomainName']}"
    names = {certificate["DomainName"], *certificate.get("SubjectAlternativeNames", ())}
    if parameters["DomainName"] and wildcard not in names:
        yield f"CertificateArn: it is for {', '.join(sorted(names))}, not for {wildcard}."
    elif certificate["Status"] != "ISSUED":
        yield (
            f"CertificateArn: it is {certificate['Status']}; validate it in ACM, and wait until it"
            " is ISSUED."
        )


def prepare(arguments: argparse.Namespace, directory: Path = ROOT) -> Answers:
    """Return the checked answers, and keep them.

    Raises:
        CannotDeploy: Something is missing or impossible; nothing was changed.
    """
    template = read_template()
    answers = Answers(directory)
    answers.stack = arguments.stack or answers.stack
    answers.region = arguments.region or answers.region or boto3.Session().region_name or ""
    given = parse_overrides(arguments.parameters)
    malformed = list(malformed_overrides(arguments.parameters))
    known = {
        name: value for name, value in answers.parameters.items() if name in template["Parameters"]
    }
    profile = read_profile(arguments.profile)
    answers.parameters = defaults(template) | known | profile.parameters | given
    no_profile = profile_problem(arguments.profile)
    if not (arguments.yes or no_profile or malformed or any(unknown_parameters(template, given))):
        if not sys.stdin.isatty():
            raise CannotDeploy(
                "There is no terminal to ask for the parameters; use `make deploy YES=1"
                ' STACK_NAME=… REGION=… PARAMETERS="NAME=VALUE …"` in scripts.'
            )
        ask(template, answers)
    found = (stack_name_problem(answers.stack), region_problem(answers.region), no_profile)
    wrong = [one for one in found if one] + malformed
    wrong += profile.missing(answers.parameters, defaults(template))
    if wrong := wrong + problems(template, answers.parameters, answers.region):
        raise CannotDeploy("\n".join(wrong))
    who = check_account(answers)
    if answers.parameters["DocsBase"] == defaults(template)["DocsBase"]:
        _warn(
            "DocsBase: nothing is published at its default, so doc_url of errors leads nowhere, and"
            " alarms name the pages in docs/ instead of links. Publish the folder docs/, for"
            " example with GitHub Pages, and enter its address."
        )
    answers.keep()
    click.echo(f"\nDeploying {answers.stack} to {answers.region} as {who}.")
    return answers


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare a deployment; return 0, or 1 with what to do on standard error."""
    given = {name: os.environ.get(name, "") for name in VARIABLES}
    parser = argparse.ArgumentParser(prog="python -m tools.deploy", description=__doc__)
    parser.add_argument("--stack", default=given["STACK_NAME"], help="name of the stack")
    parser.add_argument("--region", default=given["REGION"], help="Region of the stack")
    parser.add_argument("--parameters", default=given["PARAMETERS"], help='"NAME=VALUE …"')
    parser.add_argument("--profile", default=given["PROFILE"], help="a file of deployment/")
    parser.add_argument(
        "--yes", action="store_true", default=bool(given["YES"]), help="ask nothing, for scripts"
    )
    try:
        prepare(parser.parse_args(arguments))
    except CannotDeploy as reason:
        print(f"{reason}\nNothing was deployed.", file=sys.stderr)
        return 1
    except ProfileNotFound as reason:
        print(f"{reason}: {_CREDENTIALS}.\nNothing was deployed.", file=sys.stderr)
        return 1
    except (click.Abort, KeyboardInterrupt):
        print("\nInterrupted. Nothing was deployed.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
