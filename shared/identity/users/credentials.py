"""Use cases of a user's own credentials: changing the password, two-step verification."""

from dataclasses import replace

from shared.identity.audit.service import record as audit
from shared.identity.users import logins, passwords, recovery_codes, second_factor, totp
from shared.identity.users.logins import StoredResponse
from shared.identity.users.models import (
    CredentialConfirmation,
    PasswordChange,
    PasswordConfirmation,
    RecoveryCodeList,
    TotpConfirmation,
    TotpEnrolment,
    User,
)
from shared.identity.users.reauthentication import credential_problems
from shared.identity.users.repository import USERS, UserAccount
from shared.identity.users.service import get_account, password_problems, revoke_user_tokens
from shared.kernel.db.claim import WINDOW_SECONDS, record_key
from shared.kernel.db.records import Record
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ServiceError, ValidationFailed
from shared.kernel.validation import Checked, ensure_valid, problems_of


def change_password(
    tx: Transaction, user_id: int, change: Checked[PasswordChange], address: str
) -> Record[User]:
    """Change the password of the caller, whose IP address is `address`.

    The user's tokens are revoked and all sessions end, except the session of the caller's token.

    Raises:
        ServiceError: forbidden, the caller is not this user.
        RateLimited: After too many failed attempts.
    """
    account = get_account(tx, user_id)
    if tx.caller is None or tx.caller.user_id != user_id:
        message = "Only the user can change this password; an administrator can reset it."
        raise ServiceError(message, "forbidden")
    user, login = account.record.entity, account.login
    found = password_problems(tx.store.slug, "new_password", change.new_password, user.username)
    found += credential_problems(
        tx, account, address, password=change.current_password, field="current_password"
    )
    change = ensure_valid(change, found)
    after = login.with_password(passwords.hash_password(change.new_password))
    revoke_user_tokens(tx, login, after.end_sessions(keep=tx.caller.session))
    audit(tx, "user.password_changed", "user", user_id, details={"username": user.username})
    return account.record


def enrol_totp(
    tx: Transaction, user_id: int, confirmation: Checked[PasswordConfirmation], address: str
) -> TotpEnrolment:
    """Enrol a second factor, which stays pending until its first code is confirmed.

    A pending second factor is replaced. The sessions that began without a code end; access tokens
    stay valid, because the caller confirms with the present one. `confirmation` has the password of
    the user; `address` is the IP address of the caller.

    Raises:
        Conflict: Two-step verification is already enabled.
        RateLimited: After too many failed attempts.
    """
    account = get_account(tx, user_id)
    user, login = account.record.entity, account.login
    ensure_valid(
        confirmation,
        credential_problems(tx, account, address, password=confirmation.password),
    )
    if login.two_step:
        raise _already_enabled(user)
    factor, secret, codes = second_factor.enrol(tx.store.slug, user_id)
    if tx.store.claim:
        until = tx.now_ms // 1000 + WINDOW_SECONDS
        partition, _ = tx.store.claim.key
        factor = replace(factor, stored_response=StoredResponse(partition, until))
    logins.save(tx, login, replace(login, second_factor=factor).end_sessions_without_code())
    return TotpEnrolment(
        secret=totp.base32_text(secret),
        otpauth_uri=totp.otpauth_uri(secret, f"{user.username}@{tx.store.slug}"),
        recovery_codes=codes,
    )


def confirm_totp(
    tx: Transaction, user_id: int, confirmation: Checked[TotpConfirmation]
) -> Record[User]:
    """Enable two-step verification with the first code of the authenticator app.

    All tokens and sessions of the user end: none of them began with a code of this app. The
    stored response of the enrolment is deleted, because it contains the secret.

    Raises:
        Conflict: Two-step verification is enabled, or there is no enrolment to confirm.
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
    response = login.second_factor.stored_response
    if response and tx.now_ms // 1000 < response.until:
        tx.delete(record_key(response.partition))  # sealed and small: always a single item
    revoke_user_tokens(tx, login, after.end_sessions())
    audit(tx, "user.totp_enrolled", "user", user_id, details={"username": user.username})
    return USERS.update(tx, account.record, {"two_step": True})


def disable_totp(
    tx: Transaction, user_id: int, confirmation: Checked[CredentialConfirmation], address: str
) -> Record[User]:
    """Call `remove_totp`; a user who is the caller confirms it with a credential.

    `confirmation` has the password or a code of the user, if the user is the caller.

    Raises:
        RateLimited: After too many failed attempts.
    """
    account = get_account(tx, user_id)
    found: list[Problem] = []
    if tx.caller is not None and tx.caller.user_id == user_id:
        found = _confirmation_problems(tx, account, confirmation, address)
    ensure_valid(confirmation, found)
    return remove_totp(tx, user_id)


def _confirmation_problems(
    tx: Transaction,
    account: UserAccount,
    confirmation: Checked[CredentialConfirmation],
    address: str,
) -> list[Problem]:
    """Return what is wrong with the password or code of a user; one of them is required."""
    password, code = confirmation.password, confirmation.otp
    if password is None and code is None and not problems_of(confirmation):
        return [Problem("password", "is required, unless otp contains a code")]
    return credential_problems(tx, account, address, password=password, code=code)


def remove_totp(tx: Transaction, user_id: int) -> Record[User]:
    """Disable two-step verification or delete a pending second factor.

    The sessions that began without a code end. Disabling two-step verification also revokes the
    user's tokens; sessions that began with a code continue. Without a second factor, nothing
    changes.
    """
    account = get_account(tx, user_id)
    user, login = account.record.entity, account.login
    if login.second_factor is None:
        return account.record
    after = replace(login.without_wrong_codes(), second_factor=None).end_sessions_without_code()
    if not login.two_step:
        logins.save(tx, login, after)
        return account.record
    revoke_user_tokens(tx, login, after)
    audit(tx, "user.totp_removed", "user", user_id, details={"username": user.username})
    return USERS.update(tx, account.record, {"two_step": False})


def replace_recovery_codes(
    tx: Transaction, user_id: int, confirmation: Checked[CredentialConfirmation], address: str
) -> RecoveryCodeList:
    """Replace the recovery codes of the caller, whose IP address is `address`.

    Tokens and sessions stay valid.

    Raises:
        Conflict: Two-step verification is not enabled.
        ServiceError: forbidden, the caller is not this user.
        RateLimited: After too many failed attempts.
    """
    account = get_account(tx, user_id)
    if tx.caller is None or tx.caller.user_id != user_id:
        raise ServiceError("Only the user can replace these recovery codes.", "forbidden")
    user, login = account.record.entity, account.login
    factor = login.second_factor
    if factor is None or not login.two_step:
        raise Conflict(f"Two-step verification of the user {user.username} is not enabled.")
    valid = ensure_valid(confirmation, _confirmation_problems(tx, account, confirmation, address))
    now = tx.now_ms / 1000
    used = second_factor.use_code(tx.store.slug, login, valid.otp, now) if valid.otp else None
    codes = recovery_codes.new_codes()
    after = login
    if used and used.second_factor:
        after, factor = used.without_wrong_codes(), used.second_factor  # not to be used again
    factor = second_factor.with_recovery_codes(factor, codes)
    logins.save(tx, login, replace(after, second_factor=factor))
    details = {"username": user.username}
    audit(tx, "user.recovery_codes_replaced", "user", user_id, details=details)
    return RecoveryCodeList(recovery_codes=codes)


def _already_enabled(user: User) -> Conflict:
    return Conflict(
        f"Two-step verification of the user {user.username} is already enabled; disable it first."
    )
