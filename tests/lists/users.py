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
        id=number,
        username=_username(number),
        name=f"{_NAMES[number % 5]} {number % 31}",
        email=spec.unless(number, 5, _email(number)),
        roles=[] if number % 7 == 0 else [number % 4 + 1, number % 11 + 5],
        is_active=number % 6 != 0,
        two_step=number % 4 == 0,
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


def _role(number: int, times: spec.Times) -> StoredRole:
    return StoredRole(
        id=number,
        name=f"{_ROLES[number % 5]} {number % 31}",
        description=spec.unless(number, 3, "Pick\nand pack."),
        permissions=[_ALL[number % 7], _ALL[(number + 3) % 7]],
        created_at=times.created(number),
        updated_at=times.updated(number),
    )


_SORTS = {
    "id": spec.by("id"),
    "name": spec.by_folded_text("name"),
    "created_at": spec.by("created_at"),
    "updated_at": spec.by("updated_at"),
}
USER_LIST = spec.Listed(
    path="/users",
    collection=USERS,
    make=_user,
    fields=spec.fields("""
        id integer
        username string
        name string
        email string?
        roles array
        is_active boolean
        two_step boolean
        created_at date-time
        updated_at date-time
    """),
    filters={
        "search": spec.contains_text(
            "username", "name", values=("ang", "pena", "RUIZ 3", "zoe.0", "nobody"), code=_username
        ),
        "username": spec.Filter(
            lambda count: (_username(count // 2), _username(count).upper(), "nobody"),
            lambda row, value: row["username"] == value.lower(),
            ("", "ana ruiz", "x" * 65),
            selective=True,
        ),
        "email": spec.Filter(
            lambda count: (_email(count // 2).lower(), _email(count).upper(), "no@acme.example"),
            lambda row, value: (row["email"] or "").lower() == value.lower(),
            ("nobody", "a@b", ""),
            selective=True,
        ),
        "is_active": spec.flag("is_active", selective=True),
        "two_step": spec.flag("two_step", selective=True),
        "role": spec.Filter(
            lambda _: ("1", "15", "77"),
            lambda row, value: int(value) in row["roles"],
            spec.INVALID_IDS,
        ),
    },
    sorts={**_SORTS, "username": spec.by("username")},
    default_sort="id",
)

ROLE_LIST = spec.Listed(
    path="/roles",
    collection=ROLES,
    make=_role,
    fields=spec.fields("""
        id integer
        name string
        description string?
        permissions array
        created_at date-time
        updated_at date-time
    """),
    filters={
        "search": spec.contains_text("name", values=("area", "PACK", "receiving 1", "nothing"))
    },
    sorts=_SORTS,
    default_sort="id",
)
