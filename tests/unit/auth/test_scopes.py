"""The descriptions of scopes and permissions say what the routes give."""

from collections.abc import Iterator

import pytest

from shared.identity.auth.scopes import PERMISSIONS, SCOPES
from tests.cases import each_case
from tools.openapi import declared

_WORDS = {
    "api-clients": "API clients",
    "label": "labels",
    "layout": "maps",
    "layout.svg": "maps",
    "packing-slip.pdf": "packing slips",
    "stock-adjustments": "stock",
    "stock-levels": "stock",
    "stock-movements": "stock",
    "stocks": "stock",
    "warehouse-positions": "positions",
    "webhooks": "webhook",
}
"""Part of a path → how the descriptions name it, where it is not the part itself."""


def _named(path: str) -> Iterator[str]:
    """Yield what the description of a right for a path has to name."""
    parts = path.strip("/").split("/")
    yield _WORDS.get(parts[0], parts[0].replace("-", " "))
    yield from (_WORDS[part] for part in parts[1:] if part in _WORDS)


def _paths(right: str) -> set[str]:
    return {one.path for one in declared.operations() if right in {one.scope, one.permission}}


_RIGHTS: dict[str, str] = dict([*SCOPES.items(), *PERMISSIONS.items()])


@each_case(("right", "description"), _RIGHTS.items())
def test_description_names_every_resource_that_the_right_gives(
    right: str, description: str
) -> None:
    missing = {
        name for path in _paths(right) for name in _named(path)
        if name.lower() not in description.lower()
    }  # fmt: skip
    assert not missing


@pytest.mark.parametrize("right", ["settings:manage", "users.manage"])
def test_description_says_who_is_an_administrator(right: str) -> None:
    assert _RIGHTS[right].endswith("can obtain every other right.")


def test_scope_that_deletes_says_so() -> None:
    deleting = {one.scope or "" for one in declared.operations() if one.method == "DELETE"}
    for scope in deleting - {"webhooks:manage", "settings:manage"}:
        assert any(word in _RIGHTS[scope].lower() for word in ("delete", "remove", "cancel")), scope
