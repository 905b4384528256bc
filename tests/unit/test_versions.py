"""Versions of the functions: all callers use the alias, and every change publishes a version."""

import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.cases import each_case
from tests.expanded_template import expanded, expanded_of
from tests.sampling import sampled
from tests.template import Template
from tools import expanded_template

TEMPLATE = Template({})
FUNCTIONS = sorted(TEMPLATE.resources("AWS::Serverless::Function"))
LAYERS = sorted(TEMPLATE.resources("AWS::Serverless::LayerVersion"))
_ALIAS = "Aliaslive"
_DESCRIPTION_LENGTH = 256
"""Of a version, in characters."""
_NOT_IN_VERSIONS = {"RecursiveLoop", "ReservedConcurrentExecutions", "Tags"}
"""Properties of the function as a whole: Lambda publishes no version when only they change."""

type Resources = Mapping[str, Mapping[str, Any]]


@pytest.fixture
def resources() -> Resources:
    return expanded()


def versions(resources: Resources) -> dict[str, tuple[str, str]]:
    """Return function → logical id and description of its version, which identify the version."""
    return {
        one["Properties"]["FunctionName"]["Ref"]: (
            name,
            json.dumps(one["Properties"]["Description"]),
        )
        for name, one in resources.items()
        if one["Type"] == "AWS::Lambda::Version"
    }


def named_parameters(value: Any) -> set[str]:
    """Return the parameters that a property uses."""
    declared = TEMPLATE.parameters().keys()
    names = set(re.findall(r'"Ref": "(\w+)"', json.dumps(value)))
    for pattern in re.findall(r'"Fn::Sub": (?:\["|")([^"]*)', json.dumps(value)):
        names |= set(re.findall(r"\$\{(\w+)\}", pattern))
    return names & declared


def test_each_function_has_a_version_behind_an_alias(resources: Resources) -> None:
    assert versions(resources).keys() == set(FUNCTIONS)
    aliases = expanded_of("AWS::Lambda::Alias")
    assert {alias["Properties"]["Name"] for alias in aliases.values()} == {"live"}
    for function in FUNCTIONS:
        version, _ = versions(resources)[function]
        properties = aliases[f"{function}{_ALIAS}"]["Properties"]
        assert properties["FunctionVersion"] == {"Fn::GetAtt": [version, "Version"]}


def test_the_api_and_its_authorizer_call_aliases_only() -> None:
    (api,) = expanded_of("AWS::ApiGateway::RestApi").values()
    body = json.dumps(api["Properties"]["Body"])
    called = set(re.findall(r"\$\{(\w+)\}/invocations", body)) - {"__FunctionArn__"}
    (authorizer,) = api["Properties"]["Body"]["components"]["securitySchemes"].values()
    uri = authorizer["x-amazon-apigateway-authorizer"]["authorizerUri"]["Fn::Sub"]
    called.add(uri[1]["__FunctionArn__"]["Ref"])
    served = {event.function for event in TEMPLATE.events()}
    assert called == {f"{name}{_ALIAS}" for name in {*served, "AuthorizerFunction"}}


@pytest.mark.parametrize("kind", ["AWS::Lambda::EventSourceMapping", "AWS::Lambda::Permission"])
def test_queues_streams_and_permissions_name_aliases_only(kind: str) -> None:
    named = [one["Properties"]["FunctionName"]["Ref"] for one in expanded_of(kind).values()]
    assert named
    assert [name for name in named if not name.endswith(_ALIAS)] == []


def test_nothing_names_the_arn_of_a_function_without_its_alias(resources: Resources) -> None:
    """A caller that does would get the code of an update before its version is published."""
    text = json.dumps(resources)
    assert not re.findall(r'"Fn::GetAtt": \["\w+Function", "Arn"\]|\$\{\w+Function\.Arn\}', text)


@pytest.mark.parametrize("layer", sampled("changed layers", LAYERS, every=4))
def test_a_changed_layer_publishes_versions_of_the_functions_that_use_it(
    layer: str, resources: Resources
) -> None:
    def with_new_content(document: dict[str, Any]) -> None:
        document["Resources"][layer]["Properties"]["ContentUri"] = "s3://bucket/other"

    before, after = (
        versions(resources),
        versions(expanded_template.expanded(change=with_new_content)),
    )
    changed = {name for name in FUNCTIONS if before[name] != after[name]}
    having = {
        name
        for name, function in TEMPLATE.resources("AWS::Serverless::Function").items()
        if {"Ref": layer} in function.get("Layers", ())
    }
    assert changed == having
    assert "ConsoleFunction" not in having


@each_case("name", FUNCTIONS)
def test_a_changed_parameter_publishes_a_version(name: str, resources: Resources) -> None:
    """SAM compares properties before it resolves parameters, but a description is replaced.

    A parameter of something else must not be in it: without a change of the function, Lambda
    publishes no version, and the deployment fails.
    """
    properties = {
        key: value
        for key, value in resources[name]["Properties"].items()
        if key not in _NOT_IN_VERSIONS
    }
    _, description = versions(resources)[name]
    assert named_parameters(json.loads(description)) == named_parameters(properties)


def test_the_longest_parameters_fit_into_a_description() -> None:
    longest = {
        name: "x"
        * max([declared.get("MaxLength", 0), *map(len, declared.get("AllowedValues", ()))])
        for name, declared in TEMPLATE.parameters().items()
        if declared["Type"] == "String"
    }
    function = TEMPLATE.resources("AWS::Serverless::Function")[FUNCTIONS[0]]
    used = named_parameters(function["VersionDescription"])
    assert all(longest[name] for name in used), "each has a greatest length"
    text = Template(longest).text(function["VersionDescription"])
    assert len(text) <= _DESCRIPTION_LENGTH


def test_cloudformation_deletes_the_version_that_a_new_one_replaces() -> None:
    """Otherwise versions accumulate, and the snapshot of each is billed until its deletion."""
    for version in expanded_of("AWS::Lambda::Version").values():
        assert version["DeletionPolicy"] == "Delete"
        assert "UpdateReplacePolicy" not in version  # the default is to delete


def test_snapshots_are_off_unless_a_parameter_asks_for_them(resources: Resources) -> None:
    assert TEMPLATE.parameters()["SnapStart"]["Default"] == "None"
    for name in FUNCTIONS:
        properties = resources[name]["Properties"]
        assert properties["SnapStart"] == {"ApplyOn": {"Ref": "SnapStart"}}
        # SnapStart supports none of these.
        assert not {"FileSystemConfigs", "ImageConfig"} & properties.keys()
        assert properties.get("EphemeralStorage", {"Size": 512}) == {"Size": 512}
        assert "ProvisionedConcurrencyConfig" not in resources[f"{name}{_ALIAS}"]["Properties"]
