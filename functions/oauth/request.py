"""Parsing of requests to the OAuth endpoints; malformed input leads to invalid_request."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from shared.identity.auth.client_grants import ClientAuthentication, OAuthError, RequestOrigin
from shared.identity.tenancy.directory import host_name

MAX_BODY_BYTES = 16_384
"""Longest request body; a token request has a few hundred bytes."""

_MAX_FIELDS = 20


def read_form(event: Mapping[str, Any]) -> dict[str, str]:
    """Parse the body, form-encoded or JSON, and return name → value of the parameters.

    Parameters with an empty value are omitted (RFC 6749, section 3.2).

    Raises:
        OAuthError: invalid_request.
    """
    content_type = header(event, "content-type").partition(";")[0].strip().lower()
    text = _body_text(event)
    if content_type == "application/x-www-form-urlencoded":
        pairs = _form_pairs(text)
    elif content_type == "application/json":
        pairs = _json_pairs(text)
    else:
        raise OAuthError(
            "invalid_request",
            "The Content-Type must be application/x-www-form-urlencoded or application/json.",
        )
    form = dict(pairs)
    if len(form) != len(pairs):
        raise OAuthError("invalid_request", "A parameter was sent more than once.")
    return {name: value for name, value in form.items() if value}


def read_client_credentials(
    event: Mapping[str, Any], form: Mapping[str, str]
) -> ClientAuthentication:
    """Return the client id and secret from HTTP Basic or from the form.

    Raises:
        OAuthError: invalid_request, or invalid_client if they are missing.
    """
    presented = read_client(event, form)
    # an empty secret in Basic is treated as a wrong secret
    if presented is None or not (presented.secret or header(event, "authorization")):
        raise OAuthError("invalid_client", "Send client_id and client_secret.", 401)
    return presented


def read_client(event: Mapping[str, Any], form: Mapping[str, str]) -> ClientAuthentication | None:
    """Return the client id and optional secret; None if the request names no client.

    Raises:
        OAuthError: invalid_request, or invalid_client for a secret without a client id.
    """
    authorization = header(event, "authorization")
    if not authorization:
        if "client_id" in form:
            return ClientAuthentication(form["client_id"], form.get("client_secret", ""))
        if "client_secret" in form:
            raise OAuthError("invalid_client", "Send client_id and client_secret.", 401)
        return None
    basic = _basic(authorization)
    if "client_secret" in form or form.get("client_id", basic.client_id) != basic.client_id:
        raise OAuthError(
            "invalid_request", "Send the client credentials either in HTTP Basic or in the body."
        )
    return basic


def header(event: Mapping[str, Any], name: str) -> str:
    """Return the value of a header, given in lower case; empty if it is missing."""
    for sent_name, value in (event.get("headers") or {}).items():
        if sent_name.lower() == name:
            return str(value)
    return ""


def host_of(event: Mapping[str, Any]) -> str:
    """Return the host name that the request was sent to."""
    return host_name(header(event, "host"))


def origin_of(event: Mapping[str, Any]) -> RequestOrigin:
    """Return the host and the IP address of the request, as API Gateway saw them."""
    return RequestOrigin(host_of(event), event["requestContext"]["identity"]["sourceIp"])


def _body_text(event: Mapping[str, Any]) -> str:
    body = event.get("body") or ""
    try:
        raw = base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()
        if len(raw) > MAX_BODY_BYTES:
            raise OAuthError(
                "invalid_request",
                f"The body has {len(raw)} bytes; at most {MAX_BODY_BYTES} are allowed.",
                413,
            )
        return raw.decode()
    except ValueError as error:
        raise OAuthError("invalid_request", "The body is not valid UTF-8.") from error


def _form_pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise OAuthError(
            "invalid_request", f"The form is not valid, or has more than {_MAX_FIELDS} parameters."
        ) from error


def _json_pairs(text: str) -> list[tuple[str, str]]:
    try:
        # objects become tuples of pairs, to detect repeated names; arrays stay lists
        content = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError) as error:
        raise OAuthError("invalid_request", "The body is not valid JSON.") from error
    if not isinstance(content, tuple) or not all(_is_text(value) for _, value in content):
        raise OAuthError(
            "invalid_request", "The body must be a JSON object whose values are strings."
        )
    return list(content)


def _is_text(value: object) -> bool:
    """Return whether a value is a string that can be encoded (without lone surrogates)."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def _basic(authorization: str) -> ClientAuthentication:
    scheme, _, encoded = authorization.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise OAuthError("invalid_request", "The Authorization header must use HTTP Basic.")
        text = base64.b64decode(encoded.strip(), validate=True).decode()
        name, colon, secret = text.partition(":")
        if not colon:
            raise OAuthError("invalid_request", "The Basic credentials are malformed.")
        return ClientAuthentication(
            unquote_plus(name, errors="strict"), unquote_plus(secret, errors="strict")
        )
    except ValueError as error:
        raise OAuthError("invalid_request", "The Basic credentials are malformed.") from error
