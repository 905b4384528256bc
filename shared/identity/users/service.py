"""Use cases of users for administrators.

A change that takes rights away revokes the user's tokens by a revocation entry in the same
transaction (`shared.identity.tenancy.revocations`). New tokens get an `iat` from `tokens_from` on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from shared.identity.audit.service import record as audit
from shared.identity.audit.service import reserve_entry_ids
from shared.identity.tenancy import revocations
from shared.identity.tenancy.plan_counters import count_one_more
from shared.identity.users import administrators, logins, passwords, repository, rules
from shared.identity.users.logins import Login
from shared.identity.users.models import PasswordReset, User, UserChange, UserCreate
from shared.identity.users.repository import ROLES, USERS, UserAccount
from shared.identity.webhook_deactivation import deactivation_problems
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.items import Key
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import NotFound, Problem, ServiceError
from shared.kernel.fields import keep_order
from shared.kernel.validation import Checked, ensure_valid, valid_entries

_COUNTER = "users"
"""Counter of users in the tenant's item."""


def create_user(tx: Transaction, draft: Checked[UserCreate]) -> tuple[Record[User], str | None]:
    """Create a user; return it with the generated password, or None when the draft has one.

    Raises:
        ServiceError: limit_reached, the plan allows no more users.
    """
    found = [
        *_name_taken(tx.store, draft.username),
        *_unknown_roles(tx.store, draft.roles),
        *password_problems(tx.store.slug, "password", draft.password, draft.username),
    ]
    draft = ensure_valid(draft, found)
    count_one_more(tx, _COUNTER, "users")
    password, generated = _given_or_generated(draft.password)
    user_id = tx.next_id(USERS.kind)
    user = User(
        id=user_id,
        username=draft.username,
        name=draft.name,
        email=draft.email,
        roles=draft.roles,
        is_active=True,
        two_step=False,
        created_at=tx.now,
        updated_at=tx.now,
    )
    repository.insert_alias(tx, repository.username_key(user.username), user_id)
    logins.save(tx, None, Login(user_id, passwords.hash_password(password)))
    _change_role_counts(tx, rules.role_count_changes((), user.roles))
    audit(tx, "user.created", "user", user_id, details=_audit_details(user) | {"roles": user.roles})
    return USERS.insert(tx, user_id, user), generated


def change_user(
    tx: Transaction, user_id: int, change: Checked[UserChange], ahead: Iterable[Key] = ()
) -> Record[User]:
    """Change the fields that were sent; `deactivate_webhooks` is for the caller of this function.

    Removing a role revokes the user's tokens; disabling the user also ends the sessions. `ahead`
    are the keys of items that the caller needs later; they are read together with the user.

    Raises:
        Conflict: The user is the last administrator, and would no longer be one.
    """
    fence = administrators.read_fence(tx.store, [*repository.account_keys(user_id), *ahead])
    account = get_account(tx, user_id)
    before = account.record.entity
    found = [
        *_unknown_roles(tx.store, change.roles),
        *deactivation_problems(
            deactivate=change.deactivate_webhooks,
            allowed=change.is_active is not True or "roles" in change.model_fields_set,
            needed="is_active false or roles",
        ),
    ]
    change = ensure_valid(change, found)
    sent = change.model_dump(exclude_unset=True, exclude={"deactivate_webhooks"})
    keep_order(sent, "roles", before.roles)
    after = before.model_copy(update=sent)
    administrators.ensure_user_not_last(tx, fence, before, after)
    role_changes = rules.role_count_changes(before.roles, after.roles)
    _change_role_counts(tx, role_changes)
    disabled = before.is_active and not after.is_active
    if disabled or -1 in role_changes.values():
        login = account.login.end_sessions() if disabled else account.login
        run_all(lambda: revoke_user_tokens(tx, account.login, login), lambda: reserve_entry_ids(tx))
    if changed := rules.field_changes(before, after):
        act = rules.audit_action(before, after)
        audit(tx, act, "user", user_id, changes=changed, details=_audit_details(before))
    return USERS.update(tx, account.record, sent)


def delete_user(tx: Transaction, user_id: int, ahead: Iterable[Key] = ()) -> Record[User]:
    """Delete a user: the tokens are revoked, the sessions end and the user name becomes free.

    `ahead` is as in `change_user`.

    Raises:
        Conflict: The user is the last administrator.
    """
    fence = administrators.read_fence(tx.store, [*repository.account_keys(user_id), *ahead])
    account = get_account(tx, user_id)
    user = account.record.entity
    administrators.ensure_user_not_last(tx, fence, user, None)
    run_all(
        lambda: revocations.revoke_in(tx, f"user:{user_id}", one_less=_COUNTER),
        lambda: reserve_entry_ids(tx),
    )
    logins.delete(tx, user_id)
    tx.delete(repository.username_key(user.username))
    _change_role_counts(tx, rules.role_count_changes(user.roles, ()))
    audit(tx, "user.deleted", "user", user_id, details=_audit_details(user))
    USERS.remove(tx, account.record)
    return account.record


def reset_password(
    tx: Transaction, user_id: int, reset: Checked[PasswordReset]
) -> tuple[Record[User], str | None]:
    """Set a new password; return the user and the generated password, None if `reset` has one.

    The user's tokens are revoked and the sessions end; the second factor stays. Users change their
    own password with `credentials.change_password`, which a stolen token alone does not allow.

    Raises:
        ServiceError: forbidden, the caller is this user.
    """
    account = get_account(tx, user_id)
    if tx.caller is not None and tx.caller.user_id == user_id:
        message = (
            "Users cannot reset their own password. Change it with POST /users/me/password, which"
            " asks for the current one."
        )
        raise ServiceError(message, "forbidden")
    user = account.record.entity
    found = password_problems(tx.store.slug, "password", reset.password, user.username)
    password, generated = _given_or_generated(ensure_valid(reset, found).password)
    after = account.login.with_password(passwords.hash_password(password)).end_sessions()
    revoke_user_tokens(tx, account.login, after)
    audit(tx, "user.password_reset", "user", user_id, details=_audit_details(user))
    return account.record, generated


get_user = USERS.get


def get_user_by_name(store: Store, username: str) -> Record[User]:
    """Read the user with a user name."""
    account = repository.find_account(store, username)
    if account is None:
        raise NotFound(f"The user {username}")
    return account.record


list_users = repository.list_users


def get_account(tx: Transaction, user_id: int) -> UserAccount:
    """Read a user and the login for a change."""
    account = repository.read_account(tx.store, user_id)
    if account is None:
        USERS.get(tx.store, user_id)
        raise StaleRead  # the user was created or deleted between the two reads
    return account


def revoke_user_tokens(tx: Transaction, before: Login, after: Login) -> None:
    """Add the revocation of a user's present tokens and the changed login."""
    revocations.revoke_in(tx, f"user:{before.user_id}")
    logins.save(tx, before, replace(after, tokens_from=revocations.next_valid_iat(tx)))


def _audit_details(user: User) -> dict[str, object]:
    return {"username": user.username}


def _given_or_generated(given: str | None) -> tuple[str, str | None]:
    generated = passwords.generate_password() if given is None else None
    return given or generated or "", generated


def _change_role_counts(tx: Transaction, changes: Mapping[int, int]) -> None:
    for role, difference in changes.items():
        repository.change_role_count(tx, role, difference)


def _name_taken(store: Store, username: str | None) -> list[Problem]:
    """Return a problem when a user has the name; `username` is None when it is invalid."""
    if username is None or repository.find_alias(store, repository.username_key(username)) is None:
        return []
    return [Problem("username", "is already taken by another user")]


def _unknown_roles(store: Store, role_ids: Sequence[int | None] | None) -> list[Problem]:
    named = [one for _, one in valid_entries(role_ids)]
    existing_ids = {record.id for record in ROLES.get_many(store, named)}
    return rules.unknown_role_problems(role_ids, existing_ids)


def password_problems(
    tenant: str, field: str, password: str | None, username: str | None
) -> list[Problem]:
    """Return what is wrong with a new password; None when it is absent or invalid."""
    if password is None:
        return []
    wrong = passwords.password_problem(password, username=username or "", tenant=tenant)
    return [Problem(field, wrong)] if wrong else []
