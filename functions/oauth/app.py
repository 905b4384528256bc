"""Routes of tokens, all open to callers without one.

POST /oauth/token                              client_credentials
POST /oauth/revoke                             RFC 7009
GET  /.well-known/jwks.json                    public keys
GET  /.well-known/oauth-authorization-server   RFC 8414
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from functions.oauth.request import host_of, origin_of, read_credentials, read_form
from shared.auth import grants, signing, tokens
from shared.auth.grants import OAuthError
from shared.auth.scopes import SCOPES
from shared.config import config
from shared.errors import MethodNotAllowed, NotFound, ServiceError, ServiceUnavailable
from shared.http.envelope import error_body
from shared.observability import bind, count, flush, logger, span
from shared.tenancy.directory import directory

_CLIENT_METHODS = ["client_secret_basic", "client_secret_post"]


@dataclass(frozen=True, slots=True)
class _Reply:
    body: Mapping[str, Any] | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def _token(event: Mapping[str, Any]) -> _Reply:
    form = read_form(event)
    match form.get("grant_type"):
        case "client_credentials":
            presented = read_credentials(event, form)
            scope = form.get("scope", "")
            granted = grants.client_credentials(presented, scope, origin_of(event))
        case None:
            raise OAuthError("invalid_request", "grant_type is missing.")
        case _:
            raise OAuthError("unsupported_grant_type", "Only client_credentials is supported.")
    return _Reply(
        {
            "access_token": granted.access_token,
            "token_type": "Bearer",
            "expires_in": tokens.LIFETIME,
            "scope": " ".join(sorted(granted.scopes)),
        }
    )


def _revoke(event: Mapping[str, Any]) -> _Reply:
    form = read_form(event)
    presented = read_credentials(event, form)
    if "token" not in form:
        raise OAuthError("invalid_request", "token is missing.")
    grants.revoke_token(presented, form["token"], origin_of(event))
    return _Reply(None)


def _keys(_event: Mapping[str, Any]) -> _Reply:
    return _Reply(signing.key_set())


def _metadata(event: Mapping[str, Any]) -> _Reply:
    owner = directory.tenant_for_host(host_of(event))
    tenant = directory.tenant(owner) if owner else None
    address = tenant.base_url if tenant else directory.shared_address()
    if address is None:
        raise NotFound("The address of a tenant")
    return _Reply(
        {
            "issuer": address,
            "token_endpoint": f"{address}/oauth/token",
            "revocation_endpoint": f"{address}/oauth/revoke",
            "jwks_uri": f"{address}/.well-known/jwks.json",
            "grant_types_supported": ["client_credentials"],
            "response_types_supported": [],
            "token_endpoint_auth_methods_supported": _CLIENT_METHODS,
            "revocation_endpoint_auth_methods_supported": _CLIENT_METHODS,
            "scopes_supported": list(SCOPES),
        }
    )


_ROUTES: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], _Reply]]] = {
    "/oauth/token": ("POST", _token),
    "/oauth/revoke": ("POST", _revoke),
    "/.well-known/jwks.json": ("GET", _keys),
    "/.well-known/oauth-authorization-server": ("GET", _metadata),
}


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Answer one request of API Gateway (REST proxy event)."""
    request_id = event["requestContext"]["requestId"]
    # behind a custom domain the path also carries the domain's base path
    path = event["path"].partition("/v1")[2]
    route = path if path in _ROUTES else "unknown"
    bind(request_id=request_id, route=route)
    try:
        with span(route):
            reply = _answer(event, path)
    except OAuthError as error:
        logger.info("refused", extra={"code": error.code})
        count(f"oauth.{error.code}")
        reply = _oauth_refusal(error)
    except ServiceError as error:
        reply = _refusal(error, request_id)
    except (ClientError, BotoCoreError):
        logger.exception("AWS failed")
        reply = _refusal(ServiceUnavailable(), request_id)
    except Exception:  # noqa: BLE001  the last line before the caller
        logger.exception("unexpected failure")
        reply = _refusal(ServiceError("The service failed."), request_id)
    flush()
    return {
        "statusCode": reply.status,
        "headers": {
            "Content-Type": "application/json",
            "Cache-Control": "no-store",
            "Pragma": "no-cache",
            "X-Request-Id": request_id,
            **reply.headers,
        },
        "body": "" if reply.body is None else json.dumps(reply.body),
    }


def _answer(event: Mapping[str, Any], path: str) -> _Reply:
    if path not in _ROUTES:
        raise NotFound("The route")
    method, handle = _ROUTES[path]
    if event["httpMethod"] != method:
        raise MethodNotAllowed(event["httpMethod"], [method])
    return handle(event)


def _oauth_refusal(error: OAuthError) -> _Reply:
    # how the client authenticates is told even when it tried the body (RFC 6749, section 5.2)
    headers = {"WWW-Authenticate": 'Basic realm="oauth", charset="UTF-8"'}
    return _Reply(
        {"error": error.code, "error_description": error.description},
        error.status,
        headers if error.code == "invalid_client" else {},
    )


def _refusal(error: ServiceError, request_id: str) -> _Reply:
    return _Reply(error_body(error, request_id, config().docs_base), error.status, error.headers)
