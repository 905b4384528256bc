"""Bridges of the local stack: the emulator answers failures of functions as API Gateway does."""

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import pytest
from ministack.core import lambda_runtime
from ministack.services import apigateway_v1 as gateway

from local.bridges import (
    LAMBDA_PAYLOAD_LIMIT,
    assume_json_without_media_type,
    enforce_payload_limit,
    keep_other_environments,
    pass_access_key_to_functions,
)

_THROTTLED = {
    "throttle": True,
    "error": True,
    "body": {"__type": "TooManyRequestsException", "message": "Rate Exceeded"},
}
_RAISED = {"error": True, "body": {"errorType": "KeyError", "errorMessage": "'x'"}}
_TOO_LARGE = {"body": {"statusCode": 200, "body": "x" * LAMBDA_PAYLOAD_LIMIT}}


def _answer(
    monkeypatch: pytest.MonkeyPatch, result: dict[str, Any], binary: Sequence[str] = ()
) -> Any:
    """Return what the emulator answers when the invocation of a function has this result.

    The request has no headers; `binary` are the binary media types of the API.
    """

    async def call_lambda(*_: Any, **__: Any) -> tuple[dict[str, Any], None]:
        return result, None

    for name in ("_lambda_proxy_response", "_invoke_lambda_proxy_v1"):
        monkeypatch.setattr(gateway, name, getattr(gateway, name))  # undone after the test
    monkeypatch.setattr(gateway, "_call_lambda_raw", call_lambda)
    monkeypatch.setattr(gateway, "_build_lambda_event_v1", lambda *_, **__: {})
    enforce_payload_limit()
    return asyncio.run(
        gateway._invoke_lambda_proxy_v1(
            {"uri": "function"},
            "api",
            "api",
            {},
            {},
            "/v1/products",
            "GET",
            {},
            b"",
            {},
            {},
            binary_media_types=binary,
        )
    )


@pytest.mark.parametrize("result", [_THROTTLED, _RAISED, _TOO_LARGE])
def test_function_that_gives_no_response_is_an_integration_failure(
    monkeypatch: pytest.MonkeyPatch, result: dict[str, Any]
) -> None:
    answer = _answer(monkeypatch, result)
    assert isinstance(answer, gateway._GatewayError)
    assert answer.response_type == "INTEGRATION_FAILURE"


def test_response_of_a_function_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"statusCode": 201, "body": "{}"}
    status, _, content = _answer(monkeypatch, {"body": body})
    assert (status, content) == (201, b"{}")


def test_file_is_decoded_for_a_caller_without_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "_media_type_matches", gateway._media_type_matches)
    assume_json_without_media_type()
    body = {"statusCode": 200, "body": b64encode(b"%PDF").decode(), "isBase64Encoded": True}
    for binary, content in ((["*/*"], b"%PDF"), (["image/*"], b"JVBERg==")):
        assert _answer(monkeypatch, {"body": body}, binary)[2] == content


def test_environment_that_dies_while_it_starts_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator ends all environments of the function when the call of one raises."""

    def dies(worker: Any, *_: Any) -> Any:
        assert worker
        raise RuntimeError("Worker process exited immediately")

    monkeypatch.setattr(lambda_runtime.Worker, "invoke", dies)
    keep_other_environments()
    worker = lambda_runtime.Worker("function", {}, b"")

    answer = worker.invoke({}, "r-1")

    assert answer["status"] == "error"
    assert "exited immediately" in answer["error"]
    assert worker._proc is None, "the next call starts it again"


def test_functions_get_the_access_key_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    original = lambda_runtime.execution_credentials
    monkeypatch.setattr(lambda_runtime, "execution_credentials", original)  # undone after the test
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "LOCALKEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of this run")
    pass_access_key_to_functions()
    arn = "arn:aws:lambda:us-east-1:000000000000:function:stowage"

    found = lambda_runtime.execution_credentials({"FunctionArn": arn})

    assert found["AWS_ACCESS_KEY_ID"] == "LOCALKEY"
    assert found["AWS_SECRET_ACCESS_KEY"] == "of this run"
