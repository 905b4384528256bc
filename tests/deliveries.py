"""Bodies and headers of deliveries for tests of receivers."""

import json
import time
from typing import Any

from shared.integration.webhooks.signatures import signature_headers

Headers = dict[str, str]


def event_body(number: int = 1, sequence: int = 1, **data: Any) -> dict[str, Any]:
    """Return the parsed body of a delivery; `data` replaces fields of `data`."""
    picking = {
        "object": "picking",
        "id": 12,
        "status": "finalized",
        "resource_version": sequence,
        "href": "https://api.test/api/v1/pickings/12",
        "attributes": {"doc_num": "SO-açme"},
    }
    return {
        "id": f"evt_{number:032x}",
        "type": "picking.completed",
        "version": 1,
        "created_at": "2026-03-01T12:00:00Z",
        "tenant": "acme",
        "sequence": sequence,
        "data": picking | data,
    }


def encoded(body: Any) -> bytes:
    """Serialize a body as UTF-8, like the service."""
    return json.dumps(body, ensure_ascii=False).encode()


def signature(body: bytes, *secrets: str, age: int = 0) -> Headers:
    """Return the headers of a delivery that was sent `age` seconds ago."""
    return signature_headers("evt_1", body, secrets, int(time.time()) - age)
