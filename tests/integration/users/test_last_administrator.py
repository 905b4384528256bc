"""The last enabled user with the permission users.manage keeps it."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.gateway import Erp, Response
from tests.integration.users.user_requests import (
    CONCURRENCY,
    audit_entries,
    before_next_commit,
    create_role,
    create_user,
)

type Act = Callable[[], Response]


class _Company:
    """A company with roles for administrators, and its users by name."""

    def __init__(self, erp: Erp) -> None:
        self.erp = erp
        self.admins = create_role(erp, "Admins", "users.manage", "exits.manage")
        self.owners = create_role(erp, "Owners", "users.manage")
        self.packers = create_role(erp, "Packers", "exits.manage")

    def user(self, name: str, *roles: int) -> int:
        return create_user(self.erp, name, roles=list(roles))

    def change(self, user: int, **body: Any) -> Response:
        return self.erp.patch(f"/users/{user}", body)

    def disable(self, user: int) -> Response:
        return self.change(user, is_active=False)

    def delete(self, user: int) -> Response:
        return self.erp.delete(f"/users/{user}")

    def restrict(self, role: int) -> Response:
        return self.erp.patch(f"/roles/{role}", {"permissions": ["exits.manage"]})

    def administrators(self) -> list[int]:
        giving = {
            one["id"] for one in self.erp.walk("/roles") if "users.manage" in one["permissions"]
        }
        return [
            one["id"]
            for one in self.erp.walk("/users", is_active="true")
            if giving & set(one["roles"])
        ]


@pytest.fixture
def company(erp: Erp) -> _Company:
    """A company without users."""
    return _Company(erp)


def _is_refused(answer: Response) -> bool:
    if answer.status == 200:
        return False
    assert (answer.status, answer.code) == (409, "conflict"), answer.text
    assert "users.manage" in answer.json()["message"]
    return True


_LOSSES: dict[str, Callable[[_Company, int], Response]] = {
    "disable": lambda company, user: company.disable(user),
    "delete": lambda company, user: company.delete(user),
    "other role": lambda company, user: company.change(user, roles=[company.packers]),
    "no role": lambda company, user: company.change(user, roles=[]),
    "role changed": lambda company, _: company.restrict(company.admins),
}


@pytest.mark.parametrize("loss", _LOSSES)
def test_last_administrator_keeps_the_permission(company: _Company, loss: str) -> None:
    boss = company.user("boss", company.admins, company.packers)
    retired = company.user("retired", company.owners)
    assert company.disable(retired).status == 200
    company.user("packer", company.packers)
    before = company.erp.get(f"/users/{boss}").data
    entries = len(audit_entries(company.erp))

    assert _is_refused(_LOSSES[loss](company, boss))

    assert company.erp.get(f"/users/{boss}").data == before
    assert company.administrators() == [boss]
    assert len(audit_entries(company.erp)) == entries


@pytest.mark.parametrize("loss", _LOSSES)
def test_one_of_two_administrators_can_lose_the_permission(company: _Company, loss: str) -> None:
    boss, other = company.user("boss", company.admins), company.user("other", company.owners)

    assert _LOSSES[loss](company, boss).status == 200

    assert company.administrators() == [other]
    assert _is_refused(company.delete(other))


def test_last_administrator_can_be_changed_otherwise(company: _Company) -> None:
    boss = company.user("boss", company.admins)
    for body in (
        {"name": "The Boss"},
        {"roles": [company.owners, company.packers]},
        {"roles": [company.owners]},
        {"is_active": True, "roles": [company.admins]},
    ):
        assert company.change(boss, **body).status == 200
    fewer = {"name": "Bosses", "permissions": ["users.manage"]}
    assert company.erp.patch(f"/roles/{company.admins}", fewer).status == 200
    assert company.restrict(company.owners).status == 200, "nobody has it"
    assert company.administrators() == [boss]


def test_company_without_administrators_can_change_everything(company: _Company) -> None:
    packer = company.user("packer", company.packers)
    sleeper = company.user("sleeper", company.packers)
    assert company.disable(sleeper).status == 200
    assert company.change(sleeper, roles=[company.admins]).status == 200

    assert company.restrict(company.admins).status == 200, "only a disabled user has it"
    assert company.disable(packer).status == 200
    for user in (packer, sleeper):
        assert company.delete(user).status == 200
    assert company.administrators() == []


def test_administrator_is_found_among_many_users(
    company: _Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.identity.users.administrators._USERS_PER_READ", 2)
    boss = company.user("boss", company.admins)
    for name in ("a", "b", "c"):
        company.user(name, company.packers)
    gone = company.user("gone")
    assert company.delete(gone).status == 200
    late = company.user("late", company.admins)

    assert company.disable(boss).status == 200
    assert company.administrators() == [late]


def test_invalid_change_reports_its_problems(company: _Company) -> None:
    boss = company.user("boss", company.admins)
    assert company.change(boss, is_active=False, name="").status == 422


# At the same time

type Pair = Callable[[_Company, int, int], tuple[Act, Act]]

_PAIRS: dict[str, Pair] = {
    "disable each other": lambda c, a, b: (lambda: c.disable(a), lambda: c.disable(b)),
    "delete each other": lambda c, a, b: (lambda: c.delete(a), lambda: c.delete(b)),
    "disable and delete": lambda c, a, b: (lambda: c.disable(a), lambda: c.delete(b)),
    "delete and take the role": lambda c, a, b: (
        lambda: c.delete(a), lambda: c.change(b, roles=[]),
    ),
    "delete and change the role": lambda c, a, _b: (
        lambda: c.delete(a), lambda: c.restrict(c.owners),
    ),
    "change the role and disable": lambda c, _a, b: (
        lambda: c.restrict(c.admins), lambda: c.disable(b),
    ),
    "change both roles": lambda c, _a, _b: (
        lambda: c.restrict(c.admins), lambda: c.restrict(c.owners),
    ),
}  # fmt: skip


@pytest.mark.parametrize("pair", _PAIRS)
def test_one_administrator_is_left_when_the_other_change_commits_first(
    company: _Company, aws_faults: AwsFaults, pair: str
) -> None:
    anna, bert = company.user("anna", company.admins), company.user("bert", company.owners)
    first, second = _PAIRS[pair](company, anna, bert)
    inner: list[Response] = []

    with before_next_commit(aws_faults, lambda: inner.append(first())):
        outer = second()

    assert [answer.status for answer in inner] == [200]
    assert _is_refused(outer)
    assert len(company.administrators()) == 1


def test_role_kept_by_a_user_is_not_changed_at_the_same_time(
    company: _Company, aws_faults: AwsFaults
) -> None:
    """Anna gives up one of two roles with the permission while the other one loses it."""
    anna = company.user("anna", company.admins, company.owners)
    inner: list[Response] = []

    with before_next_commit(aws_faults, lambda: inner.append(company.restrict(company.owners))):
        outer = company.change(anna, roles=[company.owners])

    assert [answer.status for answer in inner] == [200]
    assert _is_refused(outer)
    assert company.administrators() == [anna]


def test_one_administrator_is_left_when_all_are_disabled_at_once(
    company: _Company, aws_faults: AwsFaults
) -> None:
    users = [company.user(f"user-{number}", company.admins) for number in range(CONCURRENCY)]
    aws_faults.latency = 0.01

    answers = run_concurrently(CONCURRENCY, lambda number: company.disable(users[number]))

    assert Counter(_is_refused(answer) for answer in answers) == {False: CONCURRENCY - 1, True: 1}
    assert len(company.administrators()) == 1
