"""Checks of a user's codes, whose failures are counted per user, without a window.

Six digits can be guessed in time by somebody who knows the password and whom only limits per minute
slow down. The login therefore counts the wrong codes since the last right one. From
`UNHINDERED` on, the user has to wait before the next one; from `MOST` on, only a recovery code is
accepted. Recovery codes cannot be guessed and are accepted at any time.

Only who has given the right password, or a token of the user, has a code checked: nobody else can
make a user wait. A right code, a recovery code, a new password, the removal of the second factor
and `stowage user unlock` set the count to 0.

A wrong code is counted on the condition that the login is as it was when the code was checked. Of
concurrent attempts one is counted, and the others are retried, so that no result is known
that is not counted.
"""

from contextlib import suppress
from dataclasses import replace

from shared.identity.audit.models import Actor
from shared.identity.audit.service import record as audit
from shared.identity.users import logins, second_factor
from shared.identity.users.logins import Login
from shared.identity.users.repository import UserAccount, read_account
from shared.kernel.clock import instant
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import RateLimited
from shared.kernel.observability import count_for_service

UNHINDERED = 5
"""Wrong codes from which on the user has to wait before the next one."""

MOST = 20
"""Wrong codes from which on no code of the app is accepted."""

FIRST_PAUSE = 30
LONGEST_PAUSE = 15 * 60
"""Seconds after the wrong code number `UNHINDERED`, doubled by each further one, and at most."""


class RecoveryCodeNeeded(Exception):
    """There were too many wrong codes; codes of the app are no longer checked."""

    def __init__(self) -> None:
        super().__init__(
            f"Codes of the app are refused after {MOST} wrong ones. Send a recovery code, or ask an"
            " administrator for a new password"
        )


def use_code(  # noqa: PLR0913  the parts of one attempt
    store: Store,
    account: UserAccount,
    presented: str,
    now: float,
    *,
    address: str,
    actor: Actor,
) -> tuple[UserAccount, Login] | None:
    """Return the login with a code marked as used, and the account as it was read for it.

    None if the code is wrong, which is counted. The user has two-step verification and has given
    the right password or a token; `presented` is as for `second_factor.use_code`, `now` is in
    seconds since the epoch. `actor` sends the code from the IP address `address`.

    Raises:
        RateLimited: The user has to wait; the code was not checked.
        RecoveryCodeNeeded: The code is no recovery code, and was not checked.
    """
    tries, current = 0, account
    while True:
        login = current.login
        if second_factor.use_recovery_code(login, presented) is None:
            _ensure_allowed(login, now)
        after = second_factor.use_code(store.slug, login, presented, now)
        if after is not None:
            return current, after.without_wrong_codes()
        try:
            _count(store, current, now, address=address, actor=actor)
        except StaleRead:  # the login was changed, perhaps by another wrong code
            tries = store.back_off(tries)
        else:
            return None
        found = read_account(store, login.user_id)
        if found is None or not _is_as_authenticated(found, account):
            return None
        current = found


class _Nobody(Exception):
    """There is no such user."""


def imitate_count(store: Store) -> None:
    """Make the call that counts a wrong code, and change nothing.

    The calls then do not show whether the password beside a wrong code was right.
    """
    tx = Transaction(store)
    logins.check_exists(tx, 0, on_condition_failed=_Nobody)
    with suppress(_Nobody):
        tx.commit()


def _ensure_allowed(login: Login, now: float) -> None:
    if login.wrong_codes >= MOST:
        raise RecoveryCodeNeeded
    wait = login.wrong_code_at + pause_after(login.wrong_codes) - int(now)
    if wait > 0:
        message = f"Too many wrong codes; try again in {wait} s, or send a recovery code."
        raise RateLimited(message, wait)


def pause_after(wrong_codes: int) -> int:
    """Return the seconds between the last of so many wrong codes and the next check."""
    if wrong_codes < UNHINDERED:
        return 0
    return min(FIRST_PAUSE << (wrong_codes - UNHINDERED), LONGEST_PAUSE)


def _is_as_authenticated(now: UserAccount, before: UserAccount) -> bool:
    """Return whether the user may still sign in with the password that was checked."""
    same_password = now.login.password == before.login.password
    return same_password and now.login.two_step and now.record.entity.is_active


def _count(store: Store, account: UserAccount, now: float, *, address: str, actor: Actor) -> None:
    """Store one more wrong code; record in the audit log from when on codes are refused.

    Raises:
        StaleRead: The login was changed.
    """
    login, tx = account.login, Transaction(store)
    after = replace(login, wrong_codes=login.wrong_codes + 1, wrong_code_at=int(now))
    logins.save(tx, login, after)
    if after.wrong_codes in {UNHINDERED, MOST}:
        until = None
        if after.wrong_codes < MOST:
            until = instant((after.wrong_code_at + pause_after(after.wrong_codes)) * 1000)
        details = {
            "username": account.record.entity.username,
            "address": address,
            "wrong_codes": after.wrong_codes,
            "until": until,
        }
        audit(tx, "user.codes_refused", "user", login.user_id, details=details, actor=actor)
    tx.commit()
    if after.wrong_codes == MOST:
        count_for_service("codes_refused")
