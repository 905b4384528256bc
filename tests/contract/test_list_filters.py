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


def test_each_filter_finds_its_rows(listing: FilledList) -> None:
    queries = [
        {name: value}
        for name, one in listing.filters.items()
        for value in dict.fromkeys(one.values(listing.count))
    ]
    assert listing.mismatches(queries) == []


def test_two_filters_find_what_both_do(listing: FilledList) -> None:
    assert listing.mismatches(pairs(listing)) == []


def test_all_filters_at_once(listing: FilledList) -> None:
    queries: list[dict[str, str]] = []
    for row in list(listing.rows.values())[:3]:
        held = {
            name: [value for value in one.values(listing.count) if one.matches(row, value)]
            for name, one in listing.filters.items()
        }
        queries.append({name: values[0] for name, values in held.items() if values})
    queries.append({name: one.values(listing.count)[0] for name, one in listing.filters.items()})
    assert listing.mismatches(filter(is_period, queries)) == []


@pytest.mark.parametrize("direction", ["", "-"])
def test_filtered_rows_come_in_every_order(
    lists: FilledLists, list_name: str, direction: str
) -> None:
    with lists.filled(LISTS[list_name], PAGE_AND_ONE) as listing:
        queries = [
            {parameter: one.values(listing.count)[0], "sort": direction + sort}
            for parameter, one in listing.filters.items()
            for sort in listing.spec.sorts
        ]
        assert listing.mismatches(queries) == []


def test_the_filters_that_are_tried_find_some_rows_and_not_others(
    lists: FilledLists, list_name: str
) -> None:
    """Without this the tests above might compare nothing with nothing."""
    with lists.filled(LISTS[list_name], 250) as listing:
        found = {
            parameter: [len(listing.expected({parameter: v})) for v in one.values(listing.count)]
            for parameter, one in listing.filters.items()
        }
        telling = {
            list_name
            for list_name, counts in found.items()
            if max(counts) > 0 and min(counts) < 250
        }
        assert telling == set(found) - ALL_OR_NONE.get(list_name, set())


def test_parameters_that_are_not_known_are_ignored(listing: FilledList) -> None:
    asked = listing.get({"colour": "red", "filter[status]": "open", "limit": 3})
    assert [listing.spec.row_id(row) for row in asked.data] == listing.expected({})[:25]
    assert asked.json()["meta"]["total"] == listing.count
