"""Rules of the progress of transfer orders."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.warehouse.picking.models import Pick
from shared.warehouse.transfer_orders import progress_rules as rules
from shared.warehouse.transfer_orders.models import (
    Arrival,
    ArrivalLine,
    InTransitGoods,
    OrderStatus,
    StoredTransferLine,
    StoredTransferOrder,
    TransferPlace,
)
from tests.cases import each_case


def line(
    number: int = 1, item_code: str = "BRICK", qty: int = 10, **more: Any
) -> StoredTransferLine:
    facts = {"picked_qty": 0, "dispatched_qty": 0, "received_qty": 0, **more}
    return StoredTransferLine.model_validate(
        {
            "id": number,
            "line_num": number,
            "product_id": 1,
            "item_code": item_code,
            "qty": qty,
            **facts,
        }
    )


def order(status: OrderStatus, *lines: StoredTransferLine) -> StoredTransferOrder:
    return StoredTransferOrder(
        id=3,
        status=status,
        origin=TransferPlace(id=1, code="YARD", name="Yard"),
        destination=TransferPlace(id=2, code="SHOP", name="Shop"),
        priority=2,
        source="api",
        created_at="then",
        updated_at="then",
        lines=list(lines) or [line()],
    )


def pick(qty: Decimal | int, batch: str | None = None, serial: str | None = None) -> Pick:
    return Pick(
        staged_id=1, position_id=1, bin_code="A", batch_num=batch, serial=serial, qty=Decimal(qty)
    )


def arrival(*goods: tuple[str, Decimal | int], final: bool = False) -> Arrival:
    lines = [ArrivalLine(item_code=item, qty=Decimal(qty), bin_code="A-01") for item, qty in goods]
    return Arrival.model_construct(lines=lines, final=final)


@each_case(
    ("status", "picked", "dispatched", "received", "shown"),
    [
        ("draft", 0, 0, 0, "open"),
        ("released", 0, 0, 0, "open"),
        ("picking", 0, 0, 0, "open"),
        ("picking", 4, 0, 0, "partial"),
        ("picking", 10, 0, 0, "picked"),
        ("picked", 10, 0, 0, "picked"),
        ("picked", 4, 0, 0, "short"),
        ("picked", 0, 0, 0, "short"),
        ("in_transit", 4, 4, 0, "in_transit"),
        ("in_transit", 0, 0, 0, "short"),
        ("receiving", 4, 4, 1, "partial"),
        ("receiving", 4, 4, 4, "received"),
        ("receiving", 4, 4, 0, "in_transit"),
        ("received", 4, 4, 4, "received"),
        ("received", 4, 4, 3, "short"),
        ("received", 0, 0, 0, "short"),
        ("closed", 4, 4, 4, "received"),
        ("closed", 4, 4, 0, "short"),
        ("cancelled", 0, 0, 0, "cancelled"),
    ],
)
def test_status_of_a_line_follows_order_and_quantities(
    status: OrderStatus, picked: int, dispatched: int, received: int, shown: str
) -> None:
    one = line(picked_qty=picked, dispatched_qty=dispatched, received_qty=received)
    assert rules.line_status(order(status, one), one) == shown


def test_goods_of_one_batch_are_one_entry_and_each_serial_is_its_own() -> None:
    goods = [
        (1, pick(2, "L1")), (1, pick(3, "L2")), (1, pick(4, "L1")), (2, pick(1, serial="S1")),
        (2, pick(1, serial="S2")),
    ]  # fmt: skip

    loaded = rules.with_transit(order("picked", line(1), line(2, "DRILL")), goods)

    assert [one.dispatched_qty for one in loaded.lines] == [9, 2]
    assert [[(goods.batch_num, goods.serial, goods.qty) for goods in one.transit]
            for one in loaded.lines] == [
        [("L2", None, 3), ("L1", None, 6)],
        [(None, "S1", 1), (None, "S2", 1)],
    ]  # fmt: skip


def test_receiving_ends_with_the_last_goods_or_with_final() -> None:
    sent = rules.with_transit(order("picked"), [(1, pick(4))])

    some, _ = rules.with_arrival(sent, arrival(("BRICK", 1)), "t1")
    short, _ = rules.with_arrival(some, arrival(final=True), "t2")
    full, _ = rules.with_arrival(some, arrival(("BRICK", 3)), "t3")

    assert [(one.status, one.received_at) for one in (some, short, full)] == [
        ("receiving", None), ("received", "t2"), ("received", "t3"),
    ]  # fmt: skip
    assert [rules.has_discrepancy(one) for one in (some, short, full)] == [False, True, False]
    [lost] = short.lines[0].transit
    assert rules.without_lost_goods(short, [(1, lost)]).lines[0].transit == []
    assert short.lines[0].transit == [InTransitGoods(qty=Decimal(3))]


_ITEMS = st.sampled_from(["BRICK", "SAND"])
_QTY = st.decimals("0.5", 6, places=1)


@given(
    sent=st.lists(st.tuples(_ITEMS, _QTY), min_size=1, max_size=5),
    came=st.lists(st.tuples(_ITEMS, _QTY), max_size=8),
)
def test_in_transit_is_dispatched_minus_received(
    sent: list[tuple[str, Decimal]], came: list[tuple[str, Decimal]]
) -> None:
    lines = [line(number, item) for number, (item, _) in enumerate(sent, start=1)]
    goods = [(number, pick(qty)) for number, (_, qty) in enumerate(sent, start=1)]
    after = rules.with_transit(order("picked", *lines), goods)
    for item, qty in came:
        left = sum(
            (goods.qty for one in after.lines if one.item_code == item for goods in one.transit),
            Decimal(0),
        )
        then, excess = rules.with_arrival(after, arrival((item, qty)), "now")
        assert bool(excess) == (qty > left)
        if not excess:
            after = then
        for one in after.lines:
            underway = sum((goods.qty for goods in one.transit), Decimal(0))
            assert one.received_qty + underway == one.dispatched_qty
    everything = all(not one.transit for one in after.lines)
    assert (after.status == "received") == everything
