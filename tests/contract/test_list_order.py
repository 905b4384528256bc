"""Each sort value puts all rows in its order, both ways; rows equal in it stay in theirs."""

from tests.contract.filled_lists import FilledList, FilledLists
from tests.lists import LISTS


def test_each_sort_value_both_ways(shelf: FilledList) -> None:
    queries = [{"sort": sign + sort} for sort in shelf.spec.sorts for sign in ("", "-")]
    assert shelf.mismatches(queries) == []


def test_the_default_order(shelf: FilledList) -> None:
    named = shelf.get({"sort": shelf.spec.default_sort, "per_page": 100})
    assert shelf.get({"per_page": 100}).data == named.data
    assert shelf.mismatches([{}]) == []


def test_pages_are_cut_out_of_that_order(house: FilledLists, name: str) -> None:
    with house.filled(LISTS[name], 26) as shelf:
        for sort in shelf.spec.sorts:
            for sign in ("", "-"):
                rows = shelf.walk({"sort": sign + sort}, per_page=4)
                assert rows == shelf.walk({"sort": sign + sort}), sign + sort


def test_the_orders_that_are_tried_have_ties_and_differ(house: FilledLists, name: str) -> None:
    """Without this the tests above might see one order only."""
    with house.filled(LISTS[name], 250) as shelf:
        unique = {"id", "item_code", "username", "whs_code"}
        for sort, value in shelf.spec.sorts.items():
            values = [value(row) for row in shelf.rows.values()]
            assert len(set(values)) > 3, sort
            assert sort in unique or len(set(values)) < len(values), sort
        orders = {tuple(shelf.ordered(shelf.rows, sort)) for sort in shelf.spec.sorts}
        assert len(orders) > 1 or len(shelf.spec.sorts) == 1
