"""The published map of a warehouse."""

from collections.abc import Mapping

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes, TextResponse
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.layout import drawing, service
from shared.warehouse.layout.models import Layout, LayoutDraft

routes = Routes()

_SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
    )
}
"""Headers that block scripts and external resources. Users choose the names in a drawing."""


@routes.read(
    "/warehouses/{id}/layout",
    "Get the map of a warehouse",
    response=Layout,
    scope="warehouses:read",
    errors=("gone",),
)
def get_layout(store: Store, request: Request) -> ResourceResponse:
    """Return the published map; `not_found` if no map is published."""
    found, _ = service.get_layout(store, request.id)
    return ResourceResponse(found)


@routes.write(
    "PUT",
    "/warehouses/{id}/layout",
    "Publish the map of a warehouse",
    response=Layout,
    scope="warehouses:write",
    permission="inventory.manage",
    body=LayoutDraft,
    errors=("gone",),
    description="The body is the complete map and replaces the published one. Lengths are in "
    "metres from the lower left corner of the floor. Polygons must not cross or touch themselves. "
    "Bays must lie on the floor and in the zone of their aisle; they may touch but not overlap. "
    "Limits: 200 zones (200 corners each, 5000 in total), 1000 aisles, 5000 bays, 5000 points.",
)
def publish_layout(tx: Transaction, request: Request[Checked[LayoutDraft]]) -> ResourceResponse:
    """Validate a map and publish it as the next version."""
    return ResourceResponse(service.publish(tx, request.id, request.body))


@routes.read(
    "/warehouses/{id}/layout.svg",
    "Draw the map of a warehouse",
    response="image/svg+xml",
    scope="warehouses:read",
    errors=("gone",),
)
def draw_layout(store: Store, request: Request) -> TextResponse:
    """Return the published map as a drawing (SVG) with legend and scale bar."""
    found, warehouse_name = service.get_layout(store, request.id)
    return TextResponse(drawing.draw(found, warehouse_name), _SECURITY_HEADERS)
