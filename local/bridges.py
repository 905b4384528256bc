"""Bridges: patches of the emulator for behavior of AWS that it lacks.

Each function patches one gap of MiniStack 1.5.33 inside the emulator's process. The version is
pinned, and a patch that does not fit another version fails when the emulator starts. Production
code does not depend on the bridges.
"""

import contextvars
import functools
import hashlib
import json
import os
import sys
import tempfile
import threading
import types
import zipfile
from pathlib import Path
from typing import Any

from ministack.core import lambda_runtime
from ministack.services import apigateway_v1 as gateway
from ministack.services import lambda_svc

LAMBDA_PAYLOAD_LIMIT = 6_291_456
"""Maximum bytes of a Lambda event or response, including a base64 body."""

METHODS = ("get", "post", "put", "patch", "delete", "head", "options")

type Spec = dict[str, Any]


class EventTooLarge(Exception):
    """The event exceeds Lambda's payload limit."""


class FunctionFailed(Exception):
    """The function was throttled, raised, timed out, or returned more than the payload limit."""


def install() -> None:
    """Install every bridge; must be called before the emulator accepts requests."""
    import_complete_definition()
    enforce_payload_limit()
    isolate_function_imports()
    pass_access_key_to_functions()
    keep_environment_after_errors()
    keep_other_environments()
    share_unpacked_code()
    shorten_wait_for_logs()
    convert_numeric_parameters()
    assume_json_without_media_type()
    retry_failed_stream_batches()
    reset_stream_positions()
    pass_context_to_gateway_responses()


def import_complete_definition() -> None:
    """Gap: ANY methods, gateway responses and binary media types of an API are not imported."""
    original = gateway._import_rest_api

    @functools.wraps(original)
    def import_rest_api(spec: Spec, base_data: Any = None) -> str:
        binary = {"binaryMediaTypes": spec.get("x-amazon-apigateway-binary-media-types") or []}
        paths = _expand_any(spec.get("paths") or {})
        api_id: str = original({**spec, "paths": paths}, {**(base_data or {}), **binary})
        responses: Spec = spec.get("x-amazon-apigateway-gateway-responses") or {}
        for response_type, response in responses.items():
            gateway._put_gateway_response(api_id, response_type, response)
        return api_id

    gateway._import_rest_api = import_rest_api


def _expand_any(paths: Spec) -> Spec:
    """Replace ANY by all methods; a method that is defined itself keeps its definition."""
    expanded = {}
    for path, item in paths.items():
        named = dict(item)
        operation = named.pop("x-amazon-apigateway-any-method", None)
        expanded[path] = {**dict.fromkeys(METHODS, operation), **named} if operation else named
    return expanded


def enforce_payload_limit() -> None:
    """Gap: Lambda's 6 MB limit is not enforced; failures do not use the gateway responses."""
    call, proxy, answer_of = (
        gateway._call_lambda_raw,
        gateway._invoke_lambda_proxy_v1,
        gateway._lambda_proxy_response,
    )

    async def call_lambda(reference: str, event: Any, **scope: Any) -> Any:
        if len(json.dumps(event)) > LAMBDA_PAYLOAD_LIMIT:
            raise EventTooLarge
        return await call(reference, event, **scope)

    def proxy_response(result: dict[str, Any]) -> tuple[Any, Any]:
        answer, error = answer_of(result)
        if error or result.get("throttle") or len(json.dumps(answer)) > LAMBDA_PAYLOAD_LIMIT:
            raise FunctionFailed
        return answer, None

    async def invoke(*args: Any, **kwargs: Any) -> Any:
        try:
            return await proxy(*args, **kwargs)
        except EventTooLarge:
            return gateway._gw_error("REQUEST_TOO_LARGE", "Request Too Long")
        except FunctionFailed:
            return gateway._gw_error("INTEGRATION_FAILURE", "Internal server error")

    gateway._call_lambda_raw = call_lambda
    gateway._lambda_proxy_response = proxy_response
    gateway._invoke_lambda_proxy_v1 = invoke


def isolate_function_imports() -> None:
    """Gap: functions can import the emulator's packages and modules of this working tree.

    The interpreter behind the virtual environment has none of these packages, so a function can
    import only its own code and its layers, as in Lambda.
    """
    detect = lambda_runtime._detect_runtime_binary
    interpreter = str(Path(sys.executable).resolve())

    def detect_runtime_binary(runtime: str) -> tuple[str, str]:
        return interpreter, detect(runtime)[1]

    lambda_runtime._detect_runtime_binary = detect_runtime_binary


def pass_access_key_to_functions() -> None:
    """Gap: functions get their account number as access key, which is not that of the run."""
    original = lambda_runtime.execution_credentials

    @functools.wraps(original)
    def execution_credentials(config: Spec) -> dict[str, str]:
        credentials: dict[str, str] = original(config)
        return credentials | {"AWS_ACCESS_KEY_ID": os.environ["AWS_ACCESS_KEY_ID"]}

    lambda_runtime.execution_credentials = execution_credentials


_ERROR_REPORT = 'json.dumps({"status": "error", "error": str(e), "trace": traceback.format_exc()})'
_ERROR_AS_RESULT = (
    'json.dumps({"status": "ok", "result": {"raised": type(e).__name__, "error": str(e), '
    '"trace": traceback.format_exc()}})'
)


def keep_environment_after_errors() -> None:
    """Gap: a handler that raises loses its environment, so that the next call is a cold start."""
    script = lambda_runtime._PYTHON_WORKER_SCRIPT
    if script.count(_ERROR_REPORT) != 1:
        raise RuntimeError("keep_environment_after_errors does not fit this version of MiniStack")
    lambda_runtime._PYTHON_WORKER_SCRIPT = script.replace(_ERROR_REPORT, _ERROR_AS_RESULT)
    execute = lambda_svc._execute_function_warm

    def execute_function(func: Any, event: Any, request_id: str) -> dict[str, Any]:
        result: dict[str, Any] = execute(func, event, request_id)
        body = result["body"]
        if isinstance(body, dict) and body.keys() == {"raised", "error", "trace"}:
            return {
                "body": {"errorType": body["raised"], "errorMessage": body["error"]},
                "error": True,
                "log": f"{result['log']}\n{body['trace']}",
            }
        return result

    lambda_svc._execute_function_warm = execute_function


def keep_other_environments() -> None:
    """Gap: an environment that dies while it starts ends all environments of its function.

    Their requests fail too, and those that start meanwhile end the others again. With the bridge,
    only the request of the environment that died fails, and the next one starts it again.
    """
    invoke = lambda_runtime.Worker.invoke

    @functools.wraps(invoke)
    def invoke_alone(worker: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = invoke(worker, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - the emulator reports it
            process, worker._proc = worker._proc, None
            lambda_runtime._signal(process)
            return {"status": "error", "error": f"{type(error).__name__}: {error}"}
        return answer

    lambda_runtime.Worker.invoke = invoke_alone


class SharedZipFile(zipfile.ZipFile):
    """A zip file that is unpacked once and then shared through symbolic links."""

    _unpacking = threading.Lock()

    def extractall(self, path: Any = None, *_: Any) -> None:
        """Replace `path`, an empty folder, by a link to the unpacked content; delete the file."""
        archive, place = Path(str(self.filename)), Path(path)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        unpacked = Path(tempfile.gettempdir()) / "unpacked" / digest
        with self._unpacking:
            if not unpacked.exists():
                partial = unpacked.with_suffix(".partial")
                super().extractall(partial)
                partial.rename(unpacked)
        place.rmdir()
        place.symlink_to(unpacked)
        archive.unlink()


def share_unpacked_code() -> None:
    """Gap: every environment unpacks the layers again; 20 concurrent cold starts took 15 s."""
    lambda_runtime.zipfile = types.SimpleNamespace(
        ZipFile=SharedZipFile, BadZipFile=zipfile.BadZipFile, LargeFileError=zipfile.LargeZipFile
    )


def shorten_wait_for_logs() -> None:
    """Gap: a call without log lines waits 50 ms for them."""
    drain = lambda_runtime.Worker._drain_stderr_bounded
    lambda_runtime.Worker._drain_stderr_bounded = functools.partialmethod(
        drain, first_line_wait=0.002, idle_confirm=0.002
    )


def convert_numeric_parameters() -> None:
    """Gap: a number from a stack parameter is passed on as a string and stops the SQS poller."""
    original = lambda_svc._sqs_esm_concurrency

    @functools.wraps(original)
    def concurrency(esm: dict[str, Any], *args: Any) -> int:
        scaling = {name: int(value) for name, value in (esm.get("ScalingConfig") or {}).items()}
        limit: int = original({**esm, "ScalingConfig": scaling}, *args)
        return limit

    lambda_svc._sqs_esm_concurrency = concurrency


def assume_json_without_media_type() -> None:
    """Gap: a request without Accept or Content-Type matches no binary media type, not even `*/*`.

    API Gateway takes `application/json` for a missing header (docs/operating/aws.md), so that it
    decodes the base64 of a file also for a caller without Accept.
    """
    matches = gateway._media_type_matches

    @functools.wraps(matches)
    def media_type_matches(media_type: str | None, *args: Any) -> bool:
        found: bool = matches(media_type or "application/json", *args)
        return found

    gateway._media_type_matches = media_type_matches


def retry_failed_stream_batches() -> None:
    """Gap: `batchItemFailures` of a stream batch are ignored.

    With the bridge, such a batch fails and is retried as a whole.
    """
    execute = lambda_svc._execute_function

    @functools.wraps(execute)
    def execute_function(func: Any, event: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        result: dict[str, Any] = execute(func, event, *args, **kwargs)
        records = (event.get("Records") if isinstance(event, dict) else None) or [{}]
        of_stream = records[0].get("eventSource") == "aws:dynamodb"
        body = result.get("body")
        if of_stream and isinstance(body, dict) and body.get("batchItemFailures"):
            return {**result, "error": True}
        return result

    lambda_svc._execute_function = execute_function


def reset_stream_positions() -> None:
    """Gap: a restart of the emulator loses the records of streams, but not the read positions.

    Without the bridge, the function would skip as many new records as it had read before. Records
    lost by a restart are still in the outbox.
    """
    restore = lambda_svc._restore_state

    @functools.wraps(restore)
    def restore_state(data: dict[str, Any]) -> None:
        restore({**(data or {}), "dynamodb_stream_positions": {}})

    lambda_svc._restore_state = restore_state


def pass_context_to_gateway_responses() -> None:
    """Gap: `$context.authorizer` stays as it is in the gateway response of a denied request."""
    remember, evaluate, respond = (
        gateway._cache_authorizer_result,
        gateway._evaluate_policy,
        gateway._gateway_error_response,
    )
    context: contextvars.ContextVar[Spec] = contextvars.ContextVar("context of the authorizer")

    def cache_authorizer_result(key: Any, expires: float, policy: Spec, of_policy: Spec) -> None:
        policy["context"] = of_policy
        remember(key, expires, policy, of_policy)

    def evaluate_policy(policy: Spec, arn: str) -> str:
        context.set(policy.get("context", {}))
        effect: str = evaluate(policy, arn)
        return effect

    def gateway_error_response(error: Any, request: Spec) -> tuple[int, Any, bytes]:
        status, headers, body = respond(error, request)
        for name, value in context.get({}).items():
            body = body.replace(f"$context.authorizer.{name}".encode(), value.encode())
        return status, headers, body

    gateway._cache_authorizer_result = cache_authorizer_result
    gateway._evaluate_policy = evaluate_policy
    gateway._gateway_error_response = gateway_error_response
