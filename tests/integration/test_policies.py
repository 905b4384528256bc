"""The policies of the template allow the calls of the functions, and no data of another tenant.

moto does not enforce policies. The tests record every AWS call of every route with its credentials,
and evaluate the policies that these credentials have in AWS.
"""

import base64
import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest

from functions.import_worker.app import MAX_DELIVERIES
from operations import provisioning, signing_keys
from operations.api_clients import create_client
from shared.http import request_log
from shared.identity.tenancy.access import ACCESSES, session_policy
from shared.warehouse.settings.values import Settings
from tests.agent import Agent
from tests.aws_calls import Watch, recorded_calls, required_accesses
from tests.gateway import Erp
from tests.iam import Access, Statement, allows, read_policy
from tests.import_scenario import WORKER, ImportScenario
from tests.integration.roles import ARNS, USER_KEYS, Roles, concerns
from tests.integration.route_calls import call_route
from tests.integration.routes import handlers, operations
from tests.integration.write_routes import EXAMPLES
from tests.receiving_scenario import ReceivingScenario
from tests.sampling import is_complete
from tests.stack import ACCOUNT, REGION, Stack, set_attributes

ROUTES = sorted(operations())
OAUTH = "functions.oauth.app.lambda_handler"
AUTHORIZER = "functions.authorizer.app.lambda_handler"
SETTINGS = "functions.settings.app.lambda_handler"
IMPORTS = "functions.imports.app.lambda_handler"
CHANGES = "functions.changes.app.lambda_handler"
LABELS = "functions.labels.app.lambda_handler"
FALLBACK = "functions.fallback.app.lambda_handler"
WEBHOOKS = "functions.webhooks.app.lambda_handler"
FILES = ("functions.console.app.lambda_handler", "functions.reference.app.lambda_handler")
CATALOG = "functions.catalog.app.lambda_handler"


@pytest.mark.parametrize("route", ROUTES)
def test_calls_of_a_route_are_allowed_for_its_tenant_only(route: str, stack: Stack) -> None:
    roles = Roles.of(stack)
    with recorded_calls(ARNS, stack.template.environment) as watch:
        # The requests that prepare a route are those of other routes, which have their own case.
        call_route(route, stack, nullcontext if is_complete() else watch.paused)

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
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    sign_in = "grant_type=password&username=nobody%40nowhere&password=p"
    assert anybody.post("/oauth/token", raw=sign_in, headers=form).status == 400
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
        without_tag = roles.lacking(tag).denied(watch.made)
        assert {name for name, _ in without_tag} == {OAUTH, AUTHORIZER}
        assert {access.resource for _, access in without_tag} == {new}


def test_every_function_may_assume_its_data_role_only(roles: Roles) -> None:
    serving = {
        f"functions.{name}.app.lambda_handler"
        for name, handler in handlers().items()
        if handler.operations
    }
    own = {
        "ImportDataRole": {IMPORTS, WORKER},
        "SettingsDataRole": {SETTINGS},
        "LabelsDataRole": {LABELS},
        "ChangesDataRole": {CHANGES},
        "FallbackDataRole": {FALLBACK},
        "SignInDataRole": {OAUTH},
        "ExpiredStockDataRole": {"functions.expired_stock.app.lambda_handler"},
    }
    for role, handlers_of_role in own.items():
        assert roles.functions_assuming(role) == handlers_of_role, role
    tools = {"functions.mcp.app.lambda_handler"}  # whose routes are those of other functions
    shared = serving.difference(*own.values()) | tools
    assert roles.functions_assuming("TenantDataRole") == shared


def test_calls_of_the_tools_of_agents_are_allowed_for_their_tenant_only(stack: Stack) -> None:
    roles, receiving = Roles.of(stack), ReceivingScenario(stack.erp())
    agent, order = Agent(stack.erp()), receiving.order({"qty": 1})
    line = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}
    with recorded_calls(ARNS, stack.template.environment) as watch:
        agent.ok("receive_goods", order_id=order, lines=[line], idempotency_key="delivery")
        for tool in ("get_stock", "find_products", "find_customer_orders"):
            agent.ok(tool, **({"item_code": "BRICK"} if tool == "get_stock" else {}))
    assert roles.denied(watch.made) == []
    roles.assert_no_access_to_other_tenant(watch.made)


def test_request_log_is_written_and_read_for_its_tenant_only(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "WAIT_SECONDS", 60)
    set_attributes(request_log={"BOOL": True})
    roles, erp = Roles.of(stack), stack.erp()
    with recorded_calls(ARNS, stack.template.environment) as watch:
        for path in ("/products", "/nothing", "/users"):
            erp.get(path)
        assert len(erp.get("/request-log").data) == 3
    assert roles.denied(watch.made) == []
    roles.assert_no_access_to_other_tenant(watch.made)


def test_unknown_paths_reach_the_counters_of_requests_only(roles: Roles) -> None:
    assert _reached(roles, "FallbackDataRole") == {("UpdateItem", "rate#client#1")}


def test_labels_write_the_counters_of_requests_only(roles: Roles) -> None:
    reached = _reached(roles, "LabelsDataRole")
    assert {one for one in reached if one[0] not in _READS} == {("UpdateItem", "rate#client#1")}
    assert {key for action, key in reached if action in _READS} == {
        "product#1", "user#1", "rate#client#1", "audit#1", "webhooks",
    }  # fmt: skip


def test_changes_write_the_counters_of_requests_only(roles: Roles) -> None:
    reached = _reached(roles, "ChangesDataRole")
    assert {one for one in reached if one[0] not in _READS} == {("UpdateItem", "rate#client#1")}
    assert {key for action, key in reached if action in _READS} == {
        "product#1", "user#1", "rate#client#1", "audit#1", "webhooks",
    }  # fmt: skip


def test_administration_reaches_nothing_of_the_warehouse(roles: Roles) -> None:
    assert not {key for _, key in _reached(roles, "SettingsDataRole")} & {"product#1"}
    reached = _reached(roles, "SettingsDataRole")
    assert {action for action, key in reached if key == "audit#1"} == {*_READS, "PutItem"}


def _reached(roles: Roles, role: str) -> set[tuple[str, str]]:
    """Return the pairs of action and key of a tenant's table that a data role allows."""
    table = ARNS.table("stowage-tenant-acme")
    keys = (
        *("product#1", "user#1", "login#1", "session#1-abc", "rate#client#1", "audit#1"),
        "webhooks",
    )
    return {
        (action, key)
        for action in (*_ITEM_ACTIONS, "BatchWriteItem", "Scan")
        for key in keys
        if allows(roles.data_roles[role], Access(f"dynamodb:{action}", table, (key,)))
    }


def test_only_imports_reach_files(roles: Roles, stack: Stack) -> None:
    """TenantImportRole is that of operators."""
    reaching = {
        name
        for name, policy in (roles.functions | roles.data_roles).items()
        for bucket in ("ImportBucket", "ImportWorkBucket")
        for action in ("GetObject", "PutObject", "DeleteObject")
        if allows(
            policy,
            Access(f"s3:{action}", f"arn:aws:s3:::{stack.template._names[bucket]}/acme/drop/a.csv"),
        )
    }
    assert reaching == {"ImportDataRole", "TenantImportRole"}


def test_only_the_session_policy_denies_the_data_of_other_tenants(roles: Roles) -> None:
    """The data role itself allows the data of all tenants."""
    reading = Access("dynamodb:GetItem", ARNS.table("stowage-tenant-beta"), ("product#1",))
    assert allows(roles.data_roles["TenantDataRole"], reading)
    dynamodb_arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}"
    narrowed = read_policy(
        json.loads(session_policy("acme", "stowage-tenant-acme", dynamodb_arn, access="settings"))[
            "Statement"
        ],
        str,
    )
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
    for name in Settings.model_fields:
        assert may(name), name
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


_READS = ("BatchGetItem", "ConditionCheckItem", "GetItem", "Query")
_ITEM_ACTIONS = (*_READS, "DeleteItem", "PutItem", "UpdateItem")


@pytest.mark.parametrize("key", ["login#1", "session#1-abc"])
def test_warehouse_functions_reach_no_logins_and_sessions(key: str, roles: Roles) -> None:
    table = ARNS.table("stowage-tenant-acme")
    tables = [table, f"{table}/index/gsi1"]

    def may(role: str) -> set[str]:
        return {
            action
            for action in _ITEM_ACTIONS
            for resource in tables
            if allows(roles.data_roles[role], Access(f"dynamodb:{action}", resource, (key,)))
        }

    assert may("TenantDataRole") == set()
    assert may("WebhookDataRole") == set()
    assert may("SignInDataRole") >= {"GetItem", "UpdateItem"}


def test_warehouse_functions_do_not_write_users_roles_and_administrators(roles: Roles) -> None:
    table = ARNS.table("stowage-tenant-acme")
    rights = roles.data_roles["TenantDataRole"]
    for key in USER_KEYS:
        assert allows(rights, Access("dynamodb:GetItem", table, (key,)))
        writes = [
            Access(f"dynamodb:{one}Item", table, (key,)) for one in ("Put", "Update", "Delete")
        ]
        assert not [write for write in writes if allows(rights, write)], key
        settings = roles.data_roles["SettingsDataRole"]
        assert [write for write in writes if allows(settings, write)], key


_SET_OPERATOR = "ForAllValues:"
_LEADING_KEYS = "dynamodb:LeadingKeys"
_ATTRIBUTES = "dynamodb:Attributes"


def _conditional_statements(roles: Roles) -> list[tuple[str, Statement]]:
    """Return the statements with set operators, with the name of a function or a role."""
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}"
    sessions = {
        f"session: {access}": read_policy(
            json.loads(session_policy("acme", "stowage-tenant-acme", arn, access=access))[
                "Statement"
            ],
            str,
        )
        for access in ACCESSES
    }
    policies = {**roles.functions, **roles.data_roles, **sessions}
    return [
        (name, statement)
        for name, policy in policies.items()
        for statement in policy
        if any(each.operator.startswith(_SET_OPERATOR) for each in statement.conditions)
    ]


def _with_values(access: Access, key: str, values: Sequence[str]) -> Access:
    """Return the access with these values of a condition key."""
    if key == _LEADING_KEYS:
        return replace(access, leading_keys=values)
    assert key == _ATTRIBUTES, key
    return replace(access, attributes=values)


def _access_of(statement: Statement) -> Access:
    """Return an access that the statement allows."""
    access = Access(statement.actions[0], statement.resources[0].replace("*", "x"))
    for each in statement.conditions:
        match each.operator.removeprefix(_SET_OPERATOR):
            case "StringEqualsIfExists" | "Null":
                continue
            case "StringNotLike":
                values = ["product#1"]
            case _:
                values = [value.replace("*", "1").replace("?", "w") for value in each.values]
        access = _with_values(access, each.key, values)
    return access


def test_request_without_a_key_of_a_set_operator_is_denied(roles: Roles) -> None:
    """ForAllValues alone would allow it."""
    checked = set()
    for name, statement in _conditional_statements(roles):
        access = _access_of(statement)
        assert statement.allows(access), name
        lenient = replace(
            statement, conditions=[each for each in statement.conditions if each.operator != "Null"]
        )
        for condition in statement.conditions:
            if condition.operator.startswith(_SET_OPERATOR):
                lacking = _with_values(access, condition.key, ())
                assert lenient.allows(lacking), name
                assert not statement.allows(lacking), f"{name} without {condition.key}"
                checked.add((name, condition.key))
    assert {key for _, key in checked} == {_LEADING_KEYS, _ATTRIBUTES}
    names = {name for name, _ in checked}
    without_items = {
        *(*FILES, "functions.canary.app.lambda_handler"),
        *("DeploymentRole", "WebhookScheduleRole"),
    }
    sessions = {f"session: {access}" for access in ACCESSES}
    assert names == {*roles.functions, *roles.data_roles, *sessions} - without_items


def test_scan_of_the_data_of_other_tenants_is_denied(roles: Roles, stack: Stack) -> None:
    """A Scan has no leading keys; AWS warns that it returns all items regardless of them."""
    for table in (stack.template._names["ControlTable"], stack.template._names["OutboxTable"]):
        scan = Access("dynamodb:Scan", ARNS.table(table))
        for policy in (*roles.functions.values(), *roles.data_roles.values()):
            assert not allows(policy, scan)


def test_run_of_expired_goods_scans_named_attributes_of_the_control_table_only(
    roles: Roles, stack: Stack
) -> None:
    """Without a projection, or with another one, it would read settings and hashes of secrets."""
    control = ARNS.table(stack.template._names["ControlTable"])
    rights = roles.functions["functions.expired_stock.app.lambda_handler"]

    def may(*attributes: str, select: str = "SPECIFIC_ATTRIBUTES") -> bool:
        scan = Access("dynamodb:Scan", control, attributes=attributes, select=select)
        return allows(rights, scan)

    assert may("pk", "state")
    assert not may("pk", "secrets")
    assert not may("pk", select="ALL_ATTRIBUTES")
    assert not may()


def test_calls_of_the_import_worker_are_allowed_for_its_tenant_only(
    stack: Stack, roles: Roles, watch: Watch
) -> None:
    imports = ImportScenario(stack)
    committed = imports.commit(
        imports.import_file("products", "a.csv", b"item_code;name\nA;B\n")["id"]
    )
    imports.put_file("drop/products/b.csv", b"item_code;name\nC;D\n")
    imports.drain_queue()
    assert imports.deliver("no JSON", receives=MAX_DELIVERIES) == []  # a dead letter

    assert committed["status"] == "committed"
    sent = {access.resource for made in watch.made for access in made.accesses}
    assert ARNS.queue(stack.template._names["ImportDeadLetters"]) in sent
    calls = [made for made in watch.made if made.handler == WORKER]
    assert roles.denied(calls) == []
    roles.assert_no_access_to_other_tenant(calls)


def test_copy_of_a_refused_file_is_allowed_within_the_files_of_the_tenant(
    stack: Stack, roles: Roles, watch: Watch
) -> None:
    provisioning.switch_modules("acme", off=["bulk_import"])
    imports = ImportScenario(stack)
    imports.put_file("drop/products/a b.csv", b"item_code;name\nA;B\n")
    assert imports.deliver(*imports.take_messages()) == []
    assert "rejected/products/a b.csv" in imports.files()

    assert {made.handler for made in watch.made} == {WORKER}
    assert roles.denied(watch.made) == []
    roles.assert_no_access_to_other_tenant(watch.made)
    needed = {(access.action, access.resource) for made in watch.made for access in made.accesses}
    bucket = f"arn:aws:s3:::{stack.template._names['ImportBucket']}/acme"
    assert ("s3:GetObject", f"{bucket}/drop/products/a b.csv") in needed
    assert ("s3:PutObject", f"{bucket}/rejected/products/a b.csv") in needed


@pytest.mark.parametrize(
    ("headers", "tagging"),
    [
        ({}, {"s3:GetObjectTagging", "s3:PutObjectTagging"}),
        ({"x-amz-tagging-directive": "COPY"}, {"s3:GetObjectTagging", "s3:PutObjectTagging"}),
        ({"x-amz-tagging-directive": "REPLACE", "x-amz-tagging": "a=b"}, {"s3:PutObjectTagging"}),
        ({"x-amz-tagging-directive": "REPLACE"}, set()),
    ],
)
def test_copy_with_tags_needs_permissions_that_no_role_has(
    headers: dict[str, str], tagging: set[str], roles: Roles, stack: Stack
) -> None:
    bucket = stack.template._names["ImportBucket"]
    source = {"x-amz-copy-source": f"{bucket}/acme/drop/a%20b.csv"}
    url = f"https://{bucket}.s3.{REGION}.amazonaws.com/acme/rejected/a.csv"
    body = {"url": url, "headers": {**source, **headers}}
    accesses = list(required_accesses("s3", "CopyObject", body, ARNS))
    assert {access.action for access in accesses} == {"s3:GetObject", "s3:PutObject", *tagging}
    assert accesses[0].resource == f"arn:aws:s3:::{bucket}/acme/drop/a b.csv"
    rights = roles.data_roles["ImportDataRole"]
    assert {each.action for each in accesses if not allows(rights, each)} == tagging


def _subscriptions_of_a_client(stack: Stack) -> None:
    client = stack.erp(client=create_client("acme", "ERP").client_id)
    answer = client.post("/webhooks", EXAMPLES["POST /webhooks"].body)
    assert answer.data["created_by"]["name"] == "ERP"


def _product_routes(stack: Stack) -> None:
    call_route("DELETE /products/{id}", stack)
    call_route("GET /products", stack)


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
        "ADDRESSES#*", "ISSUED#*",
        "KEYS",
    )),
    (WEBHOOKS, _subscriptions_of_a_client, ("dynamodb:GetItem", "CLIENT#*", "name")),
)  # fmt: skip


@pytest.mark.parametrize(
    ("handler", "calls", "needed"), _NEEDED, ids=["catalog", "oauth", "webhooks"]
)
def test_missing_permission_is_detected(  # noqa: PLR0917
    handler: str, calls: _Calls, needed: Sequence[str], stack: Stack, roles: Roles, watch: Watch
) -> None:  # fmt: skip
    calls(stack)

    for lacking in needed:
        denied = [
            access for name, access in roles.lacking(lacking).denied(watch.made) if name == handler
        ]
        assert denied, f"no call needs {lacking}"
        assert all(concerns(access, lacking) for access in denied)
