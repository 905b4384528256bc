"""The policies of the template allow the calls of the functions, and no data of another tenant.

moto does not enforce policies. The tests record every AWS call of every route with its credentials,
and evaluate the policies that these credentials have in AWS.
"""

import base64
import json
import re
from collections.abc import Callable, Sequence

import pytest

from operations import signing_keys
from operations.api_clients import create_client
from shared.identity.tenancy.access import session_policy
from tests.aws_calls import Watch
from tests.gateway import Erp
from tests.iam import Access, allows, read_policy
from tests.integration.entity_factories import address_of
from tests.integration.roles import ARNS, Roles, concerns
from tests.integration.routes import handlers, operations
from tests.integration.write_routes import EXAMPLES
from tests.stack import ACCOUNT, REGION, Stack

ROUTES = sorted(operations())
OAUTH = "functions.oauth.app.lambda_handler"
AUTHORIZER = "functions.authorizer.app.lambda_handler"
_LONG_AGO = "2020-01-01T00:00:00Z"
SETTINGS = "functions.settings.app.lambda_handler"
WEBHOOKS = "functions.webhooks.app.lambda_handler"
CATALOG = "functions.catalog.app.lambda_handler"


def _call_route(route: str, stack: Stack) -> None:
    """Send the successful request of a route, its repetitions, and refused requests."""
    method, _, path = route.partition(" ")
    if method == "GET":
        _read(path, stack)
        return
    erp = stack.erp()
    example = EXAMPLES[route]
    values = example.prepared(erp)
    target, body = path.format(**values), example.filled(values)
    sender = example.sender(erp, values)
    answer = sender.send(method, target, body, key="first")
    assert answer.status == example.status, answer.text
    again = sender.send(method, target, body, key="first")
    # A change of the own user may have revoked the token of the request.
    assert again.text == answer.text or (example.own and again.status == 401)
    sender.send(method, target, body, key="second")
    sender.send(method, target, {"item_code": 5}, key="third")
    erp.send(method, path.format(**{**values, "id": 999}), body, key="fourth")


def _read(path: str, stack: Stack) -> None:
    erp = stack.erp()
    address = address_of(path, erp, stack.store())
    assert erp.get(address).status == 200
    if "{id}" in path:
        missing = re.sub("^(/[^/]+)/[^/.]+", r"\1/999", address)
        assert erp.get(missing).status == 404
    if operations()[f"GET {path}"].is_list:
        erp.get(address, query={"per_page": 1, "page": 2})
        erp.get(address, query={"search": "a", "updated_since": _LONG_AGO, "per_page": 1})


@pytest.mark.parametrize("route", ROUTES)
def test_calls_of_a_route_are_allowed_for_its_tenant_only(
    route: str, stack: Stack, roles: Roles, watch: Watch
) -> None:
    _call_route(route, stack)

    assert roles.denied(watch.made) == []
    # An import template is the same for all tenants.
    if "{kind}" not in route:
        roles.assert_no_access_to_other_tenant(watch.made)


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


def test_calls_of_the_token_routes_are_allowed(stack: Stack, roles: Roles, watch: Watch) -> None:
    _token_routes(stack)

    assert {made.handler for made in watch.made} == {OAUTH}
    assert roles.denied(watch.made) == []


def test_functions_may_use_rotated_keys_by_their_tags(
    stack: Stack, roles: Roles, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_keys, "_ACTIVATION_DELAY", 0)
    new = ARNS.key(signing_keys.rotate().kms_key)
    client = create_client("acme", "ERP")
    form = f"grant_type=client_credentials&client_id={client[0]}&client_secret={client[1]}"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = Erp(stack.gateway, None).post("/oauth/token", raw=form, headers=headers)
    assert Erp(stack.gateway, answer.json()["access_token"]).get("/products").status == 200

    accesses = [access for call in watch.made for access in call.accesses]
    used = {access.action for access in accesses if access.resource == new}
    assert used == {"kms:Sign", "kms:GetPublicKey"}
    assert roles.denied(watch.made) == []
    for tag in ("stowage", "signing"):
        without_tag = Roles(stack, tag).denied(watch.made)
        assert {name for name, _ in without_tag} == {OAUTH, AUTHORIZER}
        assert {access.resource for _, access in without_tag} == {new}


def test_every_function_may_assume_its_data_role_only(roles: Roles) -> None:
    serving = {
        f"functions.{name}.app.lambda_handler"
        for name, handler in handlers().items()
        if handler.operations
    } | {"functions.import_worker.app.lambda_handler", "functions.fallback.app.lambda_handler"}
    # The routes of administrators have their own role with more permissions.
    assert roles.functions_assuming("TenantDataRole") == serving - {SETTINGS}
    assert roles.functions_assuming("SettingsDataRole") == {SETTINGS}
    assert roles.functions_assuming("SignInDataRole") == {OAUTH}


def test_only_the_session_policy_denies_the_data_of_other_tenants(
    roles: Roles, stack: Stack
) -> None:
    """The data role itself allows the data of all tenants."""
    assert stack
    reading = Access("dynamodb:GetItem", ARNS.table("stowage-tenant-beta"))
    assert allows(roles.data_roles["TenantDataRole"], reading)
    dynamodb_arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}"
    narrowed = read_policy(json.loads(session_policy("acme", dynamodb_arn))["Statement"], str)
    assert not allows(narrowed, reading)


@pytest.mark.parametrize("role", ["TenantDataRole", "SettingsDataRole", "SignInDataRole"])
def test_audit_entries_cannot_be_changed_or_deleted(role: str, roles: Roles) -> None:
    table = ARNS.table("stowage-tenant-acme")
    rights = roles.data_roles[role]
    entry = ("audit#000000000001",)
    assert allows(rights, Access("dynamodb:PutItem", table, entry))
    assert allows(rights, Access("dynamodb:UpdateItem", table, ("count#audit",)))
    for action in ("UpdateItem", "DeleteItem", "BatchWriteItem"):
        assert not allows(rights, Access(f"dynamodb:{action}", table, entry))


def test_company_may_change_its_settings_but_not_its_plan_state_or_address(
    roles: Roles, stack: Stack
) -> None:
    control = ARNS.table(stack.template._names["ControlTable"])
    rights = roles.data_roles["SettingsDataRole"]

    def may(*attributes: str) -> bool:
        named = ("pk", *attributes)
        update = Access("dynamodb:UpdateItem", control, ("TENANT#acme",), attributes=named)
        return allows(rights, update)

    assert may("timezone", "modules", "settings_version")
    for paid in ("plan", "state", "base_url", "moved_to", "requests_per_minute"):
        assert not may("timezone", paid)


def test_functions_may_read_the_names_of_clients_but_not_their_secrets(
    roles: Roles, stack: Stack
) -> None:
    control = ARNS.table(stack.template._names["ControlTable"])
    rights = roles.data_roles["TenantDataRole"]

    def may(*attributes: str, select: str = "SPECIFIC_ATTRIBUTES", action: str = "Get") -> bool:
        client = ("CLIENT#stw_acme_1",)
        named = ("pk", *attributes)
        return allows(
            rights,
            Access(f"dynamodb:{action}Item", control, client, attributes=named, select=select),
        )

    assert may("name")
    assert not may("name", "secrets")
    assert not may("name", action="Put")
    assert not may(select="ALL_ATTRIBUTES"), "without a projection DynamoDB returns everything"


@pytest.mark.parametrize("key", ["login#1", "session#1-abc"])
def test_warehouse_functions_reach_no_logins_and_sessions(key: str, roles: Roles) -> None:
    table = ARNS.table("stowage-tenant-acme")
    tables = [table, f"{table}/index/gsi1"]

    def may(role: str) -> set[str]:
        return {
            action
            for action in (
                "BatchGetItem",
                "ConditionCheckItem",
                "DeleteItem",
                "GetItem",
                "PutItem",
                "Query",
                "UpdateItem",
            )
            for resource in tables
            if allows(roles.data_roles[role], Access(f"dynamodb:{action}", resource, (key,)))
        }

    assert may("TenantDataRole") == set()
    assert may("WebhookDataRole") == set()
    assert may("SignInDataRole") >= {"GetItem", "UpdateItem"}


def _subscriptions_of_a_client(stack: Stack) -> None:
    client = stack.erp(client=create_client("acme", "ERP").client_id)
    answer = client.post("/webhooks", EXAMPLES["POST /webhooks"].body)
    assert answer.data["created_by"]["name"] == "ERP"


def _product_routes(stack: Stack) -> None:
    _call_route("DELETE /products/{id}", stack)
    _call_route("GET /products", stack)


type _Calls = Callable[[Stack], None]

_NEEDED: Sequence[tuple[str, _Calls, Sequence[str]]] = (
    (CATALOG, _product_routes, (
        "sts:AssumeRole", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem",
        "dynamodb:Query", "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem", "TENANT#*",
    )),
    (OAUTH, _token_routes, (
        "kms:Sign", "kms:GenerateMac", "kms:GetPublicKey", "dynamodb:BatchGetItem",
        "dynamodb:UpdateItem", "dynamodb:GetItem", "CLIENT#*", "TENANT#*", "FAILURES#*", "HOST#*",
        "ISSUED#*",
        "KEYS",
    )),
    (WEBHOOKS, _subscriptions_of_a_client, ("dynamodb:GetItem", "CLIENT#*", "name")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("handler", "calls", "needed"), _NEEDED, ids=["catalog", "oauth", "webhooks"]
)
def test_missing_permission_is_detected(
    handler: str, calls: _Calls, needed: Sequence[str], stack: Stack, watch: Watch
) -> None:
    calls(stack)

    for lacking in needed:
        denied = [
            access for name, access in Roles(stack, lacking).denied(watch.made) if name == handler
        ]
        assert denied, f"no call needs {lacking}"
        assert all(concerns(access, lacking) for access in denied)
