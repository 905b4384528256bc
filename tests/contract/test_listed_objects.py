"""The feed of changes has what lists show, and calls it by the name of the list."""

from operations.stored_collections import COLLECTIONS
from tests.lists import LISTS

_IN_NO_FEED = {"/audit-log"}


def _object_of(path: str) -> str:
    """Return the name of a list in the singular, with underscores."""
    name = path.removeprefix("/").replace("-", "_")
    return f"{name[:-3]}y" if name.endswith("ies") else name.removesuffix("s")


def test_changes_are_noted_of_exactly_what_lists_show() -> None:
    shown = {
        listed.collection.kind: _object_of(listed.path)
        for listed in LISTS.values()
        if listed.path not in _IN_NO_FEED and not listed.fixed_query
    }

    noted = {kind: one.listed_as for kind, one in COLLECTIONS.items() if one.listed_as}

    assert noted == shown
    assert len(set(noted.values())) == len(noted)
