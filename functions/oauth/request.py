"""Reading what callers send to the token routes; hostile input ends in invalid_request."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from shared.identity.auth.client_grants import ClientAuthentication, OAuthError, RequestOrigin
from shared.identity.tenancy.directory import host_name

MAX_BODY_BYTES = 16_384
"""Bytes; a token request is a few hundred."""

_MAX_FIELDS = 20


def read_form(event: Mapping[str, Any]) -> dict[str, str]:
    """Read the body, form-encoded or JSON, as parameters.

    Parameters without a value count as absent (RFC 6749, section 3.2).

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
            "invalid_request", "Send application/x-www-form-urlencoded or application/json."
        )
    form = dict(pairs)
    if len(form) != len(pairs):
        raise OAuthError("invalid_request", "A parameter is repeated.")
    return {name: value for name, value in form.items() if value}


def read_client_credentials(
    event: Mapping[str, Any], form: Mapping[str, str]
) -> ClientAuthentication:
    """Find client id and secret, in HTTP Basic or in the form, not in both.

    Raises:
        OAuthError: invalid_request, or invalid_client when there are none.
    """
    presented = read_client(event, form)
    # an empty secret in Basic is judged like any other wrong one
    if presented is None or not (presented.secret or header(event, "authorization")):
        raise OAuthError("invalid_client", "Send client_id and client_secret.", 401)
    return presented


def read_client(event: Mapping[str, Any], form: Mapping[str, str]) -> ClientAuthentication | None:
    """Find which client is used, where it may be a public one, or none at all.

    Raises:
        OAuthError: invalid_request, or invalid_client for a secret without a client.
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
        raise OAuthError("invalid_request", "Send the credentials once: in Basic or in the body.")
    return basic


def header(event: Mapping[str, Any], name: str) -> str:
    """Value of a header by its lower-case name; empty when it is absent."""
    for sent, value in (event.get("headers") or {}).items():
        if sent.lower() == name:
            return str(value)
    return ""


def host_of(event: Mapping[str, Any]) -> str:
    """Host name that the request was sent to."""
    return host_name(header(event, "host"))


def origin_of(event: Mapping[str, Any]) -> RequestOrigin:
    """Where the request came from, as the gateway saw it."""
    return RequestOrigin(host_of(event), event["requestContext"]["identity"]["sourceIp"])


def _body_text(event: Mapping[str, Any]) -> str:
    body = event.get("body") or ""
    try:
        raw = base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()
        if len(raw) > MAX_BODY_BYTES:
            raise OAuthError(
                "invalid_request", f"At most {MAX_BODY_BYTES} bytes are accepted.", 413
            )
        return raw.decode()
    except ValueError as error:
        raise OAuthError("invalid_request", "The body is not UTF-8.") from error


def _form_pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise OAuthError("invalid_request", "The form cannot be read.") from error


def _json_pairs(text: str) -> list[tuple[str, str]]:
    try:
        # objects become tuples of pairs, so that a repeated name is seen; arrays stay lists
        content = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError) as error:
        raise OAuthError("invalid_request", "The body is not JSON.") from error
    if not isinstance(content, tuple) or not all(_is_text(value) for _, value in content):
        raise OAuthError("invalid_request", "A JSON object of strings is needed.")
    return list(content)


def _is_text(value: object) -> bool:
    """Tell text from other values, and from text that cannot be encoded (lone surrogates)."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)


def _basic(authorization: str) -> ClientAuthentication:
    scheme, _, encoded = authorization.partition(" ")
    try:
        if scheme.lower() != "basic":
            raise OAuthError("invalid_request", "Clients authenticate with HTTP Basic.")
        text = base64.b64decode(encoded.strip(), validate=True).decode()
        name, colon, secret = text.partition(":")
        if not colon:
            raise OAuthError("invalid_request", "The Basic credentials cannot be read.")
        return ClientAuthentication(
            unquote_plus(name, errors="strict"), unquote_plus(secret, errors="strict")
        )
    except ValueError as error:
        raise OAuthError("invalid_request", "The Basic credentials cannot be read.") from error
