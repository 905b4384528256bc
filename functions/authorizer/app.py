"""Authorizer of the REST API: verifies the access token and returns the caller as context.

A warm environment makes no AWS call. The authorizer only identifies the caller. The API handlers
check the state of the tenant, revocation and rights with each request.
"""

from collections.abc import Mapping
from typing import Any

from shared.identity.auth.bearer import authenticate, bearer_token
from shared.identity.auth.tokens import InvalidToken
from shared.kernel.caller import Caller
from shared.kernel.observability import bind, logger


def lambda_handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Verify the access token of a request (authorizer of type REQUEST).

    Returns:
        A policy for all methods of the stage, because the gateway caches one policy for all.

    Raises:
        Exception: With the text Unauthorized, which the gateway turns into 401.
    """
    bind(request_id=event.get("requestContext", {}).get("requestId", ""))
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    try:
        caller = _caller(headers.get("authorization") or "", headers.get("host") or "")
    except InvalidToken as error:
        logger.info("token rejected", extra={"reason": str(error)})
        raise Exception("Unauthorized") from None  # noqa: TRY002  required by the gateway
    return {
        "principalId": f"{caller.tenant}/{caller.subject}",
        "policyDocument": {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Action": "execute-api:Invoke",
                    "Effect": "Allow",
                    "Resource": _all_methods(event["methodArn"]),
                }
            ],
        },
        "context": caller.to_context(),
    }


def _caller(authorization: str, host: str) -> Caller:
    token = bearer_token(authorization)
    if token is None:
        raise InvalidToken("scheme")
    return authenticate(token, host)


def _all_methods(method_arn: str) -> str:
    api, stage, *_ = method_arn.split("/")
    return f"{api}/{stage}/*"
