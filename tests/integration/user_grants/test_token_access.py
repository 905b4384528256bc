"""Secrets in the log, and an authorizer that fails."""

import io

import pytest

from shared.identity.tenancy.directory import directory
from tests import faults
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.user_grants.oauth_requests import ExampleUser, refresh, revoke
from tests.stack import Stack


def get_with(stack: Stack, path: str, token: str) -> tuple[int, str]:
    """Return the status and the error code of a GET with a token."""
    answer = Erp(stack.gateway, token).get(path)
    code: str = answer.json().get("error", {}).get("code", "")
    return answer.status, code


def test_log_contains_no_secret(two_step_user: ExampleUser, stack: Stack, log: io.StringIO) -> None:
    user, code = two_step_user, two_step_user.code()
    first = user.sign_in(otp=code)
    refresh(first.refresh_token)
    refresh(first.refresh_token)
    user.sign_in(password="a password that is wrong", otp=user.recovery_codes[0])
    revoke(first.access_token)
    get_with(stack, "/products", first.access_token)
    logged = log.getvalue()
    assert "invalid_grant" in logged
    for secret in (
        user.password,
        "a password that is wrong",
        user.recovery_codes[0],
        first.refresh_token.rpartition(".")[2],
        first.access_token.rpartition(".")[2],
        first.access_token.split(".")[1],
    ):
        assert secret not in logged


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("kind", ["AUTHORIZER_FAILURE", "AUTHORIZER_CONFIGURATION_ERROR"])
def test_failing_authorizer_leads_to_503_with_retry_after(
    kind: str,
    stack: Stack,
    user: ExampleUser,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The gateway reports the first for a failing function, the second for a missing one."""
    caller = Erp(stack.gateway, user.sign_in().access_token)
    directory.clear()
    own_answer = stack.gateway._own_answer
    monkeypatch.setattr(stack.gateway, "_own_answer", lambda _, *more: own_answer(kind, *more))
    with aws_faults.faulty(
        lambda _call, _forward: faults.refusal("InternalServerError", status=500)
    ):
        answer = caller.get("/products")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    error = answer.json()["error"]
    assert error["code"] == "service_unavailable"
    assert error["request_id"] == answer.headers["X-Request-Id"]
