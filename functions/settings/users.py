"""People who use the instance."""

from shared.http.request import Request
from shared.http.routes import ListResponse, OperationOptions, ResourceResponse, Routes
from shared.identity.users import credentials, service, views
from shared.identity.users.models import (
    NewUser,
    PasswordChange,
    PasswordReset,
    TotpConfirmation,
    TotpEnrolment,
    User,
    UserChange,
    UserCreate,
    UserParameters,
)
from shared.kernel.db.collection import Record
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction

routes = Routes()

_ALL: OperationOptions = {"scope": "settings:manage", "permission": "users.manage"}
_ONE: OperationOptions = {**_ALL, "errors": ("gone",)}
_OWN: OperationOptions = {**_ONE, "allows_self": True}


def _view(record: Record[User]) -> User:
    return record.entity


@routes.declare("GET", "/users", "List users", _ALL, response=User, parameters=UserParameters)
def list_users(store: Store, request: Request[None, UserParameters]) -> ListResponse[User]:
    """Page through the users."""
    return ListResponse(service.list_users(store, request.parameters), _view)


@routes.declare(
    "POST",
    "/users",
    "Create a user",
    _ALL,
    response=NewUser,
    body=UserCreate,
    collects_problems=True,
    response_has_secret=True,
    request_has_secret=True,
    statuses=(201,),
    description="Users log in as `username@tenant`. Without `password` the service makes one and"
    " shows it this once. A password has 12 to 256 characters.",
)
def create_user(tx: Transaction, request: Request[UserCreate]) -> ResourceResponse:
    """Create a user."""
    record, made = service.create_user(tx, request.body, request.problems)
    return ResourceResponse(views.new_user(record.entity, made), 201, f"/users/{record.id}")


@routes.declare(
    "GET",
    "/users/{id}",
    "Get a user",
    _OWN,
    response=User,
    description="Users may read themselves, also as `/users/me`.",
)
def get_user(store: Store, request: Request) -> ResourceResponse:
    """Read one user."""
    return ResourceResponse(service.get_user(store, request.id).entity)


@routes.declare(
    "PATCH",
    "/users/{id}",
    "Change a user",
    _ONE,
    response=User,
    body=UserChange,
    collects_problems=True,
    description="Only the fields sent change. A role that is taken away ends the user's tokens"
    " within 10 s; `is_active: false` also the sessions.",
)
def change_user(tx: Transaction, request: Request[UserChange]) -> ResourceResponse:
    """Change a user."""
    return ResourceResponse(
        service.change_user(tx, request.id, request.body, request.problems).entity
    )


@routes.declare(
    "DELETE",
    "/users/{id}",
    "Delete a user",
    _ONE,
    response=User,
    description="Tokens and sessions end within 10 s; the user name is free again.",
)
def delete_user(tx: Transaction, request: Request) -> ResourceResponse:
    """Delete a user; answers it as it was."""
    return ResourceResponse(service.delete_user(tx, request.id).entity)


@routes.declare(
    "POST",
    "/users/{id}/reset-password",
    "Reset a password",
    _ONE,
    response=NewUser,
    body=PasswordReset,
    collects_problems=True,
    response_has_secret=True,
    request_has_secret=True,
    description="Without `password` the service makes one and shows it this once. Tokens and"
    " sessions end within 10 s; two-step verification stays on.",
)
def reset_password(tx: Transaction, request: Request[PasswordReset]) -> ResourceResponse:
    """Give somebody a new password."""
    record, made = service.reset_password(tx, request.id, request.body, request.problems)
    return ResourceResponse(views.new_user(record.entity, made))


@routes.declare(
    "POST",
    "/users/{id}/password",
    "Change one's own password",
    _OWN,
    response=User,
    body=PasswordChange,
    collects_problems=True,
    request_has_secret=True,
    description="For the user alone; others reset it. All tokens end within 10 s, and all sessions"
    " but the one that did it: its refresh token goes on. A wrong `current_password` is a problem"
    " of that field; after 10 tries in a minute the answer is 429.",
)
def change_password(tx: Transaction, request: Request[PasswordChange]) -> ResourceResponse:
    """Change the password of the user who calls."""
    found = credentials.change_password(tx, request.id, request.body, request.problems)
    return ResourceResponse(found.entity)


@routes.declare(
    "POST",
    "/users/{id}/totp",
    "Enrol an authenticator app",
    _OWN,
    response=TotpEnrolment,
    response_has_secret=True,
    description="Its secret, and 10 recovery codes that stand in for the app once each, are shown"
    " this once. Nothing is asked for before the app's first code is confirmed; until then,"
    " enrolling again replaces what was shown.",
    errors=("gone", "conflict"),
)
def enrol_totp(tx: Transaction, request: Request) -> ResourceResponse:
    """Give a user a second factor to be confirmed."""
    return ResourceResponse(credentials.enrol_totp(tx, request.id))


@routes.declare(
    "POST",
    "/users/{id}/totp/confirm",
    "Switch two-step verification on",
    _OWN,
    response=User,
    body=TotpConfirmation,
    collects_problems=True,
    description="With the code that the app shows. Tokens and sessions that were got without a"
    " code end within 10 s.",
    errors=("gone", "conflict"),
)
def confirm_totp(tx: Transaction, request: Request[TotpConfirmation]) -> ResourceResponse:
    """Switch two-step verification on."""
    found = credentials.confirm_totp(tx, request.id, request.body, request.problems)
    return ResourceResponse(found.entity)


@routes.declare(
    "DELETE",
    "/users/{id}/totp",
    "Switch two-step verification off",
    _OWN,
    response=User,
    description="Also gives up an enrolment that was not confirmed.",
)
def remove_totp(tx: Transaction, request: Request) -> ResourceResponse:
    """Switch two-step verification off."""
    return ResourceResponse(credentials.remove_totp(tx, request.id).entity)
