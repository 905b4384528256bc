"""What commands about the people of a company read."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel

from operations.provisioning import show_tenant
from shared.identity.audit import service as audit
from shared.identity.audit.models import AuditParameters
from shared.identity.tenancy.access import store_for
from shared.identity.users import roles
from shared.identity.users.models import RoleParameters, StoredRole
from shared.kernel.db.listing import Page
from shared.kernel.db.store import Store
from shared.kernel.json_text import loads


def store_of(tenant: str) -> Store:
    """Open the table of a tenant; NotFound when there is no such tenant."""
    return store_for(show_tenant(tenant).slug)


def every[E: BaseModel](read: Callable[[int], Page[E]]) -> Iterator[E]:
    """Read a list from its first page to its last, as far as it is asked for."""
    page = seen = 0
    while True:
        page += 1
        part = read(page)
        yield from (record.entity for record in part.records)
        seen += len(part.records)
        if not part.records or seen >= part.total:
            return


def all_roles(store: Store) -> list[StoredRole]:
    """Read the roles of a company."""
    return list(
        every(lambda page: roles.list_roles(store, RoleParameters(page=page, per_page=100)))
    )


def deleted_before(
    store: Store,
    action: Literal["user.deleted", "role.deleted"],
    is_it: Callable[[Mapping[str, Any]], bool],
) -> int | None:
    """Id of the user or role that was deleted last of those that `is_it` finds, or None.

    Names are free after a deletion, so that only the audit log knows who bore one.
    """
    entries = every(
        lambda page: audit.list_entries(
            store, AuditParameters(action=action, page=page, per_page=100), "UTC"
        )
    )
    found = (entry.target.id for entry in entries if is_it(loads(entry.details_json)))
    number = next(found, None)
    return None if number is None else int(number)
