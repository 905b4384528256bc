"""Invalid parameters are refused, and all of them are reported together."""

import pytest

from tests.contract.filled_lists import FilledList, FilledLists
from tests.integration.routes import operations
from tests.lists import LISTS
from tests.lists.spec import NO_MOMENT

INVALID_PAGES = ("0", "-1", "abc", "1.5", "", "1e3", "٣", "9" * 5000)


@pytest.fixture
def empty(lists: FilledLists, list_name: str) -> FilledList:
    with lists.filled(LISTS[list_name], 0) as listing:
        return listing


def invalid_values_of(listing: FilledList) -> dict[str, tuple[str, ...]]:
    """Return the invalid values of each parameter."""
    sorts = list(listing.spec.sorts)
    return {
        **{name: tuple(one.invalid) for name, one in listing.filters.items()},
        "page": INVALID_PAGES,
        "per_page": INVALID_PAGES,
        "sort": ("color", "", "-", f"--{sorts[0]}", f"+{sorts[0]}", sorts[0].upper(), "phone"),
        "updated_since": NO_MOMENT,
        "include": ("resource", "", "VERSION"),
    }


def test_specifications_have_every_filter(list_name: str) -> None:
    """A filter without an entry in `tests/lists` is tested by nothing else."""
    path = LISTS[list_name].path
    specs = [spec for spec in LISTS.values() if spec.path == path]
    shared = {"page", "per_page", "cursor", "sort", "updated_since", "from", "to", "include", "ids"}
    filters = operations()[f"GET {path}"].parameter_names - shared
    assert filters == {name for spec in specs for name in (*spec.filters, *spec.fixed_query)}


def test_each_invalid_value_is_refused_with_its_field(empty: FilledList) -> None:
    for parameter, values in invalid_values_of(empty).items():
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


def test_all_invalid_parameters_are_reported_together(empty: FilledList) -> None:
    wrong = {parameter: values[0] for parameter, values in invalid_values_of(empty).items()}

    body = empty.get(wrong).json()

    fields = [problem["field"] for problem in body["errors"]]
    assert sorted(fields) == sorted(wrong)
    assert body["error"]["field"] == fields[0]


def test_only_the_invalid_parameter_is_reported(empty: FilledList) -> None:
    right = {
        name: one.values(1)[0] for name, one in empty.filters.items() if name not in {"from", "to"}
    }
    for parameter in right:
        wrong = invalid_values_of(empty)[parameter][0]
        body = empty.get({**right, parameter: wrong}).json()
        assert [problem["field"] for problem in body["errors"]] == [parameter]


def test_sort_values_of_other_lists_are_refused(empty: FilledList) -> None:
    others = {sort for spec in LISTS.values() for sort in spec.sorts}
    for sort in others - set(empty.spec.sorts):
        assert empty.get({"sort": sort}).status == 422, sort


def test_to_before_from_is_refused(empty: FilledList) -> None:
    query = {"from": "2026-02-02", "to": "2026-02-01"}
    answer = empty.get(query)
    if empty.spec.period:
        assert answer.json()["error"]["field"] == "to"
        assert empty.get({**query, "to": "02/02/2026"}).status == 200
    else:
        # The list does not have these parameters and ignores them.
        assert answer.status == 200
