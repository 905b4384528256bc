"""Returns of what left with several pickings, and in several steps of a dispatch."""

import pytest

from shared.kernel.db import steps
from tests.faults import AwsFaults, kill_after_step
from tests.gateway import Erp
from tests.return_scenario import ReturnScenario
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

SERIALS = ("D-1", "D-2", "D-3", "D-4")


@pytest.fixture
def picked(erp: Erp) -> tuple[ReturnScenario, WarehouseScenario]:
    """10 bricks and two drills in each of two pickings of one document, and a drill in stock."""
    scenario = ReturnScenario(erp)
    yard = scenario.yard
    scenario.order = yard.order(("BRICK", 20), ("DRILL", 4))
    for serials in (SERIALS[:2], SERIALS[2:]):
        yard.stock("BRICK", 10)
        yard.stock_serials(*serials)
        number = yard.started(scenario.order)
        assert yard.pick(number, "BRICK", 10).status == 200
        assert yard.pick(number, "DRILL", 2, serials=list(serials)).status == 200
        yard.act(number, "finalize", shortage_reason="other").ok()
    yard.stock("DRILL", 1, serial="D-5")
    return scenario, yard


def test_goods_of_all_pickings_of_a_document_come_back(
    picked: tuple[ReturnScenario, WarehouseScenario],
) -> None:
    scenario, _ = picked
    assert scenario.erp.post(f"/exit-documents/{scenario.order}/dispatch").status == 200
    drills = {"item_code": "DRILL", "reason": "other"}
    for line in (
        {**drills, "qty": 1, "serials": ["D-5"]},
        {"item_code": "BRICK", "qty": 21},
    ):
        assert scenario.draft(lines=[line]).code == "rule_blocked"

    number = scenario.received(
        {"qty": 20}, {"item_code": "DRILL", "qty": 4, "serials": list(SERIALS)}
    )

    assert [line["received_qty"] for line in scenario.shown(number)["lines"]] == [20, 4]
    for line in ({**drills, "qty": 1, "serials": ["D-3"]}, {"item_code": "BRICK", "qty": 1}):
        assert scenario.draft(lines=[line]).code == "rule_blocked"


def test_nothing_comes_back_until_the_last_step_of_a_dispatch(
    picked: tuple[ReturnScenario, WarehouseScenario],
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(steps, "STEP_ACTIONS", 1)
    scenario, _ = picked
    path, line = f"/exit-documents/{scenario.order}/dispatch", {"item_code": "BRICK", "qty": 1}

    assert aws_faults.kills(kill_after_step(), lambda: scenario.erp.post(path))
    left = [row for row in scenario.erp.walk("/stock-movements") if row["type"] == "dispatch"]
    assert left, "a part of the goods has left"

    assert scenario.draft(lines=[line]).code == "rule_blocked"
    assert scenario.erp.post(path).status == 200
    number = scenario.received(
        {"qty": 20}, {"item_code": "DRILL", "qty": 4, "serials": list(SERIALS)}
    )

    assert [line["received_qty"] for line in scenario.shown(number)["lines"]] == [20, 4]
