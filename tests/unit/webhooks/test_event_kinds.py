"""The kinds of events."""

from pathlib import Path

from shared.kernel.events.kinds import EVENT_KINDS, EVENTS, TEST_EVENT

_SHARED = Path(__file__).parents[3] / "shared"


def test_every_event_has_its_occasions() -> None:
    assert list(EVENTS) == [*EVENT_KINDS, TEST_EVENT]


def test_every_event_is_raised() -> None:
    modules = [path for path in _SHARED.rglob("*.py") if path.name != "kinds.py"]
    raised = "".join(path.read_text(encoding="utf-8") for path in modules)
    assert [kind for kind in EVENT_KINDS if f'"{kind}"' not in raised] == []
