"""A table that production code has written has no drift."""

import pytest

from operations.verify import verify_tenant
from shared.kernel.db.sequences import last_id
from tests.gateway import Erp
from tests.integration.verify.planting import Table
from tests.rfid_scenario import RfidScenario, bricks
from tests.stack import Stack


def test_company_with_every_kind_of_data_has_no_drift(table: Table) -> None:
    before = table.contents()
    found = verify_tenant("acme", repair=True)
    assert found.listed == []
    assert found.unsettled == []
    assert {"items", "stock", "positions", "work", "counters"} == found.checked.keys()
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
