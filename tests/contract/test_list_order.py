"""Lists are sorted by each sort value, ascending and descending; equal rows are sorted by id."""

import pytest

from tests.contract.filled_lists import FilledList, FilledLists
from tests.lists import LISTS
from tests.sampling import sampled


def test_each_sort_value_sorts_ascending_and_descending(tied_list: FilledList) -> None:
    queries = [{"sort": sign + sort} for sort in tied_list.spec.sorts for sign in ("", "-")]
    assert tied_list.mismatches(queries) == []


def test_default_order_is_that_of_the_default_sort_value(tied_list: FilledList) -> None:
    named = tied_list.get({"sort": tied_list.spec.default_sort, "per_page": 100})
    assert tied_list.get({"per_page": 100}).data == named.data
    assert tied_list.mismatches([{}]) == []


@pytest.mark.parametrize("list_name", sampled("sorted pages", list(LISTS), every=3))
def test_pages_follow_the_sort_order(lists: FilledLists, list_name: str) -> None:
    with lists.filled(LISTS[list_name], 26) as listing:
        for sort in listing.spec.sorts:
            for sign in ("", "-"):
                rows = listing.walk({"sort": sign + sort}, per_page=4)
                assert rows == listing.walk({"sort": sign + sort}), sign + sort


def test_tested_sort_orders_have_ties_and_differ(surely_tied_list: FilledList) -> None:
    """Guard against the tests above seeing only one order."""
    listing = surely_tied_list
    unique = {"id", "item_code", "username", "whs_code"}
    for sort, value in listing.spec.sorts.items():
        values = [value(row) for row in listing.rows.values()]
        assert len(set(values)) > 2, sort  # a priority has three ranks
        assert sort in unique or len(set(values)) < len(values), sort
    orders = {tuple(listing.ordered(listing.rows, sort)) for sort in listing.spec.sorts}
    assert len(orders) > 1 or len(listing.spec.sorts) == 1
