"""The defaults of stored fields never change."""

from shared.kernel.fields import Stored
from tests.recorded.fields import changed, current, fields_of, recorded


def test_no_stored_field_has_another_default_than_when_it_was_left_out() -> None:
    """Two kinds of changes fail.

    Another default, or none: data lacks the field where it had the former one. A default where
    there was none: the release before cannot read what leaves it out.
    """
    assert changed(recorded(), current()) == []


def test_new_stored_fields_are_recorded() -> None:
    """Record them: `python -m tests.recorded.fields`. One of a former model has a default."""
    before = recorded()
    missing = [
        f"{model}.{name}"
        for model, fields in current().items()
        for name in fields.keys() - before.get(model, {}).keys()
    ]
    assert missing == []


class _Before(Stored):
    id: int
    note: str | None = None
    batches: tuple[str, ...] = ()
    gone: int = 0


class _Now(Stored):
    id: int = 0
    note: str | None = ""
    batches: tuple[str, ...]
    new: int = 0


def test_changes_of_defaults_are_found() -> None:
    now = {"Work": fields_of(_Now)}
    assert changed({"Work": fields_of(_Before)}, now) == ["Work.id", "Work.note", "Work.batches"]
    assert changed(now, now) == []
