"""The lines of receipts and pickings show which lines of documents they fulfil."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.receiving_scenario import ReceivingScenario
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

type Fills = list[list[tuple[int, int, str | None, float]]]


def fills(shown: Mapping[str, Any]) -> Fills:
    """Return the fills of each line: document, line, reference and quantity."""
    for line in shown["lines"]:
        done = line["picked_qty" if "picked_qty" in line else "qty"]
        assert sum(one["qty"] for one in line["fills"]) == done
    names = ("document_id", "line_num", "external_ref", "qty")
    return [
        [tuple(one[name] for name in names) for one in line["fills"]] for line in shown["lines"]
    ]


def test_receipt_shows_the_lines_that_its_goods_fill(yard: WarehouseScenario) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    cement: dict[str, Any] = {"item_code": "CEMENT", "expiry_date": "2030-12-31"}
    order = receiving.order(
        {"item_code": "CEMENT", "qty": 2, "external_ref": "10"},
        {**cement, "qty": 3, "batch": "L1", "external_ref": "20"},
        {"item_code": "CEMENT", "qty": 4, "batch": "L2"},
    )
    first, second = receiving.started(order), receiving.started(order)

    receiving.receive(first, 1, **cement, batch="L1").ok()
    receiving.receive(second, 7, **cement, batch="L1").ok()

    assert fills(receiving.shown(first)) == [[(order, 2, "20", 1)]]
    shown = receiving.shown(second)
    assert fills(shown) == [[(order, 2, "20", 2), (order, 1, "10", 2), (order, 3, None, 3)]]
    assert (shown["lines"][0]["bin_code"], shown["lines"][0]["expiry_date"]) == (
        "A-01",
        "2030-12-31",
    )
    undone = receiving.undo(second, 4, item_code="CEMENT", batch="L1").ok()
    assert fills(undone) == [[(order, 2, "20", 2), (order, 1, "10", 1)]]
    assert fills(receiving.shown(first)) == [[(order, 2, "20", 1)]]
    assert fills(receiving.act(second, "cancel").ok()) == fills(undone)
    assert [done for done, *_ in receiving.progress(order)] == [0, 1, 0]


def test_picking_of_several_documents_shows_the_lines_that_it_fills(
    yard: WarehouseScenario,
) -> None:
    yard.stock("CEMENT", 20, batch="L1")
    first = yard.order(("CEMENT", 3), external_ref="10")
    named: Sequence[Mapping[str, object]] = [
        {"item_code": "CEMENT", "qty": 2},
        {"item_code": "CEMENT", "qty": 4, "batch": "L1", "external_ref": "20"},
    ]
    second = yard.order(head={"lines": named})
    number = yard.started(second, first)
    of_batch: Fills = [[], [(second, 2, "20", 3)], []]
    whole: Fills = [[(second, 1, None, 2)], [(second, 2, "20", 4)], [(first, 1, "10", 3)]]

    assert fills(yard.pick(number, "CEMENT", 3, batch="L1").ok()) == of_batch
    assert fills(yard.pick(number, "CEMENT", 6, batch="L1").ok()) == whole
    assert fills(yard.undo(number, "CEMENT", 6, batch="L1").ok()) == of_batch
    yard.pick(number, "CEMENT", 6, batch="L1").ok()
    yard.act(number, "finalize").ok()
    yard.erp.post(f"/exit-documents/{first}/dispatch").ok()
    assert fills(yard.act(number, "revert").ok()) == whole[2:]
    assert yard.document(second)["lines"][1]["picked_qty"] == 0


def test_transfer_order_has_the_fills_on_its_picking(yard: WarehouseScenario) -> None:
    transfers = TransferScenario(yard.erp, yard)
    yard.stock("BRICK", 10)
    lines = [
        {"item_code": "BRICK", "qty": 4, "external_ref": "A"},
        {"item_code": "BRICK", "qty": 2},
    ]
    number = transfers.order(lines=lines)

    shown = transfers.pick(number, "BRICK", 5)

    assert [line["external_ref"] for line in shown["lines"]] == ["A", None]
    filled = fills(yard.erp.get(f"/pickings/{shown['picking_id']}").ok())
    assert filled == [[(number, 1, "A", 4)], [(number, 2, None, 1)]]
