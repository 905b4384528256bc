"""Users and roles: request bodies, stored entities, responses and list parameters."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.identity.auth.scopes import PERMISSIONS, Permission
from shared.identity.users.totp import DIGITS
from shared.identity.webhook_deactivation import DeactivateWebhooks
from shared.kernel.fields import Email, Identifier, Input, Name, Note, Stored, Timestamp, distinct
from shared.kernel.list_parameters import Integer, KeyedParameters, ListParameters, Search

MAX_ROLES = 20
"""Most roles of a user."""

_USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def normalize_username(text: str) -> str:
    """Return a user name in the stored form, in lower case and without surrounding spaces."""
    plain = text.strip()
    return plain.lower() if plain.isascii() else plain  # lower() maps some other letters to ASCII


def is_username(text: str) -> bool:
    """Return whether a normalized text has the form of a user name."""
    return _USERNAME.fullmatch(text) is not None


def _username(text: str) -> str:
    folded = normalize_username(text)
    if not is_username(folded):
        raise PydanticCustomError(
            "username",
            "must have 1 to 64 letters a-z, digits, dots, underscores and hyphens,"
            " the first a letter or digit",
        )
    return folded


type Username = Annotated[
    str,
    StringConstraints(max_length=255),
    AfterValidator(_username),
    WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}),
]
"""User name, stored in lower case; a user logs in as `username@tenant`."""

type _ShortName = Annotated[Name, StringConstraints(max_length=100)]


type _Permissions = Annotated[
    list[Permission],
    Field(max_length=len(PERMISSIONS), json_schema_extra={"uniqueItems": True}),
    distinct(len(PERMISSIONS)),
]
type _RoleIds = Annotated[
    list[Identifier],
    Field(max_length=MAX_ROLES, json_schema_extra={"uniqueItems": True}),
    distinct(MAX_ROLES),
]

type Password = Annotated[
    str,
    StringConstraints(max_length=1_000),
    WithJsonSchema({"type": "string", "format": "password", "minLength": 12, "maxLength": 256}),
]
"""A new password; `passwords.password_problem` checks its other requirements."""

type PresentedPassword = Annotated[
    str,
    StringConstraints(max_length=1_000),
    WithJsonSchema({"type": "string", "format": "password"}),
]
"""A password to verify, which is not checked otherwise."""


class UserCreate(Input):
    """A new user. Without a password, the service generates one."""

    username: Username
    name: _ShortName
    email: Email | None = None
    roles: _RoleIds = Field(default_factory=list)
    password: Password | None = None


class UserChange(Input):
    """Changes of a user. Fields that are not sent keep their values."""

    name: _ShortName = ""
    email: Email | None = None
    roles: _RoleIds = Field(default_factory=list)
    is_active: bool = True
    deactivate_webhooks: DeactivateWebhooks = False


class PasswordReset(Input):
    """A new password set by an administrator. Without one, the service generates it."""

    password: Password | None = None


class PasswordChange(Input):
    """A new password set by the user."""

    current_password: PresentedPassword
    new_password: Password


def _code(text: str) -> str:
    digits = "".join(text.split())  # apps show two groups of three digits
    if not (len(digits) == DIGITS and digits.isascii() and digits.isdigit()):
        raise PydanticCustomError("totp", f"must have {DIGITS} digits")
    return digits


class PasswordConfirmation(Input):
    """The password of the user, which a token alone does not replace."""

    password: PresentedPassword


class CredentialConfirmation(Input):
    """The password or a code of the user, which a token alone does not replace."""

    password: PresentedPassword | None = None
    otp: Annotated[str, StringConstraints(max_length=64)] | None = Field(
        default=None, description="Code of the authenticator app, or recovery code."
    )


class TotpConfirmation(Input):
    """The current code of the authenticator app."""

    code: Annotated[
        str,
        StringConstraints(max_length=50),
        AfterValidator(_code),
        WithJsonSchema({"type": "string", "pattern": "^[0-9]{6}$"}),
    ]


class User(Stored):
    """A user, as stored and in responses. The credentials are a separate item."""

    id: int
    username: str
    name: str
    email: str | None = None
    roles: list[int]
    is_active: bool = Field(description="false: the user cannot get tokens.")
    two_step: bool = Field(description="Whether two-step verification is enabled.")
    created_at: Timestamp
    updated_at: Timestamp


class UserWithPassword(User):
    """A user with the generated password, which only this response contains."""

    password: str | None = Field(description="Null if the request contained a password.")


class TotpEnrolment(Stored):
    """A pending second factor, which only this response contains."""

    secret: str = Field(description="Base32, to be typed into the app.")
    otpauth_uri: str = Field(description="To be shown as a QR code.")
    recovery_codes: list[str] = Field(description="Each replaces a code once.")


class RecoveryCodeList(Stored):
    """New recovery codes, which only this response contains."""

    recovery_codes: list[str] = Field(description="Each replaces a code once.")


class UserSession(Stored):
    """A session of a user in responses: a sign-in that can get new tokens."""

    id: str
    client_id: str | None = Field(
        description="Mobile application that the user signed in with; null without one."
    )
    second_factor: bool = Field(description="Whether the user gave a code when signing in.")
    is_current: bool = Field(description="Whether the token of this request belongs to it.")
    created_at: Timestamp = Field(description="When the user signed in, in UTC.")
    updated_at: Timestamp = Field(description="When it got its last tokens, in UTC.")
    expires_at: Timestamp = Field(description="When it ends if it is not used, in UTC.")


class SessionParameters(ListParameters):
    """Query parameters of the list of sessions."""

    sort: Literal["created_at", "-created_at"] = "-created_at"


class UserParameters(KeyedParameters):
    """Query parameters of the list of users."""

    sort: Literal[
        "id", "-id", "username", "-username", "name", "-name",
        "created_at", "-created_at", "updated_at", "-updated_at",
    ] = "id"  # fmt: skip
    search: Search | None = None
    username: Username | None = None
    email: Email | None = None
    is_active: bool | None = None
    two_step: bool | None = None
    role: Annotated[Integer, Field(ge=1)] | None = Field(default=None, description="Id of a role.")


class RoleCreate(Input):
    """A new role."""

    name: _ShortName
    description: Note | None = None
    permissions: _Permissions


class RoleChange(Input):
    """Changes of a role. Fields that are not sent keep their values."""

    name: _ShortName = ""
    description: Note | None = None
    permissions: _Permissions = Field(default_factory=list)
    deactivate_webhooks: DeactivateWebhooks = False


class Role(Stored):
    """A role, a named set of permissions, in responses."""

    id: int
    name: str
    description: str | None = None
    permissions: list[Permission]
    created_at: Timestamp
    updated_at: Timestamp


class StoredRole(Role):
    """A role as stored. `tokens_from` is the earliest `iat` of tokens with the role."""

    tokens_from: int = 0


class RoleParameters(KeyedParameters):
    """Query parameters of the list of roles."""

    sort: Literal[
        "id", "-id", "name", "-name", "created_at", "-created_at", "updated_at", "-updated_at"
    ] = "id"
    search: Search | None = None
