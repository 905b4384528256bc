"""Use cases of what users prove themselves with: their password, their second factor."""

from dataclasses import replace

from shared.identity.audit.service import record as audit
from shared.identity.users import attempts, logins, passwords, second_factor, totp
from shared.identity.users.models import PasswordChange, TotpConfirmation, TotpEnrolment, User
from shared.identity.users.repository import USERS
from shared.identity.users.service import bad_password, end_tokens, opened
from shared.kernel.db.collection import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ServiceError, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid


def change_password(tx: Transaction, number: int, change: Checked[PasswordChange]) -> Record[User]:
    """Change the password of the caller.

    All tokens and all other sessions of the user end; the session of the caller's token stays.

    Raises:
        NotFound, Gone: There is no such user, or it was deleted.
        ValidationFailed: The change is invalid, or the current password is wrong.
        ServiceError: forbidden when the caller is another user; rate_limited after too many
            wrong passwords.
    """
    account = opened(tx, number)
    if tx.caller is None or tx.caller.user_id != number:
        message = "Only the user may change the password; others reset it."
        raise ServiceError(message, "forbidden")
    user, login = account.record.entity, account.login
    found = bad_password(tx.store.slug, "new_password", change.new_password, user.username)
    if change.current_password is not None:
        attempts.ensure_allowed(tx.store, number, tx.now_ms / 1000)
        if not passwords.verify(change.current_password, login.password):
            found.append(Problem("current_password", "is not the current password"))
    change = ensure_valid(change, found)
    after = replace(login, password=passwords.hash_password(change.new_password))
    end_tokens(tx, login, after.without_sessions(but=tx.caller.session))
    audit(tx, "user.password_changed", "user", number, details={"username": user.username})
    return account.record


def enrol_totp(tx: Transaction, number: int) -> TotpEnrolment:
    """Give a user a second factor that waits for its first code.

    Again while it waits: another one in its place. Raises NotFound, Gone, and Conflict when
    two-step verification is on.
    """
    account = opened(tx, number)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_on(user)
    factor, secret, codes = second_factor.enrol(tx.store.slug, number)
    logins.stage(tx, login, replace(login, second_factor=factor))
    return TotpEnrolment(
        secret=totp.as_text(secret),
        otpauth_uri=totp.otpauth_uri(secret, f"{user.username}@{tx.store.slug}"),
        recovery_codes=codes,
    )


def confirm_totp(
    tx: Transaction, number: int, confirmation: Checked[TotpConfirmation]
) -> Record[User]:
    """Switch two-step verification on with the first code of the authenticator app.

    All tokens and sessions of the user end, because they were issued without a code.

    Raises:
        NotFound, Gone: There is no such user, or it was deleted.
        Conflict: Two-step verification is on, or there is no enrolment to confirm.
        ValidationFailed: The code is invalid or wrong.
    """
    account = opened(tx, number)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_on(user)
    if login.second_factor is None:
        raise Conflict(f"The user {user.username} has no second factor to confirm.")
    code = ensure_valid(confirmation).code
    after = second_factor.confirmed(tx.store.slug, login, code, tx.now_ms / 1000)
    if after is None:
        raise ValidationFailed([Problem("code", "is not the code of this moment")])
    end_tokens(tx, login, after.without_sessions())
    audit(tx, "user.totp_enrolled", "user", number, details={"username": user.username})
    return USERS.update(tx, account.record, {"two_step": True})


def remove_totp(tx: Transaction, number: int) -> Record[User]:
    """Switch two-step verification off, or give up an enrolment; NotFound, Gone.

    Nothing happens to a user without a second factor.
    """
    account = opened(tx, number)
    user, login = account.record.entity, account.login
    if login.second_factor is None:
        return account.record
    logins.stage(tx, login, replace(login, second_factor=None))
    if not login.two_step:
        return account.record
    audit(tx, "user.totp_removed", "user", number, details={"username": user.username})
    return USERS.update(tx, account.record, {"two_step": False})


def _already_on(user: User) -> Conflict:
    return Conflict(f"The user {user.username} has a second factor; remove it first.")
