"""What users and roles are: bodies, what is stored, what is answered."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from shared.identity.auth.scopes import PERMISSIONS, Permission
from shared.identity.users.totp import DIGITS
from shared.kernel.fields import Email, Identifier, Input, Name, Note, Stored, Timestamp, distinct
from shared.kernel.list_parameters import Integer, ListParameters, Search

MAX_ROLES = 20
"""Roles that a user may have."""

_USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def folded_username(text: str) -> str:
    """A user name as it is stored: telephones write the first letter in upper case."""
    plain = text.strip()
    return plain.lower() if plain.isascii() else plain  # no sign of another script becomes one


def is_username(text: str) -> bool:
    """Tell whether a text (folded) can be a user name."""
    return _USERNAME.fullmatch(text) is not None


def _username(text: str) -> str:
    folded = folded_username(text)
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
"""What somebody logs in with, before `@` and the name of the tenant; kept in lower case."""

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
"""A new password; what else it must be is told by `passwords.problem`."""

type PresentedPassword = Annotated[
    str,
    StringConstraints(max_length=1_000),
    WithJsonSchema({"type": "string", "format": "password"}),
]
"""A password that is to be compared with the one stored."""


class UserCreate(Input):
    """A new user. Without a password, the service makes one."""

    username: Username
    name: _ShortName
    email: Email | None = None
    roles: _RoleIds = Field(default_factory=list)
    password: Password | None = None


class UserChange(Input):
    """What may change of a user; only the fields sent do."""

    name: _ShortName = ""
    email: Email | None = None
    roles: _RoleIds = Field(default_factory=list)
    is_active: bool = True


class PasswordReset(Input):
    """A new password for somebody else. Without one, the service makes it."""

    password: Password | None = None


class PasswordChange(Input):
    """A new password of one's own."""

    current_password: PresentedPassword
    new_password: Password


def _code(text: str) -> str:
    digits = "".join(text.split())  # apps show them in two groups
    if not (len(digits) == DIGITS and digits.isascii() and digits.isdigit()):
        raise PydanticCustomError("totp", f"must have {DIGITS} digits")
    return digits


class TotpConfirmation(Input):
    """The code that the authenticator app shows."""

    code: Annotated[
        str,
        StringConstraints(max_length=50),
        AfterValidator(_code),
        WithJsonSchema({"type": "string", "pattern": "^[0-9]{6}$"}),
    ]


class User(Stored):
    """A user, as stored and as answered. How they log in is kept apart."""

    id: int
    username: str
    name: str
    email: str | None = None
    roles: list[int]
    is_active: bool = Field(description="false: can get no token.")
    two_step: bool = Field(description="Whether a code is asked for besides the password.")
    created_at: Timestamp
    updated_at: Timestamp


class NewUser(User):
    """A user with the password that the service made, which is shown this once."""

    password: str | None = Field(description="null where the request gave one.")


class TotpEnrolment(Stored):
    """A second factor to be confirmed; all of it is shown this once."""

    secret: str = Field(description="Base32, for typing in.")
    otpauth_uri: str = Field(description="For a QR code.")
    recovery_codes: list[str] = Field(description="Each works once in place of a code.")


class UserParameters(ListParameters):
    """Parameters of the list of users."""

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
    """What may change of a role; only the fields sent do."""

    name: _ShortName = ""
    description: Note | None = None
    permissions: _Permissions = Field(default_factory=list)


class Role(Stored):
    """A named set of permissions, as answered."""

    id: int
    name: str
    description: str | None = None
    permissions: list[Permission]
    created_at: Timestamp
    updated_at: Timestamp


class StoredRole(Role):
    """A role as stored; `tokens_from`: first second of which tokens may bear it."""

    tokens_from: int = 0


class RoleParameters(ListParameters):
    """Parameters of the list of roles."""

    sort: Literal[
        "id", "-id", "name", "-name", "created_at", "-created_at", "updated_at", "-updated_at"
    ] = "id"
    search: Search | None = None
