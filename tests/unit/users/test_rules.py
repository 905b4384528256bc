"""Decisions about users and roles."""

from hypothesis import given
from hypothesis import strategies as st

from shared.identity.users import rules
from shared.identity.users.logins import Login
from shared.identity.users.models import StoredRole, User
from shared.kernel.errors import Problem

_NOW = "2026-03-01T09:30:00.000Z"
_ANA = User(
    id=7, username="ana", name="Ana", roles=[1, 2], is_active=True, two_step=False,
    created_at=_NOW, updated_at=_NOW,
)  # fmt: skip


def test_unknown_roles_are_reported_with_their_index() -> None:
    assert rules.unknown_role_problems([4, 1, 9], {1, 2}) == [
        Problem("roles.0", "there is no role 4"),
        Problem("roles.2", "there is no role 9"),
    ]
    assert rules.unknown_role_problems([2, 1], {1, 2}) == []
    assert rules.unknown_role_problems(None, {1}) == []


@given(st.sets(st.integers(1, 9)), st.sets(st.integers(1, 9)))
def test_role_count_changes_lead_from_before_to_after(before: set[int], after: set[int]) -> None:
    moved = rules.role_count_changes(before, after)
    gained = {role for role, by in moved.items() if by == 1}
    lost = {role for role, by in moved.items() if by == -1}
    assert (before | gained) - lost == after
    assert gained & before == set()
    assert lost <= before


def test_field_changes_contain_before_and_after() -> None:
    after = _ANA.model_copy(update={"name": "Ana Ruiz", "roles": [2], "updated_at": "later"})
    assert rules.field_changes(_ANA, after) == {"name": ("Ana", "Ana Ruiz"), "roles": ([1, 2], [2])}
    role = StoredRole(id=1, name="A", permissions=[], created_at=_NOW, updated_at=_NOW)
    assert rules.field_changes(role, role.model_copy(update={"tokens_from": 5})) == {}


def test_audit_action_names_the_change_of_state() -> None:
    disabled = _ANA.model_copy(update={"name": "Ana Ruiz", "is_active": False})
    assert rules.audit_action(_ANA, disabled) == "user.disabled"
    assert rules.audit_action(disabled, _ANA) == "user.enabled"
    assert rules.audit_action(_ANA, _ANA.model_copy(update={"name": "Ana Ruiz"})) == "user.changed"


def test_ended_sessions_are_refused_except_the_kept_one() -> None:
    login = Login(7, "hash", epoch=3)
    for with_code in (False, True):
        assert login.allows_session("s1", 3, with_code=with_code)

        changed = login.end_sessions(keep="s1")
        assert changed.allows_session("s1", 3, with_code=with_code)
        assert not changed.allows_session("s2", 3, with_code=with_code)
        assert changed.allows_session("s3", 4, with_code=with_code)

        ended = changed.end_sessions()
        assert not any(
            ended.allows_session(session, epoch, with_code=with_code)
            for session in ("s1", "s3")
            for epoch in (3, 4)
        )
        assert ended.allows_session("s4", 5, with_code=with_code)


def test_sessions_without_code_end_and_those_with_a_code_continue() -> None:
    login = Login(7, "hash", epoch=2, code_epoch=2).end_sessions(keep="kept")
    for _ in range(2):
        login = login.end_sessions_without_code()

    for session, epoch in (("kept", 2), ("old", 3), ("later", 4)):
        assert login.allows_session(session, epoch, with_code=True)
        assert not login.allows_session(session, epoch, with_code=False)
    assert not login.allows_session("older", 2, with_code=True)
    assert login.allows_session("new", 5, with_code=False)

    ended = login.end_sessions()
    assert not any(
        ended.allows_session(session, epoch, with_code=with_code)
        for session, epoch in (("kept", 2), ("old", 3), ("new", 5))
        for with_code in (False, True)
    )
