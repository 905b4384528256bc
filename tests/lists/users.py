"""The lists of users and of roles."""

from typing import get_args

from shared.identity.auth.scopes import Permission
from shared.identity.users.models import StoredRole, User
from shared.identity.users.repository import ROLES, USERS
from tests.lists import spec

_NAMES = ("Ana Ruiz", "ÁNGEL Peña", "angela Brindley", "Zoë Ñuñez", "Björn Berg")
_ROLES = ("Packers", "ÁREA manager", "area clerk", "Receiving", "Zealous readers")
_PER_ADDRESS = 3
_ALL: tuple[Permission, ...] = get_args(Permission)


def _username(number: int) -> str:
    return f"{('ana', 'angel', 'bjorn', 'zoe', 'maria')[number % 5]}.{number:06d}"


def _email(number: int) -> str:
    return f"Team.{number // _PER_ADDRESS}@Acme.example"


def _user(number: int, times: spec.Times) -> User:
    return User(
        **times.of(number),
        username=_username(number),
        name=f"{_NAMES[number % 5]} {number % 31}",
        email=spec.unless(number, 5, _email(number)),
        roles=[] if number % 7 == 0 else [number % 4 + 1, number % 11 + 5],
        is_active=number % 6 != 0,
        two_step=number % 4 == 0,
    )


def _role(number: int, times: spec.Times) -> StoredRole:
    return StoredRole(
        **times.of(number),
        name=f"{_ROLES[number % 5]} {number % 31}",
        description=spec.unless(number, 3, "Pick\nand pack."),
        permissions=[_ALL[number % 7], _ALL[(number + 3) % 7]],
    )


_SORTS = "id name created_at updated_at"
USER_LIST = spec.Listed(
    path="/users",
    collection=USERS,
    make=_user,
    fields=spec.fields("""
        integer: id
        string: username name email?
        boolean: is_active two_step
        array: roles
        date-time: created_at updated_at
    """),
    filters={
        "search": spec.contains_text(
            "username", "name", values=("ang", "pena", "RUIZ 3", "zoe.0", "nobody"), code=_username
        ),
        "username": spec.in_any_case("username", _username, ("", "ana ruiz", "x" * 65)),
        "email": spec.in_any_case("email", _email, ("nobody", "a@b", "")),
        "is_active": spec.flag("is_active", selective=True),
        "two_step": spec.flag("two_step", selective=True),
        "role": spec.Filter(
            lambda _: ("1", "15", "77"),
            lambda row, value: int(value) in row["roles"],
            spec.INVALID_IDS,
        ),
    },
    sorts=spec.sorted_by(f"{_SORTS} username"),
    default_sort="id",
)

ROLE_LIST = spec.Listed(
    path="/roles",
    collection=ROLES,
    make=_role,
    fields=spec.fields("""
        integer: id
        string: name description?
        array: permissions
        date-time: created_at updated_at
    """),
    filters={
        "search": spec.contains_text("name", values=("area", "PACK", "receiving 1", "nothing"))
    },
    sorts=spec.sorted_by(_SORTS),
    default_sort="id",
)
