"""Failed checks of a user's password or code in the audit log of the tenant.

A flood of attempts must not flood the log: of one user at one address, only the first failure of a
quarter of an hour has an entry, and each limit that is reached. Unknown user names have none,
because nothing would bound their number; a password typed as a user name is not stored either.
"""

from contextlib import suppress

from shared.identity.audit.models import Actor, AuditAction
from shared.identity.audit.service import prefetch_entry_id
from shared.identity.audit.service import record as audit
from shared.identity.auth.attempt_limits import AttemptCounters, FailedAttempt
from shared.identity.users import logins
from shared.identity.users.repository import UserAccount
from shared.kernel.clock import instant
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction

ANONYMOUS = Actor(type="anonymous", id=None)
"""The actor of a failed sign-in: nobody knows who made it."""

_NOBODY = 0
"""Id of no user."""


class _UserMissing(Exception):
    """There is no such user."""


def count_failure(
    attempts: AttemptCounters,
    store: Store,
    account: UserAccount | None,
    address: str,
    *,
    actor: Actor = ANONYMOUS,
) -> None:
    """End an attempt in flight as a failure; record it in the audit log if it is notable.

    The calls are the same without an account, so that their time does not show who exists: the
    transaction of the entry has the condition that the user exists. The tenant must be active; the
    account is None if there is no user with the presented name. `actor` made the attempt.
    """
    # The entry has a transaction of its own, which needs the claim of the request: one that was
    # slower than its repeat compares with the new password, and is no failure.
    own = store.uncached()
    failure, prefetched = run_all(
        attempts.fail, lambda: prefetch_entry_id(own) if attempts.will_need_entry else None
    )
    if not failure.is_first and not failure.reached:
        return

    def use_case(tx: Transaction) -> None:
        user_id = account.record.id if account else _NOBODY
        logins.check_exists(tx, user_id, on_condition_failed=_UserMissing)
        username = account.record.entity.username if account else ""
        details = {"username": username, "address": address} | _limit_details(failure)
        action: AuditAction = "user.locked_out" if failure.reached else "user.sign_in_failed"
        audit(tx, action, "user", user_id, details=details, actor=actor)

    with suppress(_UserMissing):
        run_transaction(own, use_case, prefetched=prefetched, may_queue=False)


def _limit_details(failure: FailedAttempt) -> dict[str, object]:
    """Return until when which limit refuses attempts; nothing if none was reached."""
    if not failure.reached:
        return {}
    ends_at = max(counter.ends_at for counter in failure.reached)
    everywhere = any(counter.kind == "name" for counter in failure.reached)
    return {"all_addresses": everywhere, "until": instant(ends_at * 1000)}
