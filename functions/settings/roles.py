"""Routes of roles, which are named sets of permissions."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.users import roles
from shared.identity.users.models import Role, RoleChange, RoleCreate, RoleParameters, StoredRole
from shared.integration.webhooks.ended_access import (
    ChangedRole,
    listed_webhooks,
    read_ahead_of,
    webhooks_of_changed_role,
)
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked, ensure_valid

routes = Routes()

_ALL: OperationOptions = {"scope": "settings:manage", "permission": "users.manage"}
_ONE: OperationOptions = {**_ALL, "errors": ("gone",)}


@routes.read("/roles", "List roles", _ALL, response=Role, parameters=RoleParameters)
def list_roles(store: Store, request: Request[None, RoleParameters]) -> ListResponse[StoredRole]:
    """List roles."""
    page = roles.list_roles(store, request.parameters)
    return ListResponse(page, lambda record: Role.from_stored(record.entity))


@routes.write(
    "POST",
    "/roles",
    "Create a role",
    _ALL,
    response=Role,
    body=RoleCreate,
    statuses=(201,),
    description="Names are unique, ignoring case and accents. A role without permissions allows"
    " its users to read.",
)
def create_role(tx: Transaction, request: Request[Checked[RoleCreate]]) -> ResourceResponse:
    """Create a role."""
    record = roles.create_role(tx, request.body)
    return ResourceResponse(Role.from_stored(record.entity), 201, f"/roles/{record.id}")


@routes.read("/roles/{id}", "Get a role", _ONE, response=Role)
def get_role(store: Store, request: Request) -> ResourceResponse:
    """Return a role."""
    return ResourceResponse(Role.from_stored(roles.get_role(store, request.id).entity))


@routes.write(
    "PATCH",
    "/roles/{id}",
    "Change a role",
    _ONE,
    response=ChangedRole,
    body=RoleChange,
    description="Fields that are not sent keep their values. Removing a permission revokes the"
    " tokens of all users with the role within 10 s; new tokens have the remaining permissions."
    " `users.manage` cannot be removed if no enabled user would have it. If `permissions` lack it,"
    " the response lists the webhook subscriptions that users of the role created, or whose"
    " address, secret or activation they set last, unless another role gives them the permission."
    " The subscriptions continue to send events, unless the body also has `deactivate_webhooks:"
    " true`.",
    errors=("gone", "conflict"),
)
def change_role(tx: Transaction, request: Request[Checked[RoleChange]]) -> ResourceResponse:
    """Change a role; if it loses a permission, also list the subscriptions of its users."""
    ahead = read_ahead_of(request.body)
    role = roles.change_role(tx, request.id, request.body, ahead).entity
    webhooks = webhooks_of_changed_role(tx, role, ensure_valid(request.body))
    return ResourceResponse(ChangedRole.from_stored(role, webhooks=listed_webhooks(webhooks)))


@routes.write(
    "DELETE",
    "/roles/{id}",
    "Delete a role",
    _ONE,
    response=Role,
    description="A role that a user has cannot be deleted.",
    errors=("gone", "conflict"),
)
def delete_role(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a role; return it as it was before."""
    return ResourceResponse(Role.from_stored(roles.delete_role(tx, request.id).entity))
