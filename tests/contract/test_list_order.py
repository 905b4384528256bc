"""Each sort value puts all rows in its order, both ways; rows equal in it stay in theirs."""

from tests.contract.filled_lists import House, Shelf
from tests.lists import LISTS


def test_each_sort_value_both_ways(shelf: Shelf) -> None:
    queries = [{"sort": sign + sort} for sort in shelf.listed.sorts for sign in ("", "-")]
    assert shelf.wrong(queries) == []


def test_the_default_order(shelf: Shelf) -> None:
    named = shelf.get({"sort": shelf.listed.default_sort, "per_page": 100})
    assert shelf.get({"per_page": 100}).data == named.data
    assert shelf.wrong([{}]) == []


def test_pages_are_cut_out_of_that_order(house: House, name: str) -> None:
    with house.shelf(LISTS[name], 26) as shelf:
        for sort in shelf.listed.sorts:
            for sign in ("", "-"):
                rows = shelf.walk({"sort": sign + sort}, per_page=4)
                assert rows == shelf.walk({"sort": sign + sort}), sign + sort


def test_the_orders_that_are_tried_have_ties_and_differ(house: House, name: str) -> None:
    """Without this the tests above might see one order only."""
    with house.shelf(LISTS[name], 250) as shelf:
        unique = {"id", "item_code", "username", "whs_code"}
        for sort, value in shelf.listed.sorts.items():
            values = [value(row) for row in shelf.rows.values()]
            assert len(set(values)) > 3, sort
            assert sort in unique or len(set(values)) < len(values), sort
        orders = {tuple(shelf.ordered(shelf.rows, sort)) for sort in shelf.listed.sorts}
        assert len(orders) > 1 or len(shelf.listed.sorts) == 1
