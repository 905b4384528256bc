"""Paths that no function serves, with and without a token."""

from itertools import product
from typing import Any

from operations import provisioning
from operations.api_clients import create_client, revoke_client
from shared.identity.tenancy.directory import directory
from tests.aws_calls import Watch
from tests.cases import each_case
from tests.clock import Clock
from tests.faults import AwsFaults, refusal
from tests.gateway import Erp
from tests.integration.http.rate_limit_headers import LIMIT, assert_refused, read_rate_limit
from tests.integration.roles import Roles
from tests.stack import Stack
from tests.tenant_cache import apply_now

PATHS = ["/nothing", "/", "/a/b/c"]


def test_unknown_path_is_404_with_the_limit_headers(mini: Erp) -> None:
    methods = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    for sent, (method, path) in enumerate(product(methods, PATHS), 1):
        answer = mini.send(method, path)

        assert (answer.status, answer.code) == (404, "not_found"), (method, path)
        assert answer.json()["message"] == f"The path {path} does not exist."
        assert read_rate_limit(answer) == (LIMIT, LIMIT - sent, 60)


def test_path_without_the_version_is_named_as_sent(stack: Stack) -> None:
    for path in ("/v2/products", "/products"):
        answer = stack.gateway.request("GET", path)
        assert answer.json()["message"] == f"The path {path} does not exist."


@each_case("path", PATHS)
@each_case("authorization", [None, "", "Basic YTpi", "Negotiate", "nonsense"])
def test_unknown_path_without_a_bearer_token_is_404(
    stack: Stack, path: str, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}

    answer = Erp(stack.gateway, None).get(path, headers=headers)

    assert (answer.status, answer.code) == (404, "not_found")
    assert "RateLimit-Limit" not in answer.headers
    assert answer.headers["X-Request-Id"] == answer.json()["error"]["request_id"]


@each_case("path", PATHS)
def test_unknown_path_with_an_invalid_token_is_401(stack: Stack, path: str) -> None:
    for token in ("", "nonsense", stack.token()[:-4] + "AAAA", stack.user_token(exp=1)):
        answer = Erp(stack.gateway, token).get(path)
        assert (answer.status, answer.code) == (401, "unauthenticated")
        assert "RateLimit-Limit" not in answer.headers
    assert "has expired" in answer.json()["message"]


def test_unknown_path_of_a_revoked_client_is_401(stack: Stack) -> None:
    credentials = create_client("acme", "ERP")
    revoked = stack.erp(client=credentials.client_id)
    assert revoked.get("/nothing").status == 404
    apply_now(revoke_client, credentials.client_id)

    assert revoked.get("/nothing").status == 401


def test_unknown_path_with_a_token_of_another_tenant_is_401(stack: Stack) -> None:
    apply_now(provisioning.set_address, "acme", host="wms.acme.test")

    answer = stack.erp("beta").get("/nothing", headers={"Host": "wms.acme.test"})

    assert (answer.status, answer.code) == (401, "unauthenticated")


def test_requests_to_unknown_paths_are_limited(mini: Erp, minute_clock: Clock) -> None:
    minute_clock.advance(17)
    for remaining in reversed(range(LIMIT)):
        assert read_rate_limit(mini.get("/nothing"))[1] == remaining

    assert_refused(mini.get("/nothing"), seconds=43)
    assert_refused(mini.get("/products"), seconds=43)


@each_case("claims", [{"kind": "mobile"}, {"second_factor": False}])
@each_case(
    "target",
    [
        "GET /nothing",
        "GET /products/1/2/3",
        "DELETE /products",
        "PATCH /products",
        "HEAD /warehouses",
    ],
)
def test_restricted_token_does_not_learn_which_routes_exist(
    stack: Stack, claims: dict[str, Any], target: str
) -> None:
    method, _, path = target.partition(" ")

    answer = Erp(stack.gateway, stack.user_token(**claims)).send(method, path)

    assert answer.status == 403
    assert method == "HEAD" or answer.code == "client_not_allowed"


def test_failure_of_aws_is_503(erp: Erp, aws_faults: AwsFaults, clock: Clock) -> None:
    assert clock  # botocore waits between its attempts
    directory.clear()
    with aws_faults.faulty(lambda _call, _forward: refusal("ThrottlingException")):
        answer = erp.get("/nothing")

    assert (answer.status, answer.code) == (503, "service_unavailable")


def test_calls_are_allowed_and_a_request_without_a_token_makes_none(
    stack: Stack, roles: Roles, watch: Watch
) -> None:
    assert Erp(stack.gateway, None).get("/nothing").status == 404
    assert watch.made == []

    assert stack.erp().get("/nothing").status == 404
    assert {call.handler for call in watch.made} == {"functions.fallback.app.lambda_handler"}
    assert roles.denied(watch.made) == []
    roles.assert_no_access_to_other_tenant(watch.made)
