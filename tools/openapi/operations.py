"""The operations of the OpenAPI document: parameters, bodies and responses of each route."""

import re
from collections.abc import Mapping
from http import HTTPStatus

from pydantic import BaseModel

from shared.http.routes import Idempotency, Operation
from tools.openapi import declared
from tools.openapi.examples import complete_example, example
from tools.openapi.responses import HEADERS, Refusals, Wrappers, body, counted
from tools.openapi.schemas import Schema, query_parameters, ref

FOUND = "Found"
"""Start of the name of the schema of a resource that a creation has found."""

_PARAMETERS: Mapping[str, str] = {
    "page": "Page number, starting at 1.",
    "per_page": "Items per page. Values above 100 are treated as 100.",
    "sort": "Field to sort by. The prefix `-` sorts in descending order.",
    "updated_since": "Only items changed at or after this instant.",
    "cursor": "Continues after the page whose `links.next` contains it; `page` and `per_page` are"
    " not needed with it. Do not construct it. The cursor of another list, filter or sort is 422.",
    "ids": "Only items with these ids, at most 100 separated by commas, in the order of the list."
    " An id that names nothing finds nothing.",
    "include": "`version` adds its version to each row, as the feed of changes names it.",
    "search": "Words that are all part of code or name, in any order, ignoring case and accents.",
    "warehouse": "Only items of the warehouse with exactly this code (`whs_code`).",
    "from_warehouse": "Only items from the warehouse with exactly this code.",
    "to_warehouse": "Only items to the warehouse with exactly this code.",
    "from": "Only items created on this day or later, in the time zone of the tenant.",
    "to": "Only items created on this day or earlier, in the time zone of the tenant.",
    "due_to": "Only documents with a `due_date` of this day or earlier.",
}
"""Descriptions of the query parameters that do not filter by the exact value of a field."""


def _other_permissions(operation: Operation) -> Schema:
    others = [*operation.other_permissions]
    return {"x-other-permissions": others} if others else {}


def described_operation(
    operation: Operation, tag: str, refusals: Refusals, wrappers: Wrappers
) -> Schema:
    """Return what the document says of a route; its refusals and wrappers are collected."""
    described: Schema = {
        "operationId": declared.operation_id(operation),
        "tags": [tag],
        "summary": operation.summary,
        "description": declared.description(operation),
        "security": [{"client": [operation.scope] if operation.scope else []}, {"user": []}],
        "x-scope": operation.scope,
        "x-permission": operation.permission,
        **_other_permissions(operation),
        "parameters": _parameters(operation),
    }
    if operation.body:
        described["requestBody"] = {
            "required": not operation.body_optional,
            "content": _body(operation.body, is_form=operation.is_form),
        }
    described["responses"] = {
        **{str(status): _success(operation, status, wrappers) for status in operation.statuses},
        **({} if operation.writes else {"304": _not_modified()}),
        **refusals.by_status(declared.codes(operation), operation.error_statuses),
    }
    return described


def _body(model: type[BaseModel], *, is_form: bool) -> Schema:
    if not is_form:
        return body(ref(model.__name__), example(model))
    # A form has no JSON example.
    encoding = {"file": {"contentType": "application/octet-stream"}}
    options = {"options": {"style": "deepObject", "explode": True}}
    return {
        "multipart/form-data": {"schema": ref(model.__name__), "encoding": {**encoding, **options}}
    }


def _parameters(operation: Operation) -> list[Schema]:
    names = re.findall(r"\{(\w+)\}", operation.path)
    found = [_path_parameter(name, own=operation.allows_self) for name in names]
    if operation.parameters:
        fields = operation.parameters.model_fields.items()
        sent = {one.alias or name for name, one in fields if one.is_required()}
        found += [
            {
                "name": name,
                "in": "query",
                "description": schema.pop("description", _PARAMETERS.get(name))
                or _exactly(name, schema),
                **({"explode": False} if schema.get("type") == "array" else {}),
                **(_required(name) if name in sent else {}),
                "schema": schema,
            }
            for name, schema in query_parameters(operation.parameters).items()
        ]
    if operation.writes:
        required = operation.idempotency is Idempotency.REQUIRED
        found.append(_parameter("IdempotencyKeyRequired" if required else "IdempotencyKey"))
    else:
        found.append(_parameter("IfNoneMatch"))
    if declared.honours_if_match(operation):
        found.append(_parameter("IfMatch"))
    return found


_REQUIRED: Mapping[str, object] = {
    "warehouse": "CEN",
    "item_code": "CHM-SIL-WHT",
    "ids": [1, 2],
}


def _required(name: str) -> Schema:
    """Return what says that a query parameter must be sent, with a value of the sample company."""
    return {"required": True, "example": _REQUIRED[name]}


def _exactly(name: str, schema: Schema) -> str:
    if schema.get("type") == "array":
        return f"Only items with one of these values of `{name}`, separated by commas."
    return f"Only items with exactly this `{name}`."


def _parameter(name: str) -> Schema:
    return {"$ref": f"#/components/parameters/{name}"}


_PATH_PARAMETERS: Mapping[str, Schema] = {
    "kind": {
        "description": "Kind of import.",
        "schema": ref("ImportKind"),
        "example": "products",
    },
    "session": {
        "description": "Id of the session.",
        "schema": {"type": "string", "pattern": "^[1-9][0-9]*-[0-9a-f]{24}$"},
        "example": "2-7c1f0b5e9a3d48260f4e8b1d",
    },
    "delivery": {
        "description": "Id of the delivered event.",
        "schema": {"type": "string", "pattern": "^evt_[0-9a-f]{32}$"},
        "example": "evt_0198f1a2b3c44d7e9a61f0c2d5b8e7a4",
    },
}
"""Path parameters other than `id`."""


def _path_parameter(name: str, *, own: bool) -> Schema:
    if name == "id":
        return _parameter("OwnId" if own else "Id")
    return {"name": name, "in": "path", "required": True, **_PATH_PARAMETERS[name]}


def _success(operation: Operation, status: int, wrappers: Wrappers) -> Schema:
    if status == HTTPStatus.FOUND:
        return {"description": _STATUS_DESCRIPTIONS[status], "headers": counted("Location")}
    sent = ["Idempotent-Replayed"] if operation.writes else []
    sent += ["ETag"] if declared.sends_etag(operation) else []
    if status in {HTTPStatus.CREATED, HTTPStatus.ACCEPTED}:
        sent.append("Location")
    if isinstance(operation.response, str) and not _is_drawing(operation.response):
        sent.append("Content-Disposition")
    sent.append("X-Ignored-Parameters")
    if operation.writes:
        sent.append("X-Ignored-Fields")
    content, sent_headers = _content(operation, wrappers), counted(*sent)
    if (other := operation.other_response) and status == HTTPStatus.CREATED:
        content = _either(
            content,
            wrappers.single(other.__name__, complete_example(other)),
            {"x-only-with": operation.other_response_with},
        )
        sent_headers["Location"] = {**HEADERS["Location"], "required": False}
    model = operation.response
    if operation.finds_existing and status == HTTPStatus.OK and not isinstance(model, str):
        content = wrappers.single(FOUND + model.__name__, complete_example(model), warns=True)
        sent_headers["ETag"] = {**HEADERS["ETag"], "required": False}
    return {
        "description": _STATUS_DESCRIPTIONS[status],
        "headers": sent_headers,
        "content": content,
    }


def _content(operation: Operation, wrappers: Wrappers) -> Schema:
    if isinstance(operation.response, str):
        text = {"description": "The drawing as an XML text."}
        file = {"format": "binary", "description": "The bytes of the file."}
        schema = {"type": "string", **(text if _is_drawing(operation.response) else file)}
        return {media: {"schema": schema} for media in (operation.response, *operation.other_media)}
    name, shown = operation.response.__name__, complete_example(operation.response)
    if operation.is_list:
        return wrappers.page(name, shown, operation.path)
    if operation.responds_with_list:
        model = operation.beside
        beside = (model, example(model)) if model else None
        return wrappers.whole_list(name, shown, beside)
    return wrappers.single(name, shown, warns=operation.may_warn, beside=operation.beside)


def _is_drawing(media: str) -> bool:
    return media.startswith("image/svg")


def _either(content: Schema, other: Schema, more: Schema | None = None) -> Schema:
    """Return the content of a response that has one of two forms, with the first one's example.

    `more` says more about the other form.
    """
    schemas = [one["application/json"]["schema"] for one in (content, other)]
    schemas[1] = {**schemas[1], **(more or {})}
    return {"application/json": {**content["application/json"], "schema": {"anyOf": schemas}}}


_STATUS_DESCRIPTIONS = {
    200: "OK.",
    201: "Created.",
    202: "Accepted; processing continues after the response.",
    302: "Redirect to a URL that is valid for a limited time.",
}


def _not_modified() -> Schema:
    return {
        "description": "Not modified since the response with the ETag in If-None-Match.",
        "headers": counted("ETag"),
    }
