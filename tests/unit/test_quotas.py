"""Quotas of AWS that the template must keep within (docs/operating/aws.md)."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.cases import each_case
from tests.expanded_template import expanded, expanded_of
from tests.template import PATH, Template

TEMPLATE = Template({})
FUNCTIONS = TEMPLATE.resources("AWS::Serverless::Function")
_LONGEST_NAME = "x" * 128
"""Longer than any ARN, URL or generated name that the template resolves to."""


class _LongNames(dict[str, str]):
    """Long values for every name; parameters have the longest value that they accept."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        declared = TEMPLATE.parameters().get(name, {})
        longest = max(map(str, declared.get("AllowedValues", ("",))), key=len)
        return longest or _LONGEST_NAME[: declared.get("MaxLength")]


LONG = Template(_LongNames())


def test_the_stack_is_smaller_than_cloudformation_allows() -> None:
    """500 resources, 200 parameters, 200 outputs, and 1 MB of template after the transform."""
    assert len(expanded()) <= 450
    assert len(TEMPLATE.parameters()) <= 200
    assert PATH.read_text().count("Value:") <= 200
    assert len(json.dumps(expanded(), separators=(",", ":"))) <= 900_000


def test_the_api_has_fewer_resources_than_api_gateway_allows() -> None:
    """300 per API; each part of a path is a resource."""
    (api,) = expanded_of("AWS::ApiGateway::RestApi").values()
    resources = {
        "/".join(path.split("/")[:length])
        for path in api["Properties"]["Body"]["paths"]
        for length in range(1, path.count("/") + 2)
    }
    assert len(api["Properties"]["Body"]["paths"]) < len(resources) <= 250


@each_case("name", sorted(FUNCTIONS))
def test_a_function_keeps_within_the_quotas_of_lambda(name: str) -> None:
    """Five layers, 4 KB of environment variables, 15 minutes; API Gateway waits for 29 s."""
    function = FUNCTIONS[name]
    properties = expanded_of("AWS::Lambda::Function")[name]["Properties"]
    assert len(properties.get("Layers", ())) <= 5
    variables = LONG.environment(function["Handler"])
    assert sum(len(key) + len(value) for key, value in variables.items()) <= 4096
    behind_api = any(event.function == name for event in TEMPLATE.events())
    assert properties["Timeout"] <= (29 if behind_api else 900)


def _queue_consumers() -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the timeout of a function and its queue."""
    queues = TEMPLATE.resources("AWS::SQS::Queue")
    functions = expanded_of("AWS::Lambda::Function")
    for one in expanded_of("AWS::Lambda::EventSourceMapping").values():
        source, attribute = one["Properties"]["EventSourceArn"]["Fn::GetAtt"]
        if attribute == "Arn":
            function = one["Properties"]["FunctionName"]["Ref"].removesuffix("Aliaslive")
            yield functions[function]["Properties"]["Timeout"], queues[source]


def test_messages_stay_invisible_for_six_times_the_timeout() -> None:
    """AWS recommends it, because Lambda retries an invocation that is throttled."""
    consumers = list(_queue_consumers())
    assert len(consumers) == 3
    for timeout, queue in consumers:
        assert 6 * timeout <= queue["VisibilityTimeout"] <= 43_200


def test_dead_letters_are_kept_for_the_longest_time() -> None:
    """14 days. Their age counts from the first queue, so that they would expire too early."""
    queues = TEMPLATE.resources("AWS::SQS::Queue")
    targets = {"KeyChanges", "RelayFailures"} | {
        queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"].removesuffix(".Arn")
        for queue in queues.values()
        if "RedrivePolicy" in queue
    }
    assert len(targets) == 4
    assert {queues[name]["MessageRetentionPeriod"] for name in targets} == {1_209_600}


def _size(document: Mapping[str, Any]) -> int:
    """Return the characters of a policy that IAM counts, with long names of resources."""
    text = json.dumps(_resolved(document), separators=(",", ":"))
    return len(re.sub(r"\s", "", text))


def _resolved(value: Any) -> Any:
    match value:
        case {"Fn::GetAtt": _}:
            return _LONGEST_NAME
        case {"Ref": _} | {"Fn::Sub": _}:
            return LONG.text(value)
        case dict():
            return {key: _resolved(one) for key, one in value.items()}
        case list():
            return [_resolved(one) for one in value]
    return value


def test_policies_keep_within_the_quotas_of_iam() -> None:
    """10 240 characters in all inline policies of a role, 6 144 in a managed one, 10 of them."""
    for name, role in expanded_of("AWS::IAM::Role").items():
        inline = [one["PolicyDocument"] for one in role["Properties"].get("Policies", ())]
        assert sum(map(_size, inline)) <= 10_240, name
        assert len(role["Properties"].get("ManagedPolicyArns", ())) <= 10, name
    for name, policy in TEMPLATE.resources("AWS::IAM::ManagedPolicy").items():
        assert _size(policy["PolicyDocument"]) <= 6_144, name
