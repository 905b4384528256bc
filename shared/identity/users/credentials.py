"""Use cases of a user's own credentials: changing the password, two-step verification."""

from dataclasses import replace

from shared.identity.audit.service import record as audit
from shared.identity.users import logins, password_check_limit, passwords, second_factor, totp
from shared.identity.users.models import PasswordChange, TotpConfirmation, TotpEnrolment, User
from shared.identity.users.repository import USERS
from shared.identity.users.service import get_account, password_problems, revoke_user_tokens
from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ServiceError, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid


def change_password(tx: Transaction, user_id: int, change: Checked[PasswordChange]) -> Record[User]:
    """Change the password of the caller.

    The user's tokens are revoked and all sessions end, except the session of the caller's token.

    Raises:
        NotFound, Gone: There is no such user, or it was deleted.
        ValidationFailed: The change is invalid, or the current password is wrong.
        ServiceError: forbidden if the caller is not this user; rate_limited after too many checks
            of the current password.
    """
    account = get_account(tx, user_id)
    if tx.caller is None or tx.caller.user_id != user_id:
        message = "Only the user can change this password; an administrator can reset it."
        raise ServiceError(message, "forbidden")
    user, login = account.record.entity, account.login
    found = password_problems(tx.store.slug, "new_password", change.new_password, user.username)
    if change.current_password is not None:
        password_check_limit.ensure_allowed(tx.store, user_id, tx.now_ms / 1000)
        if not passwords.verify(change.current_password, login.password):
            found.append(Problem("current_password", "is not the current password"))
    change = ensure_valid(change, found)
    after = replace(login, password=passwords.hash_password(change.new_password))
    revoke_user_tokens(tx, login, after.end_sessions(keep=tx.caller.session))
    audit(tx, "user.password_changed", "user", user_id, details={"username": user.username})
    return account.record


def enrol_totp(tx: Transaction, user_id: int) -> TotpEnrolment:
    """Enrol a second factor, which stays pending until its first code is confirmed.

    A pending second factor is replaced. Raises NotFound, Gone, and Conflict if two-step
    verification is already enabled.
    """
    account = get_account(tx, user_id)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_enabled(user)
    factor, secret, codes = second_factor.enrol(tx.store.slug, user_id)
    logins.save(tx, login, replace(login, second_factor=factor))
    return TotpEnrolment(
        secret=totp.base32_text(secret),
        otpauth_uri=totp.otpauth_uri(secret, f"{user.username}@{tx.store.slug}"),
        recovery_codes=codes,
    )


def confirm_totp(
    tx: Transaction, user_id: int, confirmation: Checked[TotpConfirmation]
) -> Record[User]:
    """Enable two-step verification with the first code of the authenticator app.

    All tokens and sessions of the user end, because they were issued without a code.

    Raises:
        NotFound, Gone: There is no such user, or it was deleted.
        Conflict: Two-step verification is enabled, or there is no enrolment to confirm.
        ValidationFailed: The code is invalid or wrong.
    """
    account = get_account(tx, user_id)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_enabled(user)
    if login.second_factor is None:
        raise Conflict(
            f"The user {user.username} has no second factor to confirm; enrol one first."
        )
    code = ensure_valid(confirmation).code
    after = second_factor.confirm(tx.store.slug, login, code, tx.now_ms / 1000)
    if after is None:
        raise ValidationFailed(
            [Problem("code", "is not the current code of the authenticator app")]
        )
    revoke_user_tokens(tx, login, after.end_sessions())
    audit(tx, "user.totp_enrolled", "user", user_id, details={"username": user.username})
    return USERS.update(tx, account.record, {"two_step": True})


def remove_totp(tx: Transaction, user_id: int) -> Record[User]:
    """Disable two-step verification or delete a pending second factor.

    Without a second factor, nothing changes. Raises NotFound, Gone.
    """
    account = get_account(tx, user_id)
    user, login = account.record.entity, account.login
    if login.second_factor is None:
        return account.record
    logins.save(tx, login, replace(login, second_factor=None))
    if not login.two_step:
        return account.record
    audit(tx, "user.totp_removed", "user", user_id, details={"username": user.username})
    return USERS.update(tx, account.record, {"two_step": False})


def _already_enabled(user: User) -> Conflict:
    return Conflict(
        f"Two-step verification of the user {user.username} is already enabled; disable it first."
    )
