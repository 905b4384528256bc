"""Checks of a user's password or code for changes that a token alone must not allow.

An attempt counts like a sign-in, in the same counters: somebody who holds a token of the user can
guess no more than somebody without one.
"""

from shared.identity.audit.service import actor_of
from shared.identity.auth.attempt_limits import AttemptCounters
from shared.identity.users import code_checks, passwords
from shared.identity.users.code_checks import RecoveryCodeNeeded
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
    """Return a problem if a presented credential is wrong; a code only beside a right password.

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
        elif code is not None and not _is_right(tx, account, code, now, address):
            found.append(Problem("otp", "is neither a current code nor an unused recovery code"))
    except RecoveryCodeNeeded as error:
        attempts.cancel()
        return [Problem("otp", str(error))]
    except Exception:
        attempts.cancel()  # the credentials were not checked
        raise
    if found:
        count_failure(attempts, tx.store, account, address, actor=actor_of(tx))
    else:
        attempts.cancel()
    return found


def _is_right(tx: Transaction, account: UserAccount, code: str, now: float, address: str) -> bool:
    """Return whether a code is right; a wrong one is counted.

    Raises:
        RateLimited: The user has to wait; the code was not checked.
        RecoveryCodeNeeded: The code is no recovery code, and was not checked.
    """
    if not account.login.two_step:
        return False
    # a transaction of its own, which also needs the claim of the request
    store = tx.store.uncached()
    actor = actor_of(tx)
    checked = code_checks.use_code(store, account, code, now, address=address, actor=actor)
    return checked is not None
