"""Use cases of roles, which are named sets of permissions."""

from collections.abc import Iterable

from shared.identity.audit.service import record as audit
from shared.identity.audit.service import reserve_entry_ids
from shared.identity.tenancy import revocations
from shared.identity.users import administrators, repository, rules
from shared.identity.users.models import RoleChange, RoleCreate, StoredRole
from shared.identity.users.repository import ROLES
from shared.identity.webhook_deactivation import deactivation_problems
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, NotFound, Problem
from shared.kernel.fields import keep_order
from shared.kernel.list_parameters import list_of
from shared.kernel.validation import Checked, ensure_valid


def create_role(tx: Transaction, draft: Checked[RoleCreate]) -> Record[StoredRole]:
    """Create a role."""
    draft = ensure_valid(draft, name_taken(tx.store, draft.name, None))
    role_id = tx.next_id(ROLES.kind)
    role = StoredRole(id=role_id, created_at=tx.now, updated_at=tx.now, **draft.model_dump())
    repository.insert_alias(tx, repository.role_name_key(role.name), role_id)
    repository.create_role_count(tx, role_id)
    details = {"name": role.name, "permissions": role.permissions}
    audit(tx, "role.created", "role", role_id, details=details)
    return ROLES.insert(tx, role_id, role)


def change_role(
    tx: Transaction, role_id: int, change: Checked[RoleChange], ahead: Iterable[Key] = ()
) -> Record[StoredRole]:
    """Change the fields that were sent; `deactivate_webhooks` is for the caller of this function.

    Removing a permission revokes the tokens of all users with the role. `ahead` are the keys of
    items that the caller needs later; they are read together with the role.

    Raises:
        Conflict: No administrator would be left.
    """
    keys = [ROLES.key(role_id), *ahead]
    if change.name:
        keys.append(repository.role_name_key(change.name))
    if "permissions" in change.model_fields_set:
        keys.append(administrators.LAST_USER)
    fence = administrators.read_fence(tx.store, keys)
    record = ROLES.get(tx.store, role_id)
    before = record.entity
    found = [
        *name_taken(tx.store, change.name, role_id),
        *deactivation_problems(
            deactivate=change.deactivate_webhooks,
            allowed="permissions" in change.model_fields_set,
            needed="permissions",
        ),
    ]
    change = ensure_valid(change, found)
    sent = change.model_dump(exclude_unset=True, exclude={"deactivate_webhooks"})
    keep_order(sent, "permissions", before.permissions)
    after = before.model_copy(update=sent)
    administrators.ensure_role_not_last(tx, fence, before, after)
    former, present = map(repository.role_name_key, (before.name, after.name))
    if former != present:
        tx.delete(former)
        repository.insert_alias(tx, present, role_id)
    if set(before.permissions) - set(after.permissions):
        run_all(lambda: revocations.revoke_in(tx, f"role:{role_id}"), lambda: reserve_entry_ids(tx))
        sent["tokens_from"] = revocations.next_valid_iat(tx)
    if changed := rules.field_changes(before, after):
        audit(tx, "role.changed", "role", role_id, changes=changed, details={"name": before.name})
    return ROLES.update(tx, record, sent)


def delete_role(tx: Transaction, role_id: int) -> Record[StoredRole]:
    """Delete a role. No administrator is lost: nobody has it.

    Raises:
        Conflict: A user has the role.
    """
    record = ROLES.get(tx.store, role_id)
    role = record.entity
    ensure_unused(tx.store, role)
    revocations.revoke_in(tx, f"role:{role_id}")  # for tokens being issued at this moment
    repository.delete_role_count(tx, role_id)
    tx.delete(repository.role_name_key(role.name))
    audit(tx, "role.deleted", "role", role_id, details={"name": role.name})
    ROLES.remove(tx, record)
    return record


def ensure_unused(store: Store, role: StoredRole) -> None:
    """Raise Conflict while a user has the role."""
    holders = repository.count_users_with_role(store, role.id)
    if holders:
        users = "1 user has" if holders == 1 else f"{holders} users have"
        raise Conflict(f"{users} the role {role.name}; remove the role from all users first.")


get_role = ROLES.get


def get_role_by_name(store: Store, name: str) -> Record[StoredRole]:
    """Read the role with a name."""
    number = repository.find_alias(store, repository.role_name_key(name))
    if number is None:
        raise NotFound(f"The role {name}")
    return ROLES.get(store, number)


list_roles = list_of(ROLES)


def name_taken(store: Store, name: str | None, owner: int | None) -> list[Problem]:
    """Return a problem if another role has the name; empty or None if absent or invalid."""
    if not name:
        return []
    if repository.find_alias(store, repository.role_name_key(name)) in {None, owner}:
        return []
    return [Problem("name", "is already taken by another role")]
