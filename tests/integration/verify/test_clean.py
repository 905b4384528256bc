"""A table that production code has written has no drift."""

import pytest

from operations.verify import verify_tenant
from shared.kernel.db.sequences import last_id
from tests.gateway import Erp
from tests.integration.verify.planting import Table
from tests.rfid_scenario import RfidScenario, bricks
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario


def test_company_with_every_kind_of_data_has_no_drift(table: Table) -> None:
    before = table.contents()
    found = verify_tenant("acme", repair=True)
    assert found.listed == []
    assert found.unsettled == []
    passes = {"items", "stock", "positions", "work", "shares", "counters", "feed"}
    assert found.checked.keys() == passes
    assert table.contents() == before


@pytest.mark.usefixtures("clock")
def test_differences_of_all_failed_validations_are_counted(erp: Erp, stack: Stack) -> None:
    """Also of those whose ids are above that of the last warehouse, and of no passed one."""
    gate = RfidScenario(erp)
    order = gate.packing.staged_order(("BRICK", 1))
    results = [
        gate.result({"packing_order_id": order}, *epcs)["result"]
        for epcs in (bricks(1), bricks(1), bricks(1, 2), bricks(1), bricks(1, 2, 3))
    ]
    assert results == ["passed", "passed", "failed", "passed", "failed"]
    assert last_id(stack.store(), "warehouse") < 3
    drifts = verify_tenant("acme").listed
    assert not [one for one in drifts if one.kind.startswith("counter")]


@pytest.mark.usefixtures("clock")
def test_picking_without_goods_for_one_of_its_documents_stays_with_the_others(erp: Erp) -> None:
    yard = WarehouseScenario.with_master_data(erp, "YARD")
    yard.stock("BRICK", 3)
    first, second = yard.order(("BRICK", 3)), yard.order(("BRICK", 2))
    shared = yard.picked(first, second, qty=3)
    yard.stock("BRICK", 1)
    yard.picked(second, qty=1)
    body = {"rest": "keep"}
    assert erp.post(f"/exit-documents/{second}/dispatch", body).data["status"] == "partial-complete"
    assert _drifts_of_documents() == []

    yard.act(shared, "revert").ok()

    assert _drifts_of_documents() == []


@pytest.mark.usefixtures("clock")
def test_position_names_goods_that_have_left_it(erp: Erp) -> None:
    yard = WarehouseScenario.with_master_data(erp, "YARD")
    [shelf] = erp.get("/warehouse-positions", query={"bin_code": "B-01"}).data
    erp.patch(f"/warehouse-positions/{shelf['id']}", {"capacity_units": 10}).ok()
    yard.change_settings(capacity="enforce")
    yard.stock("BRICK", 5)
    for start, end in (("A-01", "B-01"), ("B-01", "A-01")):
        line = {"item_code": "BRICK", "qty": 5, "from_bin": start, "to_bin": end}
        whole = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}
        erp.post("/transfers", whole).ok(201)

    drifts = verify_tenant("acme").listed
    assert not [one for one in drifts if one.kind.startswith("held")]


def _drifts_of_documents() -> list[str]:
    found = verify_tenant("acme").listed
    return [one.field for one in found if one.kind.startswith("document")]
