"""How users get tokens: by password (RFC 6749, section 4.3), and by refresh token (section 6).

Whoever is refused learns nothing about who exists: an unknown user, a disabled one, a wrong
password and a wrong code get one answer, after the same work.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from botocore.exceptions import ClientError

from shared.audit.models import Actor
from shared.audit.service import record as audit
from shared.auth import tokens
from shared.auth.caller import Caller
from shared.auth.clients import Client
from shared.auth.failures import Attempts
from shared.auth.grants import (
    Granted,
    OAuthError,
    Origin,
    Presented,
    ensure_public,
    find_application,
    read_for_grant,
    readable_key,
)
from shared.auth.tokens import UserGrant
from shared.db.items import Item, Key
from shared.db.parallel import together
from shared.db.store import Store
from shared.db.transaction import Overtaken, Transaction
from shared.db.unit_of_work import perform
from shared.tenancy import revocations
from shared.tenancy.access import store_for
from shared.tenancy.directory import directory
from shared.tenancy.settings import is_slug
from shared.tenancy.tenant import Tenant, ensure_open
from shared.users import logins, passwords, second_factor, sessions
from shared.users.logins import Login, login_key
from shared.users.models import folded_username
from shared.users.repository import USERS, Account, find_by_name, read_account, rights_of
from shared.users.sessions import RefreshToken, Session

_LONGEST_CODE = 64
"""Characters of a code that are looked at; the longest, a recovery code, has 19."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What somebody presents as a user; anything at all may be in here."""

    username: str
    """`name@tenant`; at a tenant's own address the name is enough."""
    password: str = field(repr=False)
    code: str | None = field(default=None, repr=False)
    """Of the authenticator app, or a recovery code; None where none was sent."""


class _Reused(Exception):
    """The refresh token was used at the same moment by somebody else."""


def _wrong_credentials() -> OAuthError:
    return OAuthError("invalid_grant", "The user name, the password or the code is wrong.")


def _wrong_token() -> OAuthError:
    return OAuthError("invalid_grant", "The refresh token is not valid; sign in again.")


# By password


def sign_in(credentials: Credentials, presented: Presented | None, origin: Origin) -> Granted:
    """Issue tokens to a user who proves to be one.

    A user with two-step verification who sends no code gets a token too; it says so, and doors
    let it do next to nothing.

    Args:
        credentials: Name, password, and perhaps a code.
        presented: The mobile application that is used, if any.
        origin: Where the request came from.

    Raises:
        OAuthError: invalid_grant; invalid_client or unauthorized_client, which are about the
            application; invalid_request, when the user name lacks its tenant.
        ServiceError: rate_limited, or the tenant is suspended, cancelled or moved.
    """
    now = time.time()
    ensure_public(presented, origin)
    name, slug = _who(credentials.username, origin)
    attempts = Attempts.of_user(slug, name, now, address=origin.address)
    application = _application(presented, slug, origin, now, attempts)
    tenant = _tenant(slug, origin)
    store = store_for(tenant.slug) if tenant else None
    account, _ = together(
        lambda: find_by_name(store, name) if store else None, partial(attempts.begin, now)
    )
    tries = 0
    while True:
        login = _proven(slug, account, credentials, now)
        if not tenant or not store or not account or not login:
            raise _wrong_credentials()
        try:
            granted = _begin(tenant, store, account, login, application, now)
        except Overtaken:  # the login has changed meanwhile, perhaps by this very code
            tries = store.pause(tries)
            account = find_by_name(store, name)
        else:
            attempts.withdraw()
            return granted


def _who(username: str, origin: Origin) -> tuple[str, str]:
    """Split a user name into name and slug, which is the host's where it is left out."""
    name, at, slug = username.rpartition("@")
    if at:
        return folded_username(name), slug.strip().lower()
    owner = directory.tenant_for_host(origin.host)
    if owner is None:
        raise OAuthError("invalid_request", "Send the user name as name@tenant.")
    return folded_username(username), owner


def _application(
    presented: Presented | None, slug: str | None, origin: Origin, now: float, attempts: Attempts
) -> Client | None:
    """Read what the grant needs of the control table, and find the application among it."""
    if presented is None:
        read_for_grant([], now, attempts)
        return None
    by_client = Attempts.of_client(presented.client_id, origin.address, now)
    items = read_for_grant([readable_key(presented.client_id)], now, attempts, by_client)
    try:
        return find_application(presented, slug, items)
    except OAuthError:
        by_client.record_failure()
        raise


def _tenant(slug: str, origin: Origin) -> Tenant | None:
    """Find the tenant that somebody names; None also at the address of another one."""
    if not is_slug(slug) or not origin.may_serve(slug):
        return None
    return directory.tenant(slug)


def _proven(
    slug: str, account: Account | None, credentials: Credentials, now: float
) -> Login | None:
    """Return the login, its code spent, of a user who is who they say; the same work for all."""
    login = account.login if account else None
    right = passwords.verify(credentials.password, login.password if login else None)
    after = login
    if credentials.code is not None:
        code = credentials.code[: _LONGEST_CODE + 1]
        if login and login.two_step:
            after = second_factor.spent(slug, login, code, now)
        else:
            _take_as_long_as_a_code(slug)
    active = account is not None and account.record.entity.is_active
    return after if right and active else None


def _take_as_long_as_a_code(slug: str) -> None:
    """Ask KMS what it is asked about a code: the answer must not come sooner without one."""
    with suppress(ClientError):
        second_factor.unsealed(slug, 0, bytes(184))


def _begin(
    tenant: Tenant,
    store: Store,
    account: Account,
    login: Login,
    application: Client | None,
    now: float,
) -> Granted:
    """Begin a session and issue its first tokens; raises Overtaken when the login has changed."""
    ensure_open(tenant)
    first = sessions.new_token(tenant.slug, login.user_id)
    given = login != account.login
    tx = Transaction(store)
    if given:
        logins.stage(tx, account.login, login)
    else:
        logins.ensure_unchanged(tx, login)
    sessions.begin(
        tx,
        first,
        client_id=application.client_id if application else None,
        second_factor=given,
        epoch=login.epoch,
        now=int(now),
    )
    # the signature first: what fails after the commit would spend the code for nothing
    token = _token(tenant, store, account, first.session, application, proven=given, now=now)
    tx.commit()
    return Granted(token, refresh_token=first.text)


def _token(  # noqa: PLR0913  what a token is made of
    tenant: Tenant,
    store: Store,
    account: Account,
    session: str,
    application: Client | None,
    *,
    proven: bool,
    now: float,
) -> str:
    """Issue an access token with the rights that the user has now."""
    user, login = account.record.entity, account.login
    rights = rights_of(store, user.roles)
    stopped_before = [login.tokens_from, rights.tokens_from]
    if application:
        stopped_before.append(application.tokens_from)
    grant = UserGrant(
        user_id=user.id,
        application=application.client_id if application else None,
        session=session,
        permissions=rights.permissions,
        roles=user.roles,
        second_factor=proven or not login.two_step,
    )
    return tokens.issue_to_user(tenant, grant, now=max(now, *stopped_before))


# By refresh token


def renew(text: str, presented: Presented | None, origin: Origin) -> Granted:
    """Exchange a refresh token for new tokens; each works once.

    A token that was used already is in two hands, and nobody can tell whose is the thief's:
    the session ends with everything that came from it.

    Args:
        text: The refresh token.
        presented: The mobile application, the one that the user signed in by.
        origin: Where the request came from.

    Raises:
        OAuthError: invalid_grant; or invalid_client or unauthorized_client, as `sign_in`.
        ServiceError: rate_limited, or the tenant is suspended, cancelled or moved.
    """
    now = time.time()
    ensure_public(presented, origin)
    token = sessions.parse(text)
    attempts = Attempts.of_address(origin.address, now)
    application = _application(presented, token.tenant if token else None, origin, now, attempts)
    tenant = _tenant(token.tenant, origin) if token else None
    if token is None or tenant is None:
        attempts.record_failure()
        raise _wrong_token()
    store = store_for(tenant.slug)
    session, account = _read_session(store, token)
    if session is None or not session.knows(token):
        attempts.record_failure()
        raise _wrong_token()
    if session.client_id != (application.client_id if application else None):
        raise _wrong_token()
    ensure_open(tenant)
    if not session.is_current(token):
        end_family(tenant, token)
        raise _wrong_token()
    if account is None or not _goes_on(session, account, now):
        raise _wrong_token()
    new = token.next()
    # the signature first: what fails after the rotation would cost the session
    access = _token(
        tenant, store, account, session.id, application, proven=session.second_factor, now=now
    )
    try:
        perform(
            store,
            lambda tx: sessions.rotate(tx, session, new, now=int(now), otherwise=_Reused),
        )
    except _Reused as error:
        end_family(tenant, token)
        raise _wrong_token() from error
    return Granted(access, refresh_token=new.text)
