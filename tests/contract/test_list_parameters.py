"""Wrong parameters are named, all of them at once."""

import pytest

from tests.contract.filled_lists import FilledList, FilledLists
from tests.lists import LISTS
from tests.lists.description import NO_MOMENT

NO_PAGE = ("0", "-1", "abc", "1.5", "", "1e3", "٣")


@pytest.fixture
def empty(lists: FilledLists, list_name: str) -> FilledList:
    with lists.filled(LISTS[list_name], 0) as listing:
        return listing


def wrong_values(listing: FilledList) -> dict[str, tuple[str, ...]]:
    """Parameter → values that it does not take."""
    sorts = list(listing.spec.sorts)
    return {
        **{name: tuple(one.invalid_values) for name, one in listing.filters.items()},
        "page": NO_PAGE,
        "per_page": NO_PAGE,
        "sort": ("colour", "", "-", f"--{sorts[0]}", f"+{sorts[0]}", sorts[0].upper(), "phone"),
        "updated_since": NO_MOMENT,
    }


def test_each_wrong_value_is_refused_and_its_field_named(empty: FilledList) -> None:
    for parameter, values in wrong_values(empty).items():
        assert values, parameter
        for value in values:
            answer = empty.get({parameter: value})
            assert answer.status == 422, (parameter, value)
            body = answer.json()
            assert body["error"]["code"] == "validation_failed"
            assert body["error"]["field"] == parameter, (parameter, value)
            assert [problem["field"] for problem in body["errors"]] == [parameter]
            assert body["message"] == body["error"]["message"]
            assert all(problem["message"] for problem in body["errors"])


def test_all_wrong_values_are_listed_at_once(empty: FilledList) -> None:
    wrong = {parameter: values[0] for parameter, values in wrong_values(empty).items()}

    body = empty.get(wrong).json()

    fields = [problem["field"] for problem in body["errors"]]
    assert sorted(fields) == sorted(wrong)
    assert body["error"]["field"] == fields[0]


def test_a_wrong_value_among_right_ones(empty: FilledList) -> None:
    right = {
        name: one.values(1)[0] for name, one in empty.filters.items() if name not in {"from", "to"}
    }
    for parameter in right:
        wrong = wrong_values(empty)[parameter][0]
        body = empty.get({**right, parameter: wrong}).json()
        assert [problem["field"] for problem in body["errors"]] == [parameter]


def test_every_sort_value_of_every_other_list_is_refused(empty: FilledList) -> None:
    others = {sort for listed in LISTS.values() for sort in listed.sorts}
    for sort in others - set(empty.spec.sorts):
        assert empty.get({"sort": sort}).status == 422, sort


def test_a_period_must_not_end_before_it_begins(empty: FilledList) -> None:
    query = {"from": "2026-02-02", "to": "2026-02-01"}
    answer = empty.get(query)
    if empty.spec.period:
        assert answer.json()["error"]["field"] == "to"
        assert empty.get({**query, "to": "02/02/2026"}).status == 200
    else:
        # Unknown there, and ignored.
        assert answer.status == 200
