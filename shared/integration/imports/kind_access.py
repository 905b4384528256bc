"""Who may import which kind: the module, the scopes and the permission of each import kind."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.identity.auth.rules import authorize
from shared.identity.auth.scopes import Permission, Scope
from shared.identity.tenancy.tenant import Tenant, ensure_active, ensure_module
from shared.integration.imports.models import ImportKind
from shared.kernel.caller import Caller
from shared.kernel.errors import CODES, Forbidden, MissingScope, ServiceError
from shared.warehouse.settings.values import settings_of


@dataclass(frozen=True, slots=True)
class KindAccess:
    """What the routes that create and read the same entities one by one require."""

    read_scope: Scope
    write_scope: Scope
    permission: Permission
    module: str | None = None
    """The module that the kind needs in addition to bulk import."""
    always: bool = False
    """Whether scope and permission are required whatever the settings of the company say. The
    scope to write is then enough to read."""


ACCESS_OF_KIND: Mapping[ImportKind, KindAccess] = {
    "entry_documents": KindAccess("receipts:read", "receipts:write", "entries.manage"),
    "exit_documents": KindAccess("pickings:read", "pickings:write", "exits.manage"),
    "transfer_orders": KindAccess(
        "transfers:read", "transfers:write", "transfer-orders.manage", "transfer_orders"
    ),
    "returns": KindAccess("receipts:read", "receipts:write", "entries.manage"),
    "stock_counts": KindAccess("stocks:read", "stocks:write", "inventory.manage", always=True),
    "pick_faces": KindAccess("warehouses:read", "warehouses:write", "inventory.manage"),
    "products": KindAccess("products:read", "products:write", "inventory.manage"),
}


def ensure_kind_enabled(tenant: Tenant, kind: ImportKind) -> None:
    """Raise the error of the module that an import kind needs, unless the module is enabled."""
    module = ACCESS_OF_KIND[kind].module
    if module is not None:
        ensure_module(tenant, module)


def is_kind_enabled(tenant: Tenant, kind: ImportKind) -> bool:
    """Return whether the module that an import kind needs is enabled."""
    try:
        ensure_kind_enabled(tenant, kind)
    except ServiceError:
        return False
    return True


def tenant_refusal(tenant: Tenant, kind: ImportKind) -> str | None:
    """Return why files that no request carries may not be imported now, or None.

    Checks what the handlers check for each request: state, plan and modules.
    """
    try:
        ensure_active(tenant)
    except ServiceError as error:
        return error.message
    try:
        ensure_module(tenant, "bulk_import")
        ensure_kind_enabled(tenant, kind)
    except ServiceError as error:
        return f"{error.message} {CODES[error.code].action}"
    return None


def ensure_kind_allowed(
    tenant: Tenant, caller: Caller | None, kind: ImportKind, *, write: bool
) -> None:
    """Check the scope or permission of a kind, if it or the company's settings require it.

    The scope and the permission of the import routes are checked before, by the handler. `write` is
    whether the request uploads, commits or cancels.

    Raises:
        MissingScope: The integration client lacks the scope of the kind.
        Forbidden: The user lacks the permission of the kind.
    """
    access = ACCESS_OF_KIND[kind]
    is_required = access.always or settings_of(tenant.company).imports_require_kind_scope
    if caller is None or not is_required:
        return
    by_write = write or (access.always and access.write_scope in caller.scopes)
    authorize(
        caller,
        scope=access.write_scope if by_write else access.read_scope,
        permission=access.permission,
        write=write,
        allows_mobile=False,
    )


def may_read_kind(tenant: Tenant, caller: Caller, kind: ImportKind) -> bool:
    """Return whether `ensure_kind_allowed` lets the caller read imports of a kind."""
    try:
        ensure_kind_allowed(tenant, caller, kind, write=False)
    except (MissingScope, Forbidden):
        return False
    return True
