"""The life cycle of transfer orders: released, picked, dispatched, received, closed."""

from typing import Any

import pytest

from tests.clock import Clock
from tests.stack import Stack, event_attributes
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import PATH, TransferScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

_EVENT_PREFIXES = ("transfer.", "picking.")


def events_and_statuses(stack: Stack) -> list[tuple[str, str]]:
    """Return the events of transfer orders and pickings with the statuses they show."""
    return [
        (event["type"]["S"], event["status"]["S"])
        for event in stack.events()
        if event["type"]["S"].startswith(_EVENT_PREFIXES)
    ]


def movements(transfer_scenario: TransferScenario, number: int) -> list[tuple[str, str, float]]:
    """Return the movements of an order, oldest first: type, item, quantity."""
    rows = transfer_scenario.erp.walk(
        "/stock-movements", sort="created_at", document_type="transfer_order"
    )
    assert {row["document"]["id"] for row in rows} <= {number}
    return [(row["type"], row["item_code"], row["qty"]) for row in rows]


def statuses(shown: dict[str, Any]) -> list[str]:
    return [line["status"] for line in shown["lines"]]


def units(shown: dict[str, Any]) -> list[float]:
    return [shown["units"][name] for name in ("requested", "picked", "dispatched", "received")]


def test_transfer_order_is_released_and_picked(transfer_scenario: TransferScenario) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    draft = transfer_scenario.draft(
        ("BRICK", 4), external_ref="MOVE-1", reason="Restock", priority=1
    ).data
    number = draft["id"]
    assert (draft["status"], draft["picking_id"]) == ("draft", None)
    assert transfer_scenario.level("BRICK", "YARD") == (10, 0, 10, 0)

    released = transfer_scenario.done(number, "release", picker_id=7)

    assert (released["status"], released["status_label"]) == ("released", "Released for picking")
    assert statuses(released) == ["open"]
    picking = transfer_scenario.erp.get(f"/pickings/{released['picking_id']}").data
    assert (picking["status"], picking["priority"], picking["operator"]["id"]) == ("pending", 1, 7)
    assert picking["document"] == {
        "id": number,
        "type": "transfer_order",
        "doc_num": f"TO-{number}",
        "card_code": None,
        "external_ref": "MOVE-1",
    }
    assert transfer_scenario.level("BRICK", "YARD") == (10, 4, 6, 0)

    begun = transfer_scenario.pick(number, "BRICK", 1)
    assert (begun["status"], statuses(begun), units(begun)) == (
        "picking", ["partial"], [4, 1, 0, 0],
    )  # fmt: skip
    started = transfer_scenario.erp.get(f"/pickings/{released['picking_id']}").data
    assert (started["status"], started["started_at"] is None) == ("started", False)
    picked = transfer_scenario.pick(number, "BRICK", 3)
    assert (picked["status"], statuses(picked), units(picked)) == (
        "picked", ["picked"], [4, 4, 0, 0],
    )  # fmt: skip
    ended = transfer_scenario.erp.get(f"/pickings/{released['picking_id']}").data
    assert (ended["status"], ended["has_shortage"]) == ("finalized", False)
    assert transfer_scenario.level("BRICK", "YARD") == (10, 4, 6, 0)


def test_transfer_order_is_dispatched_received_and_closed(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.draft(("BRICK", 4)).data["id"]
    transfer_scenario.done(number, "release", picker_id=7)
    transfer_scenario.pick(number, "BRICK", 4)

    left = transfer_scenario.done(
        number, "dispatch", seal_number="SEAL-9", vehicle_plate="241-D-1", carrier_id=5
    )
    assert (left["status"], statuses(left), units(left)) == (
        "in_transit", ["in_transit"], [4, 4, 4, 0],
    )  # fmt: skip
    assert (left["seal_number"], left["vehicle_plate"], left["carrier_id"]) == (
        "SEAL-9", "241-D-1", 5,
    )  # fmt: skip
    assert left["dispatched_at"] is not None
    assert transfer_scenario.level("BRICK", "YARD") == (6, 0, 6, 0)
    assert transfer_scenario.level("BRICK", "SHOP") == (0, 0, 0, 4)
    [travelling] = transfer_scenario.erp.get("/stocks", query={"warehouse": "SHOP"}).data
    assert (travelling["position"], travelling["inventory_status"]) == (None, "in_transit")
    assert_invariants(stack.store())

    some = transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 1}).data
    assert (some["status"], statuses(some), units(some)) == (
        "receiving", ["partial"], [4, 4, 4, 1],
    )  # fmt: skip
    assert transfer_scenario.level("BRICK", "SHOP") == (1, 0, 1, 3)
    came = transfer_scenario.receive(
        number, {"item_code": "BRICK", "qty": 3, "bin_code": "F-01"}
    ).data
    assert (came["status"], statuses(came), units(came)) == ("received", ["received"], [4, 4, 4, 4])
    assert (came["has_discrepancy"], came["received_at"] is None) == (False, False)
    assert_invariants(stack.store())

    closed = transfer_scenario.done(number, "close")
    assert (closed["status"], closed["status_label"]) == ("closed", "Closed")
    assert (closed["has_discrepancy"], closed["closed_at"] is None) == (False, False)
    assert closed["headline"] == "YARD → SHOP, 1 line"
    assert (closed["receipt_id"], closed["sap"]) == (None, None)
    assert (closed["close_reason"], closed["updated_at"]) == (None, closed["closed_at"])
    assert transfer_scenario.shown(number) == closed
    assert closed.pop("actions") == []
    assert transfer_scenario.erp.walk(PATH) == [{**closed, "lines": None}]
    assert transfer_scenario.level("BRICK", "SHOP") == (4, 0, 4, 0)
    assert events_and_statuses(stack) == [
        ("transfer.created", "draft"),
        ("picking.created", "pending"),
        ("picking.completed", "finalized"),
        ("transfer.dispatched", "in_transit"),
        ("transfer.received", "received"),
        ("transfer.completed", "closed"),
    ]
    last = stack.events()[-1]
    assert (last["object"]["S"], last["href"]["S"]) == ("transfer_order", f"{PATH}/{number}")
    assert event_attributes(last) == {**closed, "lines": None}
    assert movements(transfer_scenario, number) == [
        ("transfer_dispatch", "BRICK", 4),
        ("transfer_receipt", "BRICK", 1),
        ("transfer_receipt", "BRICK", 3),
    ]


def test_batches_and_serials_are_dispatched_and_partly_lost(
    transfer_scenario: TransferScenario, stack: Stack
) -> None:
    transfer_scenario.yard.stock("CEMENT", 5, batch="L1", expiry_date="2030-01-31")
    transfer_scenario.yard.stock("CEMENT", 5, "B-01", batch="L2", expiry_date="2031-01-31")
    transfer_scenario.yard.stock_serials("S1", "S2", "S3")
    number = transfer_scenario.draft(
        lines=[
            {"item_code": "CEMENT", "qty": 8},
            {"item_code": "DRILL", "qty": 3, "expected_series": ["S1", "S3", "S9"]},
            {"item_code": "BRICK", "qty": 1},
        ],
        release=True,
        picker_id=7,
    ).data["id"]
    assert transfer_scenario.shown(number)["lines"][1]["serial_numbers"] == ["S1", "S3", "S9"]

    transfer_scenario.pick(number, "CEMENT", 5, batch="L1")
    transfer_scenario.pick(number, "CEMENT", 2, "B-01", batch="L2")
    other = {"item_code": "DRILL", "qty": 1, "bin_code": "A-01", "serials": ["S2"]}
    refused = transfer_scenario.act(number, "picks", **other)
    assert (refused.status, refused.json()["error"]["field"]) == (422, "serials")
    transfer_scenario.pick(number, "DRILL", 2, serials=["S3", "S1"])
    short = transfer_scenario.done(number, "finish-picking")

    assert (short["status"], statuses(short)) == ("picked", ["short", "short", "short"])
    assert sorted(short["lines"][1]["serial_numbers"]) == ["S1", "S3"]
    picking = transfer_scenario.erp.get(f"/pickings/{short['picking_id']}").data
    assert (picking["status"], picking["has_shortage"]) == ("finalized", True)
    assert transfer_scenario.level("CEMENT", "YARD") == (10, 7, 3, 0)
    left = transfer_scenario.done(number, "dispatch")
    assert statuses(left) == ["in_transit", "in_transit", "short"]
    assert transfer_scenario.level("DRILL", "SHOP") == (0, 0, 0, 2)
    assert_invariants(stack.store())

    receiving = transfer_scenario.receive(
        number,
        {"item_code": "DRILL", "qty": 1, "serials": ["S3"]},
        {"item_code": "CEMENT", "qty": 4, "batch": "L1"},
        {"item_code": "CEMENT", "qty": 2, "batch": "L2", "bin_code": "A-01"},
    ).data
    assert (receiving["status"], receiving["has_discrepancy"]) == ("receiving", False)
    assert statuses(receiving) == ["partial", "partial", "short"]
    ended = transfer_scenario.done(number, "receive", final=True)
    assert (ended["status"], ended["has_discrepancy"]) == ("received", True)
    assert statuses(ended) == ["short", "short", "short"]
    assert units(ended) == [12, 9, 9, 7]
    assert ended["headline"] == "YARD → SHOP, 3 lines: 7 of 9 units received"
    assert transfer_scenario.level("CEMENT", "SHOP") == (6, 0, 6, 1)
    [serial] = transfer_scenario.erp.get("/stocks", query={"serial": "S1"}).data
    assert (serial["inventory_status"], serial["status"]) == ("in_transit", "in")
    assert_invariants(stack.store())

    silent = transfer_scenario.act(number, "close")
    assert (silent.status, silent.json()["error"]["field"]) == (422, "reason")
    closed = transfer_scenario.done(number, "close", reason="Fell off the truck")

    assert (closed["status"], closed["has_discrepancy"]) == ("closed", True)
    assert closed["close_reason"] == "Fell off the truck"
    assert transfer_scenario.level("CEMENT", "SHOP") == (6, 0, 6, 0)
    assert transfer_scenario.level("DRILL", "SHOP") == (1, 0, 1, 0)
    losses = transfer_scenario.erp.walk("/stock-movements", type="transfer_loss")
    assert sorted((row["item_code"], row["qty"], row["reason"]) for row in losses) == [
        ("CEMENT", 1, "Fell off the truck"), ("DRILL", 1, "Fell off the truck"),
    ]  # fmt: skip
    [batch] = transfer_scenario.erp.get(
        "/stocks", query={"warehouse": "SHOP", "batch": "L1", "status": "in"}
    ).data
    assert batch["expiry_date"] == "2030-01-31"


def test_goods_of_two_orders_in_transit_are_kept_apart(transfer_scenario: TransferScenario) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    first, second = (
        transfer_scenario.underway(("BRICK", 4)),
        transfer_scenario.underway(("BRICK", 5)),
    )
    assert transfer_scenario.level("BRICK", "SHOP") == (0, 0, 0, 9)

    too_much = transfer_scenario.receive(first, {"item_code": "BRICK", "qty": 5})
    transfer_scenario.receive(second, {"item_code": "BRICK", "qty": 5})
    transfer_scenario.done(second, "close")
    transfer_scenario.done(first, "receive", final=True)
    transfer_scenario.done(first, "close", reason="Lost")

    assert (too_much.status, too_much.code) == (409, "conflict")
    assert transfer_scenario.level("BRICK", "SHOP") == (5, 0, 5, 0)


def test_lines_of_one_item_are_received_in_order(transfer_scenario: TransferScenario) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    number = transfer_scenario.order(("BRICK", 4), ("BRICK", 3))
    transfer_scenario.pick(number, "BRICK", 7)
    transfer_scenario.done(number, "dispatch")

    shown = transfer_scenario.receive(number, {"item_code": "BRICK", "qty": 5}).data

    assert [line["received_qty"] for line in shown["lines"]] == [4, 1]
    assert statuses(shown) == ["received", "partial"]


def test_substitution_follows_the_setting(transfer_scenario: TransferScenario) -> None:
    transfer_scenario.yard.stock("BRICK", 5)
    transfer_scenario.yard.stock("BRICK", 5, "B-01")
    number = transfer_scenario.order(("BRICK", 5))
    wanted = {"item_code": "BRICK", "qty": 5, "bin_code": "B-01"}

    refused = transfer_scenario.act(number, "picks", **wanted)
    transfer_scenario.yard.change_settings(pick_substitution="position")
    taken = transfer_scenario.done(number, "picks", **wanted)

    assert (refused.status, refused.json()["error"]["field"]) == (422, "bin_code")
    assert taken["status"] == "picked"


def test_later_stock_is_allocated_through_the_picking(transfer_scenario: TransferScenario) -> None:
    number = transfer_scenario.order(("BRICK", 3))
    early = transfer_scenario.act(number, "picks", item_code="BRICK", qty=3, bin_code="A-01")
    transfer_scenario.yard.stock("BRICK", 3)

    allocated = transfer_scenario.erp.post(
        f"/pickings/{transfer_scenario.shown(number)['picking_id']}/allocate"
    )

    assert (early.status, early.json()["error"]["field"]) == (422, "item_code")
    assert allocated.data["lines"][0]["bin_code"] == "A-01"
    assert transfer_scenario.pick(number, "BRICK", 3)["status"] == "picked"


def test_cancelled_order_restores_the_stock(transfer_scenario: TransferScenario) -> None:
    transfer_scenario.yard.stock("BRICK", 10)
    transfer_scenario.yard.stock("CEMENT", 4, batch="L1")
    draft = transfer_scenario.draft(("BRICK", 4)).data["id"]
    released = transfer_scenario.order(("BRICK", 4))
    begun = transfer_scenario.order(("BRICK", 4), ("CEMENT", 4))
    transfer_scenario.pick(begun, "BRICK", 3)
    picked = transfer_scenario.order(("BRICK", 2))
    ended = transfer_scenario.pick(picked, "BRICK", 2)
    # its ERP has booked the picking
    transfer_scenario.erp.post(f"/pickings/{ended['picking_id']}/synchronize").ok()

    numbers = (draft, released, begun, picked)
    cancelled = [transfer_scenario.done(number, "cancel") for number in numbers]

    assert {order["status"] for order in cancelled} == {"cancelled"}
    assert {status for order in cancelled for status in statuses(order)} == {"cancelled"}
    assert units(cancelled[2]) == [8, 0, 0, 0]
    pickings = transfer_scenario.erp.walk("/pickings")
    assert [picking["status"] for picking in pickings] == ["cancelled"] * 3
    assert transfer_scenario.level("BRICK", "YARD") == (10, 0, 10, 0)
    assert transfer_scenario.level("CEMENT", "YARD") == (4, 0, 4, 0)


def test_master_data_of_an_open_order_cannot_be_deleted(
    transfer_scenario: TransferScenario,
) -> None:
    product = transfer_scenario.erp.post("/products", {"item_code": "SAND", "name": "Sand"}).id
    cancelled = transfer_scenario.order(("SAND", 1))
    transfer_scenario.yard.stock("SAND", 1)
    went = transfer_scenario.order(("SAND", 1))
    transfer_scenario.done(cancelled, "cancel")
    transfer_scenario.pick(went, "SAND", 1)
    transfer_scenario.done(went, "dispatch")
    transfer_scenario.done(went, "receive", final=True)

    held = transfer_scenario.erp.delete(f"/products/{product}")
    transfer_scenario.done(went, "close", reason="Spilled")
    free = transfer_scenario.erp.delete(f"/products/{product}")

    assert (held.status, held.code) == (409, "conflict")
    assert free.status == 200, free.text


def test_long_order_is_released_dispatched_and_written_off_in_steps(
    transfer_scenario: TransferScenario, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 18)
    codes = [f"P-{number}" for number in range(7)]
    for code in codes:
        transfer_scenario.erp.post("/products", {"item_code": code, "name": code}).ok(201)
        transfer_scenario.yard.stock(code, 2)
    lines = [(code, 2) for code in codes]
    given_up = transfer_scenario.order(*lines)
    for code in codes[:6]:
        transfer_scenario.pick(given_up, code, 1)
    transfer_scenario.done(given_up, "cancel")
    assert_invariants(stack.store())
    number = transfer_scenario.draft(*lines).data["id"]
    released = transfer_scenario.done(number, "release", picker_id=7)
    picking = transfer_scenario.erp.get(f"/pickings/{released['picking_id']}").data
    assert [line["bin_code"] for line in picking["lines"]] == ["A-01"] * 7

    for code in codes:
        shown = transfer_scenario.pick(number, code, 2)
    assert shown["status"] == "picked"
    left = transfer_scenario.done(number, "dispatch")
    assert units(left) == [14, 14, 14, 0]
    transfer_scenario.receive(
        number, *({"item_code": code, "qty": 1} for code in codes[:3]), final=True
    )
    assert_invariants(stack.store())
    transfer_scenario.done(number, "close", reason="Stolen")

    levels = [
        level
        for level in transfer_scenario.erp.walk("/stock-levels")
        if level["whs_code"] == "SHOP"
    ]
    assert [(level["on_hand"], level["in_transit"]) for level in levels] == [
        *[(1, 0)] * 3, *[(0, 0)] * 4,
    ]  # fmt: skip
    assert [kind for kind, _ in events_and_statuses(stack)].count("transfer.dispatched") == 1


def test_any_of_the_expected_batches_is_allocated_and_picked(
    transfer_scenario: TransferScenario,
) -> None:
    for batch, expiry in (("L1", "2030-01-31"), ("L2", "2031-01-31"), ("L3", "2032-01-31")):
        transfer_scenario.yard.stock("CEMENT", 2, batch=batch, expiry_date=expiry)
    transfer_scenario.yard.change_settings(pick_substitution="batch")
    line = {"item_code": "CEMENT", "qty": 3, "expected_batches": ["L3", "L2"]}
    number = transfer_scenario.draft(lines=[line], release=True, picker_id=7).data["id"]

    picking = transfer_scenario.erp.get("/pickings").data[0]["id"]
    shown = transfer_scenario.erp.get(f"/pickings/{picking}").data["lines"]
    assert [(one["batch_num"], one["qty"]) for one in shown] == [("L2", 2), ("L3", 1)]
    wanted = {"item_code": "CEMENT", "qty": 1, "bin_code": "A-01"}
    refused = transfer_scenario.act(number, "picks", **wanted, batch="L1")
    assert (refused.status, refused.json()["error"]["field"]) == (422, "batch")
    assert transfer_scenario.act(number, "picks", **wanted, batch="L3").status == 200


def test_key_that_has_expired_creates_and_releases_another_order(
    transfer_scenario: TransferScenario, clock: Clock
) -> None:
    body = {
        "from_warehouse": "YARD", "to_warehouse": "SHOP", "release": True, "picker_id": 7,
        "lines": [{"item_code": "BRICK", "qty": 1}],
    }  # fmt: skip
    first = transfer_scenario.erp.post("/transfer-orders", body, key="k")
    clock.advance(24 * 3600 + 60)
    # The alias of the first request may outlive its key: DynamoDB removes it some time later.
    second = transfer_scenario.erp.post("/transfer-orders", {**body, "reason": "More"}, key="k")

    assert (first.status, second.status) == (201, 201)
    assert second.data["id"] != first.data["id"]
    assert second.data["reason"] == "More"
