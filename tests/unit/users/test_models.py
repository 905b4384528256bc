"""Validation of the bodies of users and roles."""

from typing import Any, get_args

import pytest

from shared.identity.auth.scopes import PERMISSIONS, Permission
from shared.identity.users.models import RoleCreate, TotpConfirmation, UserCreate
from shared.kernel.validation import check, ensure_valid, problems_of
from tests.cases import each_case


def _problems(body: dict[str, Any]) -> list[tuple[str, str]]:
    problems = problems_of(check(UserCreate, {"username": "ana", "name": "Ana", **body}))
    return [(problem.field, problem.message) for problem in problems]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("ana", "ana"),
        (" Ana.Ruiz\n", "ana.ruiz"),
        ("7", "7"),
        ("a" * 64, "a" * 64),
        ("a_b-c.d", "a_b-c.d"),
    ],
)
def test_user_names_are_stored_in_lower_case(given: str, kept: str) -> None:
    user = ensure_valid(check(UserCreate, {"username": given, "name": "Ana"}))
    assert user.username == kept


@each_case(
    "username",
    ["", " ", ".ana", "-ana", "_ana", "ana ruiz", "ana@acme", "añá", "an\x00a", "a" * 65,
     "a" * 300, "ana/1", "K\u212a", "\ud800"],
)  # fmt: skip
def test_invalid_user_names_are_refused(username: str) -> None:
    assert [field for field, _ in _problems({"username": username})] == ["username"]


def test_all_problems_are_returned() -> None:
    found = _problems(
        {
            "username": 5, "name": "n" * 101, "email": "nobody", "roles": [3, 3, 0, "x", 2.5],
            "password": 12,
        }
    )  # fmt: skip
    assert [field for field, _ in found] == [
        "username", "name", "email", "roles.1", "roles.2", "roles.3", "roles.4", "password",
    ]  # fmt: skip


@pytest.mark.parametrize("body", [{"name": ""}, {"name": "A\tB"}, {"name": None}])
def test_invalid_names_are_refused(body: dict[str, Any]) -> None:
    assert [field for field, _ in _problems(body)] == ["name"]


def test_user_has_at_most_twenty_roles() -> None:
    assert _problems({"roles": list(range(1, 21))}) == []
    assert _problems({"roles": list(range(1, 22))}) == [("roles", "must have at most 20 entries")]


def test_permission_type_matches_the_descriptions() -> None:
    assert get_args(Permission) == tuple(PERMISSIONS)


def test_unknown_and_repeated_permissions_are_reported_with_their_index() -> None:
    given = ["exits.manage", "exits.manage", "everything", 5, None]
    problems = problems_of(check(RoleCreate, {"name": "Packers", "permissions": given}))

    assert [problem.field for problem in problems] == [
        "permissions.1", "permissions.2", "permissions.3", "permissions.4",
    ]  # fmt: skip
    assert problems[0].message == "must not be named twice"
    assert "'approvals.grant'" in problems[1].message


@pytest.mark.parametrize("code", ["492039", "492 039", " 492039 "])
def test_a_code_may_come_as_apps_show_it(code: str) -> None:
    confirmation = ensure_valid(check(TotpConfirmation, {"code": code}))
    assert confirmation.code == "492039"


@pytest.mark.parametrize(
    "code", ["", "49203", "4920399", "49203a", "\u0664\u0669\u0662\u0660\u0663\u0669", 492039]
)
def test_what_is_no_code(code: object) -> None:
    problems = problems_of(check(TotpConfirmation, {"code": code}))
    assert [problem.field for problem in problems] == ["code"]
