"""Check what the account of a deployment must offer: a name, executions, and the alarm topic.

A problem prevents the deployment. A warning is printed, and the deployment goes on.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from json import loads
from typing import Any

from botocore.exceptions import ClientError

ENOUGH_EXECUTIONS = 1_000
"""Concurrent executions of an account before its first tenants (docs/operating/scale.md)."""
UNRESERVED_EXECUTIONS = 100
"""Executions that Lambda keeps for functions without a reservation."""
RESERVATIONS = ("AuthorizerConcurrency", "FallbackConcurrency")
"""Parameters that reserve concurrent executions."""

_DATA_ROLE = re.compile(r"(.+)-TenantDataRole-\w+")
"""A role that every deployment has."""

_NEEDED_OF_A_KEY = ("kms:Decrypt", "kms:GenerateDataKey")
"""What CloudWatch needs of the key of an encrypted topic."""
_KEY_OF_SNS = "alias/aws/sns"
"""The key of SNS itself, whose policy admits no alarms and cannot be changed."""


@dataclass(frozen=True, slots=True)
class Warned:
    """What needs attention or could not be checked; problems are plain sentences."""

    sentence: str


def reserved_by(stack: Mapping[str, Any] | None) -> int:
    """Return the executions that a deployed stack has reserved; 0 without one."""
    deployed = (stack or {}).get("Parameters", ())
    return sum(
        int(one["ParameterValue"]) for one in deployed if one["ParameterKey"] in RESERVATIONS
    )


def concurrency_problems(
    lambda_client: Any, parameters: Mapping[str, str], reserved: int
) -> Iterator[str | Warned]:
    """Yield problems, and as `Warned` warnings, of the concurrent executions of an account.

    Args:
        lambda_client: The client of the Region.
        parameters: All parameters of the stack.
        reserved: The executions that the stack has reserved so far.
    """
    try:
        limits = lambda_client.get_account_settings()["AccountLimit"]
    except ClientError as error:
        yield Warned(f"The limits of Lambda cannot be read: {error.response['Error']['Message']}.")
        return
    limit, unreserved = limits["ConcurrentExecutions"], limits["UnreservedConcurrentExecutions"]
    if limit < ENOUGH_EXECUTIONS:
        yield Warned(
            f"Lambda runs at most {limit} concurrent executions in this account and Region; ask for"
            f" {ENOUGH_EXECUTIONS} or more (Service Quotas, Lambda, Concurrent executions) before"
            " the first tenants."
        )
    wanted = sum(int(parameters[name]) for name in RESERVATIONS)
    left = unreserved + reserved - wanted
    if wanted and left < UNRESERVED_EXECUTIONS:
        yield (
            f"{' and '.join(RESERVATIONS)}: {wanted} reserved executions would leave {left} of"
            f" {limit}, and Lambda keeps {UNRESERVED_EXECUTIONS} unreserved; reserve at most"
            f" {max(0, unreserved + reserved - UNRESERVED_EXECUTIONS)}."
        )


def name_problems(iam: Any, stack: str, *, exists: bool) -> Iterator[str | Warned]:
    """Yield problems, and as `Warned` warnings, of names that begin with one another.

    The policies of a stack name roles and functions by `STACK-*`, and IAM has one name space for
    all Regions. The roles show which deployments the account has.

    Args:
        iam: The client.
        stack: The name of the stack.
        exists: Whether the stack is deployed; its name cannot be changed then.
    """
    try:
        pages = iam.get_paginator("list_roles").paginate()
        names = [role["RoleName"] for page in pages for role in page["Roles"]]
    except ClientError as error:
        yield Warned(f"The roles cannot be listed: {error.response['Error']['Message']}.")
        return
    for other in sorted({found[1] for name in names if (found := _DATA_ROLE.fullmatch(name))}):
        if stack.startswith(f"{other}-") or other.startswith(f"{stack}-"):
            sentence = (
                f"Stack name: {stack} and {other}, another deployment of the account, begin alike;"
                " policies of one would name roles and functions of the other. Choose a name that"
                " does not begin with the other and a hyphen."
            )
            yield Warned(sentence) if exists else sentence


def access_log_problems(apigateway: Any, parameters: Mapping[str, str]) -> Iterator[str | Warned]:
    """Yield problems, and as `Warned` warnings, of the access logs of API Gateway.

    Args:
        apigateway: The client of the Region.
        parameters: All parameters of the stack.
    """
    if parameters["AccessLogs"] != "true":
        return
    try:
        role = apigateway.get_account().get("cloudwatchRoleArn")
    except ClientError as error:
        reason = error.response["Error"]["Message"]
        yield Warned(f"The role of API Gateway for logs cannot be read: {reason}.")
        return
    if not role:
        yield (
            "AccessLogs: API Gateway has no role for logs in this account and Region; the section"
            ' "Access logs" of docs/operating/deploy.md shows the commands.'
        )


def topic_problems(sns: Any, kms: Any, arn: str) -> Iterator[str | Warned]:
    """Yield problems, and as `Warned` warnings, of the topic of the alarms.

    Args:
        sns: The client of the Region.
        kms: The client of the Region.
        arn: The topic; empty for none.
    """
    if not arn:
        yield Warned("AlarmTopicArn is empty: nobody is notified of an alarm.")
        return
    try:
        key = sns.get_topic_attributes(TopicArn=arn)["Attributes"].get("KmsMasterKeyId")
    except ClientError as error:
        yield f"AlarmTopicArn: {error.response['Error']['Message']}"
        return
    if not key:
        return
    if key.endswith(_KEY_OF_SNS):
        yield _unusable(key)
        return
    try:
        known = kms.describe_key(KeyId=key)["KeyMetadata"]
        text = kms.get_key_policy(KeyId=known["KeyId"], PolicyName="default")["Policy"]
    except ClientError as error:
        reason = error.response["Error"]["Message"]
        yield Warned(
            f"AlarmTopicArn: the topic is encrypted with {key}, which cannot be read ({reason});"
            " make sure that its policy admits cloudwatch.amazonaws.com."
        )
        return
    if known["KeyManager"] == "AWS" or not _admits_alarms(loads(text)):
        yield _unusable(key)


def _unusable(key: str) -> str:
    return (
        f"AlarmTopicArn: CloudWatch may not use the key {key} of the topic, so that alarms would"
        " notify nobody; encrypt the topic with a key of your own whose policy allows"
        f" cloudwatch.amazonaws.com {' and '.join(_NEEDED_OF_A_KEY)}*, or do not encrypt it."
    )


def _admits_alarms(policy: Mapping[str, Any]) -> bool:
    """Return whether the policy of a key allows CloudWatch what it needs."""
    granted = [
        action.lower()
        for statement in _listed(policy.get("Statement", ()))
        if statement["Effect"] == "Allow" and _is_for_alarms(statement.get("Principal", {}))
        for action in _listed(statement.get("Action", ()))
    ]
    return all(
        any(fnmatchcase(needed.lower(), pattern) for pattern in granted)
        for needed in _NEEDED_OF_A_KEY
    )


def _is_for_alarms(principal: str | Mapping[str, Any]) -> bool:
    if isinstance(principal, str):
        return principal == "*"
    return "cloudwatch.amazonaws.com" in _listed(principal.get("Service", ()))


def _listed(value: Any) -> list[Any]:
    """Return the values of an element of a policy, which may be one or a list of them."""
    return list(value) if isinstance(value, list | tuple) else [value]
