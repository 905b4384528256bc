"""The template: what is open to everyone, what policies may grant, and how data is protected."""

from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from samcli.yamlhelper import yaml_parse

from shared.kernel.db.table import table_definition
from tests.expanded_template import expanded_of
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
    assert {event.resource for event in TEMPLATE.events() if not event.authorized} == OPEN_PATHS


def _statements() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the statements of all policies that grant something, with the name of the owner."""
    for kind in ("AWS::IAM::Role", "AWS::IAM::ManagedPolicy", "AWS::Serverless::Function"):
        for name, owner in TEMPLATE.resources(kind).items():
            documents = [owner.get("PolicyDocument", {})]
            documents += [one.get("PolicyDocument", one) for one in owner.get("Policies", ())]
            for document in documents:
                for statement in document.get("Statement", ()):
                    yield name, statement


def _texts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def test_policies_name_their_actions_and_resources() -> None:
    statements = list(_statements())
    assert statements
    for owner, statement in statements:
        actions = _texts(statement["Action"])
        assert not [action for action in actions if "*" in action], owner
        if "*" in _texts(statement["Resource"]):
            assert set(actions) <= _ANY_RESOURCE, owner


def test_functions_have_no_policies_of_aws_or_sam() -> None:
    """Those of SAM reach the resources of the whole account."""
    named = TEMPLATE.resources("AWS::IAM::ManagedPolicy")
    for name, function in TEMPLATE.resources("AWS::Serverless::Function").items():
        for policy in function.get("Policies", ()):
            assert policy.get("Ref") in named or policy.keys() == {"Statement"}, name
    for name, role in TEMPLATE.resources("AWS::IAM::Role").items():
        assert all(one["Ref"] in named for one in role.get("ManagedPolicyArns", ())), name


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


def test_principals_of_aws_services_are_limited_to_the_account() -> None:
    """Otherwise a bucket of another account could send messages to the queue."""
    for name, policy in TEMPLATE.resources("AWS::SQS::QueuePolicy").items():
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Principal"] == {"Service": "s3.amazonaws.com"}, name
            account = statement["Condition"]["StringEquals"]["aws:SourceAccount"]
            assert account == {"Ref": "AWS::AccountId"}, name


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
    """Organizations refuse roles without one; also those that SAM makes for the functions."""
    bounded = {
        "Fn::If": [
            "HasPermissionsBoundary",
            {"Ref": "PermissionsBoundary"},
            {"Ref": "AWS::NoValue"},
        ]
    }
    roles = {
        name: one["Properties"].get("PermissionsBoundary")
        for name, one in expanded_of(
            "AWS::IAM::Role", DeploymentStrategy="Canary10Percent5Minutes"
        ).items()
    }
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
