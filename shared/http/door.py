"""A door: one Lambda function for a group of routes, from gateway event to gateway answer.

The order of the checks is the contract: tenant state and revocation, scope or permission,
plan and module, headers, body and query, idempotency, and only then the service.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from pydantic import BaseModel

from shared.auth.caller import Caller
from shared.auth.rules import authorize, ensure_not_revoked
from shared.clock import Deadline
from shared.config import config
from shared.db.store import Store
from shared.db.transaction import Transaction
from shared.db.unit_of_work import perform
from shared.errors import (
    CODES,
    IdempotencyKeyRequired,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    ServiceError,
    Unauthenticated,
    ValidationFailed,
)
from shared.http import idempotency
from shared.http.envelope import Reply, error_reply
from shared.http.operations import Answer, Idempotency, ListAnswer, Operation, Routes
from shared.http.paging import paging
from shared.http.request import Request, read_json_object
from shared.json_text import dumps
from shared.observability import bind, logger
from shared.tenancy.access import dynamodb_for
from shared.tenancy.directory import directory
from shared.tenancy.tenant import Tenant, ensure_feature, ensure_open, has_module
from shared.validation import check, what_is_valid

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_PREFIXES = ("/api/v1", "/v1")
"""The default address has the stage before the resources, a custom domain its base path."""
_RESERVE_MS = 1_500
"""Kept back from the invocation's time, so that a refusal still reaches the caller."""

_MODULE_ERRORS = {
    "transfer_orders": "transfer_orders_disabled",
    "bulk_import": "bulk_import_disabled",
}


class Door:
    """The Lambda handler of a group of routes."""

    def __init__(self, *groups: Routes) -> None:
        self._groups = groups
        self._resolver = APIGatewayRestResolver(strip_prefixes=[*_PREFIXES])
        for group in groups:
            for operation in group.operations:
                rule = operation.path.replace("{", "<").replace("}", ">")
                self._resolver.route(rule, operation.method)(self._handler(operation))
        self._resolver.not_found(self._no_route)

    @property
    def operations(self) -> list[Operation]:
        """Every route of the door."""
        return [operation for group in self._groups for operation in group.operations]

    def __call__(self, event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
        """Answer one gateway event."""
        bind(request_id=_request_id(event), route=f"{event.get('httpMethod')} {_path(event)}")
        return self._resolver.resolve(event, context)

    # One operation

    def _handler(self, operation: Operation) -> Any:
        def handle(**path_values: str) -> "Response[str]":
            event = self._resolver.current_event.raw_event
            try:
                reply = self._answer(operation, event, path_values)
            except ServiceError as error:
                reply = self._refusal(error, event)
            except Exception:  # noqa: BLE001 - whatever it is, the caller gets the envelope
                logger.exception(
                    "unexpected error", operation=f"{operation.method} {operation.path}"
                )
                reply = self._refusal(ServiceError("The service failed."), event)
            return self._respond(reply, event)

        return handle

    def _answer(
        self, operation: Operation, event: Mapping[str, Any], path_values: Mapping[str, str]
    ) -> Reply:
        caller = Caller.from_context(event["requestContext"].get("authorizer") or {})
        tenant = directory.tenant(caller.tenant)
        if tenant is None:
            raise Unauthenticated
        _admit(operation, caller, tenant)
        milliseconds = self._resolver.lambda_context.get_remaining_time_in_millis() - _RESERVE_MS
        store = Store(
            dynamodb_for(tenant.slug),
            slug=tenant.slug,
            table=config().tenant_table(tenant.slug),
            outbox=config().outbox_table,
            deadline=Deadline(milliseconds),
        )
        parameters = _parameters(operation, event)
        request = Request(
            caller=caller,
            tenant=tenant,
            path=operation.path,
            path_values=path_values,
            parameters=parameters,
        )
        if not operation.writes:
            return _shape(operation.handler(store, request), tenant, event)
        return self._write(operation, store, request, event)

    def _write(
        self, operation: Operation, store: Store, request: Request, event: Mapping[str, Any]
    ) -> Reply:
        key = idempotency.read_key(_headers(event))
        if key is None and operation.idempotency is Idempotency.REQUIRED:
            raise IdempotencyKeyRequired
        raw = read_json_object(event) if operation.body else None
        request = _with_body(operation, request, raw)
        tenant = request.tenant
        if request.problems:
            operation.handler(Transaction(store, caller=request.caller), request)
            message = f"{operation.method} {operation.path} accepted an invalid body"
            raise AssertionError(message)
        claim = None
        if key is not None:
            path = operation.path.format(**request.path_values)
            print_ = idempotency.fingerprint(operation.method, path, raw)
            found = idempotency.claim(
                store, credential=request.caller.subject, key=key, request=print_
            )
            if isinstance(found, Reply):
                return found
            claim = found

        def use_case(tx: Transaction) -> Reply:
            reply = _shape(operation.handler(tx, request), tenant, event)
            if claim:
                claim.complete(tx, reply)
            return reply

        try:
            return perform(store, use_case, caller=request.caller)
        except Exception as error:
            if claim:
                refusal = error if isinstance(error, ServiceError) else ServiceError("failed")
                claim.settle(refusal, self._refusal(refusal, event))
            raise

    # Answers that no operation gives

    def _no_route(self, _error: Exception) -> "Response[str]":
        event = self._resolver.current_event.raw_event
        path = _path(event)
        allowed: dict[str, Operation] = {}
        for group in self._groups:
            allowed.update(group.allowed(unquote(path)))
        method = event.get("httpMethod", "")
        error: ServiceError = NotFound("This route")
        if allowed and method not in allowed:
            error = MethodNotAllowed(method, sorted(allowed))
        return self._respond(self._refusal(error, event), event)

    def _refusal(self, error: ServiceError, event: Mapping[str, Any]) -> Reply:
        return error_reply(error, _request_id(event), config().docs_base)

    def _respond(self, reply: Reply, event: Mapping[str, Any]) -> "Response[str]":
        if not reply.fits:
            reply = self._refusal(
                PayloadTooLarge("The answer exceeds 6 MB; ask for less with per_page."), event
            )
        headers = {
            "Cache-Control": "no-store",
            "X-Request-Id": _request_id(event),
            **reply.headers,
        }
        return Response(reply.status, "application/json", reply.body, headers)


def _admit(operation: Operation, caller: Caller, tenant: Tenant) -> None:
    """Refuse whoever may not use the operation, before anything of the request is looked at."""
    ensure_open(tenant)
    ensure_not_revoked(tenant, caller)
    authorize(
        caller,
        scope=operation.scope,
        permission=operation.permission,
        write=operation.writes,
        open_to_mobile=operation.open_to_mobile,
    )
    if operation.feature:
        ensure_feature(tenant, operation.feature)
    if operation.module and not has_module(tenant, operation.module):
        code = _MODULE_ERRORS.get(operation.module, "not_found")
        raise ServiceError(CODES[code].meaning, code)


def _parameters(operation: Operation, event: Mapping[str, Any]) -> object:
    if operation.parameters is None:
        return None
    parameters, problems = check(operation.parameters, event.get("queryStringParameters") or {})
    if problems:
        raise ValidationFailed(problems)
    return parameters


def _with_body(operation: Operation, request: Request, raw: object) -> Request:
    if operation.body is None:
        return request
    body, problems = check(operation.body, raw)
    if problems and not operation.collects_problems:
        raise ValidationFailed(problems)
    return replace(
        request, body=body or what_is_valid(operation.body, raw), problems=tuple(problems)
    )


def _shape(answer: Answer | ListAnswer[Any], tenant: Tenant, event: Mapping[str, Any]) -> Reply:
    """Turn what a handler answers into the reply, with links from the tenant's own address."""
    if isinstance(answer, ListAnswer):
        page = answer.page
        rows = [answer.view(record).model_dump() for record in page.records]
        frame = paging(
            url=tenant.base_url + _path(event),
            query=event.get("queryStringParameters") or {},
            page=page.page,
            per_page=page.per_page,
            total=page.total,
            shown=len(rows),
            next_cursor=page.next_cursor,
        )
        return Reply(200, dumps({"data": rows, **frame}))
    view = answer.view
    data = view.model_dump() if isinstance(view, BaseModel) else [v.model_dump() for v in view]
    headers = {"Location": tenant.base_url + answer.location} if answer.location else {}
    return Reply(answer.status, dumps({"data": data}), headers)


def _path(event: Mapping[str, Any]) -> str:
    """Path of the request relative to the base address."""
    path: str = event.get("path") or "/"
    for prefix in _PREFIXES:
        if path == prefix or path.startswith(prefix + "/"):
            return path.removeprefix(prefix) or "/"
    return path


def _headers(event: Mapping[str, Any]) -> dict[str, str]:
    return {name.lower(): value for name, value in (event.get("headers") or {}).items()}


def _request_id(event: Mapping[str, Any]) -> str:
    request_id: str = event["requestContext"].get("requestId", "")
    return request_id
