"""Use cases of users, as administrators need them.

Whatever takes a right away ends the tokens that bear it, within seconds, by a mark in the same
transaction (`shared.identity.tenancy.revocations`); new ones are issued as of `tokens_from`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shared.identity.audit.service import record as audit
from shared.identity.tenancy import revocations
from shared.identity.users import logins, passwords, repository, rules
from shared.identity.users.logins import Login
from shared.identity.users.models import PasswordReset, User, UserChange, UserCreate, UserParameters
from shared.identity.users.repository import ROLES, USERS, Account
from shared.kernel.db.collection import Record
from shared.kernel.db.listing import Page
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import StaleRead, Transaction
from shared.kernel.errors import NotFound, Problem
from shared.kernel.validation import Checked, ensure_valid


def create_user(tx: Transaction, draft: Checked[UserCreate]) -> tuple[Record[User], str | None]:
    """Create a user; return it with the generated password, or None when the draft has one.

    Raises:
        ValidationFailed: The draft is invalid, the user name is taken, a role does not exist,
            or the password is not allowed.
    """
    found = [
        *_name_taken(tx.store, draft.username),
        *_unknown_roles(tx.store, draft.roles),
        *bad_password(tx.store.slug, "password", draft.password, draft.username),
    ]
    draft = ensure_valid(draft, found)
    password, made = _given_or_made(draft.password)
    number = tx.next_id(USERS.kind)
    user = User(
        id=number,
        username=draft.username,
        name=draft.name,
        email=draft.email,
        roles=draft.roles,
        is_active=True,
        two_step=False,
        created_at=tx.now,
        updated_at=tx.now,
    )
    repository.insert_username(tx, user)
    logins.stage(tx, None, Login(number, passwords.hash_password(password)))
    _count_roles(tx, rules.differences((), user.roles))
    audit(tx, "user.created", "user", number, details=_who(user) | {"roles": user.roles})
    return USERS.insert(tx, number, user), made


def change_user(tx: Transaction, number: int, change: Checked[UserChange]) -> Record[User]:
    """Change the fields sent.

    A role that is taken away ends the user's tokens; disabling the user also ends the sessions.

    Raises:
        NotFound, Gone: There is no such user, or it was deleted.
        ValidationFailed: The change is invalid, or a role does not exist.
    """
    account = opened(tx, number)
    before = account.record.entity
    change = ensure_valid(change, _unknown_roles(tx.store, change.roles))
    sent = change.model_dump(exclude_unset=True)
    after = before.model_copy(update={**sent, "updated_at": tx.now})
    moved = rules.differences(before.roles, after.roles)
    _count_roles(tx, moved)
    disabled = before.is_active and not after.is_active
    if disabled or -1 in moved.values():
        login = account.login.without_sessions() if disabled else account.login
        end_tokens(tx, account.login, login)
    if changed := rules.changes(before, after):
        act = rules.act(before, after)
        audit(tx, act, "user", number, changes=changed, details=_who(before))
    return USERS.replace(tx, account.record, after)


def delete_user(tx: Transaction, number: int) -> Record[User]:
    """Delete a user, whose tokens and sessions end; the name is free again."""
    account = opened(tx, number)
    user = account.record.entity
    revocations.stage(tx, f"user:{number}")
    logins.drop(tx, number)
    repository.drop_username(tx, user)
    _count_roles(tx, rules.differences(user.roles, ()))
    audit(tx, "user.deleted", "user", number, details=_who(user))
    USERS.remove(tx, account.record)
    return account.record


def reset_password(
    tx: Transaction, number: int, reset: Checked[PasswordReset]
) -> tuple[Record[User], str | None]:
    """Set a new password; return it when it was generated, None when `reset` has one.

    Tokens and sessions of the user end; a second factor stays.

    Raises:
        NotFound, Gone: There is no such user, or it was deleted.
        ValidationFailed: The password is invalid or not allowed.
    """
    account = opened(tx, number)
    user = account.record.entity
    found = bad_password(tx.store.slug, "password", reset.password, user.username)
    password, made = _given_or_made(ensure_valid(reset, found).password)
    after = replace(account.login, password=passwords.hash_password(password)).without_sessions()
    end_tokens(tx, account.login, after)
    audit(tx, "user.password_reset", "user", number, details=_who(user))
    return account.record, made


def get_user(store: Store, number: int) -> Record[User]:
    """Read a user; NotFound, or Gone when deleted."""
    return USERS.get(store, number)


def named_user(store: Store, username: str) -> Record[User]:
    """Read the user with a name; NotFound when nobody has it."""
    account = repository.find_by_name(store, username)
    if account is None:
        raise NotFound(f"The user {username}")
    return account.record


def list_users(store: Store, parameters: UserParameters) -> Page[User]:
    """Read a page of users."""
    return repository.list_users(store, parameters)


def opened(tx: Transaction, number: int) -> Account:
    """Read a user with their login, for a change; NotFound, or Gone when deleted."""
    account = repository.read_account(tx.store, number)
    if account is None:
        USERS.get(tx.store, number)
        raise StaleRead  # came or went while its two items were read
    return account


def end_tokens(tx: Transaction, seen: Login, after: Login) -> None:
    """Stage that all tokens of a user so far end, and the login as it is from now on."""
    revocations.stage(tx, f"user:{seen.user_id}")
    logins.stage(tx, seen, replace(after, tokens_from=revocations.tokens_from(tx)))


def _who(user: User) -> dict[str, object]:
    return {"username": user.username}


def _given_or_made(given: str | None) -> tuple[str, str | None]:
    made = passwords.new_password() if given is None else None
    return given or made or "", made


def _count_roles(tx: Transaction, moved: Mapping[int, int]) -> None:
    for role, difference in moved.items():
        repository.count_role(tx, role, difference)


def _name_taken(store: Store, username: str | None) -> list[Problem]:
    """Return a problem when a user has the name; `username` is None when it is invalid."""
    if username is None or not repository.username_taken(store, username):
        return []
    return [Problem("username", "is already taken by another user")]


def _unknown_roles(store: Store, wanted: Sequence[int] | None) -> list[Problem]:
    known = {record.id for record in ROLES.get_many(store, wanted or ())}
    return rules.unknown_roles(wanted, known)


def bad_password(
    tenant: str, field: str, password: str | None, username: str | None
) -> list[Problem]:
    """Return what is wrong with a new password; None when it is absent or invalid."""
    if password is None:
        return []
    wrong = passwords.problem(password, username=username or "", tenant=tenant)
    return [Problem(field, wrong)] if wrong else []
