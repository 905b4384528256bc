"""Pick faces: which product is picked from which position."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked
from shared.warehouse.pick_faces import service
from shared.warehouse.pick_faces.models import PickFace, PickFaceDraft, PickFaceParameters

routes = Routes()

_READ: OperationOptions = {"scope": "warehouses:read", "response": PickFace}
_WRITE: OperationOptions = {
    "scope": "warehouses:write",
    "permission": "inventory.manage",
    "response": PickFace,
}


@routes.read(
    "/pick-faces",
    "List pick faces",
    _READ,
    parameters=PickFaceParameters,
    description="`warehouse` is the code of a warehouse.",
)
def list_pick_faces(
    store: Store, request: Request[None, PickFaceParameters]
) -> ListResponse[PickFace]:
    """Return a page of pick faces."""
    return ListResponse(service.list_pick_faces(store, request.parameters))


@routes.write(
    "POST",
    "/pick-faces",
    "Assign a pick face",
    _WRITE,
    body=PickFaceDraft,
    statuses=(200, 201),
    description="If the product already has this pick face, only the quantities that are sent"
    " change and the status is 200. Among stock with the same expiry date, allocation takes stock"
    " at pick faces first. A position of type `pick_face` without assigned products is a pick"
    " face of every product. While a pick face exists, its product and its position cannot be"
    " deleted and their codes cannot change.",
)
def assign_pick_face(tx: Transaction, request: Request[Checked[PickFaceDraft]]) -> ResourceResponse:
    """Assign a product to a position, or change the quantities of its pick face there."""
    assigned = service.assign_pick_face(tx, request.body)
    face = assigned.record.entity
    return ResourceResponse(face, 201 if assigned.new else 200, f"/pick-faces/{face.id}")


@routes.read(
    "/pick-faces/{id}",
    "Get a pick face",
    _READ,
    errors=("gone",),
)
def get_pick_face(store: Store, request: Request) -> ResourceResponse:
    """Return a pick face."""
    return ResourceResponse(service.get_pick_face(store, request.id).entity)


@routes.write(
    "DELETE",
    "/pick-faces/{id}",
    "Remove a pick face",
    _WRITE,
    errors=("gone",),
)
def remove_pick_face(tx: Transaction, request: Request) -> ResourceResponse:
    """Remove a pick face and return its last state. Product, position and stock do not change."""
    return ResourceResponse(service.remove_pick_face(tx, request.id).entity)
