"""The plan of a list: the most selective index partition is read."""

from collections.abc import Mapping
from typing import Any

import pytest

from shared.kernel.db.counters import Totals
from shared.kernel.db.plan import ListQuery, choose_access_path
from tests.integration.db.crate_list import CRATES


def _no_totals() -> Totals:
    pytest.fail("totals may be read only to choose between partitions")


def _planned(**query: Any) -> tuple[int, str, bool, str | None]:
    access, ordered = choose_access_path(
        CRATES, ListQuery(sort="name", descending=False, **query), _no_totals
    )
    return access.index, access.partition, ordered, access.total_name


@pytest.mark.parametrize(
    ("query", "plan"),
    [
        # sort order of all rows or of one status: read in index order
        ({}, (2, "crate", True, None)),
        ({"equal": {"status": "open"}}, (5, "crate#status#open", True, "status=open")),
        # filters with few matching entities come first
        ({"equal": {"reference": "R1"}}, (7, "crate#reference#R1", False, None)),
        ({"equal": {"status": "open", "reference": "R1"}}, (7, "crate#reference#R1", False, None)),
        # then a value or range of a sort order, within the status if given
        ({"equal": {"name": "a"}}, (2, "crate", False, None)),
        ({"equal": {"name": "a", "status": "open"}}, (5, "crate#status#open", False, None)),
        ({"between": {"updated_at": ("2", None)}}, (3, "crate", False, None)),
        (
            {"between": {"updated_at": ("2", None)}, "equal": {"status": "open"}},
            (6, "crate#status#open", False, None),
        ),
    ],
)
def test_plan_reads_the_most_selective_partition(
    query: Mapping[str, Any], plan: tuple[int, str, bool, str | None]
) -> None:
    assert _planned(**query) == plan


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({"equal": {"color": "red"}}, 2),
        ({"contains": {"name": "a"}}, 2),
        ({"contains": {"name": "a"}, "equal": {"status": "open"}}, 5),
    ],
)
def test_other_filters_use_the_most_selective_index(query: Mapping[str, Any], index: int) -> None:
    planned = _planned(**query)

    assert planned[0] == index
    assert planned[2] is False
