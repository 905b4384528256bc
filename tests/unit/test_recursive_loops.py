"""Lambda's detection of recursive loops: which functions it must not stop, and the alarms."""

from collections.abc import Mapping
from typing import Any

from tests.expanded_template import expanded_of, statements_of
from tests.template import Template

TEMPLATE = Template({})
CONSUMERS = ["ImportWorkerFunction", "WebhookWorkerFunction"]
"""The functions that read from a queue."""


def _role(name: str) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = expanded_of("AWS::IAM::Role")[name]["Properties"]
    return properties


def consumed_queues(name: str) -> set[str]:
    """Return the ARNs of the queues from which the function reads."""
    sources = [one["Properties"] for one in expanded_of("AWS::Lambda::EventSourceMapping").values()]
    arns = {
        ".".join(source["EventSourceArn"]["Fn::GetAtt"])
        for source in sources
        if source["FunctionName"] == {"Ref": f"{name}Aliaslive"}
    }
    return {arn for arn in arns if arn.endswith(".Arn")}  # not a stream


def queues_sent_to(name: str) -> set[str]:
    """Return the ARNs of the queues to which the function's own role may send."""
    return {
        ".".join(resource["Fn::GetAtt"])
        for statement in statements_of(_role(f"{name}Role"))
        if "sqs:SendMessage" in _listed(statement["Action"])
        for resource in _listed(statement["Resource"])
    }


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_detection_is_off_for_exactly_the_functions_that_send_to_their_own_queues() -> None:
    functions = expanded_of("AWS::Lambda::Function")
    assert {name for name in functions if consumed_queues(name)} == set(CONSUMERS)
    recursive = {name for name in functions if consumed_queues(name) & queues_sent_to(name)}
    assert recursive == {
        name for name, one in functions.items() if one["Properties"].get("RecursiveLoop") == "Allow"
    }


def test_schedules_send_to_the_queues_of_deliveries_only() -> None:
    role = _role("WebhookScheduleRole")
    (policy,) = role["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "sqs:SendMessage"
    assert {".".join(resource["Fn::GetAtt"]) for resource in statement["Resource"]} == {
        "WebhookQueue.Arn",
        "WebhookSlowQueue.Arn",
    }
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    # Without these conditions, schedules of other accounts could use the role.
    assert trust["Condition"]["StringEquals"] == {
        "aws:SourceAccount": {"Ref": "AWS::AccountId"},
        "aws:SourceArn": {"Fn::GetAtt": ["WebhookSchedules", "Arn"]},
    }


def test_only_the_webhook_worker_creates_schedules() -> None:
    creators = {
        name
        for name in expanded_of("AWS::IAM::Role")
        for statement in statements_of(_role(name))
        if {"scheduler:CreateSchedule", "iam:PassRole"} & set(_listed(statement["Action"]))
    }
    assert creators == {"WebhookWorkerFunctionRole"}
