"""Gradual deployments: CodeDeploy moves the aliases in steps, and alarms stop a broken release."""

import pytest
from samtranslator.model.preferences.deployment_preference_collection import (
    CODEDEPLOY_PREDEFINED_CONFIGURATIONS_LIST,
)

from tests.cases import each_case
from tests.deployment_alarms import alarm_of, evaluated, metrics_of
from tests.expanded_template import expanded, expanded_of
from tests.sampling import sampled
from tests.template import Template

TEMPLATE = Template({})
AT_ONCE = {
    "CanaryFunction", "ConsoleFunction", "ExpiredStockFunction", "FallbackFunction",
    "ReferenceFunction",
}  # fmt: skip
"""They gain nothing from steps: the canary and the hourly run of expired goods serve nobody, the
others give one kind of answer. With steps, the page of one version of the console would ask the
other version for its files."""
FUNCTIONS = sorted(TEMPLATE.resources("AWS::Serverless::Function").keys() - AT_ONCE)
STRATEGIES = TEMPLATE.parameter("DeploymentStrategy")["AllowedValues"]
GRADUAL = [name for name in STRATEGIES if name != "AllAtOnce"]
BEHIND_API = sorted({event.function for event in TEMPLATE.events()} - AT_ONCE)
FIRST_STEP_SECONDS = 5 * 60
"""The shortest time for which a canary serves a part of the requests."""


def test_all_at_once_needs_no_codedeploy() -> None:
    assert TEMPLATE.parameter("DeploymentStrategy")["Default"] == "AllAtOnce"
    assert not [one for one in expanded().values() if one["Type"].startswith("AWS::CodeDeploy")]
    for alias in expanded_of("AWS::Lambda::Alias").values():
        assert "UpdatePolicy" not in alias


def test_strategies_are_configurations_of_codedeploy() -> None:
    assert sorted(STRATEGIES) == sorted(CODEDEPLOY_PREDEFINED_CONFIGURATIONS_LIST)


@pytest.mark.parametrize("strategy", sampled("strategies", GRADUAL, every=4))
def test_every_alias_moves_in_the_chosen_steps(strategy: str) -> None:
    resources = expanded(DeploymentStrategy=strategy)
    groups = expanded_of("AWS::CodeDeploy::DeploymentGroup", DeploymentStrategy=strategy)
    assert groups.keys() == {f"{name}DeploymentGroup" for name in FUNCTIONS}
    for name in FUNCTIONS:
        group = groups[f"{name}DeploymentGroup"]["Properties"]
        assert group["DeploymentConfigName"]["Fn::Sub"][1] == {"ConfigName": strategy}
        policy = resources[f"{name}Aliaslive"]["UpdatePolicy"]["CodeDeployLambdaAliasUpdate"]
        assert policy["DeploymentGroupName"] == {"Ref": f"{name}DeploymentGroup"}


def test_functions_move_in_two_groups() -> None:
    """All calls of Lambda that change something share 15 requests per second."""
    resources = expanded(DeploymentStrategy=GRADUAL[0])
    waits_for = {name: set(resources[name].get("DependsOn", ())) for name in FUNCTIONS}
    first = [name for name in FUNCTIONS if not waits_for[name]]
    second = [name for name in FUNCTIONS if waits_for[name]]
    assert (len(first), len(second)) == (8, 11)
    assert "AuthorizerFunction" in first, "requests pass it before every other function"
    for name in second:
        assert waits_for[name] == {f"{one}Aliaslive" for one in first}, name


def test_every_deployment_goes_back_on_the_alarm_of_its_function_and_of_the_api() -> None:
    groups = expanded_of("AWS::CodeDeploy::DeploymentGroup", DeploymentStrategy=GRADUAL[0])
    for name in FUNCTIONS:
        group = groups[f"{name}DeploymentGroup"]["Properties"]
        own = f"{name.removesuffix('Function')}DeploymentAlarm"
        named = [one["Name"]["Ref"] for one in group["AlarmConfiguration"]["Alarms"]]
        assert named == ["ApiFailuresAlarm", own]
        assert group["AlarmConfiguration"]["Enabled"]
        rollback = group["AutoRollbackConfiguration"]
        assert rollback["Enabled"]
        assert {"DEPLOYMENT_FAILURE", "DEPLOYMENT_STOP_ON_ALARM"} <= set(rollback["Events"])


def test_a_gradual_deployment_changes_no_address() -> None:
    for kind in (
        "AWS::ApiGateway::RestApi",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Version",
    ):
        assert expanded_of(kind, DeploymentStrategy=GRADUAL[0]) == expanded_of(kind)


def test_alarms_and_role_exist_only_for_gradual_deployments() -> None:
    """An alarm costs, and the emulator of the local stack has no CodeDeploy."""
    conditional = {
        name for name, one in expanded().items() if one.get("Condition") == "DeploysGradually"
    }
    alarms = {f"{name.removesuffix('Function')}DeploymentAlarm" for name in FUNCTIONS}
    assert conditional == {"DeploymentRole", *alarms}


def test_alarms_of_deployments_notify_nobody() -> None:
    """The failed update says it; between updates `ApiFailuresAlarm` reports failures."""
    for name in FUNCTIONS:
        assert "AlarmActions" not in alarm_of(name)


def test_the_role_may_move_aliases_of_this_stack_only() -> None:
    resources = expanded(DeploymentStrategy=GRADUAL[0])
    assert "CodeDeployServiceRole" not in resources
    (policy,) = resources["DeploymentRole"]["Properties"]["Policies"]
    allowed = {each["Sid"]: each for each in policy["PolicyDocument"]["Statement"]}
    assert "${AWS::StackName}-*" in allowed["MoveAliases"]["Resource"]["Fn::Sub"]
    assert allowed["ReadAlarms"]["Action"] == "cloudwatch:DescribeAlarms"
    assert len(allowed) == 2


@each_case("function", FUNCTIONS)
def test_an_alarm_measures_its_function_behind_the_alias(function: str) -> None:
    alias = {"FunctionName": {"Ref": function}, "Resource": {"Fn::Sub": f"${{{function}}}:live"}}
    metrics = metrics_of(function)
    answers = metrics.pop("answers_5xx", None)
    refused = metrics.pop("unauthorized", None)
    for metric in metrics.values():
        assert {one["Name"]: one["Value"] for one in metric["Dimensions"]} == alias
    assert (answers is not None) == (function in BEHIND_API)
    assert (refused is not None) == (function == "AuthorizerFunction")
    for metric in filter(None, (answers, refused)):
        assert {one["Name"]: one["Value"] for one in metric["Dimensions"]} == {
            "service": "stowage",
            "function": {"Ref": function},
        }


@each_case("function", FUNCTIONS)
def test_an_alarm_is_raised_while_a_canary_still_serves(function: str) -> None:
    alarm = alarm_of(function)
    periods = {metric["Period"] for metric in metrics_of(function).values()}
    assert periods == {60}
    assert alarm["DatapointsToAlarm"] * 60 <= FIRST_STEP_SECONDS / 2
    assert alarm["EvaluationPeriods"] > alarm["DatapointsToAlarm"], "one good minute in between"
    assert alarm["TreatMissingData"] == "notBreaching"


@each_case("function", FUNCTIONS)
def test_a_release_that_crashes_behind_a_canary_raises_the_alarm(function: str) -> None:
    healthy: dict[str, float | None] = {"invocations": 200, "errors": 0, "p95": 300}
    nothing: dict[str, float | None] = {"answers_5xx": None, "unauthorized": None}
    assert evaluated(function, **healthy, **nothing) == 0
    assert evaluated(function, **healthy | {"errors": 1}, **nothing) == 0
    assert evaluated(function, **healthy | {"errors": 20}, **nothing) == 1


@each_case("function", BEHIND_API)
def test_a_release_that_answers_5xx_or_is_slow_raises_the_alarm(function: str) -> None:
    healthy: dict[str, float | None] = {"invocations": 200, "errors": 0, "p95": 300}
    assert evaluated(function, **healthy, answers_5xx=2) == 0
    assert evaluated(function, **healthy, answers_5xx=20) == 1
    timeout = expanded()[function]["Properties"]["Timeout"]
    assert evaluated(function, **healthy | {"p95": timeout * 1000}, answers_5xx=0) == 1
