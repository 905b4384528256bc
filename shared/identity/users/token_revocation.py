"""Revocation of users' tokens (RFC 7009) and the end of sessions."""

from shared.identity.audit.models import Actor
from shared.identity.audit.service import record as audit
from shared.identity.auth import tokens
from shared.identity.auth.attempt_limits import AttemptCounters
from shared.identity.auth.client_grants import (
    ClientAuthentication,
    OAuthError,
    RequestOrigin,
    ensure_public_client,
    read_tenant_and_application,
)
from shared.identity.auth.clients import OAuthClient
from shared.identity.names import user_name
from shared.identity.tenancy import revocations
from shared.identity.tenancy.access import store_for
from shared.identity.tenancy.directory import directory
from shared.identity.tenancy.tenant import Tenant
from shared.identity.users import sessions
from shared.identity.users.repository import UserAccount, account_from_items, account_keys
from shared.identity.users.sessions import RefreshToken, Session
from shared.kernel.clock import now_ms
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction


def revoke_user_token(
    token: str, client_auth: ClientAuthentication | None, origin: RequestOrigin
) -> None:
    """Revoke a token of a user (RFC 7009). Possession of the token is sufficient.

    Revoking a refresh token ends its session and revokes the access tokens of the session; an
    access token is revoked alone. The API rejects them within 10 s. An invalid token is ignored.
    `token` is an access token or a refresh token, `client_auth` the mobile application, if the
    request names one.

    Raises:
        OAuthError: unauthorized_client if the token was issued to another application;
            invalid_client if there is no such application, or if the token belongs to an
            integration client.
        RateLimited: After too many failures.
        ServiceUnavailable: Concurrent revocations made every attempt fail.
    """
    now = now_ms() / 1000
    ensure_public_client(client_auth, origin)
    refresh = sessions.parse_refresh_token(token)
    slug = refresh.tenant if refresh else None
    attempts = AttemptCounters.for_refresh_token(slug, origin.address, now)
    tenant, application = read_tenant_and_application(client_auth, slug, origin, now, attempts)
    if refresh:
        _revoke_refresh_token(refresh, application, tenant)
    else:
        _revoke_access_token(token, application, origin)


def _revoke_refresh_token(
    token: RefreshToken, application: OAuthClient | None, tenant: Tenant | None
) -> None:
    if tenant is None:
        return
    store = store_for(tenant)
    session, _ = read_session(store, token)
    if session and session.has_family_of(token):
        _ensure_issued_to(session.client_id, application)
        end_session(store, session)


def _revoke_access_token(
    token: str, application: OAuthClient | None, origin: RequestOrigin
) -> None:
    try:
        holder, _ = tokens.verify(token)
    except tokens.InvalidToken:
        return
    if not origin.serves_tenant(holder.tenant) or directory.tenant(holder.tenant) is None:
        return
    if holder.kind == "client":
        raise OAuthError("invalid_client", "Send client_id and client_secret.", 401)
    _ensure_issued_to(holder.client_id, application)
    revocations.revoke(
        holder.tenant,
        f"token:{holder.token_id}",
        fallback=f"user:{holder.subject}",
        until=holder.expires_at,
    )


def _ensure_issued_to(client_id: str | None, application: OAuthClient | None) -> None:
    if application and application.client_id != client_id:
        raise OAuthError("unauthorized_client", "The token was issued to another client.")


def read_session(store: Store, token: RefreshToken) -> tuple[Session | None, UserAccount | None]:
    """Read the session of a refresh token and its user in one call."""
    key = sessions.session_key(token.session)
    found = store.get_many([key, *account_keys(token.user_id)])
    return sessions.session_from_item(found.get(key)), account_from_items(found, token.user_id)


def end_session(store: Store, session: Session, *, reused: bool = False) -> None:
    """End a session and revoke its access tokens; do nothing if it has already ended.

    `reused` is whether a refresh token of the session was used twice, which is audited.
    """

    def use_case(tx: Transaction) -> None:
        if tx.store.get(sessions.session_key(session.id)) is None:
            return
        sessions.end(tx, session)
        if reused:
            name = user_name(tx.store, session.user_id)
            actor = Actor(type="user", id=str(session.user_id), name=name)
            audit(tx, "session.reused", "session", session.id, actor=actor)

    run_transaction(store, use_case)
