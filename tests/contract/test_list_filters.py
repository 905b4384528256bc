"""Each filter finds the rows it should, alone, with another, and in every order."""

import pytest

from tests.contract.filled_lists import FilledList, FilledLists, is_period, pairs
from tests.lists import LISTS

PAGE_AND_ONE = 26

ALL_OR_NONE = {
    # By warehouse is what levels are without it; totals belong to no warehouse.
    "/stock-levels": {"totals"},
    "/stock-levels?totals=true": {"warehouse"},
}
"""Filters that leave all rows or none, whatever their value."""


def test_each_filter_finds_its_rows(shelf: FilledList) -> None:
    queries = [
        {name: value}
        for name, one in shelf.filters.items()
        for value in dict.fromkeys(one.values(shelf.count))
    ]
    assert shelf.mismatches(queries) == []


def test_two_filters_find_what_both_do(shelf: FilledList) -> None:
    assert shelf.mismatches(pairs(shelf)) == []


def test_all_filters_at_once(shelf: FilledList) -> None:
    queries: list[dict[str, str]] = []
    for row in list(shelf.rows.values())[:3]:
        held = {
            name: [value for value in one.values(shelf.count) if one.matches(row, value)]
            for name, one in shelf.filters.items()
        }
        queries.append({name: values[0] for name, values in held.items() if values})
    queries.append({name: one.values(shelf.count)[0] for name, one in shelf.filters.items()})
    assert shelf.mismatches(filter(is_period, queries)) == []


@pytest.mark.parametrize("direction", ["", "-"])
def test_filtered_rows_come_in_every_order(house: FilledLists, name: str, direction: str) -> None:
    with house.filled(LISTS[name], PAGE_AND_ONE) as shelf:
        queries = [
            {parameter: one.values(shelf.count)[0], "sort": direction + sort}
            for parameter, one in shelf.filters.items()
            for sort in shelf.spec.sorts
        ]
        assert shelf.mismatches(queries) == []


def test_the_filters_that_are_tried_find_some_rows_and_not_others(
    house: FilledLists, name: str
) -> None:
    """Without this the tests above might compare nothing with nothing."""
    with house.filled(LISTS[name], 250) as shelf:
        found = {
            parameter: [len(shelf.expected({parameter: v})) for v in one.values(shelf.count)]
            for parameter, one in shelf.filters.items()
        }
        telling = {name for name, counts in found.items() if max(counts) > 0 and min(counts) < 250}
        assert telling == set(found) - ALL_OR_NONE.get(name, set())


def test_parameters_that_are_not_known_are_ignored(shelf: FilledList) -> None:
    asked = shelf.get({"colour": "red", "filter[status]": "open", "limit": 3})
    assert [shelf.spec.row_id(row) for row in asked.data] == shelf.expected({})[:25]
    assert asked.json()["meta"]["total"] == shelf.count
