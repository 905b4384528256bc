"""Lists that would have to examine more than a request may: filters without an index."""

from collections.abc import Iterator

import pytest

from shared.kernel.db.lists import bounds, gathered_list
from tests.cases import each_case
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.lists import LISTS
from tests.lists.filling import fill
from tests.lists.spec import HOURLY
from tests.stack import Stack

_ROWS = 5_000
"""More index entries than a page of a Query has."""


@pytest.fixture
def many(stack: Stack, aws_faults: AwsFaults) -> Iterator[InMemoryTable]:
    """A table with many stock movements, which answers the requests."""
    table = fill(stack.store(), LISTS["/stock-movements"], _ROWS, HOURLY)
    with aws_faults.faulty(table.fault):
        yield table


@pytest.mark.usefixtures("many")
def test_filter_without_an_index_is_refused_in_a_large_list(
    erp: Erp, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert erp.get("/stock-movements", query={"warehouse": "CEN"}).status == 200
    monkeypatch.setattr(bounds, "MAX_PAGES", 1)

    answer = erp.get("/stock-movements", query={"warehouse": "CEN"})

    assert (answer.status, answer.code) == (422, "validation_failed")
    (problem,) = answer.json()["errors"]
    assert problem["field"] == answer.json()["error"]["field"] == "warehouse"
    message, _, names = problem["message"].rpartition(": ")
    assert message == (
        "leaves too much to examine in a list of this size; leave it out, or add a filter that"
        " selects less"
    )
    assert {"item_code", "from", "to"} <= set(names.split(", "))


@pytest.mark.usefixtures("many")
def test_filter_without_an_index_is_refused_beside_a_long_range(
    erp: Erp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_PAGES", 1)

    query = {"warehouse": "CEN", "updated_since": "2013-01-01T00:00:00Z"}
    (problem,) = erp.get("/stock-movements", query=query).json()["errors"]

    assert problem["field"] == "warehouse"
    assert "; leave it out, or shorten the range of updated_since, or add " in problem["message"]


@pytest.mark.usefixtures("many")
def test_large_list_is_refused_after_one_page_by_its_total(
    erp: Erp, monkeypatch: pytest.MonkeyPatch, aws_faults: AwsFaults
) -> None:
    monkeypatch.setattr(gathered_list, "PAGE_ENTRIES", _ROWS // bounds.MAX_PAGES - 1)
    with aws_faults.recorded() as seen:
        assert erp.get("/stock-movements", query={"warehouse": "CEN"}).status == 422

    entries = [call for call in seen.calls if "FilterExpression" in call.request]
    assert len(entries) == 1


@pytest.mark.usefixtures("many")
@each_case(
    "query",
    [
        {},
        {"updated_since": "2020-01-01T00:00:00Z"},
        {"from": "2020-01-01"},
        {"item_code": "ITEM-0007919"},
        {"warehouse": "CEN", "item_code": "ITEM-0007919"},
        {"page": 100},
    ],
)
def test_filters_with_an_index_work_in_a_list_of_any_size(
    erp: Erp, monkeypatch: pytest.MonkeyPatch, query: dict[str, object]
) -> None:
    monkeypatch.setattr(bounds, "MAX_PAGES", 1)

    assert erp.get("/stock-movements", query=query).status == 200
