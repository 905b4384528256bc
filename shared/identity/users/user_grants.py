"""The grants of users: password (RFC 6749, section 4.3) and refresh token (section 6).

An unknown user, a disabled user, a wrong password and a wrong code lead to the same error after
the same work, so that nobody can find out which users exist.
"""

from dataclasses import dataclass, field
from functools import partial

from botocore.exceptions import ClientError

from shared.identity.auth import tokens
from shared.identity.auth.attempt_limits import AttemptCounters
from shared.identity.auth.client_grants import (
    ClientAuthentication,
    IssuedTokens,
    OAuthError,
    RequestOrigin,
    ensure_public_client,
    read_tenant_and_application,
)
from shared.identity.auth.clients import OAuthClient
from shared.identity.auth.issuance_limits import IssuanceCounter
from shared.identity.auth.tokens import UserClaims
from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant, ensure_active
from shared.identity.users import code_checks, passwords, sessions
from shared.identity.users.administrators import PERMISSION
from shared.identity.users.code_checks import RecoveryCodeNeeded
from shared.identity.users.failed_sign_ins import ANONYMOUS, count_failure
from shared.identity.users.logins import Login
from shared.identity.users.models import normalize_username
from shared.identity.users.repository import (
    RolePermissions,
    UserAccount,
    bind_sign_in,
    find_account,
    read_role_permissions,
)
from shared.identity.users.sessions import RefreshToken, Session
from shared.identity.users.token_revocation import end_session, read_session
from shared.kernel.clock import now_ms
from shared.kernel.db.actions import StaleRead
from shared.kernel.db.aws_errors import is_transient
from shared.kernel.db.parallel import run_all
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.sealing import unseal

_MAX_CODE_LENGTH = 64
"""Longest presented code, in characters; a recovery code has 19."""
_SEALED_SECRET_LENGTH = 180
"""Approximate length in bytes of a TOTP secret encrypted by KMS."""


@dataclass(frozen=True, slots=True)
class UserCredentials:
    """The credentials that a user presents; not validated."""

    username: str
    """`name@tenant`; at a tenant's own host the name is enough."""
    password: str = field(repr=False)
    code: str | None = field(default=None, repr=False)
    """Code of the authenticator app or recovery code; None if none was sent."""


@dataclass(frozen=True, slots=True)
class _GrantRequest:
    """The context of a user's token request."""

    tenant: Tenant
    store: Store
    application: OAuthClient | None
    """The mobile application; None without one."""
    now: float
    """Seconds since the epoch, taken before anything was read."""

    @property
    def client_id(self) -> str | None:
        """Client id of the mobile application; None without one."""
        return self.application.client_id if self.application else None


class _TokenReused(Exception):
    """The refresh token was used by another request at the same moment."""


def _invalid_credentials() -> OAuthError:
    return OAuthError("invalid_grant", "The user name, the password or the code is wrong.")


def _invalid_refresh_token() -> OAuthError:
    return OAuthError("invalid_grant", "The refresh token is not valid; sign in again.")


# Password grant


def password_grant(
    credentials: UserCredentials, client_auth: ClientAuthentication | None, origin: RequestOrigin
) -> IssuedTokens:
    """Authenticate a user by password and issue tokens.

    A user with two-step verification who sends no code gets a token that gives access to the list
    of products only. `client_auth` is the mobile application, if the request names one.

    Raises:
        OAuthError: invalid_grant; invalid_client or unauthorized_client, because of the
            application; invalid_request if the user name lacks the tenant.
        RateLimited: After too many failures or tokens.
        ServiceError: The tenant is suspended, cancelled or moved.
    """
    now = now_ms() / 1000
    ensure_public_client(client_auth, origin)
    name, slug = _split_username(credentials.username, origin)
    attempts = AttemptCounters.for_user(slug, name, origin.address, now)
    tenant, application = read_tenant_and_application(client_auth, slug, origin, now, attempts)
    store = store_for(tenant) if tenant else None
    try:
        _, account = run_all(
            partial(attempts.begin, now), lambda: find_account(store, name) if store else None
        )
        account, login = _verify_credentials(
            store, slug, account, credentials, origin=origin, now=now
        )
    except Exception:
        attempts.cancel()  # the credentials were not checked
        raise
    if not tenant or not store or not account or not login:
        if store and tenant and tenant.state == "active":
            count_failure(attempts, store, account, origin.address)
        else:
            attempts.fail()
        raise _invalid_credentials()
    if account.login.two_step and login == account.login:
        attempts.cancel()
    else:
        run_all(attempts.cancel, partial(attempts.add_known_address, now))
    ensure_active(tenant)
    request = _GrantRequest(tenant, store, application, now)
    tries = 0
    while True:
        try:
            return _begin_session(request, account, login)
        except StaleRead:  # the login was changed, perhaps by another sign-in with this code
            tries = store.back_off(tries)
        account = find_account(store, name)
        account, login = _verify_credentials(
            store, slug, account, credentials, origin=origin, now=now
        )
        if not account or not login:
            raise _invalid_credentials()


def _split_username(username: str, origin: RequestOrigin) -> tuple[str, str]:
    """Split a user name into name and slug; without `@`, use the tenant that owns the host."""
    name, at, slug = username.rpartition("@")
    if at:
        return normalize_username(name), slug.strip().lower()
    owner = directory.tenant_for_host(origin.host)
    if owner is None:
        raise OAuthError("invalid_request", "username: send it as name@tenant.")
    return normalize_username(username), owner


def _verify_credentials(  # noqa: PLR0913  the parts of one attempt
    store: Store | None,
    slug: str,
    account: UserAccount | None,
    credentials: UserCredentials,
    *,
    origin: RequestOrigin,
    now: float,
) -> tuple[UserAccount | None, Login | None]:
    """Return the account as it was read last, and the login with a given code used.

    The login is None if the credentials are wrong. The work is the same for users that do not
    exist, and for a wrong password whatever the user has.

    Raises:
        RateLimited: The user has to wait after wrong codes; the code was not checked.
        OAuthError: invalid_grant, only a recovery code is accepted after too many wrong codes.
    """
    login = account.login if account else None
    password_matches = passwords.verify(credentials.password, login.password if login else None)
    if not (password_matches and account and account.record.entity.is_active):
        login = None
    if credentials.code is None:
        return account, login
    if not (store and account and login and login.two_step):
        _imitate_code_check(slug)
        if store and not login:
            code_checks.imitate_count(store)
        return account, login
    code = credentials.code[: _MAX_CODE_LENGTH + 1]
    try:
        checked = code_checks.use_code(
            store, account, code, now, address=origin.address, actor=ANONYMOUS
        )
    except RecoveryCodeNeeded as error:
        raise OAuthError("invalid_grant", f"{error}.") from error
    return checked or (account, None)


def _imitate_code_check(slug: str) -> None:
    """Make the KMS call of a code check, so that the response is the same after the same time.

    A temporary error of KMS is raised, as it is by a code check.
    """
    try:
        unseal(bytes(_SEALED_SECRET_LENGTH), "totp", slug, "nobody")
    except ClientError as error:
        if is_transient(error):
            raise


def _begin_session(request: _GrantRequest, account: UserAccount, login: Login) -> IssuedTokens:
    """Create a session and issue its first tokens.

    Raises:
        StaleRead: The login was changed.
    """
    first = sessions.new_refresh_token(request.tenant.slug, login.user_id)
    code_used = login != account.login
    tx = Transaction(request.store)
    bind_sign_in(tx, account, login)
    sessions.create(
        tx,
        first,
        client_id=request.client_id,
        second_factor=code_used,
        epoch=login.epoch,
        now=int(request.now),
    )
    # sign before the commit: a later failure would use up the code without a token
    rights = _read_rights(request, account)
    token = _access_token(request, account, rights, first.session, proven=code_used)
    tx.commit()
    return IssuedTokens(token, refresh_token=first.text, timezone=request.tenant.timezone)


def _read_rights(request: _GrantRequest, account: UserAccount) -> RolePermissions:
    """Return the present permissions of the user, and count the token that will have them.

    Raises:
        RateLimited: Too many tokens were issued to the user.
    """
    user = account.record.entity
    issuance = IssuanceCounter.for_user(request.tenant, user.id, request.now)
    rights, _ = run_all(
        lambda: read_role_permissions(request.store, user.roles),
        lambda: issuance.count(request.tenant),
    )
    return rights


def _access_token(
    request: _GrantRequest,
    account: UserAccount,
    rights: RolePermissions,
    session: str,
    *,
    proven: bool,
) -> str:
    """Issue an access token with the permissions of the user.

    Its `iat` is from before anything was read, so that a concurrent revocation covers it, too.
    """
    user, login, application = account.record.entity, account.login, request.application
    earliest_iat = max(
        login.tokens_from, rights.tokens_from, application.tokens_from if application else 0
    )
    grant = UserClaims(
        user_id=user.id,
        application=request.client_id,
        session=session,
        permissions=rights.permissions,
        roles=user.roles,
        second_factor=proven or not login.two_step,
    )
    return tokens.issue_to_user(request.tenant, grant, now=max(request.now, earliest_iat))


# Refresh token grant


def refresh_token_grant(
    refresh_token: str, client_auth: ClientAuthentication | None, origin: RequestOrigin
) -> IssuedTokens:
    """Exchange a refresh token for new tokens; a refresh token can be used once.

    The second use of a refresh token means that it was stolen, and the service cannot tell which of
    the two uses was legitimate. It ends the session and revokes its access tokens. `client_auth` is
    the mobile application that the user signed in with, if any.

    Raises:
        OAuthError: invalid_grant; invalid_client or unauthorized_client, as in `password_grant`.
        RateLimited: After too many failures or tokens.
        ServiceError: The tenant is suspended, cancelled or moved.
    """
    now = now_ms() / 1000
    ensure_public_client(client_auth, origin)
    token = sessions.parse_refresh_token(refresh_token)
    slug = token.tenant if token else None
    attempts = AttemptCounters.for_refresh_token(slug, origin.address, now)
    tenant, application = read_tenant_and_application(client_auth, slug, origin, now, attempts)
    if token is None or tenant is None:
        attempts.record_failure(now)
        raise _invalid_refresh_token()
    store = store_for(tenant)
    session, account = read_session(store, token)
    if session is None or not session.has_family_of(token):
        attempts.record_failure(now)
        raise _invalid_refresh_token()
    request = _GrantRequest(tenant, store, application, now)
    if session.client_id != request.client_id:
        raise _invalid_refresh_token()
    if not session.is_current(token):
        end_session(store, session, reused=True)
        raise _invalid_refresh_token()
    ensure_active(tenant)
    try:
        return _rotate_token(request, session, token, account)
    except _TokenReused as error:
        end_session(store, session, reused=True)
        raise _invalid_refresh_token() from error


def _rotate_token(
    request: _GrantRequest, session: Session, token: RefreshToken, account: UserAccount | None
) -> IssuedTokens:
    """Rotate the refresh token of a session and issue a new access token."""
    new, tries = token.rotated(), 0
    while account is not None and sessions.is_usable(session, account, request.now):
        rights = _read_rights(request, account)
        administrator = PERMISSION in rights.permissions
        if not sessions.is_usable(session, account, request.now, administrator=administrator):
            break
        # sign before the rotation: a failure after it would end the session
        access = _access_token(request, account, rights, session.id, proven=session.second_factor)
        tx = Transaction(request.store)
        sessions.rotate(tx, session, new, now=int(request.now), on_condition_failed=_TokenReused)
        bind_sign_in(tx, account, account.login)
        try:
            tx.commit()
            return IssuedTokens(access, refresh_token=new.text, timezone=request.tenant.timezone)
        except StaleRead:  # the user was changed, and may have lost a role
            tries = request.store.back_off(tries)
            _, account = read_session(request.store, token)
    raise _invalid_refresh_token()
