"""Two-step verification: enrolling an authenticator app, confirming it, spending its codes."""

import hmac
from dataclasses import replace
from typing import NamedTuple

from shared.identity.users import recovery_codes, totp
from shared.identity.users.logins import Login, SecondFactor
from shared.kernel.sealing import seal, unseal


class Enrolment(NamedTuple):
    """A second factor that waits for its first code, and what is shown of it, once."""

    factor: SecondFactor
    secret: bytes
    codes: list[str]


def enrol(tenant: str, user_id: int) -> Enrolment:
    """Make a second factor for a user of the tenant with this slug."""
    secret, codes, salt = totp.new_secret(), recovery_codes.new_codes(), recovery_codes.new_salt()
    factor = SecondFactor(
        sealed_secret=seal(secret, "totp", tenant, _owner(user_id)),
        confirmed=False,
        last_step=0,
        salt=salt,
        recovery_code_hashes=frozenset(recovery_codes.code_hash(code, salt) for code in codes),
    )
    return Enrolment(factor, secret, codes)


def confirm(tenant: str, login: Login, code: str, now: float) -> Login | None:
    """Return the login with its second factor switched on; None when the code is not right.

    Args:
        tenant: Slug of the user's tenant.
        login: With a second factor that waits to be confirmed.
        code: What the app shows.
        now: Seconds since the epoch.
    """
    after = _use_app_code(tenant, login, code, now)
    if after is None or after.second_factor is None:
        return None
    return replace(after, second_factor=replace(after.second_factor, confirmed=True))


def use_code(tenant: str, login: Login, presented: str, now: float) -> Login | None:
    """Return the login after a code was spent; None when it is not right, or was spent before.

    The code is accepted once the login is stored so (`logins.stage`): of many who present it
    at once, one succeeds.

    Args:
        tenant: Slug of the user's tenant.
        login: Of a user with two-step verification.
        presented: A code of the app, or a recovery code; anything at all may be in here.
        now: Seconds since the epoch.
    """
    if not login.two_step:
        return None
    return _use_app_code(tenant, login, presented, now) or _use_recovery_code(login, presented)


def unseal_secret(tenant: str, user_id: int, sealed: bytes) -> bytes:
    """Return the secret of a second factor; one call of KMS."""
    return unseal(sealed, "totp", tenant, _owner(user_id))


def _use_app_code(tenant: str, login: Login, code: str, now: float) -> Login | None:
    factor = login.second_factor
    if factor is None:
        return None
    secret = unseal_secret(tenant, login.user_id, factor.sealed_secret)
    step = totp.accepted_step(secret, "".join(code.split()), now, factor.last_step)
    if step is None:
        return None
    return replace(login, second_factor=replace(factor, last_step=step))


def _use_recovery_code(login: Login, code: str) -> Login | None:
    factor = login.second_factor
    if factor is None:
        return None
    presented = recovery_codes.code_hash(code, factor.salt)
    spent_codes = {
        one for one in factor.recovery_code_hashes if hmac.compare_digest(one, presented)
    }
    if not spent_codes:
        return None
    return replace(
        login,
        second_factor=replace(
            factor, recovery_code_hashes=factor.recovery_code_hashes - spent_codes
        ),
    )


def _owner(user_id: int) -> str:
    return f"user {user_id}"
