"""Authorizer of the REST API: verifies the access token and returns the caller as context.

A warm environment makes no AWS call. The authorizer only identifies the caller. The API handlers
check the state of the tenant, revocation and rights with each request.
"""

from collections.abc import Mapping
from typing import Any, Literal

from shared.identity.auth.bearer import authenticate, bearer_token
from shared.identity.auth.tokens import InvalidToken, UnknownKey
from shared.kernel.observability import bind, count, flush, logger


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Verify the access token of a request (authorizer of type REQUEST).

    Returns:
        A policy for all methods of the stage, because the gateway caches one policy for all, and
        the caller as context. If the token is not valid, it denies them, and the context has the
        message; the gateway turns that into ACCESS_DENIED.

    Raises:
        Exception: The request has no bearer token, or one whose key may become known within
            seconds; with the text Unauthorized, which the gateway turns into UNAUTHORIZED and does
            not cache (D-305).
    """
    bind(request_id=event.get("requestContext", {}).get("requestId", ""))
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    token = bearer_token(headers.get("authorization") or "")
    if not token:
        logger.info("no token")
        raise _unauthorized()
    resource = _all_methods(event["methodArn"])
    try:
        caller = authenticate(token, headers.get("host") or "")
    except UnknownKey:
        logger.info("unknown key")
        raise _unauthorized() from None
    except InvalidToken as error:
        logger.info("token rejected", extra={"reason": str(error)})
        denied = _policy("Deny", resource, principal="unknown")
        return {**denied, "context": {"refusal": error.message}}
    allowed = _policy("Allow", resource, principal=f"{caller.tenant}/{caller.subject}")
    return {**allowed, "context": caller.to_context()}


def _unauthorized() -> Exception:
    """Return the exception that the gateway requires for a refusal that it must not cache.

    Lambda counts it as an error of the function. The metric lets the alarm of a deployment leave
    it out: otherwise anyone could stop a deployment with such requests.
    """
    count("unauthorized")
    flush()
    return Exception("Unauthorized")


def _policy(effect: Literal["Allow", "Deny"], resource: str, *, principal: str) -> dict[str, Any]:
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": resource}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return {"principalId": principal, "policyDocument": document}


def _all_methods(method_arn: str) -> str:
    api, stage, *_ = method_arn.split("/")
    return f"{api}/{stage}/*"
