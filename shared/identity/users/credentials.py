"""Use cases of a user's own credentials: changing the password, two-step verification."""

from collections.abc import Sequence
from dataclasses import replace

from shared.identity.audit.service import record as audit
from shared.identity.users import logins, password_check_limit, passwords, second_factor, totp
from shared.identity.users.models import PasswordChange, TotpConfirmation, TotpEnrolment, User
from shared.identity.users.repository import USERS
from shared.identity.users.service import get_account, password_problems, revoke_user_tokens
from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ServiceError, ValidationFailed


def change_password(
    tx: Transaction, number: int, change: PasswordChange, problems: Sequence[Problem] = ()
) -> Record[User]:
    """Change the password of the calling user.

    All tokens are revoked and all sessions end, except the session of the caller's token. Raises
    NotFound, Gone, ValidationFailed (also if the current password is wrong), and ServiceError
    forbidden (the caller is not this user) or rate_limited.
    """
    account = get_account(tx, number)
    if tx.caller is None or tx.caller.user_id != number:
        message = "Only the user can change this password; an administrator can reset it."
        raise ServiceError(message, "forbidden")
    user, login = account.record.entity, account.login
    found = [
        *problems,
        *password_problems(tx.store.slug, "new_password", change.new_password, user.username),
    ]
    current: str | None = change.current_password  # None if the field is not valid
    if current is not None:
        password_check_limit.ensure_allowed(tx.store, number, tx.now_ms / 1000)
        if not passwords.verify(current, login.password):
            found.append(Problem("current_password", "is not the current password"))
    if found:
        raise ValidationFailed(found)
    after = replace(login, password=passwords.hash_password(change.new_password))
    revoke_user_tokens(tx, login, after.end_sessions(keep=tx.caller.session))
    audit(tx, "user.password_changed", "user", number, details={"username": user.username})
    return account.record


def enrol_totp(tx: Transaction, number: int) -> TotpEnrolment:
    """Enrol a second factor, which stays pending until its first code is confirmed.

    A pending second factor is replaced. Raises NotFound, Gone, and Conflict if two-step
    verification is already enabled.
    """
    account = get_account(tx, number)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_enabled(user)
    factor, secret, codes = second_factor.enrol(tx.store.slug, number)
    logins.save(tx, login, replace(login, second_factor=factor))
    return TotpEnrolment(
        secret=totp.base32_text(secret),
        otpauth_uri=totp.otpauth_uri(secret, f"{user.username}@{tx.store.slug}"),
        recovery_codes=codes,
    )


def confirm_totp(
    tx: Transaction, number: int, given: TotpConfirmation, problems: Sequence[Problem] = ()
) -> Record[User]:
    """Enable two-step verification with the first code of the authenticator app.

    The user's tokens are revoked and the sessions end, because they began without a code. Raises
    NotFound, Gone, Conflict if there is no pending second factor, and ValidationFailed if the code
    is wrong.
    """
    account = get_account(tx, number)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_enabled(user)
    if login.second_factor is None:
        raise Conflict(
            f"The user {user.username} has no second factor to confirm; enrol one first."
        )
    if problems:
        raise ValidationFailed(problems)
    after = second_factor.confirm(tx.store.slug, login, given.code, tx.now_ms / 1000)
    if after is None:
        raise ValidationFailed(
            [Problem("code", "is not the current code of the authenticator app")]
        )
    revoke_user_tokens(tx, login, after.end_sessions())
    audit(tx, "user.totp_enrolled", "user", number, details={"username": user.username})
    switched = user.model_copy(update={"two_step": True, "updated_at": tx.now})
    return USERS.replace(tx, account.record, switched)


def remove_totp(tx: Transaction, number: int) -> Record[User]:
    """Disable two-step verification or delete a pending second factor.

    Without a second factor, nothing changes. Raises NotFound, Gone.
    """
    account = get_account(tx, number)
    user, login = account.record.entity, account.login
    if login.second_factor is None:
        return account.record
    logins.save(tx, login, replace(login, second_factor=None))
    if not login.two_step:
        return account.record
    audit(tx, "user.totp_removed", "user", number, details={"username": user.username})
    switched = user.model_copy(update={"two_step": False, "updated_at": tx.now})
    return USERS.replace(tx, account.record, switched)


def _already_enabled(user: User) -> Conflict:
    return Conflict(
        f"Two-step verification of the user {user.username} is already enabled; disable it first."
    )
