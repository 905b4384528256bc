"""A door: one Lambda function for a group of routes, from gateway event to gateway answer.

The order of the checks is the contract: tenant state and revocation, rate limit, the route,
scope or permission, plan and module, headers, body and query, idempotency, and only then the
service.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import BaseModel

from shared.http import conditional, idempotency
from shared.http.envelope import HttpResponse, error_response
from shared.http.form import read_form
from shared.http.idempotency import IdempotencyClaim
from shared.http.paging import paging
from shared.http.rate_limit import limiter
from shared.http.request import Request, headers_of, read_json_object
from shared.http.routes import (
    FileResponse,
    Idempotency,
    ListResponse,
    Operation,
    RedirectResponse,
    ResourceResponse,
    RouteMatch,
    Routes,
    TextResponse,
)
from shared.identity.auth.rules import authorize, ensure_not_revoked
from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant, ensure_feature, ensure_open, has_module
from shared.kernel.caller import Caller
from shared.kernel.clock import Deadline
from shared.kernel.config import config
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction, is_missing_table, is_transient
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import (
    CODES,
    IdempotencyKeyRequired,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    ServiceError,
    ServiceUnavailable,
    Unauthenticated,
)
from shared.kernel.json_text import dumps
from shared.kernel.observability import bind, count, flush, logger, span
from shared.kernel.validation import InvalidBody, check, ensure_valid

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_PREFIXES = ("/api/v1", "/v1")
"""The default address has the stage before the resources, a custom domain its base path."""
_RESERVE_MS = 1_500
"""Kept back from the invocation's time, so that a refusal still reaches the caller."""

_LOGGED_PATH = 200
"""Characters of a path that a log line keeps."""

_MODULE_ERRORS = {
    "transfer_orders": "transfer_orders_disabled",
    "bulk_import": "bulk_import_disabled",
}


class ApiHandler:
    """The Lambda handler of a group of routes."""

    def __init__(self, *groups: Routes) -> None:
        self._groups = groups

    @property
    def operations(self) -> list[Operation]:
        """Every route of the door."""
        return [operation for group in self._groups for operation in group.operations]

    def __call__(self, event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
        """Answer one event of the gateway's proxy integration."""
        bind(request_id=_request_id(event))
        began = perf_counter()
        reply = _answer_or_refusal(lambda: self._answer(event, context), event)
        logger.info(
            "answered",
            method=event["httpMethod"],
            path=_path(event)[:_LOGGED_PATH],
            status=reply.status,
            milliseconds=round((perf_counter() - began) * 1000),
        )
        count(f"answers_{reply.status // 100}xx")
        flush()
        return _respond(reply, event)

    def _at(self, path: str) -> dict[str, RouteMatch]:
        """Return the operations on a path, by method; a word of a route goes before a name.

        So `/warehouse-positions/bulk` is never the position `bulk`, whatever the method.
        """
        found = [match for group in self._groups for match in group.match(path)]
        fewest = min((len(match.path_values) for match in found), default=0)
        return {
            match.operation.method: match for match in found if len(match.path_values) == fewest
        }

    def _answer(self, event: Mapping[str, Any], context: "LambdaContext") -> HttpResponse:
        if not self._groups:  # open to everybody, so no caller is known
            raise NotFound("This route")
        caller = Caller.from_context(event["requestContext"].get("authorizer") or {})
        tenant = directory.tenant(caller.tenant)
        if tenant is None:
            raise Unauthenticated
        found = self._at(_path(event))
        match = found.get(event["httpMethod"])
        route = match.operation.name if match else None
        bind(request_id=_request_id(event), route=route, tenant=tenant.slug)
        deadline = Deadline(context.get_remaining_time_in_millis() - _RESERVE_MS)

        def serve() -> HttpResponse:
            ensure_open(tenant)
            ensure_not_revoked(tenant, caller)
            store = store_for(tenant.slug, deadline)
            limiter.admit(store, tenant, caller)
            if match is None:
                raise _no_route(event, found)
            _authorize(match, caller, tenant)
            request = Request(
                caller=caller,
                tenant=tenant,
                path_values=_path_values(match, caller),
                parameters=_parameters(match.operation, event),
            )
            return self._carry_out(match.operation, store, request, event)

        reply = _answer_or_refusal(serve, event)
        return replace(reply, headers={**reply.headers, **limiter.headers(tenant, caller)})

    def _carry_out(
        self, operation: Operation, store: Store, request: Request, event: Mapping[str, Any]
    ) -> HttpResponse:
        with span(operation.name, tenant=request.tenant.slug):
            if operation.writes:
                return self._write(operation, store, request, event)
            answer = operation.handler(store, request)
            if isinstance(answer, RedirectResponse):
                return HttpResponse(302, "", {"Location": answer.url})
            if isinstance(answer, FileResponse | TextResponse):
                reply = _as_it_is(answer, str(operation.response))
            else:
                reply = _shape(answer, request.tenant, event)
            return conditional.add_etag(reply, headers_of(event), operation.volatile_fields)

    def _ensure_match(self, tx: Transaction, request: Request, event: Mapping[str, Any]) -> None:
        """Honour If-Match: compare with what GET would answer now.

        GET of the very path where there is one (a part of a resource, such as its map),
        otherwise of the resource that the path begins with. A list has no state to match.
        """
        if_match = headers_of(event).get("if-match")
        if if_match is None:
            return
        path = _path(event)
        read = self._at(path).get("GET") or self._at("/".join(path.split("/")[:3])).get("GET")
        if read and not read.operation.is_list:
            shown = _shape(read.operation.handler(tx.store, request), request.tenant, event)
            conditional.ensure_match(shown, if_match, read.operation.volatile_fields)

    def _write(
        self, operation: Operation, store: Store, request: Request, event: Mapping[str, Any]
    ) -> HttpResponse:
        key = idempotency.read_key(headers_of(event))
        if key is None and operation.idempotency is Idempotency.REQUIRED:
            raise IdempotencyKeyRequired
        raw = _raw_body(operation, event)
        request = _with_body(operation, request, raw)
        tenant = request.tenant
        if isinstance(request.body, InvalidBody):

            def refuse(tx: Transaction) -> NoReturn:
                operation.handler(tx, request)
                message = f"{operation.name} accepted an invalid body"
                raise AssertionError(message)

            run_transaction(store, refuse, caller=request.caller)

        def run(claim: IdempotencyClaim | None) -> HttpResponse:
            def use_case(tx: Transaction) -> HttpResponse:
                self._ensure_match(tx, request, event)
                reply = _shape(operation.handler(tx, request), tenant, event)
                reply = replace(reply, has_secret=operation.response_has_secret)
                if claim:
                    claim.complete(tx, reply)
                return reply

            name = claim.partition if claim else None
            return run_transaction(store, use_case, caller=request.caller, idempotency_record=name)

        if key is None:
            return run(None)
        return idempotency.run_once(
            store,
            partition=idempotency.partition(request.caller.subject, key),
            request=idempotency.fingerprint(
                operation.method,
                _path(event),
                raw,
                salt=f"{tenant.slug} {key}" if operation.request_has_secret else None,
            ),
            run=run,
            to_response=lambda error: _refusal(error, event),
        )


def _answer_or_refusal(
    answer: Callable[[], HttpResponse], event: Mapping[str, Any]
) -> HttpResponse:
    """Answer, and refuse in the envelope whatever goes wrong and what the gateway cannot carry."""
    try:
        reply = answer()
    except ServiceError as error:
        return _refusal(error, event)
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets the envelope
        logger.exception("unexpected error")
        busy = is_transient(error) or is_missing_table(error)
        return _refusal(
            ServiceUnavailable() if busy else ServiceError("The service failed."), event
        )
    if not reply.fits:
        too_large = PayloadTooLarge("The answer exceeds 6 MB; ask for less with per_page.")
        return _refusal(too_large, event)
    return reply


def _no_route(event: Mapping[str, Any], found: Mapping[str, RouteMatch]) -> ServiceError:
    """Make the refusal of a path that is none, or that has other methods (`found`)."""
    if not found:
        return NotFound("This route")
    return MethodNotAllowed(event["httpMethod"], sorted(found))


def _refusal(error: ServiceError, event: Mapping[str, Any]) -> HttpResponse:
    return error_response(error, _request_id(event), config().docs_base)


def _respond(reply: HttpResponse, event: Mapping[str, Any]) -> dict[str, Any]:
    """Write the answer as the gateway's proxy integration takes it."""
    headers = {
        "Content-Type": "application/json",
        "Cache-Control": "no-store",
        "X-Request-Id": _request_id(event),
        **reply.headers,
    }
    return {
        "statusCode": reply.status,
        "headers": headers,
        "body": reply.body,
        "isBase64Encoded": reply.is_base64,
    }


def _authorize(match: RouteMatch, caller: Caller, tenant: Tenant) -> None:
    """Refuse whoever may not use the operation, before anything of the request is looked at."""
    operation = match.operation
    authorize(
        caller,
        scope=operation.scope,
        permission=operation.permission,
        write=operation.writes,
        open_to_mobile=operation.allows_mobile,
        own=operation.allows_self and _path_values(match, caller).get("id") == caller.subject,
    )
    if operation.feature:
        ensure_feature(tenant, operation.feature)
    if operation.module and not has_module(tenant, operation.module):
        code = _MODULE_ERRORS.get(operation.module, "not_found")
        raise ServiceError(CODES[code].meaning, code)


def _path_values(match: RouteMatch, caller: Caller) -> Mapping[str, str]:
    """Return what the path names; `me` is the id of the user who calls."""
    values = match.path_values
    if match.operation.allows_self and values.get("id") == "me" and caller.kind == "user":
        return {**values, "id": caller.subject}
    return values


def _parameters(operation: Operation, event: Mapping[str, Any]) -> object:
    if operation.parameters is None:
        return None
    return ensure_valid(check(operation.parameters, event.get("queryStringParameters") or {}))


def _raw_body(operation: Operation, event: Mapping[str, Any]) -> dict[str, Any] | None:
    if operation.body is None:
        return None
    if operation.body_optional and not event.get("body"):
        return {}
    return read_form(event) if operation.is_form else read_json_object(event)


def _with_body(operation: Operation, request: Request, raw: object) -> Request:
    if operation.body is None:
        return request
    body = check(operation.body, raw)
    return replace(request, body=body if operation.collects_problems else ensure_valid(body))


def _shape(
    answer: ResourceResponse | ListResponse[Any], tenant: Tenant, event: Mapping[str, Any]
) -> HttpResponse:
    """Turn what a handler answers into the reply, with links from the tenant's own address."""
    if isinstance(answer, ListResponse):
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
        return HttpResponse(200, dumps({"data": rows, **frame}))
    view = answer.view
    data = view.model_dump() if isinstance(view, BaseModel) else [v.model_dump() for v in view]
    warning = {"warning": answer.warning} if answer.warning else {}
    headers = {"Location": tenant.base_url + answer.location} if answer.location else {}
    return HttpResponse(answer.status, dumps({"data": data, **warning}), headers)


def _as_it_is(answer: FileResponse | TextResponse, media: str) -> HttpResponse:
    """Turn an answer that is no JSON into the reply."""
    if isinstance(answer, TextResponse):
        return HttpResponse(200, answer.text, {"Content-Type": media, **answer.headers})
    headers = {
        "Content-Type": media,
        "Content-Disposition": f'attachment; filename="{answer.name}"',
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(200, b64encode(answer.content).decode(), headers, is_base64=True)


def _path(event: Mapping[str, Any]) -> str:
    """Path of the request relative to the base address."""
    path: str = event.get("path") or "/"
    for prefix in _PREFIXES:
        if path == prefix or path.startswith(prefix + "/"):
            return path.removeprefix(prefix) or "/"
    return path


def _request_id(event: Mapping[str, Any]) -> str:
    request_id: str = event["requestContext"].get("requestId", "")
    return request_id
