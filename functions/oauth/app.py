"""The OAuth 2.0 endpoints, which need no access token.

POST /oauth/token                              client_credentials, password, refresh_token
POST /oauth/revoke                             RFC 7009
GET  /.well-known/jwks.json                    public keys
GET  /.well-known/oauth-authorization-server   RFC 8414
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from functions.oauth.request import (
    host_of,
    origin_of,
    read_client,
    read_client_credentials,
    read_form,
)
from shared.http.envelope import HttpResponse, error_body, method_of, to_gateway
from shared.http.request import traceparent_of
from shared.identity.auth import client_grants, signing, tokens
from shared.identity.auth.client_grants import IssuedTokens, OAuthError
from shared.identity.auth.key_ring import key_ring
from shared.identity.auth.scopes import SCOPES
from shared.identity.tenancy.directory import directory
from shared.kernel.config import config
from shared.kernel.errors import MethodNotAllowed, NotFound, ServiceError, ServiceUnavailable
from shared.kernel.observability import bind, count, log_response, logger
from shared.kernel.tracing import span

_CLIENT_METHODS = ["client_secret_basic", "client_secret_post", "none"]
"""`none` is for mobile applications, which have no secret."""

REFUSAL_STEP_MS = 100
"""Refusals of credentials take a multiple of this time; longer than the checks usually differ."""


@dataclass(frozen=True, slots=True)
class _Response:
    body: Mapping[str, Any] | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


type _Form = Mapping[str, str]
type _Grant = Callable[[Mapping[str, Any], _Form], IssuedTokens]


def _client_credentials(event: Mapping[str, Any], form: _Form) -> IssuedTokens:
    client_auth = read_client_credentials(event, form)
    return client_grants.client_credentials_grant(
        client_auth, form.get("scope", ""), origin_of(event)
    )


def _password(event: Mapping[str, Any], form: _Form) -> IssuedTokens:
    from shared.identity.users import user_grants  # noqa: PLC0415  saves client_credentials requests 100 ms

    _require(form, "username", "password")
    _refuse_scope(form)
    credentials = user_grants.UserCredentials(form["username"], form["password"], form.get("otp"))
    return user_grants.password_grant(credentials, read_client(event, form), origin_of(event))


def _refresh_token(event: Mapping[str, Any], form: _Form) -> IssuedTokens:
    from shared.identity.users import user_grants  # noqa: PLC0415  saves client_credentials requests 100 ms

    _require(form, "refresh_token")
    _refuse_scope(form)
    return user_grants.refresh_token_grant(
        form["refresh_token"], read_client(event, form), origin_of(event)
    )


_GRANTS: Mapping[str, _Grant] = {
    "client_credentials": _client_credentials,
    "password": _password,
    "refresh_token": _refresh_token,
}


def _require(form: _Form, *names: str) -> None:
    missing = [name for name in names if name not in form]
    if missing:
        raise OAuthError("invalid_request", f"Missing parameters: {', '.join(missing)}.")


def _refuse_scope(form: _Form) -> None:
    if form.get("scope", "").strip(" "):
        raise OAuthError("invalid_scope", "A user has permissions of roles; send no scope.")


def _token(event: Mapping[str, Any]) -> _Response:
    form = read_form(event)
    _require(form, "grant_type")
    if form["grant_type"] not in _GRANTS:
        raise OAuthError("unsupported_grant_type", f"Supported grant types: {', '.join(_GRANTS)}.")
    issued = _GRANTS[form["grant_type"]](event, form)
    body = {
        "access_token": issued.access_token,
        "token_type": "Bearer",
        "expires_in": tokens.LIFETIME,
        "scope": " ".join(sorted(issued.scopes)),
    }
    of_users = {"refresh_token": issued.refresh_token, "timezone": issued.timezone}
    return _Response(body | {name: value for name, value in of_users.items() if value})


def _revoke(event: Mapping[str, Any]) -> _Response:
    from shared.identity.users import sessions, token_revocation  # noqa: PLC0415  saves token requests 100 ms

    form = read_form(event)
    client_auth = read_client(event, form)
    _require(form, "token")
    token = form["token"]
    # integration clients have no refresh tokens
    if client_auth and client_auth.secret and not sessions.parse_refresh_token(token):
        client_grants.revoke_client_token(client_auth, token, origin_of(event))
    else:
        token_revocation.revoke_user_token(token, client_auth, origin_of(event))
    return _Response(None)


def _key_set(_event: Mapping[str, Any]) -> _Response:
    return _Response(signing.key_set(key.kms_key for key in key_ring.published()))


def _metadata(event: Mapping[str, Any]) -> _Response:
    owner = directory.tenant_for_host(host_of(event))
    tenant = directory.tenant(owner) if owner else None
    address = tenant.base_url if tenant else directory.shared_address()
    if address is None:
        raise NotFound("A tenant at this host")
    return _Response(
        {
            "issuer": address,
            "token_endpoint": f"{address}/oauth/token",
            "revocation_endpoint": f"{address}/oauth/revoke",
            "jwks_uri": f"{address}/.well-known/jwks.json",
            "grant_types_supported": list(_GRANTS),
            "response_types_supported": [],
            "token_endpoint_auth_methods_supported": _CLIENT_METHODS,
            "revocation_endpoint_auth_methods_supported": _CLIENT_METHODS,
            "scopes_supported": list(SCOPES),
        }
    )


_ROUTES: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], _Response]]] = {
    "/oauth/token": ("POST", _token),
    "/oauth/revoke": ("POST", _revoke),
    "/.well-known/jwks.json": ("GET", _key_set),
    "/.well-known/oauth-authorization-server": ("GET", _metadata),
}


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Handle a request of API Gateway (REST proxy event)."""
    request_id = event["requestContext"]["requestId"]
    # with a custom domain, the path also contains the base path of the domain
    path = event["path"].partition("/v1")[2]
    route = path if path in _ROUTES else "unknown"
    bind(request_id=request_id, route=route, traceparent=traceparent_of(event))
    began = time.monotonic()
    try:
        with span(route, route=route, request_id=request_id):
            response = _route_request(event, path)
    except OAuthError as error:
        logger.info("token request rejected", extra={"code": error.code})
        count(f"oauth.{error.code}")
        response = _oauth_error_response(error)
        if error.code in {"invalid_client", "invalid_grant"}:
            _delay_refusal(began)
    except ServiceError as error:
        response = _error_response(error, request_id)
    except (ClientError, BotoCoreError):
        logger.exception("AWS call failed")
        response = _error_response(ServiceUnavailable(), request_id)
    except Exception:  # noqa: BLE001  every failure must become a response
        logger.exception("unexpected error")
        response = _error_response(ServiceError(), request_id)
    log_response(
        method=event["httpMethod"],
        path=path,
        status=response.status,
        code=_code_of(response),
        milliseconds=(time.monotonic() - began) * 1000,
    )
    body = "" if response.body is None else json.dumps(response.body)
    headers = {"Pragma": "no-cache", **response.headers}
    return to_gateway(HttpResponse(response.status, body, headers), event)


def _code_of(response: _Response) -> str | None:
    """Return the error code of a response: of RFC 6749, or of the envelope of other errors."""
    error = (response.body or {}).get("error")
    return error["code"] if isinstance(error, dict) else error


def _route_request(event: Mapping[str, Any], path: str) -> _Response:
    if path not in _ROUTES:
        raise NotFound(f"The path {path}")
    method, handle = _ROUTES[path]
    if method_of(event) != method:
        allowed = [method, "HEAD"] if method == "GET" else [method]
        raise MethodNotAllowed(event["httpMethod"], allowed)
    return handle(event)


def _delay_refusal(began: float) -> None:
    """Wait until the request has taken a multiple of `REFUSAL_STEP_MS`.

    An existing client or user makes the checks slightly longer: its item is read and parsed. The
    time of the response does not show that.
    """
    taken_ms = (time.monotonic() - began) * 1000
    time.sleep(-taken_ms % REFUSAL_STEP_MS / 1000)


def _oauth_error_response(error: OAuthError) -> _Response:
    # also sent if the client authenticated in the body (RFC 6749, section 5.2)
    headers = {"WWW-Authenticate": 'Basic realm="oauth", charset="UTF-8"'}
    return _Response(
        {"error": error.code, "error_description": error.description},
        error.status,
        headers if error.code == "invalid_client" else {},
    )


def _error_response(error: ServiceError, request_id: str) -> _Response:
    return _Response(error_body(error, request_id, config().docs_base), error.status, error.headers)
