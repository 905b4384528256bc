"""Filters return the expected rows: alone, combined with another filter, and in every order."""

import pytest

from tests.cases import each_case
from tests.contract.filled_lists import FilledList, FilledLists, is_period, pairs
from tests.lists import LISTS
from tests.sampling import sampled

PAGE_AND_ONE = 26

ALL_OR_NONE = {
    # Levels are per warehouse by default, and totals belong to no warehouse.
    "/stock-levels": {"totals"},
    "/stock-levels?totals=true": {"warehouse"},
}
"""Filters that return all rows or none for every value."""


def test_each_filter_returns_its_rows(mixed_list: FilledList) -> None:
    queries = [
        {name: value}
        for name, one in mixed_list.filters.items()
        for value in dict.fromkeys(one.values(mixed_list.count))
    ]
    assert mixed_list.mismatches(queries) == []


def test_two_filters_return_the_rows_that_match_both(list_of_50: FilledList) -> None:
    both = sampled(f"pairs of {list_of_50.spec.name}", list(pairs(list_of_50)), every=3)
    assert list_of_50.mismatches(both) == []


def test_all_filters_combined_return_the_rows_that_match_all(list_of_50: FilledList) -> None:
    queries: list[dict[str, str]] = []
    for row in list(list_of_50.rows.values())[:3]:
        held = {
            name: [value for value in one.values(list_of_50.count) if one.matches(row, value)]
            for name, one in list_of_50.filters.items()
        }
        queries.append({name: values[0] for name, values in held.items() if values})
    queries.append(
        {name: one.values(list_of_50.count)[0] for name, one in list_of_50.filters.items()}
    )
    assert list_of_50.mismatches(filter(is_period, queries)) == []


@pytest.mark.parametrize("list_name", sampled("sorted filters", list(LISTS), every=3))
@each_case("direction", ["", "-"])
def test_filtered_rows_are_sorted_by_every_sort_value(
    lists: FilledLists, list_name: str, direction: str
) -> None:
    with lists.filled(LISTS[list_name], PAGE_AND_ONE) as listing:
        queries = [
            {parameter: one.values(listing.count)[0], "sort": direction + sort}
            for parameter, one in listing.filters.items()
            for sort in listing.spec.sorts
        ]
        assert listing.mismatches(queries) == []


def test_filter_values_match_some_rows_but_not_all(telling_list: FilledList) -> None:
    """Guard against the tests above comparing empty results only."""
    count = telling_list.count
    found = {
        parameter: [len(telling_list.expected({parameter: v})) for v in one.values(count)]
        for parameter, one in telling_list.filters.items()
    }
    telling = {
        parameter for parameter, counts in found.items() if max(counts) > 0 and min(counts) < count
    }
    assert telling == set(found) - ALL_OR_NONE.get(telling_list.spec.name, set())


def test_unknown_parameters_are_ignored(listing: FilledList) -> None:
    asked = listing.get({"color": "red", "filter[status]": "open", "limit": 3})
    assert [listing.spec.row_id(row) for row in asked.data] == listing.expected({})[:25]
    assert asked.json()["meta"]["total"] == listing.count
