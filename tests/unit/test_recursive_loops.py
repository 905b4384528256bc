"""Lambda's detection of recursive loops: which functions it must not stop, and the alarms."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.template import Template

TEMPLATE = Template({})
FUNCTIONS = TEMPLATE.resources("AWS::Serverless::Function")
ROLES = TEMPLATE.resources("AWS::IAM::Role")


def consumed_queues(function: Mapping[str, Any]) -> set[str]:
    return {
        event["Properties"]["Queue"]["Fn::GetAtt"]
        for event in function.get("Events", {}).values()
        if event["Type"] == "SQS"
    }


def queues_sent_to(name: str) -> set[str]:
    """Return the ARNs of the queues to which the function's own role may send."""
    return {
        resource["Fn::GetAtt"]
        for policy in ROLES.get(f"{name}Role", {"Policies": []})["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "sqs:SendMessage" in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


CONSUMERS = [name for name, function in FUNCTIONS.items() if consumed_queues(function)]


def test_detection_is_off_for_exactly_the_functions_that_send_to_their_own_queues() -> None:
    recursive = {
        name for name in CONSUMERS if consumed_queues(FUNCTIONS[name]) & queues_sent_to(name)
    }
    assert recursive == {"ImportWorkerFunction", "WebhookWorkerFunction"}
    assert recursive == {
        name for name, function in FUNCTIONS.items() if function.get("RecursiveLoop") == "Allow"
    }


@pytest.mark.parametrize("name", CONSUMERS)
def test_an_alarm_reports_stopped_invocations_of_each_queue_consumer(name: str) -> None:
    (alarm,) = (
        alarm
        for alarm in TEMPLATE.operator_alarms().values()
        if alarm["MetricName"] == "RecursiveInvocationsDropped"
        and alarm["Dimensions"] == [{"Name": "FunctionName", "Value": {"Ref": name}}]
    )
    assert alarm["Namespace"] == "AWS/Lambda"
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Sum", 0)
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"


def test_schedules_send_to_the_queues_of_deliveries_only() -> None:
    role = ROLES["WebhookScheduleRole"]
    (policy,) = role["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "sqs:SendMessage"
    assert {resource["Fn::GetAtt"] for resource in statement["Resource"]} == {
        "WebhookQueue.Arn",
        "WebhookSlowQueue.Arn",
    }
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    # Without these conditions, schedules of other accounts could use the role.
    assert trust["Condition"]["StringEquals"] == {
        "aws:SourceAccount": {"Ref": "AWS::AccountId"},
        "aws:SourceArn": {"Fn::GetAtt": "WebhookSchedules.Arn"},
    }


def test_only_the_webhook_worker_creates_schedules() -> None:
    creators = {
        name
        for name, role in ROLES.items()
        for policy in role.get("Policies", ())
        for statement in policy["PolicyDocument"]["Statement"]
        if {"scheduler:CreateSchedule", "iam:PassRole"} & set(_listed(statement["Action"]))
    }
    assert creators == {"WebhookWorkerFunctionRole"}
