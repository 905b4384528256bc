"""Two-step verification: enrolment and confirmation of an authenticator app, use of its codes."""

import hmac
from collections.abc import Iterable
from dataclasses import replace

from shared.identity.users import recovery_codes, totp
from shared.identity.users.logins import Login, SecondFactor
from shared.kernel.sealing import seal, unseal


def enrol(tenant: str, user_id: int) -> tuple[SecondFactor, bytes, list[str]]:
    """Return a pending second factor for a user, with its secret and recovery codes.

    These are shown once. `tenant` is the slug of the user's tenant.
    """
    secret, codes, salt = totp.new_secret(), recovery_codes.new_codes(), recovery_codes.new_salt()
    factor = SecondFactor(
        sealed_secret=seal(secret, "totp", tenant, sealing_owner(user_id)),
        confirmed=False,
        last_step=0,
        salt=salt,
        recovery_code_hashes=recovery_codes.hashes_of(codes, salt),
    )
    return factor, secret, codes


def with_recovery_codes(factor: SecondFactor, codes: Iterable[str]) -> SecondFactor:
    """Return a second factor with these recovery codes instead of its own."""
    salt = recovery_codes.new_salt()
    return replace(factor, salt=salt, recovery_code_hashes=recovery_codes.hashes_of(codes, salt))


def confirm(tenant: str, login: Login, code: str, now: float) -> Login | None:
    """Return the login with its second factor confirmed; None if the code is wrong.

    The login has a pending second factor; `now` is in seconds since the epoch.
    """
    after = use_app_code(tenant, login, code, now)
    if after is None or after.second_factor is None:
        return None
    return replace(
        after, second_factor=replace(after.second_factor, confirmed=True, stored_response=None)
    )


def use_code(tenant: str, login: Login, presented: str, now: float) -> Login | None:
    """Return the login with a code of the app or a recovery code marked as used.

    None if it is wrong or was used before, which the caller counts (`code_checks`). As
    `use_app_code`.
    """
    if not login.two_step:
        return None
    return use_recovery_code(login, presented) or use_app_code(tenant, login, presented, now)


def unseal_secret(tenant: str, user_id: int, sealed: bytes) -> bytes:
    """Return the decrypted secret of a second factor; one KMS call."""
    return unseal(sealed, "totp", tenant, sealing_owner(user_id))


def use_app_code(tenant: str, login: Login, code: str, now: float) -> Login | None:
    """Return the login with a code of the app marked as used; None if it is wrong or was used.

    The code is accepted when the returned login is stored (`logins.save`). Of concurrent requests
    with the same code, one succeeds. `code` may have any content; `now` is in seconds since the
    epoch.
    """
    factor = login.second_factor
    if factor is None:
        return None
    secret = unseal_secret(tenant, login.user_id, factor.sealed_secret)
    step = totp.accepted_step(secret, "".join(code.split()), now, factor.last_step)
    if step is None:
        return None
    return replace(login, second_factor=replace(factor, last_step=step))


def use_recovery_code(login: Login, code: str) -> Login | None:
    """Return the login without a recovery code; None if the code is none. As `use_app_code`."""
    factor = login.second_factor
    if factor is None:
        return None
    presented = recovery_codes.code_hash(code, factor.salt)
    used = {
        stored for stored in factor.recovery_code_hashes if hmac.compare_digest(stored, presented)
    }
    if not used:
        return None
    return replace(
        login,
        second_factor=replace(factor, recovery_code_hashes=factor.recovery_code_hashes - used),
    )


def sealing_owner(user_id: int) -> str:
    """Return the owner of the secret of a user, for `shared.kernel.sealing`."""
    return f"user {user_id}"
