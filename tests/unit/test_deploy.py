"""`make deploy` before it builds: each missing or impossible answer gets one sentence."""

import copy
import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import click
import pytest
from botocore.exceptions import NoCredentialsError
from botocore.stub import Stubber
from click.testing import CliRunner
from moto import mock_aws
from moto.backends import get_backend
from moto.core.models import DEFAULT_ACCOUNT_ID

from tests.cases import each_case
from tests.template import PATH, Template
from tools import deploy, deploy_account
from tools.deploy_parameters import (
    format_overrides,
    parse_overrides,
    problems,
    read_profile,
    read_template,
)

TEMPLATE = read_template()
DEFAULTS = deploy.defaults(TEMPLATE)
REGION = "eu-west-1"
_PAGES = "DocsBase=https://acme.github.io/stowage"
CERTIFICATE = f"arn:aws:acm:{REGION}:123456789012:certificate/12345678-90ab"


@pytest.fixture(autouse=True)
def _template_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploy, "read_template", lambda: copy.deepcopy(TEMPLATE))


@pytest.fixture(autouse=True)
def _account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", *deploy.VARIABLES):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        yield


class _Lambda:
    """Lambda with limits of an account, which moto does not have."""

    def __init__(self) -> None:
        self.limits = {"ConcurrentExecutions": 1_000, "UnreservedConcurrentExecutions": 1_000}

    def client(self) -> Any:
        client = boto3.client("lambda", REGION)
        stubber = Stubber(client)
        stubber.add_response("get_account_settings", {"AccountLimit": self.limits}, {})
        stubber.activate()
        return client


@pytest.fixture(autouse=True)
def functions(monkeypatch: pytest.MonkeyPatch) -> _Lambda:
    """The limits of the account."""
    found, real = _Lambda(), deploy._client

    def client(session: Any, service: str) -> Any:
        return found.client() if service == "lambda" else real(session, service)

    monkeypatch.setattr(deploy, "_client", client)
    return found


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A folder with the committed samconfig.toml."""
    shutil.copy(PATH.with_name("samconfig.toml"), tmp_path)
    return tmp_path


@pytest.fixture
def run(
    directory: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Run `python -m tools.deploy` in the folder; return exit code and standard error."""
    monkeypatch.setattr(deploy.prepare, "__defaults__", (directory,))

    def run(*arguments: str) -> tuple[int, str]:
        code = deploy.main(arguments)
        return code, capsys.readouterr().err

    return run


def saved(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((directory / "samconfig.toml").read_text())["prod"]
    return found


@each_case(
    ("given", "sentence"),
    [
        (
            {"DomainName": "Example.com"},
            "DomainName: Example.com must be a host name in lower case",
        ),
        ({"DomainName": "*.example.com"}, "DomainName: *.example.com must be a host name"),
        ({"DomainName": "example.com"}, "DomainName requires CertificateArn. Enter the ARN"),
        (
            {"DefaultAddress": "false"},
            "DefaultAddress=false requires DomainName. Without a domain, the API would have no",
        ),
        ({"CertificateArn": "cert"}, "CertificateArn: cert must be empty or the ARN of a certif"),
        (
            {"CertificateArn": CERTIFICATE.replace(REGION, "us-east-1")},
            "is in us-east-1, the stack in eu-west-1; use one of eu-west-1",
        ),
        ({"AlarmTopicArn": "me@example.com"}, "AlarmTopicArn: me@example.com must be empty or"),
        (
            {"AlarmTopicArn": "arn:aws:sns:us-east-1:123456789012:alarms"},
            "AlarmTopicArn: arn:aws:sns:us-east-1:123456789012:alarms is in us-east-1",
        ),
        ({"Runtime": "python3.12"}, "Runtime: python3.12 must be one of python3.13."),
        ({"Architecture": "arm"}, "Architecture: arm must be one of arm64, x86_64."),
        ({"WebhookRetryDelays": "5,10"}, "WebhookRetryDelays: 5,10 must be seconds with commas"),
        ({"WebhookRetryDelays": "0, 10"}, "WebhookRetryDelays: 0, 10 must be seconds with commas"),
        ({"WebhookRetryDelays": ",".join("0" * 40)}, "in at most 40 characters"),
        ({"WebhookConcurrency": "1"}, "WebhookConcurrency: 1 must be a whole number from 2 to"),
        ({"LogRetentionDays": "31"}, "LogRetentionDays: 31 must be one of 1, 3, 5"),
        (
            {"RequestRateLimit": ""},
            "RequestRateLimit: empty must be a whole number from 1 to 10000",
        ),
        ({"DocsBase": "docs.example.com"}, "DocsBase: docs.example.com must be a URL"),
        ({"UpgradeUrl": ""}, "UpgradeUrl: empty must be a URL"),
        ({"WebAcl": "yes"}, "WebAcl: yes must be empty, managed, or the ARN"),
        ({"DeploymentStrategy": "Canary"}, "DeploymentStrategy: Canary must be one of AllAtOnce"),
        ({"DomainNam": "example.com"}, "DomainNam: there is no such parameter; did you mean Dom"),
        (
            {"Colour": "red"},
            "Colour: there is no such parameter; docs/operating/deploy.md lists all.",
        ),
    ],
)
def test_an_impossible_parameter_gets_one_sentence(given: dict[str, str], sentence: str) -> None:
    (problem,) = problems(TEMPLATE, DEFAULTS | given, REGION)
    assert sentence in problem
    assert problem.endswith((".", "?"))


def test_defaults_have_no_problems() -> None:
    assert problems(TEMPLATE, DEFAULTS, REGION) == []


def test_every_text_parameter_says_what_it_accepts() -> None:
    for name, declared in Template({}).parameters().items():
        if declared["Type"] == "String" and "AllowedValues" not in declared:
            assert {"AllowedPattern", "ConstraintDescription"} <= declared.keys(), name
        if declared["Type"] == "Number" and "AllowedValues" not in declared:
            assert {"MinValue", "MaxValue"} <= declared.keys(), name
        assert declared["Description"].endswith("."), name


def test_overrides_are_read_as_they_are_written() -> None:
    values = DEFAULTS | {"DomainName": "example.com"}
    assert parse_overrides(format_overrides(values)) == values


def test_valid_answers_are_kept_for_sam(run: Any, directory: Path) -> None:
    code, _ = run(
        "--yes", "--stack", "stowage-prod", "--region", REGION, "--parameters", "LogLevel=DEBUG"
    )
    assert code == 0
    kept = saved(directory)
    assert kept["global"]["parameters"] == {"stack_name": "stowage-prod", "region": REGION}
    parameters = kept["deploy"]["parameters"]
    assert parse_overrides(parameters["parameter_overrides"]) == DEFAULTS | {"LogLevel": "DEBUG"}
    assert parameters["tags"] == "service=stowage stack=stowage-prod"
    assert parameters["resolve_s3"]


def test_the_default_of_the_pages_is_explained(run: Any) -> None:
    arguments = ("--yes", "--region", REGION)
    code, err = run(*arguments)
    assert code == 0
    assert "Warning: DocsBase: nothing is published at its default" in err
    _, err = run(*arguments, "--parameters", _PAGES)
    assert "DocsBase" not in err


def _switch_on_logs_of_the_gateway() -> None:
    role = boto3.client("iam").create_role(RoleName="logs", AssumeRolePolicyDocument="{}")
    change: Any = {"op": "replace", "path": "/cloudwatchRoleArn", "value": role["Role"]["Arn"]}
    boto3.client("apigateway", REGION).update_account(patchOperations=[change])


def test_access_logs_need_the_role_of_the_account(run: Any) -> None:
    arguments = ("--yes", "--region", REGION, "--parameters", "AccessLogs=true")
    code, err = run(*arguments)
    assert code == 1
    assert "AccessLogs: API Gateway has no role for logs in this account and Region" in err
    _switch_on_logs_of_the_gateway()
    assert run(*arguments)[0] == 0


PRODUCTION = read_profile("production")


def test_the_profile_of_production_is_applied(run: Any, directory: Path) -> None:
    """It takes the place of what was kept, and `PARAMETERS` that of the profile."""
    _switch_on_logs_of_the_gateway()
    topic = boto3.client("sns", REGION).create_topic(Name="alarms")["TopicArn"]
    assert run("--yes", "--region", REGION, "--parameters", "LogRetentionDays=7")[0] == 0
    arguments = ("--yes", "--region", REGION, "--profile", "production")
    code, err = run(*arguments)
    assert code == 1
    assert err.startswith("AlarmTopicArn: the profile production requires a value of your own.")
    given = {"AlarmTopicArn": topic, "WebAcl": ""}
    code, _ = run(*arguments, "--parameters", format_overrides(given))
    assert code == 0
    kept = parse_overrides(saved(directory)["deploy"]["parameters"]["parameter_overrides"])
    assert kept == DEFAULTS | PRODUCTION.parameters | given


def test_the_values_of_the_profile_are_valid() -> None:
    assert PRODUCTION.required
    assert {*PRODUCTION.required, *PRODUCTION.parameters} <= DEFAULTS.keys()
    assert problems(TEMPLATE, DEFAULTS | PRODUCTION.parameters, REGION) == []
    assert {type(value) for value in PRODUCTION.parameters.values()} == {str}


def test_the_page_shows_the_profile() -> None:
    page = (PATH.parent / "docs/operating/deploy.md").read_text(encoding="utf-8")
    section = page.partition("## The profile of production\n")[2].partition("\n## ")[0]
    shown = dict(re.findall(r"^\| `(\w+)` \| `?(\w+)`? \|", section, re.MULTILINE))
    assert shown == {**dict.fromkeys(PRODUCTION.required, "required"), **PRODUCTION.parameters}


_PROTECTS: dict[str, set[str]] = {
    "AccessLogs": {"false"}, "AlarmTopicArn": {""}, "AuthorizerConcurrency": {"0"},
    "Dashboard": {"false"}, "DeploymentStrategy": {"AllAtOnce"}, "FallbackConcurrency": {"0"},
    "LogLevel": {"WARNING", "ERROR", "DEBUG"}, "LogRetentionDays": {"1", "3", "5", "7", "14"},
    "TableUnits": {"0"}, "Tracing": {"off"}, "WebAcl": {""}, "WebhookLocalhost": {"true"},
}  # fmt: skip
"""Parameter that protects a deployment or shows what happened → values that switch it off."""
_NOT_SWITCHES = {
    # The address and the account of an organization
    "Canary", "CertificateArn", "DefaultAddress", "DocsBase", "DomainName", "PermissionsBoundary",
    "UpgradeUrl",
    # Limits that are never off, and how functions run
    "Architecture", "RequestBurstLimit", "RequestRateLimit", "Runtime", "SnapStart",
    "TokenBurstLimit", "TokenRateLimit", "WebhookConcurrency", "WebhookRetryDelays",
}  # fmt: skip


def test_the_profile_leaves_no_protection_off() -> None:
    """A new parameter belongs to one of the two groups."""
    assert _PROTECTS.keys() | _NOT_SWITCHES == DEFAULTS.keys()
    assert not _PROTECTS.keys() & _NOT_SWITCHES
    assert {*PRODUCTION.parameters, *PRODUCTION.required} == _PROTECTS.keys()
    for name, value in PRODUCTION.parameters.items():
        assert value not in _PROTECTS[name], name


def test_the_next_run_starts_with_the_kept_answers(run: Any, directory: Path) -> None:
    run("--yes", "--region", REGION, "--parameters", "LogLevel=DEBUG")
    code, _ = run("--yes")
    assert code == 0
    assert 'LogLevel="DEBUG"' in saved(directory)["deploy"]["parameters"]["parameter_overrides"]


def test_everything_that_is_wrong_in_the_answers_of_a_script_is_named_at_once(run: Any) -> None:
    """The rules of `DomainName` are not applied, since its value is wrong."""
    given = "LogLevel Log=1 Runtime=x DomainName=A DefaultAddress=false"
    code, err = run("--yes", "--stack", "my_stack", "--parameters", given)
    assert code == 1
    assert [line.partition(";")[0].partition(" must")[0] for line in err.splitlines()] == [
        "Stack name: my_stack has 8 characters",
        "There is no Region",
        "PARAMETERS: LogLevel is not NAME=VALUE.",
        "Log: there is no such parameter",
        "DomainName: A",
        "Runtime: x",
        "Nothing was deployed.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--yes"], "There is no Region; set REGION=, AWS_REGION or that of the AWS profile."),
        (["--yes", "--region", REGION, "--stack", "x" * 25], "has 25 characters; use 1 to 24"),
        (["--yes", "--region", "eu west"], "Region: eu west must be the name of a Region, such"),
        (["--region", REGION], "There is no terminal to ask for the parameters; use `make deploy"),
    ],
)
def test_a_refused_run_changes_nothing(
    arguments: list[str], sentence: str, run: Any, directory: Path
) -> None:
    code, err = run(*arguments)
    assert code == 1
    assert sentence in err
    assert err.endswith("\nNothing was deployed.\n")
    assert (directory / "samconfig.toml").read_bytes() == PATH.with_name(
        "samconfig.toml"
    ).read_bytes()


def test_missing_credentials_say_how_to_sign_in(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def client(*_: Any, **__: Any) -> Any:
        raise NoCredentialsError

    monkeypatch.setattr(deploy, "_client", client)
    code, err = run("--yes", "--region", REGION)
    assert (code, err.splitlines()[0]) == (
        1,
        (
            "There are no AWS credentials: sign in with `aws sso login`, or set AWS_PROFILE or"
            " AWS_ACCESS_KEY_ID."
        ),
    )


def test_an_unknown_profile_says_how_to_sign_in(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    code, err = run("--yes", "--region", REGION)
    assert code == 1
    assert "nobody" in err
    assert "aws sso login" in err


def _foreign_stack(name: str, *outputs: str) -> Any:
    listed = ", ".join(f'"{each}": {{"Value": "x"}}' for each in outputs)
    boto3.client("cloudformation", REGION).create_stack(
        StackName=name,
        TemplateBody='{"Resources": {"Q": {"Type": "AWS::SQS::Queue"}}, "Outputs": {%s}}' % listed,  # noqa: UP031
    )
    stacks = get_backend("cloudformation")[DEFAULT_ACCOUNT_ID][REGION].stacks
    return next(one for one in stacks.values() if one.name == name)


def test_a_stack_of_something_else_is_not_replaced(run: Any) -> None:
    _foreign_stack("billing", "QueueUrl")
    code, err = run("--yes", "--region", REGION, "--stack", "billing")
    assert code == 1
    assert "Stack billing: it exists and is no deployment of Stowage; choose another name" in err


def _deployment_in_another_region(stack: str) -> None:
    for role in (f"{stack}-TenantDataRole-1A2B3C4D5E6F", "shop-tasks-TaskRole-1A2B3C4D5E6F"):
        boto3.client("iam").create_role(RoleName=role, AssumeRolePolicyDocument="{}")


@pytest.mark.parametrize(("name", "other"), [("shop", "shop"), ("shop", "shopping"), ("b", "a-b")])
def test_other_names_of_deployments_are_accepted(name: str, other: str, run: Any) -> None:
    _deployment_in_another_region(other)
    code, err = run("--yes", "--region", REGION, "--stack", name, "--parameters", _PAGES)
    assert (code, "begin alike" in err) == (0, False)


@pytest.mark.parametrize(
    ("name", "other"), [("shop", "shop-eu"), ("shop-eu", "shop"), ("a-b-c", "a")]
)
def test_a_name_that_begins_with_that_of_another_deployment_is_refused(
    name: str, other: str, run: Any
) -> None:
    """Policies name roles by the stack name, a hyphen and a wildcard."""
    _deployment_in_another_region(other)
    arguments = ("--yes", "--region", REGION, "--stack", name, "--parameters", _PAGES)
    code, err = run(*arguments)
    assert code == 1
    assert f"Stack name: {name} and {other}, another deployment of the account, begin alike" in err
    _foreign_stack(name, "ControlTable", "ApiId")  # its name cannot be changed any more
    code, err = run(*arguments)
    assert code == 0
    assert f"Warning: Stack name: {name} and {other}" in err


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("CREATE_COMPLETE", None),
        ("UPDATE_ROLLBACK_COMPLETE", None),
        ("REVIEW_IN_PROGRESS", None),
        ("UPDATE_IN_PROGRESS", "it is UPDATE_IN_PROGRESS; wait until that has ended."),
        (
            "ROLLBACK_COMPLETE",
            'delete it as docs/operating/deploy.md describes in "When the first depl',
        ),
        ("UPDATE_ROLLBACK_FAILED", "then run `aws cloudformation continue-update-rollback"),
    ],
)
def test_the_state_of_the_stack_is_checked(status: str, sentence: str | None, run: Any) -> None:
    _foreign_stack("stowage", "ControlTable", "ApiId").status = status
    code, err = run("--yes", "--region", REGION)
    assert code == (1 if sentence else 0)
    assert (sentence or "") in err


def _certificate(domain: str) -> str:
    arn: str = boto3.client("acm", REGION).request_certificate(DomainName=domain)["CertificateArn"]
    return arn


def test_a_certificate_must_exist_and_cover_the_domain(run: Any) -> None:
    missing = f"DomainName=example.com CertificateArn={CERTIFICATE}"
    code, err = run("--yes", "--region", REGION, "--parameters", missing)
    assert code == 1
    assert err.startswith("CertificateArn: ")
    other = f"DomainName=example.com CertificateArn={_certificate('example.com')}"
    code, err = run("--yes", "--region", REGION, "--parameters", other)
    assert code == 1
    assert "it is for example.com, not for *.example.com." in err


def test_a_topic_must_exist(run: Any) -> None:
    arn = f"arn:aws:sns:{REGION}:{DEFAULT_ACCOUNT_ID}:alarms"
    code, err = run("--yes", "--region", REGION, "--parameters", f"AlarmTopicArn={arn}")
    assert code == 1
    assert err.startswith("AlarmTopicArn: ")
    boto3.client("sns", REGION).create_topic(Name="alarms")
    code, _ = run("--yes", "--region", REGION, "--parameters", f"AlarmTopicArn={arn}")
    assert code == 0


def _topic(key: str) -> str:
    created = boto3.client("sns", REGION).create_topic(
        Name="alarms", Attributes={"KmsMasterKeyId": key}
    )
    return f"AlarmTopicArn={created['TopicArn']}"


def _key(*statements: dict[str, Any]) -> str:
    policy = {"Version": "2012-10-17", "Statement": list(statements)}
    created = boto3.client("kms", REGION).create_key(Policy=json.dumps(policy))
    key: str = created["KeyMetadata"]["KeyId"]
    return key


_ACCOUNT = {
    "Effect": "Allow",
    "Principal": {"AWS": f"arn:aws:iam::{DEFAULT_ACCOUNT_ID}:root"},
    "Action": "kms:*",
    "Resource": "*",
}
_ALARMS = {
    "Effect": "Allow",
    "Principal": {"Service": "cloudwatch.amazonaws.com"},
    "Action": ["kms:Decrypt", "kms:GenerateDataKey*"],
    "Resource": "*",
}


_SEVERAL = {"Service": ["events.amazonaws.com", "cloudwatch.amazonaws.com"]}


@pytest.mark.parametrize(
    ("statements", "code"),
    [
        ([_ACCOUNT, _ALARMS], 0),
        ([{**_ALARMS, "Principal": _SEVERAL}], 0),
        ([{**_ALARMS, "Action": "kms:*"}], 0),
        ([_ACCOUNT], 1),
        ([{**_ALARMS, "Action": "kms:Decrypt"}], 1),
        ([{**_ALARMS, "Principal": {"Service": "events.amazonaws.com"}}], 1),
        ([_ACCOUNT, {**_ALARMS, "Effect": "Deny"}], 1),
        (None, 1),
    ],
)
def test_the_key_of_a_topic_must_admit_alarms(statements: Any, code: int, run: Any) -> None:
    """The key of SNS itself, which has no statements here, never does."""
    topic = _topic(_key(*statements) if statements else "alias/aws/sns")
    found, err = run("--yes", "--region", REGION, "--parameters", f"{topic} {_PAGES}")
    assert found == code
    assert ("CloudWatch may not use the key" in err) == bool(code)
    assert code or err == ""


def test_a_key_that_cannot_be_read_is_a_warning(run: Any) -> None:
    code, err = run("--yes", "--region", REGION, "--parameters", _topic("alias/elsewhere"))
    assert code == 0
    assert "Warning: AlarmTopicArn: the topic is encrypted with alias/elsewhere, which" in err


def test_a_deployment_without_a_topic_warns(run: Any) -> None:
    code, err = run("--yes", "--region", REGION, "--parameters", _PAGES)
    assert code == 0
    assert err == "Warning: AlarmTopicArn is empty: nobody is notified of an alarm.\n"


@pytest.mark.parametrize("limit", [10, 999, 1_000])
def test_few_concurrent_executions_are_a_warning(limit: int, run: Any, functions: _Lambda) -> None:
    functions.limits = dict.fromkeys(functions.limits, limit)
    code, err = run("--yes", "--region", REGION)
    assert code == 0
    assert (f"Lambda runs at most {limit} concurrent executions" in err) == (limit < 1_000)


@pytest.mark.parametrize(
    ("unreserved", "reservations", "code"),
    [(1_000, (880, 20), 0), (1_000, (881, 20), 1), (10, (0, 0), 0), (100, (0, 1), 1)],
)
def test_reservations_leave_a_hundred_executions(
    unreserved: int, reservations: tuple[int, int], code: int, run: Any, functions: _Lambda
) -> None:
    functions.limits["UnreservedConcurrentExecutions"] = unreserved
    given = "AuthorizerConcurrency={} FallbackConcurrency={}".format(*reservations)
    found, err = run("--yes", "--region", REGION, "--parameters", given)
    assert found == code
    assert (f"reserve at most {unreserved - 100}." in err) == bool(code)


def test_reservations_of_the_deployed_stack_are_given_back(functions: _Lambda) -> None:
    functions.limits["UnreservedConcurrentExecutions"] = 900
    deployed = {
        "Parameters": [
            {"ParameterKey": "AuthorizerConcurrency", "ParameterValue": "100"},
            {"ParameterKey": "LogLevel", "ParameterValue": "INFO"},
        ]
    }
    reserved = deploy_account.reserved_by(deployed)
    assert reserved == 100
    wanted = DEFAULTS | {"AuthorizerConcurrency": "900"}
    found = deploy_account.concurrency_problems(functions.client(), wanted, reserved)
    assert list(found) == []


def test_a_wrong_answer_is_asked_for_again(directory: Path) -> None:
    answers = deploy.Answers(directory)
    answers.parameters = dict(DEFAULTS)

    @click.command()
    def command() -> None:
        deploy.ask(TEMPLATE, answers)

    names = [
        name
        for group in TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
        for name in group["Parameters"]
    ]
    typed = ["my_stack", "prod", "mars", REGION]
    typed += [
        text for name in names for text in (["Debug", "DEBUG"] if name == "LogLevel" else [""])
    ]
    done = CliRunner().invoke(command, input="\n".join([*typed, ""]))
    assert done.exit_code == 0, done.output
    assert "Stack name: my_stack has 8 characters" in done.output
    assert "Region: mars is none of" in done.output
    assert "LogLevel: Debug must be one of DEBUG, INFO, WARNING, ERROR." in done.output
    assert (answers.stack, answers.region) == ("prod", REGION)
    assert answers.parameters == DEFAULTS | {"LogLevel": "DEBUG"}
    assert set(names) == set(DEFAULTS), "every parameter is asked for"
    for declared in TEMPLATE["Parameters"].values():
        assert declared["Description"] in done.output


def test_a_hyphen_empties_an_answer() -> None:
    @click.command()
    def command() -> None:
        click.echo(f"<{deploy._prompt('Topic', 'old', lambda _: None)}>")

    assert "<>" in CliRunner().invoke(command, input="-\n").output
    assert "<old>" in CliRunner().invoke(command, input="\n").output
