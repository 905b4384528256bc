"""The Lambda handler of a group of routes: from the gateway's event to its response.

`ApiHandler._handle` holds the order of the checks, which is part of the interface: tenant state,
revocation, rate limit, route, scope or permission, plan and module, headers, body and query,
idempotency, service. An invalid body goes to the service before an Idempotency-Key is claimed; the
service adds the problems of its rules and refuses it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import BaseModel

from shared.http import conditional, idempotency
from shared.http.call import ApiCall, path_values, raw_body, request_of
from shared.http.envelope import (
    HttpResponse,
    error_response,
    method_of,
    path_of,
    request_id_of,
    to_gateway,
)
from shared.http.form import is_form
from shared.http.idempotency import AlreadyAnswered, IdempotencyClaim
from shared.http.ignored import ignored_fields, ignored_parameters
from shared.http.rate_limit import limiter, present_cost
from shared.http.request import Request, headers_of, traceparent_of
from shared.http.results import file_to_http, list_to_http, resource_to_http, shown_by
from shared.http.routes import (
    DeferredRoutes,
    FileResponse,
    Idempotency,
    ListResponse,
    Operation,
    RedirectResponse,
    ResourceResponse,
    RouteMatch,
    Routes,
    TextResponse,
    resource_path,
)
from shared.http.slow_requests import RequestSlot
from shared.identity.auth.rules import authorize, ensure_not_revoked, ensure_unrestricted
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant, ensure_active, ensure_feature, ensure_module
from shared.kernel.caller import Caller
from shared.kernel.clock import Deadline
from shared.kernel.config import config
from shared.kernel.db.aws_errors import is_missing_table, is_transient
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import (
    ApprovalRequired,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    ServiceError,
    ServiceUnavailable,
    Unauthenticated,
    ValidationFailed,
)
from shared.kernel.observability import (
    add_to_log,
    bind,
    log_response,
    logger,
    request_id,
)
from shared.kernel.sent_request import SentRequest
from shared.kernel.tracing import span
from shared.kernel.validation import InvalidBody
from shared.warehouse.approvals.need import ApprovalNotRequested

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

_RESERVE_MS = 1_500
"""Part of the invocation's time that is kept for the error response."""
_LATEST_CHARGE = 0.5
"""Seconds of the reserve after which a request is not charged, so that it is still answered."""


def _caller_of_authorizer(event: Mapping[str, Any]) -> Caller:
    """Return the caller that the gateway's authorizer has identified."""
    return Caller.from_context(event["requestContext"].get("authorizer") or {})


class ApiHandler:
    """The Lambda handler of one or more groups of routes; without any, every path is unknown.

    Args:
        groups: The routes.
        identify: Returns the caller of an event, or raises a ServiceError.
    """

    def __init__(
        self,
        *groups: Routes | DeferredRoutes,
        identify: Callable[[Mapping[str, Any]], Caller] = _caller_of_authorizer,
    ) -> None:
        self._groups = groups
        self._caller = identify

    @property
    def operations(self) -> list[Operation]:
        """Every route of the handler."""
        return [operation for group in self._groups for operation in group.operations]

    def __call__(self, event: dict[str, Any], context: "LambdaContext") -> dict[str, Any]:
        """Answer one event of the gateway's proxy integration."""
        bind(request_id=request_id_of(event), traceparent=traceparent_of(event))
        began = perf_counter()
        response = self._handle(event, context)
        log_response(
            method=event["httpMethod"],
            path=path_of(event),
            status=response.status,
            code=response.error_code,
            milliseconds=(perf_counter() - began) * 1000,
        )
        return to_gateway(response, event)

    def _handle(self, event: Mapping[str, Any], context: "LambdaContext") -> HttpResponse:
        """Turn an event into a response; every error becomes the error envelope."""
        try:
            call = self._identify(event, context)
        except Exception as error:  # noqa: BLE001 - the caller always gets the envelope
            return _response_for_exception(error, event)
        store, began = None, perf_counter()
        try:
            store = _admitted_store(call)
            response = _ensure_fits(self._respond(call, store))
        except Exception as error:  # noqa: BLE001
            response = _response_for_exception(error, event)
        more = limiter.headers(call.tenant, call.caller)
        response = replace(response, headers={**response.headers, **more})
        if store and call.is_logged:
            # Imported here: few companies have a request log, and all would wait for the import.
            from shared.http.request_log import log_request  # noqa: PLC0415

            log_request(store, call, response, (perf_counter() - began) * 1000)
        return response

    def _identify(self, event: Mapping[str, Any], context: "LambdaContext") -> ApiCall:
        """Find out who calls, for which tenant and which route."""
        caller = self._caller(event)
        tenant = directory.tenant(caller.tenant)
        if tenant is None:
            raise Unauthenticated
        path, headers = path_of(event), headers_of(event)
        matches = self._match(path)
        match = matches.get(method_of(event))
        if match and match.operation.form_path and is_form(headers):
            matches = self._match(match.operation.form_path)
            match = matches[match.operation.method]
        route = match.operation.name if match else None
        add_to_log(route=route, tenant=tenant.slug, kind=caller.kind, subject=caller.subject)
        deadline = Deadline(context.get_remaining_time_in_millis() - _RESERVE_MS)
        return ApiCall(event, path, headers, caller, tenant, deadline, matches)

    def _respond(self, call: ApiCall, store: Store) -> HttpResponse:
        """Count a call and check it in the order of the interface, then run the operation."""
        limiter.admit(store, call.tenant, call.caller)
        slot = store.slot = RequestSlot(store, call.tenant, call.caller)
        try:
            return self._serve(call, store)
        finally:
            if call.deadline.remaining > -_LATEST_CHARGE:
                slot.release()
                limiter.charge(store, call.tenant, call.caller, present_cost(call.deadline))

    def _serve(self, call: ApiCall, store: Store) -> HttpResponse:
        """Check a counted call against its route, then run the operation."""
        match = _find_route(call)
        ensure_authorized(call, match)
        _ensure_in_plan(call.tenant, match.operation)
        key = _idempotency_key(call, match.operation)
        if match.operation.writes:
            conditional.ensure_tags(call.headers)
        operation, route = match.operation, match.operation.name
        sent = raw_body(operation, call.event)
        raw = sent if operation.body else None
        request = request_of(call, match, raw)
        with span(route, tenant=call.tenant.slug, route=route, request_id=request_id()):
            if operation.writes:
                response = self._write_once(call, operation, store, request, key, raw)
            else:
                response = _read(call, operation, store, request)
        return _name_ignored(response, call, operation, sent)

    def _match(self, path: str) -> dict[str, RouteMatch]:
        """Return the operations on a path by method; a literal segment goes before a parameter.

        So `/warehouse-positions/bulk` is never the position `bulk`, whatever the method.
        """
        found = [match for group in self._groups for match in group.match(path)]
        fewest = min((len(match.path_values) for match in found), default=0)
        return {
            match.operation.method: match for match in found if len(match.path_values) == fewest
        }

    def _write_once(  # noqa: PLR0913, PLR0917 - the facts of one write
        self,
        call: ApiCall,
        operation: Operation,
        store: Store,
        request: Request[Any, Any],
        key: str | None,
        raw: object,
    ) -> HttpResponse:
        """Run a write, or return the stored response of the first request with its key."""
        if isinstance(request.body, InvalidBody):
            run_transaction(
                store, partial(_reject_invalid_body, operation, request), caller=call.caller
            )
        claim = None if key is None else _claim_key(call, operation, store, key, raw)
        body = request.body if isinstance(request.body, BaseModel) else None
        sent = SentRequest(request.caller, operation.method, call.path, raw, body)
        try:
            return run_transaction(
                claim.store if claim else store,
                partial(self._write, call, operation, request, sent, claim),
                caller=call.caller,
                request_name=claim.request if claim else None,
            )
        except AlreadyAnswered as answered:
            return answered.response
        except ApprovalNotRequested as refused:
            # Imported here: few requests are refused, and all would wait for the import.
            from shared.warehouse.approvals.service import request_approval  # noqa: PLC0415

            approval_id, replayed = run_all(
                partial(request_approval, store, refused, sent),
                partial(_end_claim, claim, refused, call),
            )
            if replayed is None:
                raise ApprovalRequired(refused.message, approval_id) from refused
            return replayed
        except Exception as error:
            if claim and not claim.claim.settle():
                raise
            known = error if isinstance(error, ServiceError) else ServiceError()
            replayed = _end_claim(claim, known, call)
            if replayed is None:
                raise
            return replayed

    def _write(  # noqa: PLR0913, PLR0917 - the facts of one write
        self,
        call: ApiCall,
        operation: Operation,
        request: Request[Any, Any],
        sent: SentRequest,
        claim: IdempotencyClaim | None,
        tx: Transaction,
    ) -> HttpResponse:
        """Add one write and, under an Idempotency-Key, its response.

        Whatever the use case refuses on what it has read, the claim of the key decides first.
        """
        if claim is None:
            return self._change(call, operation, request, sent, tx)
        try:
            if operation.request_has_secret:  # attempts are counted, whose key may be used
                claim.request()
            response = self._change(call, operation, request, sent, tx)
        except Exception:
            claim.request()
            raise
        finally:
            claim.claim.settle()
        claim.complete(tx, response)
        return response

    def _change(
        self,
        call: ApiCall,
        operation: Operation,
        request: Request[Any, Any],
        sent: SentRequest,
        tx: Transaction,
    ) -> HttpResponse:
        """Add one write; return its response."""
        tx.request = sent
        self._ensure_if_match(tx, call, request)
        result = operation.handler(tx, request)
        if result.if_unreadable and not self._may_read(call, result):
            response = resource_to_http(result.if_unreadable, call.tenant.base_url)
        else:
            response = replace(
                resource_to_http(shown_by(operation, result), call.tenant.base_url),
                has_secret=operation.response_has_secret,
            )
            if etag := self._etag(call, operation, result, response):
                response = replace(response, headers={**response.headers, "ETag": etag})
        return response

    def _may_read(self, call: ApiCall, result: ResourceResponse) -> bool:
        """Return whether the caller may read a resource; every user of a company may."""
        read = self._match(result.location or call.path)["GET"].operation
        return call.caller.kind != "client" or read.scope in call.caller.scopes

    def _etag(
        self, call: ApiCall, operation: Operation, result: ResourceResponse, response: HttpResponse
    ) -> str | None:
        """Return the ETag that GET of the written resource responds with, or None.

        None if the response does not show the resource as GET does.
        """
        paths = [result.location] if result.location else [call.path, resource_path(call.path)]
        found = (self._match(path).get("GET") for path in paths)
        match = next((match for match in found if match), None)
        if match is None or not operation.shows_as(match.operation):
            return None
        if result.warning or result.beside or match.operation.response is not operation.response:
            shown = replace(shown_by(match.operation, result), beside=None)
            response = resource_to_http(shown, call.tenant.base_url)
        return conditional.etag_of(response.body, match.operation.volatile_fields)

    def _ensure_if_match(self, tx: Transaction, call: ApiCall, request: Request[Any, Any]) -> None:
        """Compare If-Match with what GET would respond now, unless own steps have changed that.

        Uses GET of the same path; if there is none, GET of the resource (`/x/{id}`). No scope is
        needed to read it, because nothing of it is shown. If-Match is ignored for a list. A part
        that does not exist yet, such as a map, matches nothing.
        """
        if_match = call.headers.get("if-match")
        if if_match is None or tx.has_steps:
            return
        resource = self._match(resource_path(call.path)).get("GET")
        match = self._match(call.path).get("GET") or resource
        if match is None or match.operation.is_list:
            return
        request = replace(request, caller=replace(call.caller, scopes=frozenset(SCOPES)))
        try:
            result = match.operation.handler(tx.store, request)
        except NotFound:
            if resource is None or resource.operation is match.operation:
                raise
            resource.operation.handler(tx.store, request)  # fails if the resource is missing, too
            raise conditional.ChangedSinceRead from None
        current = resource_to_http(result, call.tenant.base_url)
        conditional.ensure_match(current, if_match, match.operation.volatile_fields)


def _admitted_store(call: ApiCall) -> Store:
    """Return the table of a company that is served, for a token that is valid."""
    ensure_active(call.tenant)
    ensure_not_revoked(call.tenant, call.caller)
    return store_for(call.tenant, call.deadline)


def _find_route(call: ApiCall) -> RouteMatch:
    """Return the operation of the call.

    Raises:
        ClientNotAllowed: The caller may not learn which routes exist.
        NotFound: No route has this path.
        MethodNotAllowed: The path has other methods only.
    """
    match = call.matches.get(call.method)
    if match is not None:
        return match
    ensure_unrestricted(call.caller)
    if not call.matches:
        raise NotFound(f"The path {call.path}")
    head = {"HEAD"} if "GET" in call.matches else set()
    raise MethodNotAllowed(call.method, sorted(call.matches.keys() | head))


def ensure_authorized(call: ApiCall, match: RouteMatch) -> None:
    """Refuse a caller that may not use the operation."""
    operation = match.operation
    authorize(
        call.caller,
        scope=operation.scope,
        permission=operation.permission,
        other_permissions=operation.other_permissions,
        write=operation.writes,
        allows_mobile=operation.allows_mobile,
        own=operation.allows_self
        and path_values(match, call.caller).get("id") == call.caller.subject,
    )


def _ensure_in_plan(tenant: Tenant, operation: Operation) -> None:
    """Refuse an operation whose feature the plan lacks or whose module is off."""
    if operation.feature:
        ensure_feature(tenant, operation.feature)
    if operation.module:
        ensure_module(tenant, operation.module)


def _idempotency_key(call: ApiCall, operation: Operation) -> str | None:
    """Return the Idempotency-Key of a write; None for a read and for a write without one."""
    if not operation.writes:
        return None
    key = idempotency.read_key(call.headers)
    if key is None and operation.idempotency is Idempotency.REQUIRED:
        message = "This route requires the header Idempotency-Key."
        raise ServiceError(message, "idempotency_key_required")
    return key


def _claim_key(
    call: ApiCall, operation: Operation, store: Store, key: str, raw: object
) -> IdempotencyClaim:
    """Begin to claim the key of a write."""
    salt = f"{call.tenant.slug} {key}" if operation.request_has_secret else None
    return idempotency.claim_key(
        store,
        partition=idempotency.record_partition(call.caller.subject, key),
        fingerprint=idempotency.request_fingerprint(operation.method, call.path, raw, salt=salt),
        operation=f"{operation.method} {call.path}",
    )


def _end_claim(
    claim: IdempotencyClaim | None, error: ServiceError, call: ApiCall
) -> HttpResponse | None:
    """End the claim of a refused write, if it has one; see `IdempotencyClaim.end_with_error`."""
    return claim.end_with_error(error, _error_response(error, call.event)) if claim else None


def _reject_invalid_body(
    operation: Operation, request: Request[Any, Any], tx: Transaction
) -> NoReturn:
    """Run the handler on an invalid body; it must raise, with the problems of its rules.

    Where the state of the resource refuses the request, the problems of the fields are reported:
    the caller corrects the body first.
    """
    try:
        operation.handler(tx, request)
    except ServiceError as error:
        if error.status != HTTPStatus.CONFLICT:
            raise
        raise ValidationFailed(request.body.problems) from error
    raise AssertionError(f"{operation.name} accepted an invalid body")


def _read(
    call: ApiCall, operation: Operation, store: Store, request: Request[Any, Any]
) -> HttpResponse:
    """Run a read; 304 without a body when the caller has the current response already."""
    result = operation.handler(store, request)
    if isinstance(result, RedirectResponse):
        return HttpResponse(302, "", {"Location": result.url})
    if isinstance(result, FileResponse | TextResponse):
        response = file_to_http(result, str(operation.response))
    elif isinstance(result, ListResponse):
        response = list_to_http(result, request, call.path, call.query)
    else:
        response = resource_to_http(result, call.tenant.base_url)
    return conditional.add_etag(response, call.headers, operation.volatile_fields)


def _name_ignored(
    response: HttpResponse, call: ApiCall, operation: Operation, sent: object
) -> HttpResponse:
    """Return the response with the names of what the route ignored; an error names nothing."""
    if response.status >= HTTPStatus.BAD_REQUEST:
        return response
    parameters = ignored_parameters(call.query, operation.parameter_names)
    fields = ignored_fields(operation.body, sent)
    return replace(response, headers={**response.headers, **parameters, **fields})


def _ensure_fits(response: HttpResponse) -> HttpResponse:
    """Return the response; raise PayloadTooLarge when Lambda cannot return it."""
    if not response.fits:
        raise PayloadTooLarge("The response exceeds 6 MB; request fewer rows with per_page.")
    return response


def _response_for_exception(error: Exception, event: Mapping[str, Any]) -> HttpResponse:
    """Return the error envelope of any exception."""
    if isinstance(error, ServiceError):
        return _error_response(error, event)
    logger.exception("unexpected error", exc_info=error)
    busy = is_transient(error) or is_missing_table(error)
    return _error_response(ServiceUnavailable() if busy else ServiceError(), event)


def _error_response(error: ServiceError, event: Mapping[str, Any]) -> HttpResponse:
    return error_response(error, request_id_of(event), config().docs_base)
