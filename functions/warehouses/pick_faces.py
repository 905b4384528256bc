"""Pick faces: which product is picked from which position."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.kernel.db.collection import Record
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


def _view(record: Record[PickFace]) -> PickFace:
    return record.entity


@routes.declare(
    "GET",
    "/pick-faces",
    "List pick faces",
    _READ,
    parameters=PickFaceParameters,
    description="`warehouse` is a warehouse code.",
)
def list_pick_faces(
    store: Store, request: Request[None, PickFaceParameters]
) -> ListResponse[PickFace]:
    """Page through the pick faces."""
    return ListResponse(service.list_pick_faces(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/pick-faces",
    "Assign a pick face",
    _WRITE,
    body=PickFaceDraft,
    collects_problems=True,
    statuses=(200, 201),
    description="Sent again, minimum and maximum change where they are sent, and the answer is 200."
    " Allocation takes from the pick faces of a product first; a position of the type pick_face to"
    " which no product is assigned serves every product. While there is a pick face, its product"
    " and its position cannot be deleted, nor can their codes change.",
)
def assign_pick_face(tx: Transaction, request: Request[Checked[PickFaceDraft]]) -> ResourceResponse:
    """Assign a product to a position, or change the quantities of its pick face there."""
    assigned = service.assign_pick_face(tx, request.body)
    face = assigned.record.entity
    if assigned.new:
        return ResourceResponse(face, 201, f"/pick-faces/{face.id}")
    return ResourceResponse(face)


@routes.declare(
    "GET",
    "/pick-faces/{id}",
    "Get a pick face",
    _READ,
    errors=("gone",),
)
def get_pick_face(store: Store, request: Request) -> ResourceResponse:
    """Read one pick face."""
    return ResourceResponse(service.get_pick_face(store, request.id).entity)


@routes.declare(
    "DELETE",
    "/pick-faces/{id}",
    "Remove a pick face",
    _WRITE,
    errors=("gone",),
)
def remove_pick_face(tx: Transaction, request: Request) -> ResourceResponse:
    """Remove a pick face; answers it as it was. Product, position and stock stay as they are."""
    return ResourceResponse(service.remove_pick_face(tx, request.id).entity)
