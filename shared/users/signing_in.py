"""How users get tokens: by password (RFC 6749, section 4.3), and by refresh token (section 6).

Whoever is refused learns nothing about who exists: an unknown user, a disabled one, a wrong
password and a wrong code get one answer, after the same work.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from botocore.exceptions import ClientError

from shared.audit.models import Actor
from shared.audit.service import record as audit
from shared.auth import tokens
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
from shared.clock import now_ms
from shared.db.parallel import together
from shared.db.store import Store
from shared.db.transaction import Overtaken, Transaction
from shared.db.unit_of_work import perform
from shared.sealing import unseal
from shared.tenancy import revocations
from shared.tenancy.access import store_for
from shared.tenancy.directory import directory
from shared.tenancy.tenant import Tenant, ensure_open, is_slug
from shared.users import logins, passwords, second_factor, sessions
from shared.users.logins import Login, login_key
from shared.users.models import folded_username
from shared.users.repository import USERS, Account, bind, find_by_name, rights_of
from shared.users.sessions import RefreshToken, Session

_LONGEST_CODE = 64
"""Characters of a code that are looked at; the longest, a recovery code, has 19."""
_SEALED_BYTES = 180
"""About what KMS makes of a secret of 20 bytes."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What somebody presents as a user; anything at all may be in here."""

    username: str
    """`name@tenant`; at a tenant's own address the name is enough."""
    password: str = field(repr=False)
    code: str | None = field(default=None, repr=False)
    """Of the authenticator app, or a recovery code; None where none was sent."""


@dataclass(frozen=True, slots=True)
class _Request:
    """Where and when tokens are asked for, and by what."""

    tenant: Tenant
    store: Store
    application: Client | None
    """The mobile application that the user uses, None without one."""
    now: float
    """Seconds since the epoch, from before anything was read."""

    @property
    def client_id(self) -> str | None:
        """Id of the application."""
        return self.application.client_id if self.application else None


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
    now = now_ms() / 1000
    ensure_public(presented, origin)
    name, slug = _who(credentials.username, origin)
    attempts = Attempts.of_user(slug, name, origin.address, now)
    application = _application(presented, slug, origin, now, attempts)
    tenant = _tenant(slug, origin)
    store = store_for(tenant.slug) if tenant else None
    _, account = together(
        partial(attempts.begin, now), lambda: find_by_name(store, name) if store else None
    )
    login = _proven(slug, account, credentials, now)
    if not tenant or not store or not account or not login:
        raise _wrong_credentials()
    attempts.withdraw()
    ensure_open(tenant)
    request = _Request(tenant, store, application, now)
    tries = 0
    while True:
        try:
            return _begin(request, account, login)
        except Overtaken:  # the login has changed meanwhile, perhaps by this very code
            tries = store.pause(tries)
        account = find_by_name(store, name)
        login = _proven(slug, account, credentials, now)
        if not account or not login:
            raise _wrong_credentials()


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
        unseal(bytes(_SEALED_BYTES), "totp", slug, "nobody")


def _begin(request: _Request, account: Account, login: Login) -> Granted:
    """Begin a session and issue its first tokens; raises Overtaken when the login has changed."""
    first = sessions.new_token(request.tenant.slug, login.user_id)
    given = login != account.login
    tx = Transaction(request.store)
    bind(tx, account, login)
    sessions.begin(
        tx,
        first,
        client_id=request.client_id,
        second_factor=given,
        epoch=login.epoch,
        now=int(request.now),
    )
    # the signature first: what fails after the commit would spend the code for nothing
    token = _access_token(request, account, first.session, proven=given)
    tx.commit()
    return Granted(token, refresh_token=first.text)


def _access_token(request: _Request, account: Account, session: str, *, proven: bool) -> str:
    """Issue an access token with the rights that the user has now.

    It counts from before anything was read: what ends the user's tokens meanwhile ends it, too.
    """
    user, login, application = account.record.entity, account.login, request.application
    rights = rights_of(request.store, user.roles)
    counts_from = max(
        login.tokens_from, rights.tokens_from, application.tokens_from if application else 0
    )
    grant = UserGrant(
        user_id=user.id,
        application=request.client_id,
        session=session,
        permissions=rights.permissions,
        roles=user.roles,
        second_factor=proven or not login.two_step,
    )
    return tokens.issue_to_user(request.tenant, grant, now=max(request.now, counts_from))


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
    now = now_ms() / 1000
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
    request = _Request(tenant, store, application, now)
    if session.client_id != request.client_id:
        raise _wrong_token()
    if not session.is_current(token):
        _end(tenant, session, reused=True)
        raise _wrong_token()
    ensure_open(tenant)
    try:
        return _go_on(request, session, token, account)
    except _Reused as error:
        _end(tenant, session, reused=True)
        raise _wrong_token() from error


def _go_on(
    request: _Request, session: Session, token: RefreshToken, account: Account | None
) -> Granted:
    """Put a new refresh token in the place of one, and issue what goes with it."""
    new, tries = token.next(), 0
    while account is not None and _goes_on(session, account, request.now):
        # the signature first: what fails after the rotation would cost the session
        access = _access_token(request, account, session.id, proven=session.second_factor)
        tx = Transaction(request.store)
        sessions.rotate(tx, session, new, now=int(request.now), otherwise=_Reused)
        bind(tx, account, account.login)
        try:
            tx.commit()
            return Granted(access, refresh_token=new.text)
        except Overtaken:  # the user has changed meanwhile, and has perhaps lost a role
            tries = request.store.pause(tries)
            _, account = _read_session(request.store, token)
    raise _wrong_token()


def _read_session(store: Store, token: RefreshToken) -> tuple[Session | None, Account | None]:
    """Read the session that a token names, and its user, in one call."""
    number = token.user_id
    key = sessions.session_key(token.session)
    found = store.get_many([key, USERS.key(number), login_key(number)])
    record, login = USERS.among(found, number), logins.login_among(found, number)
    account = Account(record, login) if record and login else None
    return sessions.session_of(found.get(key)), account


def _goes_on(session: Session, account: Account, now: float) -> bool:
    """Tell whether a session may still be used; DynamoDB removes old ones late."""
    return (
        now < session.expires_at
        and account.record.entity.is_active
        and account.login.admits(session.id, session.epoch)
    )


# The end of it


def sign_out(text: str, presented: Presented | None, origin: Origin) -> None:
    """Revoke a token of a user (RFC 7009): having it is enough.

    A refresh token ends its session, with every token that came from it; an access token ends
    alone. Doors refuse them within 10 s. What is no valid token needs no revoking.

    Args:
        text: The token, of either kind.
        presented: The mobile application that it was issued to, if it says so.
        origin: Where the request came from.

    Raises:
        OAuthError: unauthorized_client: it was issued to another application; invalid_client:
            there is no such application, or the token is an integration client's.
        ServiceError: rate_limited, or service_unavailable: others revoke all the time.
    """
    now = now_ms() / 1000
    ensure_public(presented, origin)
    application = _application(
        presented, None, origin, now, Attempts.of_address(origin.address, now)
    )
    refresh = sessions.parse(text)
    if refresh:
        _revoke_refresh_token(refresh, application, origin)
    else:
        _revoke_access_token(text, application, origin)


def _revoke_refresh_token(token: RefreshToken, application: Client | None, origin: Origin) -> None:
    tenant = _tenant(token.tenant, origin)
    if tenant is None:
        return
    session, _ = _read_session(store_for(tenant.slug), token)
    if session and session.knows(token):
        _ensure_issued_to(session.client_id, application)
        _end(tenant, session)


def _revoke_access_token(text: str, application: Client | None, origin: Origin) -> None:
    try:
        holder, _ = tokens.verify(text)
    except tokens.InvalidToken:
        return
    if _tenant(holder.tenant, origin) is None:
        return
    if holder.kind == "client":
        raise OAuthError("invalid_client", "Send client_id and client_secret.", 401)
    _ensure_issued_to(holder.client_id, application)
    revocations.revoke(
        holder.tenant,
        f"token:{holder.token_id}",
        crowded=f"user:{holder.subject}",
        until=holder.expires_at,
    )


def _ensure_issued_to(client_id: str | None, application: Client | None) -> None:
    if application and application.client_id != client_id:
        raise OAuthError("unauthorized_client", "The token was issued to another client.")


def _end(tenant: Tenant, session: Session, *, reused: bool = False) -> None:
    """End a session and the access tokens that came from it; nothing when it has ended."""
    crowded = len(tenant.revoked) >= revocations.CAPACITY
    # there are no more marks of users than users, however many sessions somebody wastes
    mark = f"user:{session.user_id}" if crowded else f"session:{session.id}"

    def use_case(tx: Transaction) -> None:
        if tx.store.get(sessions.session_key(session.id)) is None:
            return
        sessions.end(tx, session.id)
        revocations.stage(tx, mark)
        if reused:
            actor = Actor(type="user", id=str(session.user_id))
            audit(tx, "session.reused", "session", session.id, actor=actor)

    perform(store_for(tenant.slug), use_case)
