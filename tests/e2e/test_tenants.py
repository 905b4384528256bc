"""Tenants of one deployment: isolation, states and plans."""

import httpx
import pytest

from operations import tenant_changes
from shared.identity.auth import tokens
from shared.identity.auth.scopes import SCOPES
from tests.e2e.conftest import Deployed
from tests.e2e.responses import data, refused, walk

_STATES = {
    "suspended": (402, "tenant_suspended"),
    "cancelled": (402, "tenant_cancelled"),
    "moved": (410, "tenant_moved"),
}

_LISTS = (
    "/products",
    "/product-categories",
    "/clients",
    "/providers",
    "/warehouses",
    "/warehouse-positions",
    "/entry-documents",
    "/exit-documents",
)
_WORK = ("/receipts", "/pickings", "/transfers")
_MODULES = {"/transfer-orders": "transfer_orders_disabled", "/waves": "not_found"}
"""Lists of modules, and the error code when the module is disabled."""


@pytest.mark.parametrize("slug", _STATES)
def test_inactive_tenant_gets_no_token(stack: Deployed, slug: str) -> None:
    envelope = refused(stack.tenants[slug].ask_token(), *_STATES[slug])
    if slug == "moved":
        assert "https://wms.moved.example/api/v1" in envelope["message"]


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("slug", _STATES)
def test_inactive_tenant_is_refused(stack: Deployed, slug: str) -> None:
    tenant = stack.tenants[slug]
    token = tokens.issue_to_client(
        tenant_changes.show_tenant(slug), tenant.client_id, frozenset(SCOPES)
    )
    with tenant.client(token) as caller:
        for path in (*_LISTS, *_WORK, *_MODULES, "/products/1"):
            refused(caller.get(path), *_STATES[slug])
        refused(caller.post("/products", content=b"not JSON"), *_STATES[slug])


def test_lists_hide_rows_of_other_tenants(acme: httpx.Client, beta: httpx.Client, run: str) -> None:
    mine = data(acme.post("/products", json={"item_code": f"E2E-{run}", "name": "Private"}), 201)
    hers = {row["item_code"] for row in walk(beta, "/products", per_page=100)}
    assert mine["item_code"] not in hers
    assert not walk(beta, "/products", item_code=mine["item_code"])
    for path in (*_LISTS, "/products"):
        newest = max(row["id"] for row in walk(acme, path, per_page=100))
        theirs = {row["id"] for row in walk(beta, path, per_page=100)}
        assert newest not in theirs, "the id must not exist in beta"
        refused(beta.get(f"{path}/{newest}"), 404, "not_found")
    number = mine["id"]
    refused(beta.patch(f"/products/{number}", json={"name": "Mine now"}), 404, "not_found")
    refused(beta.delete(f"/products/{number}"), 404, "not_found")
    assert data(acme.get(f"/products/{number}")) == mine


def test_smallest_plan_has_the_public_api(mini: httpx.Client, run: str) -> None:
    created = mini.post("/products", json={"item_code": f"E2E-{run}", "name": "Cable drum"})
    product = data(created, 201)
    assert data(mini.get(created.headers["Location"])) == product
    for path in (*_LISTS, *_WORK):
        data(mini.get(path))
    for path, code in _MODULES.items():
        refused(mini.get(path), 404, code)
    assert data(mini.delete(f"/products/{product['id']}")) == product
    refused(mini.get(f"/products/{product['id']}"), 410, "gone")
