"""Use cases of sessions: the list of a user, and their end."""

import re

from shared.identity.audit.service import record as audit
from shared.identity.users import sessions
from shared.identity.users.administrators import are_administrative
from shared.identity.users.models import SessionParameters, User, UserSession
from shared.identity.users.repository import (
    USERS,
    UserAccount,
    account_from_items,
    account_keys,
)
from shared.identity.users.service import get_account, revoke_user_tokens
from shared.identity.users.sessions import Session
from shared.kernel.clock import instant, now_ms
from shared.kernel.db.lists.cursor import InvalidCursor
from shared.kernel.db.lists.page import Page
from shared.kernel.db.parallel import run_all
from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import NotFound

_MARK = re.compile(r"[0-9TZ:.-]{20,30}#[0-9]{1,12}-[0-9a-f]{24}", re.ASCII)


def list_sessions(
    store: Store, user_id: int, parameters: SessionParameters, current: str | None
) -> Page[UserSession]:
    """Return a page of the sessions of a user that have not ended, of the newest ones.

    `current` is the id of the session of the request, if it has one.
    """
    accounts, found = run_all(
        lambda: store.get_many(account_keys(user_id)),
        lambda: sessions.newest_sessions(store, user_id),
    )
    account = account_from_items(accounts, user_id)
    if account is None:
        USERS.get(store, user_id)
        return parameters.page_of([], 0, _mark)  # the user was created or deleted meanwhile
    administrator = are_administrative(store, account.record.entity.roles)
    now, since = now_ms() / 1000, parameters.updated_since or ""
    shown = [
        Record(user_id, session.generation, _view(session, current, administrator=administrator))
        for session in found
        if sessions.is_usable(session, account, now, administrator=administrator)
    ]
    shown = [record for record in shown if record.entity.updated_at >= since]
    oldest_first = parameters.sort == "created_at"
    if oldest_first:
        shown.reverse()
    first = (parameters.page - 1) * parameters.per_page
    if parameters.cursor:  # new and ended sessions do not shift the pages
        seen = str(parameters.cursor.mark)
        if not _MARK.fullmatch(seen):
            raise InvalidCursor
        marks = [_mark(record.entity) for record in shown]
        first = sum(mark <= seen if oldest_first else mark >= seen for mark in marks)
    return parameters.page_of(shown, first, _mark)


def _mark(session: UserSession) -> str:
    return f"{session.created_at}#{session.id}"


def end_session(tx: Transaction, user_id: int, session_id: str) -> UserSession:
    """End one session of a user and revoke its tokens; return it as it was.

    Raises:
        NotFound: The user has no such session, or it has ended.
    """
    account = get_account(tx, user_id)
    session = _session_of(tx.store, account, session_id)
    sessions.end(tx, session)
    username = account.record.entity.username
    audit(tx, "session.ended", "session", session.id, details={"username": username})
    administrator = are_administrative(tx.store, account.record.entity.roles)
    return _view(session, tx.caller.session if tx.caller else None, administrator=administrator)


def end_other_sessions(tx: Transaction, user_id: int) -> Record[User]:
    """End the sessions of a user, except that of the request; return the user.

    All tokens of the user are revoked, also that of the request.
    """
    account = get_account(tx, user_id)
    is_own = tx.caller is not None and tx.caller.user_id == user_id
    kept = tx.caller.session if tx.caller and is_own else None
    revoke_user_tokens(tx, account.login, account.login.end_sessions(keep=kept))
    details = {"username": account.record.entity.username}
    audit(tx, "user.sessions_ended", "user", user_id, details=details)
    return account.record


def _session_of(store: Store, account: UserAccount, session_id: str) -> Session:
    is_id = sessions.is_session_id(session_id, account.record.id)
    found = store.get(sessions.session_key(session_id)) if is_id else None
    session = sessions.session_from_item(found)
    # of an administrator, one that has just ended by itself can be ended, too
    if session is None or not sessions.is_usable(session, account, now_ms() / 1000):
        raise NotFound("This session")
    return session


def _view(session: Session, current: str | None, *, administrator: bool) -> UserSession:
    return UserSession(
        id=session.id,
        client_id=session.client_id,
        second_factor=session.second_factor,
        is_current=session.id == current,
        created_at=instant(session.created_at * 1000),
        updated_at=instant(session.last_use * 1000),
        expires_at=instant(session.end(administrator=administrator) * 1000),
    )
