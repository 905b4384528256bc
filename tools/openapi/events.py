"""The `webhooks` section of the document: the request that each kind of event sends."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel

from shared.kernel.events.kinds import EVENT_KINDS, EVENTS, TEST_EVENT, AnyEventKind
from shared.warehouse.layout.models import LayoutHeading
from shared.warehouse.packing.models import PackingOrderTransition, ShippedDocument
from tools.openapi.declared import operations
from tools.openapi.responses import BASE, body, strict
from tools.openapi.schemas import Schema, nullable, ref

TAG = "Events"
"""The tag of what a receiver implements; the routes of subscriptions have the tag Webhooks."""

type ExampleOf = Callable[[type[BaseModel]], Any]

_EXTENDED: Mapping[str, type[BaseModel]] = {
    "exit_document": ShippedDocument,
    "packing_order": PackingOrderTransition,
    "layout": LayoutHeading,
}
"""`data.object` → the model of `data.attributes`, where no route returns it."""


def _class_name(text: str) -> str:
    return "".join(part.title() for part in text.replace(".", "_").split("_"))


@cache
def models() -> Mapping[str, type[BaseModel]]:
    """Return `data.object` → the model of `data.attributes`: that of its list, or an own one."""
    shown = {
        operation.response.__name__: operation.response
        for operation in operations()
        if not isinstance(operation.response, str)
    }
    names = dict.fromkeys(name for kind in EVENT_KINDS for name in EVENTS[kind])
    return {name: _EXTENDED.get(name) or shown[_class_name(name)] for name in names}


_ID = "evt_019ca9450a005b1f0c2d9e8a7b6c5d4e"
_NOW = "2026-03-01T12:00:00.000Z"
_ID_TEXT: Schema = {
    "type": "string",
    "pattern": "^evt_[0-9a-f]{32}$",
    "description": "Id of the event, the same in every attempt: drop an event that you have seen.",
}
_VERSION: Schema = {"type": "integer", "minimum": 1}


def schemas() -> dict[str, Schema]:
    """Return the schema of each kind of event, and of its `data`."""
    data = {f"{_class_name(name)}EventData": _data(name) for name in (*models(), "webhook")}
    kinds = {_schema_name(kind): _event(kind) for kind in (*EVENT_KINDS, TEST_EVENT)}
    return {**data, **kinds}


def _schema_name(kind: AnyEventKind) -> str:
    return f"{_class_name(kind)}Event"


def _data(name: str) -> Schema:
    """Return the schema of `data` about a kind of object."""
    model = models().get(name)
    shown: Schema = ref(model.__name__) if model else {"type": "object"}
    fields = f"The fields of {model.__name__}" if model else "The fields of the resource"
    return strict(
        {
            "object": {
                "type": "string",
                "const": name,
                "description": "Kind of the resource.",
            },
            "id": {"type": "integer", "minimum": 1, "description": "Id of the resource."},
            "status": {
                "type": ["string", "null"],
                "description": "Status of the resource after the change; null if it has none.",
            },
            "resource_version": {
                **_VERSION,
                "description": "Version of the resource, the same as `sequence`.",
            },
            "href": {
                "type": "string",
                "format": "uri",
                "description": "URL of the resource.",
            },
            "attributes": {
                **nullable(shown),
                "description": f"{fields} as the list shows them; null if the body would exceed"
                " 20 kB.",
            },
        },
        description="The resource that the event is about, after the change.",
    )


def _event(kind: AnyEventKind) -> Schema:
    data = [ref(f"{_class_name(name)}EventData") for name in EVENTS[kind]]
    return strict(
        {
            "id": _ID_TEXT,
            "type": {"type": "string", "const": kind, "description": "Kind of the event."},
            "version": {
                "type": "integer",
                "const": 1,
                "description": "Version of this format.",
            },
            "created_at": {
                "type": "string",
                "format": "date-time",
                "description": "Time of the change.",
            },
            "tenant": {"type": "string", "description": "The company, as in its host name."},
            "sequence": {
                **_VERSION,
                "description": "Version of the resource: drop an event that is older than the last"
                " one of the resource.",
            },
            "data": {
                **(data[0] if len(data) == 1 else {"oneOf": data}),
                "description": "The resource that the event is about, after the change.",
            },
        },
        description=f"The body of `{kind}`.",
    )


def webhooks(example: ExampleOf) -> dict[str, Schema]:
    """Return the request of each kind of event; `example` returns that of a model."""
    return {kind: {"post": _request(kind, example)} for kind in (*EVENT_KINDS, TEST_EVENT)}


def _request(kind: AnyEventKind, example: ExampleOf) -> Schema:
    objects = list(EVENTS[kind])
    return {
        "operationId": f"receive_{kind.replace('.', '_')}",
        "tags": [TAG],
        "summary": f"Event {kind}",
        "description": f"{_occasions(kind)} It goes to the URL of each subscription to"
        " this kind, signed with its secret.",
        "security": [],
        "parameters": [
            {
                "name": "X-Service-Signature",
                "in": "header",
                "required": True,
                "description": "`t=UNIX_SECONDS,v1=HEX`: HMAC-SHA256 of `UNIX_SECONDS.BODY` with"
                " the secret of the subscription. During a rotation there are several `v1`.",
                "schema": {"type": "string"},
            }
        ],
        "requestBody": {
            "required": True,
            "content": body(ref(_schema_name(kind)), _example(kind, objects, example)),
        },
        "responses": {
            "2XX": {"description": "The event was received."},
            "4XX": {
                "description": "The event is sent again later; 410 ends the subscription.",
            },
        },
    }


def _occasions(kind: AnyEventKind) -> str:
    """Return when an event occurs, without the links of the page."""
    sent = " ".join(f"Sent when {occasion}." for occasion in EVENTS[kind].values())
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", sent)


def _example(kind: AnyEventKind, objects: Sequence[str], example: ExampleOf) -> Schema:
    name = objects[0]
    shown = example(models()[name]) if name in models() else {}
    status = shown.get("status") if isinstance(shown, dict) else None
    path = "stock-levels?product_id=" if name == "stock_level" else f"{name.replace('_', '-')}s/"
    href = f"{BASE}/warehouses/1/layout" if name == "layout" else f"{BASE}/{path}1"
    return {
        "id": _ID,
        "type": kind,
        "version": 1,
        "created_at": _NOW,
        "tenant": "acme",
        "sequence": 4,
        "data": {
            "object": name,
            "id": 1,
            "status": status,
            "resource_version": 4,
            "href": href,
            "attributes": shown,
        },
    }
