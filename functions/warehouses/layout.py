"""The published map of a warehouse."""

from collections.abc import Mapping

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes, TextResponse
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.warehouses import drawing, layout
from shared.warehouse.warehouses.layout_models import Layout, LayoutDraft

routes = Routes()

_INERT: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
    ),
    "X-Content-Type-Options": "nosniff",
}
"""A drawing shows names that anyone may have chosen: nothing in it may ever run or load."""


@routes.declare(
    "GET",
    "/warehouses/{id}/layout",
    "Get the map of a warehouse",
    response=Layout,
    scope="warehouses:read",
    errors=("gone",),
)
def get_layout(store: Store, request: Request) -> ResourceResponse:
    """Read the published map; not_found while none is published."""
    return ResourceResponse(layout.get_layout(store, request.id).layout)


@routes.declare(
    "PUT",
    "/warehouses/{id}/layout",
    "Publish the map of a warehouse",
    response=Layout,
    scope="warehouses:write",
    permission="inventory.manage",
    body=LayoutDraft,
    collects_problems=True,
    errors=("gone",),
    description="The body is the whole map: what is left out is not on it. Lengths are metres from "
    "the lower left corner of the floor. Polygons must not cross or touch themselves; bays must "
    "lie in the floor and in the zone of their aisle, and may touch each other but not overlap. "
    "At most 200 zones (200 corners each, 5000 in all), 1000 aisles, 5000 bays and 5000 points.",
)
def publish_layout(tx: Transaction, request: Request[Checked[LayoutDraft]]) -> ResourceResponse:
    """Check a map and publish it as the next version."""
    return ResourceResponse(layout.publish(tx, request.id, request.body))


@routes.declare(
    "GET",
    "/warehouses/{id}/layout.svg",
    "Draw the map of a warehouse",
    response="image/svg+xml",
    scope="warehouses:read",
    errors=("gone",),
)
def draw_layout(store: Store, request: Request) -> TextResponse:
    """Read the published map as a drawing (SVG) with its legend and scale."""
    shown = layout.get_layout(store, request.id)
    return TextResponse(drawing.draw(shown.layout, shown.warehouse_name), _INERT)
