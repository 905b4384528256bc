"""The routes that need no token: tokens, public keys and the API documentation."""

from collections.abc import Mapping
from typing import Any

from shared.identity.auth import tokens
from shared.identity.auth.scopes import SCOPES
from tools.openapi.responses import BASE, Refusals, body, headers, strict
from tools.openapi.schemas import Schema, ref

_TEXT: Schema = {"type": "string"}
_REQUIRED: Schema = {"type": "string", "minLength": 1}
"""A required parameter; an empty value counts as missing."""
_URI: Schema = {"type": "string", "format": "uri"}
_TEXT_LIST: Schema = {"type": "array", "items": _TEXT}

TAGS: Mapping[str, str] = {
    "oauth": "Tokens",
    ".well-known": "Tokens",
    "openapi.json": "Description",
    "docs": "Description",
    "console": "Description",
}
"""First part of the path → tag."""

_OAUTH_CODES = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
]

_CLIENT = {
    "client_id": {**_TEXT, "description": "Required unless sent with HTTP Basic."},
    "client_secret": {**_TEXT, "description": "Required unless sent with HTTP Basic."},
}
_MOBILE_CLIENT = {
    "client_id": {
        **_TEXT,
        "description": "Client id of the mobile application, if used; it has no secret.",
    }
}


def _grant(name: str, properties: Mapping[str, Schema], *required: str) -> Schema:
    return {
        "type": "object",
        "properties": {"grant_type": {"type": "string", "const": name}, **properties},
        "required": ["grant_type", *required],
    }


SCHEMAS: Mapping[str, Schema] = {
    "TokenRequest": {
        "oneOf": [ref("ClientCredentialsGrant"), ref("PasswordGrant"), ref("RefreshTokenGrant")]
    },
    "ClientCredentialsGrant": _grant(
        "client_credentials",
        {
            **_CLIENT,
            "scope": {
                **_TEXT,
                "description": "Scopes separated by spaces; by default all scopes of the client.",
            },
        },
    ),
    "PasswordGrant": _grant(
        "password",
        {
            "username": {
                **_REQUIRED,
                "description": "name@tenant; the name is sufficient at the tenant's own address.",
            },
            "password": {**_REQUIRED, "format": "password"},
            "otp": {
                **_TEXT,
                "description": "Code of the authenticator app, or a recovery code. Without it, the"
                " token of a user with two-step verification can only list products.",
            },
            **_MOBILE_CLIENT,
        },
        "username",
        "password",
    ),
    "RefreshTokenGrant": _grant(
        "refresh_token",
        {
            "refresh_token": {
                **_REQUIRED,
                "description": "Can be used once; a second use ends the session.",
            },
            **_MOBILE_CLIENT,
        },
        "refresh_token",
    ),
    "Token": {
        **strict(
            {
                "access_token": _TEXT,
                "token_type": {"type": "string", "const": "Bearer"},
                "expires_in": {"type": "integer", "description": "Lifetime in seconds."},
                "scope": {**_TEXT, "description": "Empty for users."},
                "refresh_token": {**_TEXT, "description": "For users only."},
                "timezone": {
                    **_TEXT,
                    "description": "Time zone of the company (IANA), for users only.",
                },
            }
        ),
        "required": ["access_token", "token_type", "expires_in", "scope"],
    },
    "RevocationRequest": {
        "type": "object",
        "properties": {
            "token": {**_REQUIRED, "description": "An access or refresh token."},
            **_CLIENT,
        },
        "required": ["token"],
    },
    "OAuthError": strict(
        {"error": {"type": "string", "enum": _OAUTH_CODES}, "error_description": _TEXT},
        description="The error response of the token routes (RFC 6749, section 5.2).",
    ),
    "KeySet": strict(
        {
            "keys": {
                "type": "array",
                "items": strict(
                    dict.fromkeys(("kty", "crv", "x", "y", "use", "alg", "kid"), _TEXT)
                ),
            }
        },
        description="Public keys that verify the tokens (RFC 7517).",
    ),
    "ServerMetadata": strict(
        {
            "issuer": _URI,
            "token_endpoint": _URI,
            "revocation_endpoint": _URI,
            "jwks_uri": _URI,
            "grant_types_supported": _TEXT_LIST,
            "response_types_supported": _TEXT_LIST,
            "token_endpoint_auth_methods_supported": _TEXT_LIST,
            "revocation_endpoint_auth_methods_supported": _TEXT_LIST,
            "scopes_supported": _TEXT_LIST,
        },
        description="Metadata of the token routes (RFC 8414).",
    ),
}

_METHODS = ["client_secret_basic", "client_secret_post", "none"]
_EXAMPLES: Mapping[str, Any] = {
    "Token": {
        "access_token": "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.e30.c2ln",
        "token_type": "Bearer",
        "expires_in": tokens.LIFETIME,
        "scope": "products:read products:write",
    },
    "KeySet": {
        "keys": [
            {
                "kty": "EC",
                "crv": "P-256",
                "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
                "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
                "use": "sig",
                "alg": "ES256",
                "kid": "0b6f2a4e",
            }
        ]
    },
    "ServerMetadata": {
        "issuer": BASE,
        "token_endpoint": f"{BASE}/oauth/token",
        "revocation_endpoint": f"{BASE}/oauth/revoke",
        "jwks_uri": f"{BASE}/.well-known/jwks.json",
        "grant_types_supported": ["client_credentials", "password", "refresh_token"],
        "response_types_supported": [],
        "token_endpoint_auth_methods_supported": _METHODS,
        "revocation_endpoint_auth_methods_supported": _METHODS,
        "scopes_supported": list(SCOPES),
    },
}

_OPEN_ROUTE_CODES = ("rate_limited", "internal_error", "service_unavailable")
_CLIENT_CODES = ("tenant_suspended", "tenant_cancelled", "feature_not_in_plan", "tenant_moved")


def paths(refusals: Refusals) -> dict[str, Schema]:
    """Return the routes: path → method → operation."""
    return {
        "/oauth/token": {"post": _token(refusals)},
        "/oauth/revoke": {"post": _revoke(refusals)},
        "/.well-known/jwks.json": {
            "get": _read(
                "get_keys",
                "Get the public keys",
                "KeySet",
                refusals.by_status(_OPEN_ROUTE_CODES, is_open=True),
            )
        },
        "/.well-known/oauth-authorization-server": {
            "get": _read(
                "get_server_metadata",
                "Get the metadata of the token routes",
                "ServerMetadata",
                refusals.by_status(("not_found", *_OPEN_ROUTE_CODES), is_open=True),
            )
        },
        "/openapi.json": _file(
            refusals, "openapi", "Get the OpenAPI document", "application/json", {"type": "object"}
        ),
        "/docs": _file(refusals, "docs", "Read the API documentation", "text/html", _TEXT),
        "/console": _file(refusals, "console", "Open the web console", "text/html", _TEXT),
    }


def _token(refusals: Refusals) -> Schema:
    requested = {"grant_type": "client_credentials", "scope": "products:read products:write"}
    return {
        "operationId": "create_token",
        "tags": ["Tokens"],
        "summary": "Get an access token",
        "description": "For integration clients, and for users with a password. The access token"
        " is valid for an hour. Users also get a refresh token, which can be used once within 30"
        " days.",
        "security": [{"clientSecret": []}, {}],
        "requestBody": _form("TokenRequest", requested),
        "responses": {
            "200": {
                "description": "The token.",
                "headers": headers(),
                "content": body(ref("Token"), _EXAMPLES["Token"]),
            },
            **_refused(refusals),
        },
    }


def _revoke(refusals: Refusals) -> Schema:
    return {
        "operationId": "revoke_token",
        "tags": ["Tokens"],
        "summary": "Revoke a token",
        "description": "Takes effect within 10 seconds. An invalid token is answered with 200 as"
        " well. Integration clients must authenticate. Tokens of users are revoked without further"
        " credentials; revoking a refresh token ends its session.",
        "security": [{"clientSecret": []}, {}],
        "requestBody": _form("RevocationRequest", {"token": _EXAMPLES["Token"]["access_token"]}),
        "responses": {
            "200": {"description": "The token is revoked.", "headers": headers()},
            **_refused(refusals),
        },
    }


def _form(name: str, shown: Any) -> Schema:
    # JSON is accepted as well, but a body of two media types gives clients that do not compile.
    content = {"schema": ref(name), "example": shown}
    return {
        "required": True,
        "content": {"application/x-www-form-urlencoded": content},
    }


def _refused(refusals: Refusals) -> dict[str, Schema]:
    codes = {"400": "invalid_request", "401": "invalid_client", "413": "invalid_request"}
    descriptions = {
        "400": "The request, the grant or the scope is invalid.",
        "401": "The client is unknown or its secret is wrong.",
        "413": "The body is too large.",
    }
    return {
        status: {
            "description": descriptions[status],
            "headers": headers(*(["WWW-Authenticate"] if status == "401" else [])),
            "content": body(
                ref("OAuthError"), {"error": code, "error_description": descriptions[status]}
            ),
        }
        for status, code in codes.items()
    } | refusals.by_status((*_CLIENT_CODES, *_OPEN_ROUTE_CODES), is_open=True)


def _read(name: str, summary: str, answer: str, refused: Mapping[str, Schema]) -> Schema:
    return {
        "operationId": name,
        "tags": ["Tokens"],
        "summary": summary,
        "description": SCHEMAS[answer]["description"],
        "security": [],
        "responses": {
            "200": {
                "description": "OK.",
                "headers": headers(),
                "content": body(ref(answer), _EXAMPLES[answer]),
            },
            **refused,
        },
    }


def _file(refusals: Refusals, name: str, summary: str, media: str, schema: Schema) -> Schema:
    """Return GET and HEAD of a file; a response to HEAD has the headers only."""
    read: Schema = {
        "operationId": f"get_{name}",
        "tags": ["Description"],
        "summary": summary,
        "description": "Available without a token.",
        "security": [],
        "parameters": [{"$ref": "#/components/parameters/IfNoneMatch"}],
        "responses": {
            "200": {
                "description": "The file.",
                "headers": headers("ETag"),
                "content": {media: {"schema": schema}},
            },
            "304": {"description": "Not modified.", "headers": headers("ETag")},
            **refusals.by_status(_OPEN_ROUTE_CODES, is_open=True),
        },
    }
    found = {"description": "The headers of the file.", "headers": headers("ETag")}
    head = {
        **read,
        "operationId": f"head_{name}",
        "summary": f"{summary} (headers only)",
        "responses": {**read["responses"], "200": found},
    }
    return {"get": read, "head": head}
