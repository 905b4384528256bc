"""The index entries that the list of stock rows reads for its filters."""

from collections.abc import Mapping
from typing import Any

import pytest

from shared.kernel.db.counters import Totals
from shared.kernel.db.lists.plan import AccessPath, AliasPlan, SearchPlan, plan_list
from shared.warehouse.stock import repository
from shared.warehouse.stock.models import StockParameters
from shared.warehouse.stock.repository import STOCK


def access_path(monkeypatch: pytest.MonkeyPatch, filters: Mapping[str, Any]) -> AccessPath:
    """Return the entries that a list with filters reads."""
    queries: list[Any] = []
    monkeypatch.setattr(repository, "read_page", lambda *read: queries.append(read[-1]))
    repository.list_stock(None, StockParameters.model_validate(filters), None)  # type: ignore[arg-type]
    plan = plan_list(STOCK, queries[0], lambda: Totals({}, 0, 0))
    assert not isinstance(plan, AliasPlan | SearchPlan)
    return plan.path


@pytest.mark.parametrize("status", ["quarantine", "in_transit", "staged", "damaged", "blocked"])
def test_status_of_few_rows_reads_only_these_rows(
    status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for others in ({}, {"status": "in"}, {"sort": "-qty"}):
        access = access_path(monkeypatch, {"inventory_status": status, **others})
        assert access.partition == f"stock#unavailable_status#{status}"


@pytest.mark.parametrize(
    ("filters", "partition"),
    [
        ({}, "stock"),
        ({"status": "in"}, "stock#status#in"),
        ({"product_id": 7}, "stock#product_id#000000000007"),
    ],
)
def test_available_reads_the_entries_of_the_other_filter(
    filters: Mapping[str, Any], partition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {"inventory_status": "available", **filters}
    assert access_path(monkeypatch, chosen).partition == partition


def test_product_is_narrower_than_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    access = access_path(monkeypatch, {"inventory_status": "damaged", "batch": "L1"})
    assert access.partition == "stock#batch#L1"
