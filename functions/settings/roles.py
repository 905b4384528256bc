"""Named sets of permissions."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.users import roles, views
from shared.identity.users.models import Role, RoleChange, RoleCreate, RoleParameters, StoredRole
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction

routes = Routes()

_ALL: OperationOptions = {"scope": "settings:manage", "permission": "users.manage"}
_ONE: OperationOptions = {**_ALL, "errors": ("gone",)}


@routes.declare("GET", "/roles", "List roles", _ALL, response=Role, parameters=RoleParameters)
def list_roles(store: Store, request: Request[None, RoleParameters]) -> ListResponse[StoredRole]:
    """Page through the roles."""
    page = roles.list_roles(store, request.parameters)
    return ListResponse(page, lambda record: views.role(record.entity))


@routes.declare(
    "POST",
    "/roles",
    "Create a role",
    _ALL,
    response=Role,
    body=RoleCreate,
    collects_problems=True,
    statuses=(201,),
    description="Names are unique without regard to case and accents. A role without permissions"
    " lets its users read.",
)
def create_role(tx: Transaction, request: Request[RoleCreate]) -> ResourceResponse:
    """Create a role."""
    record = roles.create_role(tx, request.body, request.problems)
    return ResourceResponse(views.role(record.entity), 201, f"/roles/{record.id}")


@routes.declare("GET", "/roles/{id}", "Get a role", _ONE, response=Role)
def get_role(store: Store, request: Request) -> ResourceResponse:
    """Read one role."""
    return ResourceResponse(views.role(roles.get_role(store, request.id).entity))


@routes.declare(
    "PATCH",
    "/roles/{id}",
    "Change a role",
    _ONE,
    response=Role,
    body=RoleChange,
    collects_problems=True,
    description="Only the fields sent change. A permission that is taken away ends the tokens of"
    " all who have the role within 10 s; new ones bear what the role then allows.",
)
def change_role(tx: Transaction, request: Request[RoleChange]) -> ResourceResponse:
    """Change a role."""
    record = roles.change_role(tx, request.id, request.body, request.problems)
    return ResourceResponse(views.role(record.entity))


@routes.declare(
    "DELETE",
    "/roles/{id}",
    "Delete a role",
    _ONE,
    response=Role,
    description="Only a role that no user has.",
    errors=("gone", "conflict"),
)
def delete_role(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a role; answers it as it was."""
    return ResourceResponse(views.role(roles.delete_role(tx, request.id).entity))
