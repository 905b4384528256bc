"""Every collection of the service, for operations on all entities of a tenant's table."""

from collections.abc import Mapping
from typing import Any

from shared.identity.audit.repository import AUDIT
from shared.identity.users.repository import ROLES, USERS
from shared.integration.exports.repository import EXPORTS
from shared.integration.imports.repository import IMPORTS
from shared.integration.webhooks.repository import WEBHOOKS
from shared.kernel.db.collection import Collection
from shared.warehouse.approvals.repository import APPROVALS
from shared.warehouse.catalog.repository import CATEGORIES, PRODUCTS
from shared.warehouse.counts.repository import COUNT_LINES, COUNTS
from shared.warehouse.documents.repository import ENTRIES, EXITS
from shared.warehouse.holds.repository import HOLDS
from shared.warehouse.layout.repository import LAYOUTS
from shared.warehouse.packing.repository import PACKING_ORDERS, UNITS
from shared.warehouse.partners.repository import CLIENTS, PROVIDERS
from shared.warehouse.pick_faces.repository import PICK_FACES
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.returns.repository import RETURNED, RETURNS
from shared.warehouse.rfid.repository import DIFFERENCES, VALIDATIONS
from shared.warehouse.stock.repository import LEVELS, MOVEMENTS, STOCK, TOTALS
from shared.warehouse.transfer_orders.repository import TRANSFER_ORDERS
from shared.warehouse.transfers.repository import TRANSFERS
from shared.warehouse.warehouses.repository import POSITIONS, WAREHOUSES
from shared.warehouse.waves.repository import WAVES

COLLECTIONS: Mapping[str, Collection[Any]] = {
    collection.kind: collection
    for collection in (
        APPROVALS, AUDIT, CATEGORIES, CLIENTS, COUNTS, COUNT_LINES, DIFFERENCES, ENTRIES, EXITS,
        EXPORTS,
        HOLDS, IMPORTS, LAYOUTS, LEVELS, MOVEMENTS, PACKING_ORDERS, PICKINGS, PICK_FACES, POSITIONS,
        PRODUCTS, PROVIDERS, RECEIPTS, RETURNED, RETURNS, ROLES, STOCK, TOTALS, TRANSFERS,
        TRANSFER_ORDERS, UNITS, USERS, VALIDATIONS, WAREHOUSES, WAVES, WEBHOOKS,
    )
}  # fmt: skip
"""Kind → collection."""

IDS_OF_OTHERS: Mapping[str, tuple[str, ...]] = {
    "count_line": ("stock_count",),
    "layout": ("warehouse",),
    "level": ("product", "warehouse"),
    "level_total": ("product",),
    "returned": ("exit",),
    "rfid_differences": ("rfid_validation",),
}
"""Kind without a sequence of its own → kinds whose ids its ids consist of."""
