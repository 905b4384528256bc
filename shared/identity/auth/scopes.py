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
    "changes:read",
    "webhooks:manage",
    "settings:manage",
]

SCOPES: Mapping[Scope, str] = {
    "warehouses:read": "Read warehouses, positions, published maps and pick faces; print labels of"
    " positions.",
    "warehouses:write": "Create, change and delete warehouses and positions, publish maps, and"
    " assign and remove pick faces.",
    "products:read": "Read products and product categories, and imports of every kind but inventory"
    " counts with their rejected rows, unless the setting imports_require_kind_scope is on; print"
    " labels of products.",
    "products:write": "Create, change and delete products and product categories. Upload, commit"
    " and cancel imports of every kind but inventory counts, and so also create documents, returns,"
    " transfer orders and pick faces, unless the setting imports_require_kind_scope is on.",
    "clients:read": "Read clients.",
    "clients:write": "Create, change and delete clients.",
    "providers:read": "Read providers.",
    "providers:write": "Create, change and delete providers.",
    "receipts:read": "Read entry documents, receipts, returns and approvals.",
    "receipts:write": "Create and close entry documents; create receipts and returns and carry them"
    " out, from receiving goods to reverting a receipt, or to what happens to returned goods. Only"
    " users decide approvals.",
    "pickings:read": "Read exit documents, pickings, packing orders, handling units, RFID"
    " validations and waves; print labels and packing slips.",
    "pickings:write": "Create, close and dispatch exit documents; create pickings and waves and"
    " carry them out, from allocating stock to reverting a picking; create packing orders, and fill"
    " and delete their handling units; create RFID validations.",
    "transfers:read": "Read transfers and transfer orders.",
    "transfers:write": "Create transfers, replenishments and transfer orders, carry them out and"
    " cancel them.",
    "stocks:read": "Read stock, stock levels, stock movements, holds, counts, replenishments and"
    " putaway suggestions, and make reconciliations.",
    "stocks:write": "Make stock adjustments and holds, create, carry out and post counts, and with"
    " products:write import inventory counts.",
    "changes:read": "Follow the changes of everything that the other scopes of the token may read,"
    " and make exports of it.",
    "webhooks:manage": "Manage all webhook subscriptions and their deliveries, and so read"
    " everything that has events, such as products, stock and documents.",
    "settings:manage": "Administer the company: read and change its settings, its API clients, its"
    " users with their passwords, and its roles, and read its audit log and request log. Who has"
    " this scope can obtain every other right.",
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
    "entries.manage": "Entry documents, receipts, returns and providers; counting stock.",
    "exits.manage": "Exit documents, holds, pickings, packing orders, handling units, RFID"
    " validations, waves, dispatch and clients; counting stock.",
    "inventory.manage": "Products, product categories, warehouses, positions, maps, pick faces,"
    " stock, counts, replenishments, reconciliations and transfers; exports, for which any"
    " permission but approvals.grant is enough.",
    "imports.run": "Bulk imports.",
    "transfer-orders.manage": "Transfer orders.",
    "users.manage": "Users, roles, API clients, settings, webhooks, audit log and request log. Who"
    " has this permission can obtain every other right.",
    "approvals.grant": "Grant and deny approvals, and approve at once what a rule blocks, such as"
    " receiving more than ordered.",
}
"""Permission → description."""
