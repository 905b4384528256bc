"""Units of measure of products: requests may count boxes, answers count base units."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.import_scenario import ImportScenario
from tests.integration.conftest import BeforeNextCommit
from tests.packing_scenario import PackingScenario
from tests.receiving_scenario import ReceivingScenario
from tests.return_scenario import ReturnScenario
from tests.stack import Stack, prepare_once
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

CASE = "14006381333938"
BOX: Mapping[str, object] = {"item_code": "BRICK", "qty": 2, "unit": "box"}
PACKAGING = "/products/1/packaging"
UNITS = [{"unit": "BOX", "qty": 12}, {"unit": "Pallet", "qty": 480}]


@pytest.fixture
def yard(erp: Erp) -> WarehouseScenario:
    """Bricks in boxes of 12 and on pallets of 480; drills in boxes of 2."""
    yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    prepare_once(erp, "units of measure", lambda: _name_units(erp))
    return yard


def _name_units(erp: Erp) -> None:
    erp.put(PACKAGING, {"units": UNITS}).ok()
    erp.put("/products/3/packaging", {"units": [{"unit": "BOX", "qty": 2}]}).ok()


def _quantities(line: Mapping[str, Any]) -> tuple[object, object, object]:
    return line["qty"], line["unit"], line["unit_qty"]


def test_units_of_a_packaging_follow_its_product(yard: WarehouseScenario) -> None:
    erp = yard.erp
    gtins = {"gtins": [{"gtin": CASE, "unit": "box"}]}
    shown = erp.put(PACKAGING, gtins).ok()
    assert shown["units"] == UNITS
    assert shown["gtins"] == [{"gtin": CASE, "units": 12, "unit": "BOX"}]
    assert erp.put(PACKAGING, shown).ok() == shown, "what is shown may be sent"

    changed = erp.put(PACKAGING, {"units": [{"unit": "Box", "qty": 10}]}).ok()
    assert changed["gtins"] == [{"gtin": CASE, "units": 10, "unit": "Box"}]
    removed = erp.put(PACKAGING, {"units": []})
    assert removed.invalid_fields == ["units"]
    assert erp.patch("/products/1", {"item_code": "TILE", "name": "Tile"}).status == 200

    renamed = yard.order(("TILE", 3), unit="BOX")
    assert _quantities(yard.document(renamed)["lines"][0]) == (30, "BOX", 3)
    assert erp.put(PACKAGING, {"units": [], "gtins": []}).ok()["units"] == []
    unknown = TransferScenario(erp, yard).draft(lines=[{**BOX, "item_code": "TILE"}])
    assert unknown.invalid_fields == ["lines.0.unit"]


def test_an_order_keeps_its_quantities_when_the_unit_changes(yard: WarehouseScenario) -> None:
    erp = yard.erp
    number = yard.order(("BRICK", 2), unit="box")
    erp.put(PACKAGING, {"units": [{"unit": "BOX", "qty": 10}]}).ok()

    assert _quantities(yard.document(number)["lines"][0]) == (24, "box", 2)
    yard.stock("BRICK", 30)
    picking = yard.started(number)
    assert yard.pick(picking, "BRICK", 1, unit="BOX").data["lines"][0]["picked_qty"] == 10

    lines: list[dict[str, object]] = [{**BOX}]
    body = {
        "external_ref": "SO-1", "type": "sale_order", "doc_date": "2026-03-01",
        "partner_code": "C-1", "warehouse_code": "YARD", "lines": lines,
    }  # fmt: skip
    assert "warning" not in erp.post("/exit-documents", body, key="b").json()
    lines[0]["qty"] = 3
    assert "lines.0.qty" in erp.post("/exit-documents", body, key="c").json()["warning"]
    erp.put(PACKAGING, {"units": []}).ok()
    lines[0]["qty"] = 2
    again = erp.post("/exit-documents", body, key="d")
    assert (again.status, again.data["id"], "warning" in again.json()) == (200, number, False)


def test_received_and_undone_boxes_count_their_units(yard: WarehouseScenario) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    order = receiving.order({"qty": 2, "unit": "Box"}, {"qty": 3})
    lines = yard.erp.get(f"/entry-documents/{order}").data["lines"]
    assert [_quantities(line) for line in lines] == [(24, "Box", 2), (3, None, None)]
    number = receiving.started(order)

    [line] = receiving.receive(number, 2, unit="BOX").data["lines"]
    assert line["qty"] == 24
    undone = receiving.undo(number, 1, unit="box").data["lines"]
    assert [one["qty"] for one in undone] == [12]


def test_picked_packed_and_undone_boxes_count_their_units(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 24)
    order = yard.order(("BRICK", 2), unit="BOX")
    number = yard.started(order)
    assert yard.pick(number, "BRICK", 2, unit="BOX").data["lines"][0]["picked_qty"] == 24
    assert yard.undo(number, "BRICK", 0.5, unit="BOX").data["lines"][0]["picked_qty"] == 18
    yard.pick(number, "BRICK", 0.5, unit="BOX").ok()
    yard.act(number, "finalize").ok()
    packing = PackingScenario(yard.erp, yard)
    path = f"/handling-units/{packing.unit(packing.order(order)['id'])}/contents"
    assert yard.erp.post(path, BOX).ok()["contents"][0]["qty"] == 24
    left = yard.erp.post(f"{path}/remove", {**BOX, "qty": 0.5}).ok()
    assert left["contents"][0]["qty"] == 18


def test_boxes_of_a_transfer_order_count_their_units(yard: WarehouseScenario) -> None:
    transfers = TransferScenario(yard.erp, yard)
    yard.stock("BRICK", 24)
    goods: dict[str, Any] = {"lines": [{**BOX}], "release": True, "picker_id": 7}
    number = transfers.draft(**goods).id
    assert _quantities(transfers.shown(number)["lines"][0]) == (24, "box", 2)
    transfers.pick(number, "BRICK", 2, unit="BOX")
    transfers.done(number, "picks/undo", **{**BOX, "bin_code": "A-01"})
    transfers.pick(number, "BRICK", 2, unit="BOX")
    transfers.done(number, "dispatch")

    received = transfers.receive(number, {**BOX, "qty": 1}).ok()
    assert received["units"] == {"requested": 24, "picked": 24, "dispatched": 24, "received": 12}


def test_returned_boxes_count_their_units(erp: Erp) -> None:
    scenario = ReturnScenario(erp)
    erp.put(PACKAGING, {"units": [{"unit": "BOX", "qty": 5}]}).ok()
    lines: list[dict[str, object]] = [{**BOX, "reason": "other"}]
    number = scenario.draft(lines=lines, external_ref="RMA-1").id
    assert _quantities(scenario.shown(number)["lines"][0]) == (10, "box", 2)
    assert "warning" not in scenario.draft(lines=lines, external_ref="RMA-1").json()

    more = scenario.receive(number, {**BOX, "qty": 3})
    assert more.code == "rule_blocked"
    scenario.receive(number, {**BOX}).ok()
    scenario.done(number, "lines/undo", lines=[{**BOX, "qty": 1, "bin_code": "B-01"}])
    scenario.done(number, "finish")
    decided = scenario.decide(number, {**BOX, "qty": 1, "action": "restock"}).ok()
    assert decided["lines"][0]["restocked_qty"] == 5


def test_moved_and_adjusted_boxes_count_their_units(yard: WarehouseScenario) -> None:
    added = yard.adjust(increase=2, unit="BOX").ok(201)
    counted = yard.adjust(counted_qty=3, unit="box").ok(201)
    less = yard.adjust(decrease=0.5, unit="BOX").ok(201)
    damaged = yard.adjust(to_status="damaged", qty=0.5, unit="BOX").ok(201)
    assert [one["qty_after"] for one in (added, counted, less, damaged)] == [24, 36, 30, 24]
    assert yard.adjust(increase=1, unit="BAG").invalid_fields == ["unit"]
    serial = yard.adjust("DRILL", increase=1, unit="BOX", serial="S-1")
    assert serial.invalid_fields == ["increase"]

    lines = [{**BOX, "from_bin": "A-01", "to_bin": "B-01"}]
    body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": lines}
    assert yard.erp.post("/transfers", body).data["lines"][0]["qty"] == 24


def test_rows_of_a_file_count_their_units(yard: WarehouseScenario, stack: Stack) -> None:
    head = "external_ref,type,doc_date,partner_code,warehouse_code,item_code,Cantidad,Unidad"
    order = "sale_order,2026-03-01,C-1,YARD,BRICK"
    content = "\n".join([head, f"SO-8,{order},2,box", f"SO-9,{order},2,BAG"]).encode()
    files = ImportScenario(stack)

    checked = files.import_file("exit_documents", "orders.csv", content)
    assert (checked["documents"]["total"], checked["documents"]["valid"]) == (2, 1)
    files.commit(checked["id"])
    [shown] = yard.erp.get("/exit-documents", query={"external_ref": "SO-8"}).data
    assert _quantities(shown["lines"][0]) == (24, "box", 2)


def test_a_box_has_as_many_serials_as_base_units(yard: WarehouseScenario) -> None:
    yard.stock_serials("S-1", "S-2")
    number = yard.started(yard.order(("DRILL", 1), unit="BOX"))
    few = yard.pick(number, "DRILL", 1, unit="BOX", serials=["S-1"])
    assert few.invalid_fields == ["serials"]
    picked = yard.pick(number, "DRILL", 1, unit="BOX", serials=["S-1", "S-2"])
    assert picked.data["lines"][0]["picked_qty"] == 2


def test_a_unit_beside_a_gtin_is_refused(yard: WarehouseScenario) -> None:
    yard.erp.put(PACKAGING, {"gtins": [{"gtin": CASE, "unit": "BOX"}]}).ok()
    receiving = ReceivingScenario(yard.erp, yard)
    number = receiving.started(receiving.order({"qty": 24}))
    body = {"gtin": CASE, "qty": 1, "unit": "BOX"}
    refused = yard.erp.post(f"/receipts/{number}/lines", body).json()["errors"]
    assert refused == [{"field": "unit", "message": "must not be sent together with gtin"}]


def test_a_unit_counts_what_it_did_when_it_was_read(
    yard: WarehouseScenario, before_next_commit: BeforeNextCommit
) -> None:
    smaller = {"units": [{"unit": "BOX", "qty": 6}]}
    changed = before_next_commit(lambda: yard.erp.put(PACKAGING, smaller))
    number = yard.order(("BRICK", 1), unit="BOX")
    assert changed[0].status == 200
    assert yard.document(number)["lines"][0]["qty"] == 12


def test_a_unit_costs_no_round_trip_where_the_product_is_read(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    receipt = receiving.started(receiving.order({"qty": 24}))
    restore = stack.take_snapshot()

    def trips(act: Callable[[Mapping[str, object]], object]) -> list[int]:
        found = []
        for goods in ({"qty": 12}, {"qty": 1, "unit": "BOX"}):
            restore()
            yard.erp.get("/products/1").ok()
            with aws_faults.recorded() as seen:
                act(goods)
            found.append(seen.round_trips)
        return found

    path = f"/receipts/{receipt}/lines"
    for act in (
        lambda goods: yard.erp.post(path, {"item_code": "BRICK", **goods}).ok(),
        receiving.order,
    ):
        without, with_unit = trips(act)
        assert with_unit == without
