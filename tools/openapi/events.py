"""The `webhooks` section of the document: the request that each kind of event sends."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from shared.kernel.events.kinds import EVENT_KINDS, TEST_EVENT, AnyEventKind
from shared.warehouse.catalog.models import Product
from shared.warehouse.layout.models import LayoutHeading
from shared.warehouse.packing.models import PackingOrderTransition, ShippedDocument
from shared.warehouse.picking.models import Picking
from shared.warehouse.receiving.models import Receipt
from shared.warehouse.returns.models import Return
from shared.warehouse.rfid.models import RfidValidation
from shared.warehouse.stock.models import StockLevel
from shared.warehouse.transfer_orders.models import TransferOrder
from shared.warehouse.transfers.models import Transfer
from shared.warehouse.waves.models import Wave
from tools.openapi.responses import BASE, body, strict
from tools.openapi.schemas import Schema, nullable, ref

MODELS: Mapping[str, type[BaseModel]] = {
    "receipt": Receipt,
    "picking": Picking,
    "exit_document": ShippedDocument,
    "transfer": Transfer,
    "transfer_order": TransferOrder,
    "return": Return,
    "packing_order": PackingOrderTransition,
    "rfid_validation": RfidValidation,
    "stock_level": StockLevel,
    "product": Product,
    "layout": LayoutHeading,
    "wave": Wave,
}
"""`data.object` → the model of `data.attributes`."""

_OBJECTS: Mapping[str, Sequence[str]] = {
    "receipt": ["receipt"],
    "picking": ["picking"],
    "shipment": ["exit_document"],
    "transfer": ["transfer", "transfer_order"],
    "return": ["return"],
    "packing_order": ["packing_order"],
    "rfid_validation": ["rfid_validation"],
    "stock": ["stock_level"],
    "product": ["product"],
    "layout": ["layout"],
    "wave": ["wave"],
    "webhook": ["webhook"],
}
"""First part of a kind → the objects that its events are about."""

_OBJECTS_OF_KIND: Mapping[str, Sequence[str]] = {
    "transfer.dispatched": ["transfer_order"],
    "transfer.received": ["transfer_order"],
}

_ID = "evt_019ca9450a005b1f0c2d9e8a7b6c5d4e"
_NOW = "2026-03-01T12:00:00.000Z"
_ID_TEXT: Schema = {
    "type": "string",
    "pattern": "^evt_[0-9a-f]{32}$",
    "description": "Id of the event, the same in every attempt: drop an event that you have seen.",
}
_VERSION: Schema = {"type": "integer", "minimum": 1}


def _class_name(text: str) -> str:
    return "".join(part.title() for part in text.replace(".", "_").split("_"))


def schemas() -> dict[str, Schema]:
    """Return the schema of each kind of event, and of its `data`."""
    data = {f"{_class_name(name)}EventData": _data(name) for name in (*MODELS, "webhook")}
    kinds = {_schema_name(kind): _event(kind) for kind in (*EVENT_KINDS, TEST_EVENT)}
    return {**data, **kinds}


def _schema_name(kind: AnyEventKind) -> str:
    return f"{_class_name(kind)}Event"


def _objects(kind: AnyEventKind) -> Sequence[str]:
    return _OBJECTS_OF_KIND.get(kind) or _OBJECTS[kind.partition(".")[0]]


def _data(name: str) -> Schema:
    """Return the schema of `data` about a kind of object."""
    model = MODELS.get(name)
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
    data = [ref(f"{_class_name(name)}EventData") for name in _objects(kind)]
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


def webhooks(examples: Mapping[str, object]) -> dict[str, Schema]:
    """Return the request of each kind of event; `examples` has one of each model."""
    return {kind: {"post": _request(kind, examples)} for kind in (*EVENT_KINDS, TEST_EVENT)}


def _request(kind: AnyEventKind, examples: Mapping[str, object]) -> Schema:
    objects = _objects(kind)
    return {
        "operationId": f"receive_{kind.replace('.', '_')}",
        "tags": ["Webhooks"],
        "summary": f"Event {kind}",
        "description": "Sent to the URL of each subscription to this kind, signed with its secret.",
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
            "content": body(ref(_schema_name(kind)), _example(kind, objects, examples)),
        },
        "responses": {
            "2XX": {"description": "The event was received."},
            "4XX": {
                "description": "The event is sent again later; 410 ends the subscription.",
            },
        },
    }


def _example(kind: AnyEventKind, objects: Sequence[str], examples: Mapping[str, object]) -> Schema:
    name = objects[0]
    shown = examples[MODELS[name].__name__] if name in MODELS else {}
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
