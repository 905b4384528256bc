"""Replenishment: pick faces below their minimum, and the transfers that fill them."""

from urllib.parse import urlencode

from shared.http.request import Request
from shared.http.routes import ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.replenishment import service
from shared.warehouse.replenishment.models import (
    MAX_EXAMINED,
    CreatedReplenishments,
    Replenishment,
    ReplenishmentDraft,
    ReplenishmentFrame,
    ReplenishmentParameters,
)

routes = Routes()


@routes.read(
    "/replenishments",
    "List pick faces below their minimum",
    scope="stocks:read",
    response=Replenishment,
    responds_with_list=True,
    beside=ReplenishmentFrame,
    parameters=ReplenishmentParameters,
    description="A page examines the next `per_page` pick faces of the warehouse that have a"
    " minimum, and shows those that have less; so it can be empty although others follow."
    " `links.next` leads on, and is null at the end. `qty` is what pickings have not allocated at"
    " the position. `proposals` are what expires first, then what lies at positions of the type"
    " `reserve`, then the oldest; nothing from pick faces, nothing allocated, blocked or expired,"
    " and nothing that another pending replenishment takes.",
)
def list_replenishments(
    store: Store, request: Request[None, ReplenishmentParameters]
) -> ResourceResponse:
    """Return the pick faces below their minimum, with the stock that can fill them."""
    rows, frame = service.list_replenishments(store, request.parameters, request.tenant.base_url)
    return ResourceResponse(rows, beside=frame)


@routes.write(
    "POST",
    "/replenishments",
    "Replenish pick faces",
    scope="transfers:write",
    permission="inventory.manage",
    response=CreatedReplenishments,
    body=ReplenishmentDraft,
    statuses=(200, 201),
    description="Creates for each pick face below its minimum one pending transfer with the reason"
    " `replenishment`, which moves what `GET /replenishments` proposes; 200 if none is needed."
    " A pick face whose transfer is neither executed nor deleted gets no other one. `all`"
    f" examines up to {MAX_EXAMINED} pick faces; send `next_after` as `after` to continue."
    " `unfilled` names what no stock can fill. To complete an interrupted request, send it again.",
)
def create_replenishments(
    tx: Transaction, request: Request[Checked[ReplenishmentDraft]]
) -> ResourceResponse:
    """Create the transfers to pick faces below their minimum."""
    result = service.create_replenishments(tx, request.body)
    query = urlencode({"from_warehouse": result.warehouse_code, "status": "pending"})
    return ResourceResponse(result, 201 if result.created else 200, f"/transfers?{query}")
