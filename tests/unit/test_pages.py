"""The generated parts of the pages, between their markers."""

import pytest

from shared.kernel.db.table import INDEX_COUNT
from tools.pages import storage
from tools.pages.markers import replaced, table

_PAGE = "# A\n<!-- generated: a b -->\nold\n\n| old |\n<!-- end: a b -->\ntext\n"
_TEMPLATE = "Names:\n  # <!-- generated: a -->\n  old\n  # <!-- end: a -->\n"
_PARTS = {"a b": lambda: "new\n"}


def test_text_between_the_markers_is_replaced() -> None:
    page = replaced(_PAGE, _PARTS)
    assert page == "# A\n<!-- generated: a b -->\nnew\n<!-- end: a b -->\ntext\n"
    assert replaced(page, _PARTS) == page
    assert replaced(_TEMPLATE, {"a": lambda: "  new"}) == _TEMPLATE.replace("  old", "  new")
    assert replaced("See `<!-- generated: NAME -->`.\n", {}) == "See `<!-- generated: NAME -->`.\n"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (_PAGE.replace("end: a b", "end: a"), r"\['a b'\] begin, \[\] end"),
        ("<!-- generated: a b -->\n" + _PAGE, r"\['a b', 'a b'\] begin, \['a b'\] end"),
        (_PAGE.replace("a b", "c"), "has no part {'c'}"),
    ],
)
def test_wrong_markers_are_refused(page: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replaced(page, _PARTS)


def test_table_has_a_row_for_each_entry() -> None:
    assert table(("Plan", "Users:"), [("A", 1)]) == "| Plan | Users |\n|---|---:|\n| A | 1 |\n"


def test_every_index_is_in_a_table() -> None:
    used = {
        kind: {index for index, _ in storage.entries_of(one)}
        for kind, one in storage.collections().items()
    }
    assert {kind for kind, found in used.items() if found} == {
        kind for kinds in storage.KINDS.values() for kind in kinds
    }
    assert max(index for found in used.values() for index in found) == INDEX_COUNT
