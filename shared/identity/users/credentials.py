"""Use cases of what users prove themselves with: their password, their second factor."""

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
    """Change the password of the user who calls, and of nobody else.

    All tokens and all other sessions end; the session that the caller's token belongs to goes
    on. Raises NotFound, Gone, ValidationFailed (also when the current password is wrong), and
    ServiceError forbidden or rate_limited.
    """
    account = get_account(tx, number)
    if tx.caller is None or tx.caller.user_id != number:
        message = "Only the user may change the password; others reset it."
        raise ServiceError(message, "forbidden")
    user, login = account.record.entity, account.login
    found = [
        *problems,
        *password_problems(tx.store.slug, "new_password", change.new_password, user.username),
    ]
    current: str | None = change.current_password  # None where the body's is not valid
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
    """Give a user a second factor that waits for its first code.

    Again while it waits: another one in its place. Raises NotFound, Gone, and Conflict when
    two-step verification is on.
    """
    account = get_account(tx, number)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_on(user)
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
    """Switch two-step verification on, with the first code of the app.

    Tokens and sessions so far end, since they were got without a code. Raises NotFound, Gone,
    Conflict when nothing waits to be confirmed, ValidationFailed when the code is not right.
    """
    account = get_account(tx, number)
    user, login = account.record.entity, account.login
    if login.two_step:
        raise _already_on(user)
    if login.second_factor is None:
        raise Conflict(f"The user {user.username} has no second factor to confirm.")
    if problems:
        raise ValidationFailed(problems)
    after = second_factor.confirm(tx.store.slug, login, given.code, tx.now_ms / 1000)
    if after is None:
        raise ValidationFailed([Problem("code", "is not the code of this moment")])
    revoke_user_tokens(tx, login, after.end_sessions())
    audit(tx, "user.totp_enrolled", "user", number, details={"username": user.username})
    switched = user.model_copy(update={"two_step": True, "updated_at": tx.now})
    return USERS.replace(tx, account.record, switched)


def remove_totp(tx: Transaction, number: int) -> Record[User]:
    """Switch two-step verification off, or give up an enrolment; NotFound, Gone.

    Nothing happens to a user without a second factor.
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


def _already_on(user: User) -> Conflict:
    return Conflict(f"The user {user.username} has a second factor; remove it first.")
