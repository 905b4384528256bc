"""The OpenAPI document, built from the declarations of all routes."""

from collections.abc import Iterable, Mapping

from shared.identity.auth.scopes import SCOPES
from shared.kernel.fields import MAX_ID
from tools import words
from tools.action_tables import SUBJECTS
from tools.openapi import agents, declared, descriptions, events, open_routes
from tools.openapi.examples import complete_example
from tools.openapi.operations import FOUND, described_operation
from tools.openapi.responses import BASE, DOCS, ENVELOPES, HEADERS, Refusals, Wrappers
from tools.openapi.schemas import (
    Schema,
    component_schemas,
    names_of_values,
    ref,
    with_integer_formats,
)

_INTRODUCTION = """\
Read and write the catalog, warehouses, documents and work of a warehouse.

All paths are relative to the base URL of your instance. Bodies are JSON. A single resource is
returned as `{data}`, a list as `{data, links, meta}`, and an error in an envelope with
`error.code`. Read a list page by page by following `links.next`. Send an `Idempotency-Key` with
every write and repeat the key on retries: the write takes effect once, and a retry gets the first
response. Unknown request fields are ignored, and named in the header `X-Ignored-Fields`. Responses
may get new fields. A date-time in a request may have any format of ISO 8601, with an offset. The
version of this document is that of the release in the changelog; clients of an earlier release work
with it as long as the address has `v1`. A body may be sent with `Content-Encoding: gzip`, but not
to the routes of tokens.

Integration clients get a token with `client_credentials` and need the scope of a route. Users need
its permission (`x-scope`, `x-permission`). An unsupported method on a known path is answered with
405 and an `Allow` header; `HEAD` is answered as `GET`, without the body.
"""

_ID: Schema = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "Id of the resource.",
    "schema": {"type": "integer", "minimum": 1, "maximum": MAX_ID},
    "example": 1,
}

_OWN_ID: Schema = {
    **_ID,
    "description": "Id of the user, or `me` for the caller.",
    "schema": {"anyOf": [_ID["schema"], {"type": "string", "enum": ["me"]}]},
}

_HEADER_PARAMETERS: Mapping[str, Schema] = {
    "IdempotencyKeyRequired": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": True,
        "description": "A UUID v4 per business operation; repeat it on retries within 24 hours.",
        "schema": {"type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$"},
    },
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "description": "ETag of a known response; the response is 304 when it has not changed.",
        "schema": {"type": "string"},
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": "ETag of the response that the change is based on, or `*`; 409 stale_state"
        " when the resource has changed since, 400 for what is no tag.",
        "schema": {"type": "string"},
    },
}


def build(version: str) -> Schema:
    """Return the document; `version` is the version of the service."""
    operations = declared.operations()
    refusals, wrappers = Refusals(), Wrappers()
    paths: dict[str, Schema] = {}
    for operation in operations:
        item = paths.setdefault(operation.path, {})
        item[operation.method.lower()] = described_operation(
            operation, _tag(operation.path), refusals, wrappers
        )
    paths |= agents.paths(refusals) | open_routes.paths(refusals)
    bodies = [operation.body for operation in operations if operation.body]
    answers = [found.response for found in operations if not isinstance(found.response, str)]
    answers += [found.other_response for found in operations if found.other_response]
    beside = [found.beside for found in operations if found.beside]
    models = component_schemas(bodies, [*answers, *beside, *events.models().values()])
    for model in {*beside}:
        del models[model.__name__]  # its fields stand in the wrappers
    schemas = {
        **models,
        **wrappers.schemas,
        **events.schemas(),
        **ENVELOPES,
        **agents.SCHEMAS,
        **open_routes.SCHEMAS,
    }
    for subject in SUBJECTS:
        names = list(subject.table.actions)
        schemas[subject.word] = {
            "type": "string",
            "description": f"An action at `{subject.path}/{{id}}`.",
            "enum": names,
            "x-enum-varnames": names_of_values(names),
        }
        for model in (subject.detail, *subject.detail.__subclasses__()):
            schemas[model.__name__]["properties"]["actions"]["items"] = ref(subject.word)
    optional_key = _HEADER_PARAMETERS["IdempotencyKeyRequired"] | {"required": False}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Stowage",
            "summary": "Warehouse management over REST.",
            "description": _INTRODUCTION,
            "version": version,
            "contact": {"name": "Stowage", "url": DOCS},
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [
            {
                "url": "https://{instance}/api/v1",
                "description": "The base URL of your instance.",
                "variables": {"instance": {"default": BASE.split("/")[2]}},
            }
        ],
        "tags": _tags(paths),
        "paths": paths,
        "webhooks": events.webhooks(complete_example),
        "components": {
            "securitySchemes": _security_schemes(),
            "parameters": {
                **_HEADER_PARAMETERS,
                "IdempotencyKey": optional_key,
                "Id": _ID,
                "OwnId": _OWN_ID,
            },
            "headers": dict(HEADERS),
            "responses": refusals.components,
            "schemas": schemas,
        },
    }
    described = descriptions.with_descriptions(document, words.descriptions())
    for operation in operations:
        if operation.finds_existing and not isinstance(operation.response, str):
            _add_found(described["components"]["schemas"], operation.response.__name__)
    for operation in operations:
        if operation.is_list and not isinstance(operation.response, str):
            _add_version(described["components"]["schemas"][operation.response.__name__])
    return with_integer_formats(described)  # type: ignore[no-any-return]


def _add_version(row: Schema) -> None:
    """Add to the row of a list what `include=version` adds, as fields that need not be there."""
    added = {name: {"type": "integer", "description": text} for name, text in _INCLUDED.items()}
    row["properties"] = row["properties"] | {
        name: one
        for name, one in added.items()
        if name == "version" or "id" not in row["properties"]
    }


_INCLUDED = {
    "id": "Id of the row in the feed of changes; only in lists with `include=version`.",
    "version": "Version of the resource; only in lists with `include=version`.",
}


def _add_found(schemas: dict[str, Schema], name: str) -> None:
    """Add the schema of a resource that existed already: clients without its scope get the id.

    One object instead of two alternatives, so that generated clients need no cast.
    """
    schemas[FOUND + name] = {
        **schemas[name],
        "description": f"A {name} that existed already. A client that may not read it gets its id"
        " only.",
        "required": ["id"],
    }


def _security_schemes() -> Schema:
    grant = {"tokenUrl": f"{BASE}/oauth/token", "scopes": dict(SCOPES)}
    return {
        "client": {
            "type": "oauth2",
            "description": "The access token of an integration client, with its scopes.",
            "flows": {"clientCredentials": grant},
        },
        "user": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "The access token of a user, with the permissions of the user's roles.",
        },
        "clientSecret": {
            "type": "http",
            "scheme": "basic",
            "description": "Id and secret of an integration client, at the token routes.",
        },
    }


def _tag(path: str) -> str:
    group = path.split("/")[1]
    return {"mcp": agents.TAG, **open_routes.TAGS}.get(group) or group.replace(
        "-", " "
    ).capitalize()


_TAGS: Mapping[str, str] = {
    "Products": "The catalog: what the company stores, sells and buys.",
    "Product categories": "Groups of products.",
    "Entry documents": "Announced arrivals, such as purchase orders, and progress of each line.",
    "Exit documents": "Demand, such as sales orders, progress of each line, and dispatch.",
    "Imports": "Spreadsheets that are validated first and then committed row by row.",
    "Exports": "Snapshots of whole lists as files, from which copies follow the changes.",
    "Reconciliations": "Comparisons of another system's quantities with the stock.",
    "Clients": "The customers to whom goods are delivered.",
    "Providers": "The suppliers from whom goods come.",
    "Settings": "The settings of the company, the features and limits of its plan.",
    "Api clients": "Credentials of integrations and mobile applications: scopes and secrets.",
    "Users": "People who sign in: roles, passwords and two-step verification.",
    "Roles": "Named sets of permissions that users have.",
    "Request log": "The requests of API clients in the last 7 days.",
    "Audit log": "Who changed settings, access, stock and webhook subscriptions, and what changed.",
    "Stocks": "Stock rows: one per product, position, batch, serial and inventory status.",
    "Stock levels": "Quantities per product and warehouse, such as on hand and available.",
    "Stock movements": "The ledger: every change of quantity, place or status, with its cause.",
    "Stock adjustments": "Corrections of stock after a count, a loss or a change of status.",
    "Transfer orders": "Orders to move stock between two warehouses, from release to receipt.",
    "Warehouses": "Warehouses and their published maps.",
    "Warehouse positions": "Places in a warehouse where stock lies, also created in bulk.",
    "Pick faces": "Positions from which products are picked regularly.",
    "Waves": "Groups of pickings that are released and worked together.",
    "Changes": "Everything that was committed, in one order, for copies that are provably equal.",
    "Webhooks": "Subscriptions to events, and the log of their deliveries.",
    "Receipts": "The work of receiving the goods of an entry document.",
    "Putaway suggestions": "Positions where arriving goods can be put.",
    "Replenishments": "Pick faces below their minimum, and the transfers that fill them.",
    "Counts": "What lies in a warehouse is counted, and the differences are posted.",
    "Holds": "Goods that nobody else can sell until a moment.",
    "Approvals": "Requests that a rule refused until a supervisor grants them.",
    "Pickings": "The work of picking goods for exit documents and transfer orders.",
    "Packing orders": "The work of packing the staged goods of an exit document.",
    "Handling units": "Cartons, pallets and totes with packed goods, each with its SSCC.",
    "Rfid validations": "Comparisons of the tags that a reader has read with expected goods.",
    "Transfers": "Movements of stock between positions of one or two warehouses in one step.",
    "Returns": "Goods that customers send back: announced, received, and decided on.",
    agents.TAG: "Tools for agents that speak the Model Context Protocol.",
    "Tokens": "OAuth 2.0: get and revoke tokens, and read the keys that verify them.",
    "Description": "This document, for programs and for people, and the web console.",
    events.TAG: "The requests that your receiver gets: one for each kind of event.",
}
"""Descriptions of the tags."""


def _tags(paths: Iterable[str]) -> list[Schema]:
    """Return the tags in the order of the paths.

    Raises:
        ValueError: A tag has no description, or a description has no tag.
    """
    names = dict.fromkeys((*map(_tag, paths), events.TAG))
    if wrong := names.keys() ^ _TAGS.keys():
        raise ValueError(f"_TAGS must describe the tags of the routes; check {sorted(wrong)}.")
    return [{"name": name, "description": _TAGS[name]} for name in names]
