"""Checks of a user's password or code for changes that a token alone must not allow.

An attempt counts like a sign-in, in the same counters: somebody who holds a token of the user can
guess no more than somebody without one.
"""

from shared.identity.audit.service import actor_of
from shared.identity.auth.attempt_limits import AttemptCounters
from shared.identity.users import passwords, second_factor
from shared.identity.users.failed_sign_ins import count_failure
from shared.identity.users.repository import UserAccount
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem


def credential_problems(  # noqa: PLR0913  the parts of one attempt
    tx: Transaction,
    account: UserAccount,
    address: str,
    *,
    password: str | None,
    code: str | None = None,
    field: str = "password",
) -> list[Problem]:
    """Return a problem for each presented credential that is wrong.

    `password` or `code`, which is in the field `otp`, is None if there is none to check; `field`
    has the password.

    Raises:
        RateLimited: After too many failed attempts; nothing was checked.
    """
    if password is None and code is None:
        return []
    tenant, login, now = tx.store.slug, account.login, tx.now_ms / 1000
    attempts = AttemptCounters.for_user(tenant, account.record.entity.username, address, now)
    attempts.read_known_address(now)
    attempts.begin(now)
    found = []
    try:
        if password is not None and not passwords.verify(password, login.password):
            found.append(Problem(field, "is not the current password"))
        if code is not None and second_factor.use_code(tenant, login, code, now) is None:
            found.append(Problem("otp", "is neither a current code nor an unused recovery code"))
    except Exception:
        attempts.cancel()  # the credentials were not checked
        raise
    if found:
        count_failure(attempts, tx.store, account, address, actor=actor_of(tx))
    else:
        attempts.cancel()
    return found
