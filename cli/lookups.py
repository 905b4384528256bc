"""Reads that the commands for users and roles share."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from operations.list_pages import read_all_pages
from operations.tenant_changes import show_tenant
from shared.identity.audit import service as audit
from shared.identity.audit.models import AuditParameters
from shared.identity.tenancy.access import operator_store
from shared.identity.users import roles
from shared.identity.users.models import RoleParameters, StoredRole
from shared.kernel.db.store import Store
from shared.kernel.json_text import loads


def open_store(tenant: str) -> Store:
    """Return the table of a tenant.

    Raises:
        NotFound: There is no such tenant.
    """
    return operator_store(show_tenant(tenant).slug)


def list_all_roles(store: Store) -> list[StoredRole]:
    """Return all roles of a company."""
    return list(
        read_all_pages(
            lambda page: roles.list_roles(store, RoleParameters(page=page, per_page=100))
        )
    )


def find_deleted_id(
    store: Store,
    action: Literal["user.deleted", "role.deleted"],
    matches: Callable[[Mapping[str, Any]], bool],
) -> int | None:
    """Return the id of the user or role deleted last whose audit details match, or None.

    A name can be used again after a deletion, so only the audit log links it to the id.
    """
    entries = read_all_pages(
        lambda page: audit.list_entries(
            store, AuditParameters(action=action, page=page, per_page=100)
        )
    )
    found = (entry.target.id for entry in entries if matches(loads(entry.details_json)))
    number = next(found, None)
    return None if number is None else int(number)
