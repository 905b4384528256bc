"""The policies of the template allow what the functions do, and nothing of a neighbour.

moto enforces no policy, so every call of every route is noted with the credentials that it
was made with, and then put to the policies that those credentials have in the cloud.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from shared.tenancy.access import session_policy
from shared.tenancy.provisioning import create_client
from tests.aws_calls import Arns, Made, Watch, watched
from tests.gateway import Erp
from tests.iam import Access, Policy, Statement, allows, like, read_policy
from tests.integration.doors import doors, operations
from tests.integration.planted import one_of
from tests.integration.write_routes import EXAMPLES
from tests.stack import ACCOUNT, REGION, Stack
from tests.template import Template

ARNS = Arns(REGION, ACCOUNT)
ROUTES = sorted(operations())
OAUTH = "functions.oauth.app.lambda_handler"
CATALOG = "functions.catalog.app.lambda_handler"


class Roles:
    """The rights that the template gives, with the names of one deployment.

    Args:
        stack: The deployment.
        lacking: An action or a pattern of leading keys that is left out everywhere.
    """

    def __init__(self, stack: Stack, lacking: str = "") -> None:
        self._lacking = lacking
        names = {**stack.template._names, "AWS::Partition": "aws"}
        template = Template(names)
        for table in template.resources("AWS::DynamoDB::Table"):
            names[f"{table}.Arn"] = ARNS.table(names[table])
        for key in template.resources("AWS::KMS::Key"):
            names[f"{key}.Arn"] = ARNS.key(names[key])
        for queue in template.resources("AWS::SQS::Queue"):
            names[f"{queue}.Arn"] = ARNS.queue(names[queue])
        for bucket in template.resources("AWS::S3::Bucket"):
            names[f"{bucket}.Arn"] = f"arn:aws:s3:::{names[bucket]}"
        self._template = template
        self._managed = template.resources("AWS::IAM::ManagedPolicy")
        self.functions: dict[str, Policy] = {}
        self.role_names: dict[str, str] = {}
        for name, function in template.resources("AWS::Serverless::Function").items():
            handler = function["Handler"]
            self.functions[handler] = self._of_function(function.get("Policies", ()))
            self.role_names[handler] = f"{names['AWS::StackName']}-{name}Role-1A2B3C4D5E6F"
        (self._data_role,) = template.resources("AWS::IAM::Role").values()
        self.data_role_arn = names["TenantDataRole.Arn"]
        self.tenant_data = [
            statement
            for policy in self._data_role["Policies"]
            for statement in self._read(policy["PolicyDocument"])
        ]

    def _of_function(self, policies: Sequence[Mapping[str, Any]]) -> Policy:
        documents = (
            self._managed[policy["Ref"]]["PolicyDocument"] if "Ref" in policy else policy
            for policy in policies
        )
        return [statement for document in documents for statement in self._read(document)]

    def _read(self, document: Mapping[str, Any]) -> Policy:
        whole = read_policy(document["Statement"], self._template.text)
        return [_less(statement, self._lacking) for statement in whole]

    def trusts(self, handler: str) -> bool:
        """Tell whether the role of tenants' data lets itself be assumed by the function."""
        (statement,) = self._data_role["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"].keys() == {"AWS"}
        (pattern,) = statement["Condition"]["ArnLike"].values()
        role = f"arn:aws:iam::{ACCOUNT}:role/{self.role_names[handler]}"
        return like(self._template.text(pattern), role)

    def rights(self, made: Made) -> Sequence[Policy]:
        """Policies that must each allow the call."""
        if made.session is None:
            return [self.functions[made.handler]]
        assert made.session.role == self.data_role_arn
        narrowed = read_policy(json.loads(made.session.policy)["Statement"], str)
        return [self.tenant_data, narrowed]

    def denied(self, calls: Sequence[Made]) -> list[tuple[str, Access]]:
        """What of the calls is not allowed: handler and access."""
        return [
            (made.handler, access)
            for made in calls
            for access in made.accesses
            if not all(allows(policy, access) for policy in self.rights(made))
        ]


def _less(statement: Statement, lacking: str) -> Statement:
    return replace(
        statement,
        actions=[each for each in statement.actions if each != lacking],
        conditions={
            operator: [each for each in patterns if each != lacking]
            for operator, patterns in statement.conditions.items()
        },
    )


@pytest.fixture
def roles(stack: Stack) -> Roles:
    """The roles of the stack."""
    return Roles(stack)


@pytest.fixture
def watch(stack: Stack) -> Iterator[Watch]:
    """The calls of the test's functions."""
    assert stack
    with watched(ARNS) as watch:
        yield watch


def _play(route: str, stack: Stack) -> None:
    """Carry out what a route is for, and the usual ways in which it is refused."""
    method, _, path = route.partition(" ")
    if method == "GET":
        _read(path, stack)
        return
    erp = stack.erp()
    example = EXAMPLES[route]
    values = example.prepared(erp)
    target = path.format(**values)
    answer = erp.send(method, target, example.body, key="first")
    assert answer.status == example.status, answer.text
    assert erp.send(method, target, example.body, key="first").text == answer.text
    erp.send(method, target, example.body, key="second")
    erp.send(method, target, {"item_code": 5}, key="third")
    erp.send(method, path.format(id=999), example.body, key="fourth")


def _read(path: str, stack: Stack) -> None:
    erp = stack.erp()
    if "{kind}" in path:
        assert erp.get(path.format(kind="products")).status == 200
        return
    number = one_of("/" + path.split("/")[1], erp, stack.store())
    if "{id}" in path:
        if not path.endswith("{id}"):  # a part of the resource: there once it was published
            part = path.removesuffix(".svg")
            if f"PUT {part}" in EXAMPLES:
                erp.put(part.format(id=number), EXAMPLES[f"PUT {part}"].body)
        assert erp.get(path.format(id=number)).status == 200
        assert erp.get(path.format(id=999)).status == 404
        return
    assert erp.get(path).status == 200
    erp.get(path, query={"per_page": 1, "page": 2})
    erp.get(path, query={"search": "a", "updated_since": "2020-01-01T00:00:00Z", "per_page": 1})


@pytest.mark.parametrize("route", ROUTES)
def test_every_call_of_a_route_is_allowed_and_none_at_a_neighbours(
    route: str, stack: Stack, roles: Roles, watch: Watch
) -> None:
    _play(route, stack)

    assert roles.denied(watch.made) == []
    # A template is the same for everybody.
    if "{kind}" not in route:
        _assert_kept_from_the_neighbour(roles, watch.made)


def _assert_kept_from_the_neighbour(roles: Roles, calls: Sequence[Made]) -> None:
    in_sessions = [made for made in calls if made.session]
    assert in_sessions, "a route reads or writes its tenant's data"
    for made in in_sessions:
        for access in made.accesses:
            assert not allows(roles.functions[made.handler], access), "only a session may"
            stolen = replace(made, accesses=(_of_neighbour(access),))
            assert roles.denied([stolen]), f"acme's session may {stolen.accesses}"


def _of_neighbour(access: Access) -> Access:
    """The same access with beta's names."""
    if access.resource.endswith("-OutboxTable"):
        assert set(access.leading_keys) == {"acme"}
        return replace(access, leading_keys=("beta",))
    if access.resource.startswith("arn:aws:s3:::"):
        assert "/acme/" in access.resource
        return replace(access, resource=access.resource.replace("/acme/", "/beta/"))
    assert "-tenant-acme" in access.resource
    return replace(access, resource=access.resource.replace("-tenant-acme", "-tenant-beta"))


def _token_routes(stack: Stack) -> None:
    credentials = create_client("acme", "ERP")

    def ask(path: str, form: str, secret: str = credentials.client_secret) -> int:
        basic = base64.b64encode(f"{credentials.client_id}:{secret}".encode()).decode()
        headers = {
            "Authorization": f"Basic {basic}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return Erp(stack.gateway, None).post(path, raw=form, headers=headers).status

    assert ask("/oauth/token", "grant_type=client_credentials") == 200
    assert ask("/oauth/token", "grant_type=client_credentials", "wrong") == 401
    assert ask("/oauth/revoke", f"token={stack.token(client=credentials.client_id)}") == 200
    anybody = Erp(stack.gateway, None)
    assert anybody.get("/.well-known/jwks.json").status == 200
    assert anybody.get("/.well-known/oauth-authorization-server").status == 200


def test_every_call_of_the_token_routes_is_allowed(
    stack: Stack, roles: Roles, watch: Watch
) -> None:
    _token_routes(stack)

    assert {made.handler for made in watch.made} == {OAUTH}
    assert roles.denied(watch.made) == []


def test_every_door_may_assume_the_role_of_tenants_data(roles: Roles) -> None:
    assuming = Access("sts:AssumeRole", roles.data_role_arn)
    may = {name for name, policy in roles.functions.items() if allows(policy, assuming)}
    serving = {
        f"functions.{name}.app.lambda_handler" for name, door in doors().items() if door.operations
    } | {"functions.import_worker.app.lambda_handler"}
    assert may == serving
    assert all(roles.trusts(name) for name in may)


def test_the_role_alone_would_reach_every_tenant(roles: Roles, stack: Stack) -> None:
    """What keeps a request from a neighbour is the session's policy, so it must be there."""
    assert stack
    reading = Access("dynamodb:GetItem", ARNS.table("stowage-tenant-beta"))
    assert allows(roles.tenant_data, reading)
    dynamodb_arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}"
    narrowed = read_policy(json.loads(session_policy("acme", dynamodb_arn))["Statement"], str)
    assert not allows(narrowed, reading)


def _life_of_a_product(stack: Stack) -> None:
    _play("DELETE /products/{id}", stack)
    _play("GET /products", stack)


type _Deeds = Callable[[Stack], None]

_NEEDED: Sequence[tuple[str, _Deeds, Sequence[str]]] = (
    (CATALOG, _life_of_a_product, (
        "sts:AssumeRole", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem",
        "dynamodb:Query", "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem", "TENANT#*",
    )),
    (OAUTH, _token_routes, (
        "kms:Sign", "kms:GenerateMac", "kms:GetPublicKey", "dynamodb:BatchGetItem",
        "dynamodb:UpdateItem", "dynamodb:GetItem", "CLIENT#*", "TENANT#*", "FAILURES#*", "HOST#*",
    )),
)  # fmt: skip


@pytest.mark.parametrize(("handler", "deeds", "needed"), _NEEDED, ids=["catalog", "oauth"])
def test_a_permission_that_is_missing_would_be_found(
    handler: str, deeds: _Deeds, needed: Sequence[str], stack: Stack, watch: Watch
) -> None:
    deeds(stack)

    for lacking in needed:
        denied = [
            access for name, access in Roles(stack, lacking).denied(watch.made) if name == handler
        ]
        assert denied, f"nobody misses {lacking}"
        for access in denied:
            keys = any(like(lacking, key) for key in access.leading_keys)
            assert access.action == lacking or keys
