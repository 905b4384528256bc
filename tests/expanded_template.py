"""The resources that SAM makes of `template.yaml`, once per process: it takes half a second."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tools import expanded_template


@cache
def expanded(**parameters: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → resource, as `tools.expanded_template` does; do not change it."""
    return expanded_template.expanded(**parameters)


def expanded_of(kind: str, **parameters: Any) -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → resource of the resources of one type."""
    return {name: one for name, one in expanded(**parameters).items() if one["Type"] == kind}


def managed_policies(role: Mapping[str, Any]) -> Iterator[str]:
    """Yield the logical ids of the managed policies of a role, also of those with a condition.

    Raises:
        AssertionError: One of them is not in the template.
    """
    for arn in role.get("ManagedPolicyArns", ()):
        match arn:
            case {"Fn::If": [_, {"Ref": name}, {"Ref": "AWS::NoValue"}]} | {"Ref": name}:
                assert expanded()[name]["Type"] == "AWS::IAM::ManagedPolicy", name
                yield name
            case _:
                raise AssertionError(f"{arn} is a policy of AWS")


def statements_of(role: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the statements of all policies of a role."""
    for policy in role.get("Policies", ()):
        yield from policy["PolicyDocument"]["Statement"]
    for name in managed_policies(role):
        yield from expanded()[name]["Properties"]["PolicyDocument"]["Statement"]
