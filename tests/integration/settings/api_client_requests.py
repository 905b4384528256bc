"""Requests of administrators to /api-clients, and token requests of the clients."""

from typing import Any
from urllib.parse import urlencode

from shared.identity.tenancy.directory import directory
from shared.kernel.db.items import from_attributes
from tests.gateway import Erp, Response
from tests.integration.write_settings import ERP
from tests.stack import Stack

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def request_token(stack: Stack, client_id: str, secret: str, scope: str = "") -> Response:
    """Request a token for an integration client."""
    form = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": secret,
        "scope": scope,
    }
    stranger = Erp(stack.gateway, None)
    return stranger.post("/oauth/token", raw=urlencode(form), headers=_FORM)


def secret_works(stack: Stack, client_id: str, secret: str) -> bool:
    """Return whether a token request with the secret succeeds."""
    answer = request_token(stack, client_id, secret)
    assert answer.status in {200, 401}, answer.text
    return answer.status == 200


def erp_with_token(stack: Stack, client_id: str, secret: str) -> Erp:
    """Return an ERP with a newly issued token."""
    answer = request_token(stack, client_id, secret)
    assert answer.status == 200, answer.text
    return Erp(stack.gateway, answer.json()["access_token"])


def expire_tenant_cache() -> None:
    """Empty the cache of tenants, as after ten seconds."""
    directory.clear()


def create_api_client(erp: Erp, **more: object) -> dict[str, Any]:
    """Create a client; return the response data with the secret."""
    return erp.post("/api-clients", {**ERP, **more}).ok(201)


def stored_client_counts(stack: Stack) -> tuple[int, int]:
    """Return the tenant's stored counters of integration clients and mobile applications."""
    (item,) = (
        item for item in map(from_attributes, stack.control_items()) if item["pk"] == "TENANT#acme"
    )
    return int(item.get("clients", 0)), int(item.get("mobile_clients", 0))
