"""Decisions about users and roles."""

from hypothesis import given
from hypothesis import strategies as st

from shared.identity.users import rules
from shared.identity.users.logins import Login


@given(st.sets(st.integers(1, 9)), st.sets(st.integers(1, 9)))
def test_role_count_changes_lead_from_before_to_after(before: set[int], after: set[int]) -> None:
    moved = rules.role_count_changes(before, after)
    gained = {role for role, by in moved.items() if by == 1}
    lost = {role for role, by in moved.items() if by == -1}
    assert (before | gained) - lost == after
    assert gained & before == set()
    assert lost <= before


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
