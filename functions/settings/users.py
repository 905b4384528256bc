"""Routes of users."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.users import credentials, service, session_service
from shared.identity.users.models import (
    CredentialConfirmation,
    PasswordChange,
    PasswordConfirmation,
    PasswordReset,
    RecoveryCodeList,
    SessionParameters,
    TotpConfirmation,
    TotpEnrolment,
    User,
    UserChange,
    UserCreate,
    UserParameters,
    UserSession,
    UserWithPassword,
)
from shared.integration.webhooks.ended_access import (
    READ_AHEAD,
    AccessEnd,
    ChangedUser,
    listed_webhooks,
    read_ahead_of,
    webhooks_of,
    webhooks_of_changed_user,
)
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.validation import Checked, InvalidBody, ensure_valid

routes = Routes()

_ALL: OperationOptions = {"scope": "settings:manage", "permission": "users.manage"}
_ONE: OperationOptions = {**_ALL, "errors": ("gone",)}
_OWN: OperationOptions = {**_ONE, "allows_self": True}


@routes.read("/users", "List users", _ALL, response=User, parameters=UserParameters)
def list_users(store: Store, request: Request[None, UserParameters]) -> ListResponse[User]:
    """List users."""
    return ListResponse(service.list_users(store, request.parameters))


@routes.write(
    "POST",
    "/users",
    "Create a user",
    _ALL,
    response=UserWithPassword,
    body=UserCreate,
    response_has_secret=True,
    request_has_secret=True,
    statuses=(201,),
    errors=("limit_reached",),
    description="Users log in as `username@tenant`. Without `password` the service generates one,"
    " which only this response contains. A password has 12 to 256 characters. The plan limits the"
    " number of users.",
)
def create_user(tx: Transaction, request: Request[Checked[UserCreate]]) -> ResourceResponse:
    """Create a user."""
    record, generated = service.create_user(tx, request.body)
    return ResourceResponse(
        UserWithPassword.from_stored(record.entity, password=generated), 201, f"/users/{record.id}"
    )


@routes.read(
    "/users/{id}",
    "Get a user",
    _OWN,
    response=User,
    description="Users can read their own record without a permission, also as `/users/me`.",
)
def get_user(store: Store, request: Request) -> ResourceResponse:
    """Return a user."""
    return ResourceResponse(service.get_user(store, request.id).entity)


@routes.write(
    "PATCH",
    "/users/{id}",
    "Change a user",
    _ONE,
    response=ChangedUser,
    body=UserChange,
    description="Fields that are not sent keep their values. Removing a role revokes the user's"
    " tokens within 10 s; `is_active: false` also ends the sessions. The last enabled user with the"
    " permission `users.manage` can neither be disabled nor lose the permission. If the user is"
    " disabled, or `roles` do not give `users.manage`, the response lists the webhook subscriptions"
    " that the user created, or whose address, secret or activation the user set last. They"
    " continue to send events, unless the body also has `deactivate_webhooks: true`.",
    errors=("gone", "conflict"),
)
def change_user(tx: Transaction, request: Request[Checked[UserChange]]) -> ResourceResponse:
    """Change a user; if access ends or is narrowed, also list the user's subscriptions."""
    ahead = read_ahead_of(request.body)
    user = service.change_user(tx, request.id, request.body, ahead).entity
    webhooks = webhooks_of_changed_user(tx, user, ensure_valid(request.body))
    return ResourceResponse(ChangedUser.from_stored(user, webhooks=listed_webhooks(webhooks)))


@routes.write(
    "DELETE",
    "/users/{id}",
    "Delete a user",
    _ONE,
    response=ChangedUser,
    body=AccessEnd,
    description="The user's tokens and sessions end within 10 s. The user name becomes free. The"
    " last enabled user with the permission `users.manage` cannot be deleted. The webhook"
    " subscriptions that the user created, or whose address, secret or activation the user set"
    ' last, continue to send events, unless the body is `{"deactivate_webhooks": true}`; the'
    " response lists them. The body is optional.",
    errors=("gone", "conflict"),
)
def delete_user(tx: Transaction, request: Request[Checked[AccessEnd]]) -> ResourceResponse:
    """Delete a user; return it as it was before, with the user's subscriptions."""
    if isinstance(request.body, InvalidBody):
        service.get_user(tx.store, request.id)  # that there is none comes first
    end = ensure_valid(request.body)
    user = service.delete_user(tx, request.id, READ_AHEAD).entity
    webhooks = webhooks_of(tx, "user", user.id, deactivate=end.deactivate_webhooks)
    return ResourceResponse(ChangedUser.from_stored(user, webhooks=listed_webhooks(webhooks)))


@routes.write(
    "POST",
    "/users/{id}/reset-password",
    "Reset a password",
    _ONE,
    response=UserWithPassword,
    body=PasswordReset,
    response_has_secret=True,
    request_has_secret=True,
    description="Without `password` the service generates one, which only this response contains."
    " The user's tokens and sessions end within 10 s; two-step verification stays enabled. The own"
    " password is 403: users change it with `POST /users/me/password`, which asks for the current"
    " one.",
)
def reset_password(tx: Transaction, request: Request[Checked[PasswordReset]]) -> ResourceResponse:
    """Set a new password for a user."""
    record, generated = service.reset_password(tx, request.id, request.body)
    return ResourceResponse(UserWithPassword.from_stored(record.entity, password=generated))


@routes.write(
    "POST",
    "/users/{id}/password",
    "Change one's own password",
    _OWN,
    response=User,
    body=PasswordChange,
    request_has_secret=True,
    description="Only the user can do this; an administrator resets the password. All tokens are"
    " revoked within 10 s and all sessions end, except the session of the request, whose refresh"
    " token stays valid. A wrong `current_password` is a problem of that field; failed attempts"
    " are limited like sign-ins.",
)
def change_password(tx: Transaction, request: Request[Checked[PasswordChange]]) -> ResourceResponse:
    """Change the password of the calling user."""
    found = credentials.change_password(tx, request.id, request.body, request.address)
    return ResourceResponse(found.entity)


@routes.write(
    "POST",
    "/users/{id}/totp",
    "Enrol an authenticator app",
    _OWN,
    response=TotpEnrolment,
    body=PasswordConfirmation,
    response_has_secret=True,
    request_has_secret=True,
    description="`password` is the password of the user; failed attempts are limited like sign-ins."
    " Only this response contains the secret of the app and 10 recovery codes, each of which can"
    " replace a code once. Two-step verification is enabled when the first code is confirmed; until"
    " then, enrolling again replaces the secret and the recovery codes. Sessions that began without"
    " a code end; access tokens stay valid until the confirmation.",
    errors=("gone", "conflict"),
)
def enrol_totp(
    tx: Transaction, request: Request[Checked[PasswordConfirmation]]
) -> ResourceResponse:
    """Enrol a second factor, which is pending until it is confirmed."""
    return ResourceResponse(credentials.enrol_totp(tx, request.id, request.body, request.address))


@routes.write(
    "POST",
    "/users/{id}/totp/confirm",
    "Enable two-step verification",
    _OWN,
    response=User,
    body=TotpConfirmation,
    description="Confirms the enrolment with the current code of the app. All tokens and sessions"
    " of the user end within 10 s, and the stored response of the enrolment is deleted.",
    errors=("gone", "conflict"),
)
def confirm_totp(tx: Transaction, request: Request[Checked[TotpConfirmation]]) -> ResourceResponse:
    """Confirm the second factor."""
    found = credentials.confirm_totp(tx, request.id, request.body)
    return ResourceResponse(found.entity)


@routes.write(
    "POST",
    "/users/{id}/totp/recovery-codes",
    "Replace the recovery codes",
    _OWN,
    response=RecoveryCodeList,
    body=CredentialConfirmation,
    response_has_secret=True,
    request_has_secret=True,
    description="Only the user can do this, with the own `password` or a code in `otp`; failed"
    " attempts are limited like sign-ins. Only this response contains the 10 new codes. The"
    " previous ones are invalid; tokens and sessions stay valid.",
    errors=("gone", "conflict"),
)
def replace_recovery_codes(
    tx: Transaction, request: Request[Checked[CredentialConfirmation]]
) -> ResourceResponse:
    """Replace the recovery codes of the calling user."""
    return ResourceResponse(
        credentials.replace_recovery_codes(tx, request.id, request.body, request.address)
    )


@routes.write(
    "DELETE",
    "/users/{id}/totp",
    "Disable two-step verification",
    _OWN,
    response=User,
    body=CredentialConfirmation,
    request_has_secret=True,
    description="Also deletes a pending enrolment. Users send their own `password` or a code in"
    " `otp`; failed attempts are limited like sign-ins. An administrator who does this for another"
    " user sends neither. The user's tokens are revoked within 10 s, and sessions that began"
    " without a code end.",
)
def remove_totp(
    tx: Transaction, request: Request[Checked[CredentialConfirmation]]
) -> ResourceResponse:
    """Disable two-step verification."""
    found = credentials.disable_totp(tx, request.id, request.body, request.address)
    return ResourceResponse(found.entity)


@routes.read(
    "/users/{id}/sessions",
    "List the sessions of a user",
    _OWN,
    response=UserSession,
    parameters=SessionParameters,
    description="The sign-ins that can still get new tokens, of the newest 100. A session ends 30"
    " days after its last use, and 90 days after the sign-in at the latest; 12 hours after it while"
    " the user has the permission `users.manage`.",
)
def list_sessions(
    store: Store, request: Request[None, SessionParameters]
) -> ListResponse[UserSession]:
    """List the sessions of a user."""
    return ListResponse(
        session_service.list_sessions(store, request.id, request.parameters, request.caller.session)
    )


@routes.write(
    "POST",
    "/users/{id}/end-sessions",
    "End the other sessions of a user",
    _OWN,
    response=User,
    description="Ends all sessions of the user, except that of the request if it is the user's own."
    " All tokens of the user are revoked within 10 s, also that of the request, whose refresh token"
    " stays valid.",
)
def end_other_sessions(tx: Transaction, request: Request) -> ResourceResponse:
    """End the sessions of a user, except that of the request."""
    return ResourceResponse(session_service.end_other_sessions(tx, request.id).entity)


@routes.write(
    "DELETE",
    "/users/{id}/sessions/{session}",
    "End a session of a user",
    _OWN,
    response=UserSession,
    description="The tokens of the session are revoked within 10 s. Returns the session as it was"
    " before; 404 if it has ended.",
)
def end_session(tx: Transaction, request: Request) -> ResourceResponse:
    """End one session of a user."""
    session = request.path_values["session"]
    return ResourceResponse(session_service.end_session(tx, request.id, session))
