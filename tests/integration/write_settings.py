"""An example request of each writing route of the settings and API clients."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.gateway import Erp
from tests.integration.route_example import Example, Values, creation, step
from tests.integration.write_webhooks import subscribe
from tests.stack import Stack

ERP = {"name": "ERP", "scopes": ["products:read", "products:write", "stocks:read"]}
APPLICATION = {"name": "Hand-held scanners", "kind": "mobile"}
SETTINGS_CHANGE: Mapping[str, Any] = {
    "timezone": "Europe/Madrid",
    "modules": {"waves": False, "bulk_import": True},
    "receipt_tolerance": 2.5,
    "pick_substitution": "batch",
    "commit_drops": True,
}


_client = creation("/api-clients", ERP)


def _client_with_webhook(erp: Erp) -> Values:
    values = _client(erp)
    subscribe(replace(erp, token=Stack(erp.gateway.template).token(client=str(values["id"]))))
    return values


_rotated = step("/api-clients/{id}/rotate-secret", after=_client)


def settings_examples() -> Mapping[str, Example]:
    """Return `METHOD /path` → example."""
    audited = {"audit": 1}
    return {
        "PATCH /settings": Example(200, body=SETTINGS_CHANGE, grows=audited),
        "POST /api-clients": Example(201, body=ERP, grows=audited),
        "PATCH /api-clients/{id}": Example(
            200,
            body={"name": "Shop", "scopes": ["stocks:read"], "deactivate_webhooks": True},
            prepare=_client_with_webhook,
            grows={"audit": 2},
        ),
        "DELETE /api-clients/{id}": Example(
            200,
            body={"deactivate_webhooks": True},
            prepare=_client_with_webhook,
            grows={"audit": 2},
            status_afterwards=410,
        ),
        "POST /api-clients/{id}/rotate-secret": Example(
            200, body={"keep_previous": False}, prepare=_client, grows=audited
        ),
        "DELETE /api-clients/{id}/previous-secret": Example(200, prepare=_rotated, grows=audited),
    }
