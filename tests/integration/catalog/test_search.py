"""The search index of products: what finds them, what it costs, and when it is written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from shared.kernel.db.lists import bounds
from shared.kernel.db.search import SEARCH_ITEM
from tests.cases import each_case
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.faults import AwsFaults, Recording
from tests.gateway import Erp
from tests.integration.stored_entities import assert_derived_items_match
from tests.lists import LISTS
from tests.lists.filling import fill
from tests.lists.spec import HOURLY
from tests.stack import Stack

_ROWS = 1_000
_BESIDE = 20
"""Items that a list reads in addition to the entries: the totals, and the newest change."""


@pytest.fixture
def screw(erp: Erp) -> Erp:
    """The product 1, SCR-912, with the name Cylinder head screw."""
    body = {"item_code": "SCR-912", "name": "Cylinder head screw", "type": "metal"}
    assert erp.post("/products", body).status == 201
    return erp


def _found(erp: Erp, search: str, **more: object) -> list[int]:
    return [row["id"] for row in erp.walk("/products", search=search, **more)]


def _writes(seen: Recording) -> list[Mapping[str, Mapping[str, object]]]:
    """Return the actions on search items of all transactions."""
    return [
        action
        for call in seen.calls
        if call.operation == "TransactWriteItems"
        for action in call.request["TransactItems"]
        if SEARCH_ITEM in str(action)
    ]


def test_words_are_found_in_any_order_and_anywhere_in_a_word(screw: Erp) -> None:
    for search in ("screw CYLÍN", "w h", "linder 912", "scr-9", "-912", "rew cyl 9"):
        assert _found(screw, search) == [1], search
    for search in ("screw bolt", "headscrew", "screw 913"):
        assert _found(screw, search) == [], search
    assert _found(screw, "screw", type="metal") == [1]
    assert _found(screw, "screw", type="wood") == []


@each_case(
    ("name", "searches"),
    [
        ("Smørrebrød, Œufs", ("smorrebrod", "SMØRRE", "smorrebrød", "ø", "o", "oeuf", "œ")),
        ("Łódź KIRMIZI \u0131s\u0131", ("lodz kirmizi", "łodz", "k\u0131rm", "İSİ", "\u0131s")),
        ("Đá Straße", ("da strasse", "đá", "đa STRAẞE")),
        ("Ce\u00adment\u200bsack", ("cementsack", "ce\u00adment", "nt\u200bsa", "c\u200be")),
        ("Smorrebrod Kirmizi", ("smørrebrød k\u0131rm", "smorre\u00adbrod", "ø")),
    ],
)
def test_base_letters_and_invisible_characters_do_not_matter(
    name: str, searches: tuple[str, ...], erp: Erp, stack: Stack
) -> None:
    code = f"P-{len(name)}-{len(searches)}"
    number = erp.post("/products", {"item_code": code, "name": name}).ok(201)["id"]
    for search in searches:
        assert number in _found(erp, search), search
        assert number in _found(erp, search, item_code=code), search
    assert erp.get("/products", query={"search": "\u00ad\u200b"}).invalid_fields == ["search"]
    assert_derived_items_match(stack)


def test_change_that_does_not_touch_the_text_writes_no_search_entries(
    screw: Erp, stack: Stack, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as seen:
        assert screw.patch("/products/1", {"type": "steel"}).status == 200
    assert not _writes(seen)
    with aws_faults.recorded() as seen:
        assert screw.patch("/products/1", {"name": "Nut"}).status == 200
    assert _writes(seen)
    assert _found(screw, "screw") == []
    assert _found(screw, "nut") == [1]
    assert_derived_items_match(stack)  # a shorter name leaves fewer items


def test_deleted_product_leaves_no_search_entries(screw: Erp, stack: Stack) -> None:
    assert screw.delete("/products/1").status == 200
    assert _found(screw, "screw") == []
    assert_derived_items_match(stack)


def test_search_that_examines_too_much_is_refused(
    screw: Erp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_PAGES", 1)
    assert _found(screw, "a") == [1]  # one page of the whole list
    answer = screw.get("/products", query={"search": "screw"})  # two indexes
    assert answer.status == 422
    (problem,) = answer.json()["errors"]
    assert problem["field"] == "search"
    assert "matches too much" in problem["message"]
    monkeypatch.undo()
    monkeypatch.setattr(bounds, "MAX_ITEMS", 0)
    answer = screw.get("/products", query={"search": "screw", "type": "metal"})
    assert (answer.status, answer.json()["error"]["field"]) == (422, "search")


@dataclass(frozen=True)
class _Found:
    total: int
    examined: int
    """The most entries that are examined for them."""


@pytest.fixture
def many(stack: Stack, aws_faults: AwsFaults) -> Iterator[InMemoryTable]:
    """A table with 1,000 products, which answers the requests."""
    table = fill(stack.store(), LISTS["/products"], _ROWS, HOURLY)
    with aws_faults.faulty(table.fault):
        yield table


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("item-", _Found(_ROWS, examined=_ROWS)),
        ("zinc plate", _Found(_ROWS // 5, examined=_ROWS // 2)),
        # The rare word decides, also when it is the shorter one: see _FIRST_ENTRIES.
        ("hexagon 7919", _Found(3, examined=400)),
        ("item- 7919", _Found(4, examined=400)),
    ],
)
def test_search_examines_what_it_finds(
    many: InMemoryTable, stack: Stack, aws_faults: AwsFaults, search: str, found: _Found
) -> None:
    erp = stack.erp()
    assert erp.get("/products/1").status == 200  # fills the caches
    before = many.examined
    with aws_faults.recorded() as seen:
        answer = erp.get("/products", query={"search": search, "sort": "-name"})
    assert answer.json()["meta"]["total"] == found.total
    assert many.examined - before <= found.examined + _BESIDE
    assert seen.round_trips <= 4


def test_search_with_a_time_examines_besides_only_what_changed_since(
    many: InMemoryTable, stack: Stack
) -> None:
    since = LISTS["/products"].all_filters(HOURLY)["updated_since"].values(_ROWS)[0]
    erp = stack.erp()
    assert erp.get("/products/1").status == 200  # fills the caches
    before = many.examined
    answer = erp.get("/products", query={"search": "item-", "updated_since": since})
    changed = answer.json()["meta"]["total"]
    assert 0 < changed < 100
    assert many.examined - before <= _ROWS + changed + _BESIDE
