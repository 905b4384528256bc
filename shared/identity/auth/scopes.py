"""Scopes of integration clients and permissions of users."""

from collections.abc import Mapping
from typing import Literal

Scope = Literal[
    "warehouses:read",
    "warehouses:write",
    "products:read",
    "products:write",
    "clients:read",
    "clients:write",
    "providers:read",
    "providers:write",
    "receipts:read",
    "receipts:write",
    "pickings:read",
    "pickings:write",
    "transfers:read",
    "transfers:write",
    "stocks:read",
    "stocks:write",
    "webhooks:manage",
    "settings:manage",
]

SCOPES: Mapping[Scope, str] = {
    "warehouses:read": "Read warehouses, positions and the published map.",
    "warehouses:write": "Create and change warehouses and positions, publish the map.",
    "products:read": "Read products, categories and imports.",
    "products:write": "Create, change and delete products and categories; run imports.",
    "clients:read": "Read clients.",
    "clients:write": "Create, change and delete clients.",
    "providers:read": "Read providers.",
    "providers:write": "Create, change and delete providers.",
    "receipts:read": "Read entry documents and receipts.",
    "receipts:write": "Create entry documents and receive goods.",
    "pickings:read": "Read exit documents, pickings and waves.",
    "pickings:write": "Create exit documents and waves, pick and dispatch goods.",
    "transfers:read": "Read transfers and transfer orders.",
    "transfers:write": "Create transfers and transfer orders and carry them out.",
    "stocks:read": "Read stock, stock levels and movements.",
    "stocks:write": "Adjust stock.",
    "webhooks:manage": "Manage webhook subscriptions, and so read everything that has events, such"
    " as products, stock and documents.",
    "settings:manage": "Read and change the settings.",
}
"""Scope → description."""

Permission = Literal[
    "entries.manage",
    "exits.manage",
    "inventory.manage",
    "imports.run",
    "transfer-orders.manage",
    "users.manage",
    "approvals.grant",
]

PERMISSIONS: Mapping[Permission, str] = {
    "entries.manage": "Entry documents, receipts and providers.",
    "exits.manage": "Exit documents, pickings, waves, dispatch and clients.",
    "inventory.manage": "Products, warehouses, stock and transfers.",
    "imports.run": "Bulk imports.",
    "transfer-orders.manage": "Transfer orders.",
    "users.manage": "Users, API clients, settings and webhooks.",
    "approvals.grant": "Approve what a rule blocks, such as receiving more than ordered.",
}
"""Permission → description."""
