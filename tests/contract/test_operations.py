"""Access to each operation: tokens, scopes, permissions, tenant states, modules and plans."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from operations.provisioning import create_tenant, set_requests_per_minute, set_state
from operations.tenant_rules import NewTenant
from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from shared.identity.tenancy.tenant import MODULES as ALL_MODULES
from shared.identity.tenancy.tenant import PLANS
from tests.cases import each_case
from tests.contract.interface import (
    DOCUMENTED,
    FEATURES,
    KEY_REQUIRED,
    MODULES,
    REQUIRED_ACCESS,
    USERS_ONLY,
)
from tests.gateway import Erp, Response
from tests.integration.routes import operations
from tests.integration.write_routes import EXAMPLES
from tests.lists import LISTS, UNINDEXED_LISTS
from tests.sampling import sampled
from tests.stack import ADDRESS, Stack

ROOT = Path(__file__).parents[2]
DECLARED = operations()
METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
UNKNOWN_ID = 999_999_999
EACH_OPERATION = each_case("operation", DECLARED)
_OF_CLIENTS = [name for name in DECLARED if name not in USERS_ONLY]
EACH_OPERATION_OF_CLIENTS = each_case("operation", _OF_CLIENTS)
EACH_OPERATION_WITH_ID = each_case("operation", [name for name in _OF_CLIENTS if "{id}" in name])


def call(erp: Erp, operation: str, body: object = None, number: object = UNKNOWN_ID) -> Response:
    """Call an operation; without `body`, a write sends an empty object."""
    method, _, path = operation.partition(" ")
    sent = body if body is not None else ({} if method != "GET" else None)
    return erp.send(method, path.replace("{id}", str(number)), sent)


def refused(answer: Response, status: int, code: str) -> dict[str, Any]:
    """Return `error` of a refusal after checking the whole envelope."""
    assert (answer.status, answer.code) == (status, code), answer.text
    body = answer.json()
    error: dict[str, Any] = body["error"]
    assert set(body) == {"error", "errors", "message"}
    assert body["message"] == error["message"] != ""
    assert body["errors"] == []
    assert error["doc_url"].endswith(f"/errors#{code}")
    assert error["request_id"] == answer.headers["X-Request-Id"]
    assert answer.headers["Cache-Control"] == "no-store"
    return error


def admitted(answer: Response) -> bool:
    """Return whether a call passed the access checks."""
    return answer.status in {200, 400, 404, 409, 422}


# Operations


def test_declared_operations_are_those_of_the_interface() -> None:
    declared = {
        name: (one.scope, one.permission, (*one.other_permissions,))
        for name, one in DECLARED.items()
    }
    expected = {
        name: (one.scope, one.permission, one.others) for name, one in REQUIRED_ACCESS.items()
    }

    assert {name: expected.get(name) for name in declared} == declared
    assert set(DOCUMENTED) <= set(declared)


def test_every_list_has_a_specification() -> None:
    spec = {one.path for one in DECLARED.values() if one.is_list}
    described = {one.path for one in LISTS.values()}
    assert spec - set(UNINDEXED_LISTS) == described, "tests/lists has one description of every list"
    assert all((ROOT / tests).is_file() for tests in UNINDEXED_LISTS.values())


def test_unsupported_method_is_405_with_the_allowed_methods(stack: Stack) -> None:
    allowed: dict[str, set[str]] = defaultdict(set)
    for name in DECLARED:
        method, _, path = name.partition(" ")
        allowed[path].add(method)
    # `bulk` also matches the path with an id.
    allowed["/warehouse-positions/bulk"] |= allowed["/warehouse-positions/{id}"]
    for path, methods in allowed.items():
        for method in sampled(f"methods of {path}", sorted(set(METHODS) - methods), every=2):
            answer = call(stack.erp(), f"{method} {path}")
            refused(answer, 405, "method_not_allowed")
            head = {"HEAD"} if "GET" in methods else set()
            assert answer.headers["Allow"].split(", ") == sorted(methods | head), path


def test_head_is_answered_as_get_without_a_body(stack: Stack) -> None:
    for name in DECLARED:
        method, _, path = name.partition(" ")
        head = call(stack.erp(), f"HEAD {path}")
        assert head.text == ""
        if method == "GET":
            read = call(stack.erp(), name)
            assert head.status == read.status, path
            assert head.headers.get("ETag") == read.headers.get("ETag"), path
    erp = stack.erp()
    tag = erp.get("/products").headers["ETag"]
    assert erp.send("HEAD", "/products", headers={"If-None-Match": tag}).status == 304


@each_case(
    "path",
    ["/nothing", "/products/1/nothing", "/stock", "/", "/products//", "/product-categories/1/2/3",
     "/products/%2e%2e/1/2"],
)  # fmt: skip
def test_unknown_path_is_404(stack: Stack, path: str) -> None:
    for method in METHODS:
        refused(call(stack.erp(), f"{method} {path}"), 404, "not_found")


# Access


@EACH_OPERATION
def test_invalid_token_is_401(stack: Stack, operation: str) -> None:
    tokens = (None, "nonsense", stack.token()[:-4] + "AAAA", stack.user_token(exp=1))
    for token in sampled(f"tokens of {operation}", tokens, every=2):
        refused(call(Erp(stack.gateway, token), operation), 401, "unauthenticated")


@EACH_OPERATION
def test_client_needs_the_scope(stack: Stack, operation: str) -> None:
    scope = REQUIRED_ACCESS[operation].scope
    if scope is None:
        assert admitted(call(stack.erp(scopes=set()), operation))
        return
    error = refused(call(stack.erp(scopes=set(SCOPES) - {scope}), operation), 403, "missing_scope")
    assert error["scope"] == scope
    answer = call(stack.erp(scopes={scope}), operation)
    if operation in USERS_ONLY:
        refused(answer, 403, "forbidden")
    else:
        assert admitted(answer)


@EACH_OPERATION
def test_user_needs_the_permission(stack: Stack, operation: str) -> None:
    def user(*permissions: str) -> Erp:
        return Erp(stack.gateway, stack.user_token(permissions=" ".join(permissions)))

    access = REQUIRED_ACCESS[operation]
    if access.permission is None:
        assert admitted(call(user(), operation))
    else:
        enough = (access.permission, *access.others)
        refused(call(user(*sorted({*PERMISSIONS} - {*enough})), operation), 403, "forbidden")
        for permission in enough:
            assert admitted(call(user(permission), operation))


@EACH_OPERATION
@each_case("claims", [{"kind": "mobile"}, {"second_factor": False}])
def test_limited_tokens_may_only_list_products(
    stack: Stack, operation: str, claims: Mapping[str, Any]
) -> None:
    erp = Erp(stack.gateway, stack.user_token(permissions=" ".join(PERMISSIONS), **claims))
    answer = call(erp, operation)
    if operation == "GET /products":
        assert answer.status == 200
    else:
        refused(answer, 403, "client_not_allowed")


@pytest.fixture(scope="module")
def inactive_tenants(stack: Stack) -> Mapping[str, tuple[Erp, int]]:
    """Error code → the ERP of a tenant in the state that causes it, and the status."""
    states = {
        "tenant_suspended": ("suspended", 402),
        "tenant_cancelled": ("cancelled", 402),
        "tenant_moved": ("moved", 410),
    }
    erps = {}
    for code, (state, status) in states.items():
        slug = f"is-{state}"
        create_tenant(NewTenant(slug, "enterprise", base_url=ADDRESS, modules=ALL_MODULES))
        erps[code] = (stack.erp(slug), status)
        moved_to = "https://wms.example/api/v1" if state == "moved" else None
        set_state(slug, state, moved_to=moved_to)  # type: ignore[arg-type]
    return erps


@EACH_OPERATION
def test_inactive_tenant_is_refused(
    inactive_tenants: Mapping[str, tuple[Erp, int]], operation: str
) -> None:
    states = list(inactive_tenants.items())
    for code, (erp, status) in sampled(f"states at {operation}", states, every=3):
        refused(call(erp, operation), status, code)


@pytest.fixture(scope="module")
def erp_without_modules(stack: Stack) -> Erp:
    """The ERP of a tenant with all modules disabled."""
    create_tenant(NewTenant("plain", "enterprise", base_url=ADDRESS))
    return stack.erp("plain")


@EACH_OPERATION_OF_CLIENTS
def test_disabled_module_is_refused(erp_without_modules: Erp, operation: str) -> None:
    answer = call(erp_without_modules, operation)
    code = MODULES.get("/" + operation.split("/")[1])
    if code:
        refused(answer, 404, code)
    else:
        assert answer.status in {200, 400, 422} or answer.code == "not_found"


@pytest.fixture(scope="module")
def erps_by_plan(stack: Stack) -> Mapping[str, Erp]:
    """Plan → the ERP of a tenant with this plan and all modules."""
    for plan in PLANS:
        create_tenant(NewTenant(f"on-{plan}", plan, base_url=ADDRESS, modules=ALL_MODULES))
        set_requests_per_minute(f"on-{plan}", 10_000)
    return {plan: stack.erp(f"on-{plan}") for plan in PLANS}


@EACH_OPERATION_OF_CLIENTS
def test_feature_outside_plan_is_refused(erps_by_plan: Mapping[str, Erp], operation: str) -> None:
    feature = FEATURES.get("/" + operation.split("/")[1])
    if not feature:
        assert admitted(call(erps_by_plan["essentials"], operation))
        return
    error = refused(call(erps_by_plan["essentials"], operation), 402, "feature_not_in_plan")
    assert error["feature"] == feature
    assert error["upgrade_url"].startswith("https://")
    for plan in ("professional", "enterprise"):
        assert admitted(call(erps_by_plan[plan], operation))


# Requests


@EACH_OPERATION_WITH_ID
def test_unknown_id_is_404(stack: Stack, operation: str) -> None:
    example = EXAMPLES.get(operation)
    body = example.body if example else None
    numbers = (UNKNOWN_ID, 0, -1, "abc", "1.0", 10**13, "1e3", "%20", "\u0661", "9" * 5000, "1;2")
    for number in sampled(f"ids of {operation}", numbers, every=3):
        refused(call(stack.erp(), operation, body, number), 404, "not_found")


@each_case("operation", [name for name in _OF_CLIENTS if "{id}" in name and DECLARED[name].body])
def test_unknown_id_with_an_invalid_body_is_404(stack: Stack, operation: str) -> None:
    model = DECLARED[operation].body
    assert model is not None
    body = {name: {"not": ["valid"]} for name in model.model_fields}
    refused(call(stack.erp(), operation, body), 404, "not_found")


@EACH_OPERATION_OF_CLIENTS
def test_idempotency_key_is_required_by_documented_operations(stack: Stack, operation: str) -> None:
    answer = call(stack.erp(), operation)
    if operation in KEY_REQUIRED:
        refused(answer, 400, "idempotency_key_required")
    else:
        is_form = DECLARED[operation].is_form
        assert answer.status in ({400} if is_form else {200, 404, 422}), answer.text
        assert not is_form or answer.code == "bad_request"


@each_case("operation", [name for name, one in DECLARED.items() if one.body])
def test_body_that_is_not_a_json_object_is_400(stack: Stack, operation: str) -> None:
    method, _, path = operation.partition(" ")
    texts = ["{", "[]", "null", '"text"', "{'a': 1}", '{"a": NaN}']
    # An action whose body is optional accepts an empty one.
    texts += [] if DECLARED[operation].body_optional else [""]
    for text in sampled(f"bodies of {operation}", texts, every=3):
        answer = stack.erp().send(method, path.replace("{id}", "1"), raw=text, key="broken")
        refused(answer, 400, "bad_request")
