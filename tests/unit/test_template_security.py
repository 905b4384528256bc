"""The template: what is open to everyone, what policies may grant, and how data is protected."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import boto3
import pytest
from samcli.yamlhelper import yaml_parse

from shared.kernel.db.table import table_definition
from tests.expanded_template import expanded, expanded_of, statements_of
from tests.template import PATH, Template

TEMPLATE = Template({})
OPEN_PATHS = {
    "/", "/v1", "/{proxy+}",  # unknown paths, whose function verifies a token itself
    "/v1/oauth/{proxy+}", "/v1/.well-known/{proxy+}",
    "/v1/openapi.json", "/v1/docs", "/v1/docs/{proxy+}", "/v1/console", "/v1/console/{proxy+}",
}  # fmt: skip
_ANY_RESOURCE = {
    "xray:PutTelemetryRecords", "xray:PutTraceSegments", "dynamodb:ListStreams",
    "cloudwatch:DescribeAlarms",
}  # fmt: skip
"""Actions that AWS grants for all resources only; of alarms, if composite ones are among them."""


def test_only_the_open_paths_need_no_token() -> None:
    operations = [
        (path, operation["security"])
        for path, methods in _api()["Body"]["paths"].items()
        for operation in methods.values()
    ]
    assert len(operations) == len(list(TEMPLATE.events()))
    assert {path for path, security in operations if security == [{"NONE": []}]} == OPEN_PATHS
    guarded = [security for path, security in operations if path not in OPEN_PATHS]
    assert all(security == [{"TokenAuthorizer": []}] for security in guarded)


def _roles() -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → properties of every role of a stack with all that parameters add."""
    roles = expanded_of("AWS::IAM::Role", DeploymentStrategy="Canary10Percent5Minutes")
    return {name: one["Properties"] for name, one in roles.items()}


def _texts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_every_role_is_in_the_template() -> None:
    """SAM makes a role for each function without one, with policies of AWS for all log groups."""
    assert _roles().keys() == TEMPLATE.resources("AWS::IAM::Role").keys()
    for name, function in expanded_of("AWS::Lambda::Function").items():
        assert function["Properties"]["Role"] == {"Fn::GetAtt": [f"{name}Role", "Arn"]}
    assert not {one["Type"] for one in expanded().values()} & {
        "AWS::IAM::Policy", "AWS::IAM::RolePolicy", "AWS::IAM::UserPolicy",
    }  # fmt: skip


def test_policies_name_their_actions_and_resources() -> None:
    for owner, role in _roles().items():
        statements = list(statements_of(role))  # raises for a policy of AWS
        assert statements, owner
        for statement in statements:
            actions = _texts(statement["Action"])
            assert not [action for action in actions if "*" in action], owner
            if "*" in _texts(statement["Resource"]):
                assert set(actions) <= _ANY_RESOURCE, owner


def test_functions_write_to_their_own_log_group_only() -> None:
    for name, function in expanded_of("AWS::Lambda::Function").items():
        group = function["Properties"]["LoggingConfig"]["LogGroup"]["Ref"]
        assert group == f"{name.removesuffix('Function')}Logs"
        writing = [
            (_texts(statement["Action"]), statement["Resource"])
            for statement in statements_of(_roles()[f"{name}Role"])
            if any(action.startswith("logs:") for action in _texts(statement["Action"]))
        ]
        allowed = ["logs:CreateLogStream", "logs:PutLogEvents"]
        assert writing == [(allowed, {"Fn::GetAtt": [group, "Arn"]})], name


def test_functions_send_traces_only_if_tracing_is_on() -> None:
    """The other policies have no rights of X-Ray."""
    policy = expanded()["TracingPolicy"]
    assert policy["Condition"] == "HasTracing"
    traces = {"Fn::If": ["HasTracing", {"Ref": "TracingPolicy"}, {"Ref": "AWS::NoValue"}]}
    for name in expanded_of("AWS::Lambda::Function"):
        role = dict(_roles()[f"{name}Role"])
        others = [one for one in role["ManagedPolicyArns"] if one != traces]
        assert len(others) == len(role["ManagedPolicyArns"]) - 1, name
        for statement in statements_of(role | {"ManagedPolicyArns": others}):
            assert not [one for one in _texts(statement["Action"]) if one.startswith("xray:")]


def test_buckets_are_private_and_encrypted_and_require_tls() -> None:
    buckets = TEMPLATE.resources("AWS::S3::Bucket")
    policies = {
        policy["Bucket"]["Ref"]: policy["PolicyDocument"]["Statement"]
        for policy in TEMPLATE.resources("AWS::S3::BucketPolicy").values()
    }
    assert policies.keys() == buckets.keys()
    for name, bucket in buckets.items():
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert len(bucket["PublicAccessBlockConfiguration"]) == 4
        assert bucket["BucketEncryption"]
        (statement,) = policies[name]
        assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        assert len(statement["Resource"]) == 2, "the bucket and its objects"


def test_pages_of_any_address_may_use_signed_addresses_of_buckets_and_send_no_headers() -> None:
    for bucket in TEMPLATE.resources("AWS::S3::Bucket").values():
        (rule,) = bucket["CorsConfiguration"]["CorsRules"]
        assert rule == {"AllowedMethods": ["GET", "POST"], "AllowedOrigins": ["*"]}


@pytest.mark.parametrize(
    ("kind", "setting"),
    [
        ("AWS::DynamoDB::Table", "PointInTimeRecoverySpecification"),
        ("AWS::SQS::Queue", "SqsManagedSseEnabled"),
    ],
)
def test_stores_are_encrypted_and_protected(kind: str, setting: str) -> None:
    stores = TEMPLATE.resources(kind)
    assert stores
    for name, store in stores.items():
        value = store[setting]
        values = list(value.values()) if isinstance(value, dict) else [value]
        assert values == [True], name


def test_tables_are_encrypted_with_the_key_that_costs_nothing() -> None:
    """DynamoDB encrypts every table; `true` would select a key in KMS, which bills each call."""
    for name, table in TEMPLATE.resources("AWS::DynamoDB::Table").items():
        assert table["SSESpecification"] == {"SSEEnabled": False}, name
    assert "SSESpecification" not in table_definition()  # of the tenants' tables


def test_webhooks_to_localhost_need_a_parameter() -> None:
    assert TEMPLATE.text({"Ref": "WebhookLocalhost"}) == "false"


def _queue_policies() -> Mapping[str, Mapping[str, Any]]:
    """Return logical id → the one statement of the policy of each queue."""
    policies = TEMPLATE.resources("AWS::SQS::QueuePolicy").items()
    return {name: one["PolicyDocument"]["Statement"][0] for name, one in policies}


def test_principals_of_aws_services_are_limited_to_the_account_and_one_sender() -> None:
    """Otherwise a bucket or rule of others could make the service send messages to the queue."""
    services = {
        "ImportQueuePolicy": "s3.amazonaws.com",
        "KeyChangesPolicy": "events.amazonaws.com",
    }
    policies = _queue_policies()
    assert policies.keys() == services.keys()
    for name, statement in policies.items():
        assert statement["Principal"] == {"Service": services[name]}
        condition = statement["Condition"]
        assert condition["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
        (sender,) = [
            one
            for kind in ("ArnLike", "ArnEquals")
            for key, one in condition.get(kind, {}).items()
            if key == "aws:SourceArn"
        ]
        assert sender, name
    rule = policies["KeyChangesPolicy"]["Condition"]["ArnEquals"]["aws:SourceArn"]
    assert rule == {"Fn::GetAtt": "KeyChangesRule.Arn"}


@pytest.mark.parametrize("stack", ["shop", "Shop-EU"])
def test_queue_of_imports_takes_messages_of_the_import_bucket_of_the_stack_only(stack: str) -> None:
    """CloudFormation generates the names of the buckets."""
    assert not any("BucketName" in one for one in TEMPLATE.resources("AWS::S3::Bucket").values())
    text, variables = _queue_policies()["ImportQueuePolicy"]["Condition"]["ArnLike"][
        "aws:SourceArn"
    ]["Fn::Sub"]
    index, split = variables["Stack"]["Fn::Select"]
    delimiter, bucket = split["Fn::Split"]
    assert bucket == {"Ref": "ImportWorkBucket"}, "it has no notification, and needs no queue"

    def generated(name: str, of: str = stack) -> str:
        return f"{of}-{name}-1a2b3c4d5e6f".lower()

    first = generated("ImportWorkBucket").split(delimiter)[index]
    pattern = Template({"AWS::Partition": "aws", "Stack": first}).text({"Fn::Sub": text})
    assert fnmatchcase(f"arn:aws:s3:::{generated('ImportBucket')}", pattern)
    for other in (
        generated("ImportWorkBucket"),
        generated("ImportBucket", "other"),
        "other-importbucket-1a2b3c4d5e6f",
        "any",
    ):
        assert not fnmatchcase(f"arn:aws:s3:::{other}", pattern), other


def test_templates_have_no_circular_dependencies() -> None:
    """The bucket needs the policy of the queue, which must not name the bucket."""
    needs = {name: set(_named_in(one)) for name, one in expanded().items()}
    while ready := {name for name, of in needs.items() if not of & needs.keys()}:
        for name in ready:
            del needs[name]
    assert not needs


def _named_in(value: Any) -> Iterator[str]:
    """Yield the resources that CloudFormation has to create before one with this description."""
    match value:
        case {"Ref": str(name)}:
            yield name
        case {"Fn::GetAtt": str(path)}:
            yield path.partition(".")[0]
        case {"Fn::GetAtt": [str(name), *_]}:
            yield name
        case {"Fn::Sub": str(text)}:
            yield from re.findall(r"\$\{(\w+)", text)
        case {"Fn::Sub": [str(text), variables]}:
            yield from set(re.findall(r"\$\{(\w+)", text)) - variables.keys()
            yield from _named_in(variables)
        case dict():
            depends = value.get("DependsOn", ())
            yield from (depends,) if isinstance(depends, str) else depends
            for one in value.values():
                yield from _named_in(one)
        case list():
            for one in value:
                yield from _named_in(one)


def _api() -> Mapping[str, Any]:
    (api,) = expanded_of("AWS::ApiGateway::RestApi").values()
    properties: Mapping[str, Any] = api["Properties"]
    return properties


def test_api_accepts_no_tls_below_1_2() -> None:
    """Without a policy, API Gateway accepts TLS 1.0 at the default address."""
    api = _api()
    known: Any = boto3.client("apigateway", "eu-west-1").meta.service_model.shape_for(
        "SecurityPolicy"
    )
    assert api["SecurityPolicy"] == "SecurityPolicy_TLS13_1_2_2021_06"
    assert api["SecurityPolicy"] in known.enum
    assert api["EndpointAccessMode"] == "BASIC", "a policy of this kind needs a mode"


def test_a_parameter_switches_the_default_address_off() -> None:
    api = _api()
    (server,) = api["Body"]["servers"]
    assert server["x-amazon-apigateway-endpoint-configuration"] == {
        "disableExecuteApiEndpoint": {"Fn::If": ["HasDefaultAddress", False, True]}
    }
    assert TEMPLATE.parameter("DefaultAddress")["Default"] == "true"


def test_every_role_accepts_a_permissions_boundary() -> None:
    """Organizations refuse roles without one."""
    bounded = {
        "Fn::If": [
            "HasPermissionsBoundary",
            {"Ref": "PermissionsBoundary"},
            {"Ref": "AWS::NoValue"},
        ]
    }
    roles = {name: one.get("PermissionsBoundary") for name, one in _roles().items()}
    assert len(roles) > 20
    assert {name: one for name, one in roles.items() if one != bounded} == {}


@pytest.mark.parametrize("name", ["backup-plan", "github-role"])
def test_roles_beside_the_stack_accept_a_permissions_boundary(name: str) -> None:
    document = yaml_parse((PATH.parent / f"deployment/{name}.yaml").read_text(encoding="utf-8"))
    roles = [one for one in document["Resources"].values() if one["Type"] == "AWS::IAM::Role"]
    assert roles
    for role in roles:
        condition, boundary, _ = role["Properties"]["PermissionsBoundary"]["Fn::If"]
        assert condition in document["Conditions"]
        assert boundary == {"Ref": "PermissionsBoundary"}
