"""The workflows of GitHub Actions, and the role with which one deploys."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from samcli.yamlhelper import yaml_parse

from cli.main import main
from tests.expanded_template import expanded_of
from tests.template import PATH, Template
from tools.deploy import VARIABLES

ROOT = PATH.parent
TEXT = (ROOT / ".github/workflows/stowage.yml").read_text(encoding="utf-8")
WORKFLOW: dict[Any, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, dict[str, Any]] = WORKFLOW["jobs"]
ROLE_TEMPLATE = yaml_parse((ROOT / "deployment/github-role.yaml").read_text(encoding="utf-8"))
ROLE = ROLE_TEMPLATE["Resources"]["Role"]["Properties"]


ALL = [path.read_text(encoding="utf-8") for path in ROOT.glob(".github/workflows/*.yml")]


def commands(jobs: dict[str, dict[str, Any]] = JOBS) -> Iterator[str]:
    for job in jobs.values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


def targets() -> set[str]:
    return set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_every_command_exists() -> None:
    for command in [one for text in ALL for one in commands(yaml.safe_load(text)["jobs"])]:
        program, *rest = command.split()
        if program == "make":
            assert rest[0] in targets(), command
        elif program.endswith("/python"):
            assert rest[:2] == ["-m", "cli"], command
            assert rest[-1] in main.commands, command
        else:
            assert os.access(ROOT / program, os.X_OK), command


def test_the_deployment_asks_nothing() -> None:
    """The names of the variables are those that the deployment reads."""
    assert {"YES", *JOBS["deploy"]["env"]} == set(VARIABLES)
    (deploy,) = [one for one in commands() if one.startswith("make deploy")]
    shown = make(*deploy.split()[1:], "--dry-run", "--always-make").stdout
    assert "--no-confirm-changeset" in shown
    assert "sam build" not in shown
    assert "sam build" in make("deploy", "YES=1", "--dry-run", "--always-make").stdout


def test_the_command_line_runs_without_its_script() -> None:
    """The job that deploys installs no package that has to be built, so that there is no script."""
    run = subprocess.run(
        [sys.executable, "-m", "cli", "smoke", "--help"], cwd=ROOT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert run.stdout.startswith("Usage: stowage smoke")


def test_the_job_with_credentials_builds_nothing() -> None:
    """Code of a build could use the right of the job to get credentials, in each of its steps."""
    package, deploy = JOBS["package"]["steps"], JOBS["deploy"]["steps"]
    assert [one["run"] for one in package if "run" in one] == ["make package"]
    assert [one["run"].split()[:2] for one in deploy if "run" in one] == [
        ["make", "setup"], ["make", "deploy"], [".venv/bin/python", "-m"],
    ]  # fmt: skip
    setup, *_, deployed, _ = deploy[1:]
    assert setup["env"].keys() == {"UV_NO_BUILD", "UV_NO_INSTALL_PROJECT"}
    assert "PACKAGED=1" in deployed["run"]
    (upload,) = [one["with"] for one in package if "upload-artifact" in one.get("uses", "")]
    (download,) = [one["with"] for one in deploy if "download-artifact" in one.get("uses", "")]
    assert (upload["name"], upload["path"]) == (download["name"], download["path"])
    assert upload["include-hidden-files"], ".aws-sam is one"
    assert download["path"] in (ROOT / "Makefile").read_text()
    with_credentials = [
        name for name, job in JOBS.items() if "id-token" in job.get("permissions", {})
    ]
    assert with_credentials == ["deploy"]


def test_all_packages_of_a_deployment_have_wheels() -> None:
    """The job that deploys builds none."""
    locked = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    assert [one["name"] for one in locked if not one.get("wheels")] == ["stowage"]


HOSTILE = "a$(shell touch {0})`touch {0}`$(touch {0})'\";touch {0};#${{HOME}} $$ \\"
"""A value that creates a file if make or a shell evaluates it."""


def make(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return subprocess.run(  # noqa: S603 - of this repository
        ["make", *arguments],  # noqa: S607 - the one of the machine
        cwd=ROOT, env=kept | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("way", ["arguments", "environment"])
def test_hostile_values_of_a_deployment_are_not_evaluated(way: str, tmp_path: Path) -> None:
    created = tmp_path / "evaluated"
    hostile = HOSTILE.format(created)
    values = dict.fromkeys((*VARIABLES, "PACKAGED"), hostile)
    given = [f"{name}={value}" for name, value in values.items()]
    for options in (["--dry-run"], []):
        if way == "arguments":
            run = make("deploy", *options, *given)
        else:
            run = make("deploy", *options, **values)
        assert not created.exists(), options
        assert hostile not in run.stdout, "a command has the value in it"
    assert run.returncode, "the name of the stack is wrong"
    assert f"Stack name: {hostile} has {len(hostile)} characters" in run.stderr
    assert f"PARAMETERS: {hostile.split()[0]} is not NAME=VALUE." in run.stderr
    assert f"PROFILE: {hostile} is none of production." in run.stderr
    assert "Nothing was deployed." in run.stderr


def test_values_of_github_reach_commands_as_variables_only() -> None:
    """Text in a command would be executed."""
    assert [command for command in commands() if "${{" in command] == []


def test_actions_are_pinned_to_commits() -> None:
    used = re.findall(r"uses: (\S+)(.*)", "".join(ALL))
    assert len(used) == 7
    for action, comment in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), "the release of the commit"


def test_only_the_deployment_may_assume_the_role() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert [name for name, job in JOBS.items() if "permissions" in job] == ["deploy"]
    assert JOBS["deploy"]["permissions"] == {"contents": "read", "id-token": "write"}
    assert "secrets." not in TEXT, "nothing is stored"


def test_only_checked_commits_of_main_are_deployed_one_after_another() -> None:
    package, deploy = JOBS["package"], JOBS["deploy"]
    assert (package["needs"], deploy["needs"]) == ("checks", "package")
    assert "github.ref == 'refs/heads/main' && github.event_name != 'pull_request'" in package["if"]
    assert "vars.STOWAGE_ROLE_ARN != ''" in package["if"], "other forks do not deploy"
    assert "if" not in deploy, "it runs if the one before has succeeded"
    assert deploy["concurrency"] == {"group": "deploy", "cancel-in-progress": False}
    assert deploy["environment"] == "production"


def test_the_smoke_test_is_last() -> None:
    *_, deploy, smoke = (step["run"] for step in JOBS["deploy"]["steps"] if "run" in step)
    assert deploy == "make deploy YES=1 PACKAGED=1"
    assert smoke.endswith(" smoke")


def test_the_role_trusts_one_environment_and_branch_of_one_repository() -> None:
    (statement,) = ROLE["AssumeRolePolicyDocument"]["Statement"]
    issuer = "token.actions.githubusercontent.com"
    assert statement["Condition"].keys() == {"StringEquals"}
    conditions = statement["Condition"]["StringEquals"]
    assert conditions.keys() == {f"{issuer}:aud", f"{issuer}:sub", f"{issuer}:ref"}
    assert conditions[f"{issuer}:aud"] == "sts.amazonaws.com"
    assert conditions[f"{issuer}:ref"] == {"Fn::Sub": "refs/heads/${Branch}"}
    defaults = {name: one.get("Default") for name, one in ROLE_TEMPLATE["Parameters"].items()}
    assert defaults["Repository"] is None
    assert defaults["Environment"] == JOBS["deploy"]["environment"]
    assert f"refs/heads/{defaults['Branch']}'" in JOBS["package"]["if"]


def subjects(**parameters: str) -> list[str]:
    """Return the subjects of tokens that the role trusts, as CloudFormation resolves them."""
    values = {"OwnerId": "", "RepositoryId": "", "Environment": "production"} | parameters
    owner, name = values["Repository"].split("/")
    split = {"Fn::Split": ["/", {"Ref": "Repository"}]}

    def filled(text: str, **more: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda found: (values | more)[found[1]], text)

    (statement,) = ROLE["AssumeRolePolicyDocument"]["Statement"]
    old, new = statement["Condition"]["StringEquals"]["token.actions.githubusercontent.com:sub"]
    condition, with_ids, without = new["Fn::If"]
    assert (condition, without) == ("HasIds", {"Ref": "AWS::NoValue"})
    text, names = with_ids["Fn::Sub"]
    assert names == {"Owner": {"Fn::Select": [0, split]}, "Name": {"Fn::Select": [1, split]}}
    found = [filled(old["Fn::Sub"])]
    return [*found, filled(text, Owner=owner, Name=name)] if values["RepositoryId"] else found


def test_the_role_trusts_the_subjects_of_old_and_new_repositories() -> None:
    old = "repo:acme/stowage-fork:environment:production"
    assert subjects(Repository="acme/stowage-fork") == [old]
    assert subjects(Repository="acme/stowage-fork", OwnerId="42", RepositoryId="1007") == [
        old,
        "repo:acme@42/stowage-fork@1007:environment:production",
    ]


def test_both_numbers_of_a_repository_are_required_together() -> None:
    """A subject with an empty number would match no token."""
    owner, repository = (
        {"Fn::Not": [{"Fn::Equals": [{"Ref": name}, ""]}]} for name in ("OwnerId", "RepositoryId")
    )
    rules = [
        (rule["RuleCondition"], assertion["Assert"])
        for rule in ROLE_TEMPLATE["Rules"].values()
        for assertion in rule["Assertions"]
    ]
    assert rules == [(owner, repository), (repository, owner)]
    assert ROLE_TEMPLATE["Conditions"]["HasIds"] == repository


@pytest.mark.parametrize("wildcard", ["owner/*", "owner/name:*", "*"])
def test_the_role_is_for_no_pattern_of_repositories(wildcard: str) -> None:
    for name in ("Repository", "OwnerId", "RepositoryId", "Environment", "Branch"):
        assert not re.fullmatch(ROLE_TEMPLATE["Parameters"][name]["AllowedPattern"], wildcard)


def test_the_slowest_strategy_ends_before_the_job_and_its_credentials() -> None:
    functions = expanded_of("AWS::Lambda::Function").values()
    groups = len({tuple(one.get("DependsOn", ())) for one in functions})
    assert groups == 2
    strategies = Template({}).parameter("DeploymentStrategy")["AllowedValues"]
    steps = (re.fullmatch(r"Linear10PercentEvery(\d+)Minutes?", name) for name in strategies)
    slowest = max(10 * int(found[1]) for found in steps if found)
    deploy = JOBS["deploy"]
    (duration,) = [
        step["with"]["role-duration-seconds"]
        for step in deploy["steps"]
        if "role-to-assume" in step.get("with", {})
    ]
    assert groups * slowest + 30 <= deploy["timeout-minutes"] <= duration / 60
    assert duration <= ROLE["MaxSessionDuration"]


def test_all_templates_are_linted() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "cfn-lint template.yaml deployment/*.yaml" in makefile
