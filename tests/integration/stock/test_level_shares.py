"""What is committed and incoming in levels, after changes of documents, pickings and orders."""

from decimal import Decimal

import pytest

from shared.kernel.db.records import Record
from shared.kernel.db.schema import TableVersion
from shared.warehouse.stock import views
from shared.warehouse.stock.models import StoredLevel
from tests.concurrency import run_concurrently
from tests.faults import AwsFaults
from tests.integration.documents.bodies import document_body
from tests.receiving_scenario import ReceivingScenario
from tests.stack import Stack, event_attributes
from tests.stock_invariants import assert_invariants, read_state
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")


def _shares(stack: Stack, item_code: str = "BRICK", whs_code: str = "YARD") -> tuple[float, float]:
    """Return what is committed and incoming of a product; the total has the sums."""
    state = read_state(stack.unsorted_items())
    levels = [one for one in state.levels if one.item_code == item_code]
    [total] = [one for one in state.totals if one.item_code == item_code]
    assert total.committed == sum(one.committed for one in levels)
    assert total.incoming == sum(one.incoming for one in levels)
    [level] = [one for one in levels if one.whs_code == whs_code]
    return float(level.committed), float(level.incoming)


def test_exit_document_commits_what_is_not_allocated_or_picked(
    stack: Stack, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 6)
    order = yard.order(("BRICK", 10), ("BRICK", 2))
    assert _shares(stack) == (12, 0)

    number = yard.started(order)
    assert _shares(stack) == (6, 0)
    yard.pick(number, "BRICK", 4).ok()
    assert _shares(stack) == (6, 0)
    yard.undo(number, "BRICK", 1).ok()
    assert _shares(stack) == (6, 0)
    yard.act(number, "finalize", shortage_reason="damaged").ok()
    assert _shares(stack) == (9, 0)
    yard.act(number, "revert").ok()
    assert _shares(stack) == (12, 0)

    second = yard.started(order)
    yard.pick(second, "BRICK", 5).ok()
    yard.act(second, "finalize", shortage_reason="damaged").ok()
    yard.erp.post(f"/exit-documents/{order}/dispatch", {"rest": "keep"}).ok()
    assert _shares(stack) == (7, 0)
    change = {"lines": [{"line_num": 2, "qty": 0}, {"item_code": "CEMENT", "qty": 3}]}
    yard.erp.patch(f"/exit-documents/{order}", change).ok()
    assert (_shares(stack), _shares(stack, "CEMENT")) == ((5, 0), (3, 0))
    yard.erp.post(f"/exit-documents/{order}/close").ok()
    assert (_shares(stack), _shares(stack, "CEMENT")) == ((0, 0), (0, 0))


def test_dispatch_gives_up_what_is_open_also_of_other_products(
    stack: Stack, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 1)
    order = yard.order(("BRICK", 1), ("CEMENT", 3))
    yard.picked(order, qty=1)

    yard.erp.post(f"/exit-documents/{order}/dispatch").ok()

    assert (_shares(stack), _shares(stack, "CEMENT")) == ((0, 0), (0, 0))


def test_cancelled_picking_of_several_documents_commits_again(
    stack: Stack, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 5)
    orders = [yard.order(("BRICK", qty)) for qty in (2, 4)]
    number = yard.started(*orders)
    yard.pick(number, "BRICK", 3).ok()
    assert _shares(stack) == (1, 0)

    yard.act(number, "cancel").ok()

    assert _shares(stack) == (6, 0)


def test_open_quantity_of_an_entry_document_is_incoming(
    stack: Stack, yard: WarehouseScenario
) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    order = receiving.order({"qty": 9})
    assert _shares(stack) == (0, 9)
    number = receiving.started(order)
    receiving.receive(number, 4).ok()
    assert _shares(stack) == (0, 5)
    receiving.undo(number, 1).ok()
    assert _shares(stack) == (0, 6)
    assert receiving.act(number, "finalize").status == 200
    yard.erp.post(f"/entry-documents/{order}/close").ok()
    assert _shares(stack) == (0, 0)


def test_transfer_order_is_committed_at_the_origin_and_incoming_at_the_destination(
    stack: Stack, yard: WarehouseScenario
) -> None:
    transfers = TransferScenario(yard.erp, yard)
    yard.stock("BRICK", 8)

    def both() -> tuple[float, float]:
        return _shares(stack)[0], _shares(stack, whs_code="SHOP")[1]

    number = transfers.draft(("BRICK", 10)).data["id"]
    transfers.done(number, "release", picker_id=7)
    assert both() == (2, 10)
    transfers.pick(number, "BRICK", 3)
    assert both() == (2, 7)
    transfers.done(number, "picks/undo", item_code="BRICK", qty=1, bin_code="A-01")
    assert both() == (2, 8)
    transfers.pick(number, "BRICK", 2)
    transfers.done(number, "finish-picking")
    assert both() == (0, 4)
    transfers.done(number, "dispatch")
    assert both() == (0, 4)
    transfers.receive(number, {"item_code": "BRICK", "qty": 1}).ok()
    assert both() == (0, 3)
    transfers.done(number, "receive", final=True)
    assert both() == (0, 0)


def test_cancelled_transfer_order_has_no_shares(stack: Stack, yard: WarehouseScenario) -> None:
    transfers = TransferScenario(yard.erp, yard)
    yard.stock("BRICK", 8)
    number = transfers.order(("BRICK", 10))
    transfers.pick(number, "BRICK", 3)

    transfers.done(number, "cancel")

    assert (_shares(stack), _shares(stack, whs_code="SHOP")) == ((0, 0), (0, 0))


def test_change_that_moves_no_share_writes_no_level(yard: WarehouseScenario, stack: Stack) -> None:
    yard.stock("BRICK", 5)
    number = yard.started(yard.order(("BRICK", 5)))
    before = _versions(stack)

    yard.pick(number, "BRICK", 2).ok()
    yard.erp.patch("/exit-documents/1", {"comments": "Ring twice"}).ok()

    assert _versions(stack) == before


def _versions(stack: Stack) -> list[object]:
    items = stack.unsorted_items()
    return [one["version"] for one in items if one["PK"]["S"].startswith(("level#", "total#"))]


def test_lists_totals_and_events_show_what_can_be_sold(
    stack: Stack, yard: WarehouseScenario
) -> None:
    yard.stock("BRICK", 6)
    before = len(stack.events())
    yard.order(("BRICK", 10), ("CEMENT", 1))

    [level] = yard.erp.get("/stock-levels", query={"item_code": "BRICK"}).data
    shown = {name: level[name] for name in ("committed", "incoming", "held", "sellable")}
    assert shown == {"committed": 10, "incoming": 0, "held": 0, "sellable": -4}
    events = [event_attributes(one) for one in stack.events()[before:]]
    assert [{name: one[name] for name in shown} for one in events if one["product_id"] == 1] == [
        shown
    ]

    def codes(**query: str) -> list[str]:
        return [one["item_code"] for one in yard.erp.walk("/stock-levels", **query)]

    for totals in ("false", "true"):
        assert codes(shortage="true", totals=totals) == ["BRICK", "CEMENT"]
        assert codes(sellable_below="-1", totals=totals) == ["BRICK"]
        assert codes(sellable_below="-4", totals=totals) == []
    assert codes(shortage="true", warehouse="SHOP") == []
    yard.stock("BRICK", 4)
    assert codes(shortage="true") == ["CEMENT"]


def test_shares_of_a_table_before_its_upgrade_are_not_shown() -> None:
    entity = StoredLevel(
        event_id=1, product_id=1, item_code="BRICK", whs_code="YARD", on_hand=Decimal(5),
        committed=Decimal(2), created_at="", updated_at="",
    )  # fmt: skip
    shown = [views.level(TableVersion.of(at), 0)(Record(1, 1, entity)) for at in (3, 4)]
    assert [(one.committed, one.sellable) for one in shown] == [(None, None), (2, 3)]


def test_hot_product_stops_no_order(
    stack: Stack, yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    aws_faults.latency = 0.002

    def ten_orders(client: int) -> list[int]:
        bodies = [
            document_body(external_ref=f"SO-{client}-{number}", type="sale_order",
                          lines=[{"item_code": "BRICK", "qty": 1}])
            for number in range(10)
        ]  # fmt: skip
        return [
            yard.erp.post("/exit-documents", body, key=body["external_ref"]).status
            for body in bodies
        ]

    answers = run_concurrently(20, ten_orders)

    assert {status for statuses in answers for status in statuses} == {201}
    assert _shares(stack) == (200, 0)
    assert_invariants(stack.store())
