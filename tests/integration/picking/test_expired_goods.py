"""Goods past their expiry date, or too near to it, do not leave with orders."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.warehouse.stock.repository import STOCK
from tests import faults
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after_step
from tests.import_scenario import ImportScenario
from tests.packing_scenario import PackingScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

pytestmark = pytest.mark.usefixtures("consistent_stock")

_DAY = 86_400


class Shelf:
    """Cement at A-01: batch L1 expires at the end of the first day, L2 ten days later."""

    def __init__(self, stack: Stack, clock: Clock) -> None:
        self.stack, self.clock = stack, clock
        # Before the clock moves: other tests use the same master data, and their events follow it.
        WarehouseScenario.with_master_data(stack.erp(), "YARD", "SHOP")
        clock.freeze_in_new_window(_DAY)
        self.dates = [self._day(days) for days in range(31)]
        self.yard = WarehouseScenario(stack.erp())
        self.yard.stock("CEMENT", 5, batch="L1", expiry_date=self.dates[0])

    def _day(self, days: int) -> str:
        return str((datetime.fromtimestamp(self.clock.time(), UTC) + timedelta(days)).date())

    def add_l2(self, qty: float = 5) -> None:
        self.yard.stock("CEMENT", qty, batch="L2", expiry_date=self.dates[10])

    def pass_days(self, days: int = 1) -> None:
        """Let days pass; the ERP signs in again."""
        self.clock.advance(days * _DAY)
        self.yard.erp = self.stack.erp()

    @property
    def refused(self) -> dict[str, str]:
        """The problems of a pick of L1 on the second day."""
        return {"batch": self.expired}

    @property
    def expired(self) -> str:
        """What a refusal says of L1 on the second day."""
        return f"batch L1 of CEMENT expired on {self.dates[0]}, today is {self.dates[1]}"

    def rows(self) -> list[tuple[str, float, float]]:
        """Return status, quantity and allocated quantity of L1."""
        found = [record.entity for record in STOCK.get_many(self.stack.store(), range(1, 100))]
        rows = [one for one in found if one.batch_num == "L1" and one.qty]
        return [(one.inventory_status, float(one.qty), float(one.allocated)) for one in rows]

    def allocated(self, **order: Any) -> int:
        """Start a picking of an order to which L1 is allocated; return its id."""
        number = self.yard.started(self.yard.order(("CEMENT", 5), **order))
        assert self.rows() == [("available", 5, 5)]
        return number

    def require_days(self, days: int | None) -> None:
        """Set min_remaining_days of cement."""
        [found] = self.yard.erp.get("/products", query={"item_code": "CEMENT"}).data
        body = {"min_remaining_days": days}
        shown = self.yard.erp.patch(f"/products/{found['id']}", body).ok()
        assert shown["min_remaining_days"] == days


@pytest.fixture
def shelf(stack: Stack, clock: Clock) -> Shelf:
    return Shelf(stack, clock)


def _batches(picking: Mapping[str, Any]) -> list[str | None]:
    return [line["batch_num"] for line in picking["lines"]]


# Operations on goods: prepared on the first day, when L1 is good, and executed on the second.

type _Operation = Callable[[Shelf], Callable[[], object]]


def _creation(shelf: Shelf) -> Callable[[], object]:
    order = shelf.yard.order(("CEMENT", 5))
    return lambda: shelf.yard.picking(order)


def _repetition(shelf: Shelf) -> Callable[[], object]:
    """The request dies between its creation and its allocation, and is repeated."""
    order = shelf.yard.order(("CEMENT", 5), ("BRICK", 1))

    def act() -> None:
        body = {"document_ids": [order]}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
            injected = faults.install(patch)
            with pytest.raises(Killed), injected.faulty(kill_after_step(1)):
                shelf.yard.erp.post("/pickings", body, key="again")
        shelf.clock.advance(60)
        shelf.yard.erp.post("/pickings", body, key="again").ok(201)

    return act


def _allocate(shelf: Shelf) -> Callable[[], object]:
    number = shelf.yard.picking(shelf.yard.order(("CEMENT", 5)), allocate=False)["id"]
    return lambda: shelf.yard.act(number, "allocate").ok()


def _pick_of_allocated(shelf: Shelf) -> Callable[[], object]:
    number = shelf.allocated()

    def act() -> None:
        assert shelf.yard.pick(number, "CEMENT", 5, batch="L1").problems == shelf.refused

    return act


def _pick_of_transfer_order(shelf: Shelf) -> Callable[[], object]:
    number = TransferScenario(shelf.yard.erp, shelf.yard).order(("CEMENT", 5))

    def act() -> None:
        body = {"item_code": "CEMENT", "qty": 5, "bin_code": "A-01", "batch": "L1"}
        answer = shelf.yard.erp.post(f"/transfer-orders/{number}/picks", body)
        assert answer.problems == shelf.refused

    return act


def _substitution(setting: str) -> _Operation:
    def operation(shelf: Shelf) -> Callable[[], object]:
        shelf.yard.change_settings(pick_substitution=setting)
        order = shelf.yard.order(("CEMENT", 5))

        def act() -> None:
            shelf.add_l2()
            number = shelf.yard.started(order)
            assert shelf.yard.pick(number, "CEMENT", 5, batch="L1").problems == shelf.refused

        return act

    return operation


def _packing(shelf: Shelf) -> Callable[[], object]:
    packing = PackingScenario(shelf.yard.erp, shelf.yard)
    document = shelf.yard.order(("CEMENT", 5))
    packing.picked(document, ("CEMENT", 5), batch="L1")
    unit = packing.unit(packing.order(document)["id"])

    def act() -> None:
        packing.erp = shelf.yard.erp
        assert packing.put(unit, "CEMENT", 5).blocked == {"item_code": shelf.expired}
        assert packing.put(unit, "CEMENT", 5, batch="L1").blocked == shelf.refused

    return act


def _wave(shelf: Shelf) -> Callable[[], object]:
    number = shelf.yard.picking(shelf.yard.order(("CEMENT", 5)), allocate=False)["id"]
    return lambda: WaveScenario(shelf.yard).wave([number], "plan", "release")


def _release_of_transfer_order(shelf: Shelf) -> Callable[[], object]:
    number = TransferScenario(shelf.yard.erp, shelf.yard).draft(("CEMENT", 5)).id
    path = f"/transfer-orders/{number}/release"
    return lambda: shelf.yard.erp.post(path, {"picker_id": 7}).ok()


def _released_transfer_order(shelf: Shelf) -> Callable[[], object]:
    return lambda: TransferScenario(shelf.yard.erp, shelf.yard).order(("CEMENT", 5))


def _import_of_orders(shelf: Shelf) -> Callable[[], object]:
    content = (
        "external_ref,type,doc_date,partner_code,warehouse_code,item_code,qty\n"
        "SO-9,sale_order,2026-03-01,C-1,YARD,CEMENT,5\n"
    )

    def act() -> None:
        scenario = ImportScenario(shelf.stack)
        one = scenario.import_file(
            "exit_documents", "orders.csv", content.encode(), auto_allocate="true"
        )
        assert scenario.commit(one["id"])["documents"]["committed"] == 1
        assert len(shelf.yard.erp.walk("/pickings")) == 1

    return act


_OPERATIONS: Mapping[str, _Operation] = {
    "creation of a picking": _creation,
    "repeated creation": _repetition,
    "allocation": _allocate,
    "pick": _pick_of_allocated,
    "pick of a transfer order": _pick_of_transfer_order,
    "substitution of the batch": _substitution("batch"),
    "substitution of batch and position": _substitution("any"),
    "packing": _packing,
    "release of a wave": _wave,
    "release of a transfer order": _release_of_transfer_order,
    "creation of a released transfer order": _released_transfer_order,
    "import of exit documents": _import_of_orders,
}


@pytest.mark.parametrize("operation", _OPERATIONS.values(), ids=_OPERATIONS)
def test_no_operation_takes_expired_goods(shelf: Shelf, operation: _Operation) -> None:
    act = operation(shelf)
    shelf.pass_days()
    before = shelf.rows()

    act()

    assert shelf.rows() == before


def test_corrected_date_of_a_batch_holds_for_picks_before_it_has_reached_its_rows(
    shelf: Shelf, aws_faults: AwsFaults
) -> None:
    shelf.yard.adjust("CEMENT", batch="L1", counted_qty=0).ok(201)
    shelf.add_l2()
    number = shelf.yard.started(shelf.yard.order(("CEMENT", 5)))
    body = {"item_code": "CEMENT", "batch": "L2", "expiry_date": shelf.dates[0], "reason": "Label"}
    assert aws_faults.kills(
        kill_after_step(), lambda: shelf.yard.erp.post("/stock-adjustments", body)
    )
    shelf.pass_days()

    assert shelf.yard.pick(number, "CEMENT", 5, batch="L2").problems == {
        "batch": f"batch L2 of CEMENT expired on {shelf.dates[0]}, today is {shelf.dates[1]}"
    }
    shelf.yard.erp.post("/stock-adjustments", body).ok()


def test_goods_are_good_on_the_day_of_their_expiry_date_in_the_time_zone_of_the_company(
    shelf: Shelf,
) -> None:
    shelf.yard.change_settings(timezone="Asia/Tokyo")  # nine hours ahead
    number = shelf.allocated()

    shelf.clock.advance(15 * 3600 - 2)
    shelf.yard.pick(number, "CEMENT", 1, batch="L1").ok()
    shelf.clock.advance(2)

    assert shelf.yard.pick(number, "CEMENT", 1, batch="L1").problems == shelf.refused


def test_a_pick_without_batch_names_the_item(shelf: Shelf) -> None:
    shelf.yard.stock("BRICK", 2, expiry_date=shelf.dates[0])
    number = shelf.yard.started(shelf.yard.order(("BRICK", 2)))
    shelf.pass_days()

    assert shelf.yard.pick(number, "BRICK", 1).problems == {
        "item_code": f"BRICK at A-01 expired on {shelf.dates[0]}, today is {shelf.dates[1]}"
    }


def test_expired_goods_return_to_their_provider(shelf: Shelf) -> None:
    head = {"type": "return_to_provider"}
    shelf.require_days(30)
    shelf.pass_days()
    packing = PackingScenario(shelf.yard.erp, shelf.yard)
    document = shelf.yard.order(("CEMENT", 5), head=head)

    packing.picked(document, ("CEMENT", 5), batch="L1")
    packing.done(packing.put(packing.unit(packing.order(document)["id"]), "CEMENT", 5))

    assert shelf.rows() == [("staged", 5, 5)]


def test_goods_that_expire_while_they_are_staged_are_dispatched(shelf: Shelf) -> None:
    number = shelf.allocated()
    shelf.yard.pick(number, "CEMENT", 5, batch="L1").ok()
    document = shelf.yard.act(number, "finalize").ok()["document"]["id"]
    shelf.pass_days()

    assert shelf.yard.erp.post(f"/exit-documents/{document}/dispatch").ok()["status"] == "closed"
    assert shelf.rows() == []


def test_goods_that_expire_while_they_are_staged_leave_unpacked(shelf: Shelf) -> None:
    """Also if the company requires packing; in one picking with goods that are packed."""
    sale = shelf.yard.order(("CEMENT", 2))
    back = shelf.yard.order(("CEMENT", 3), head={"type": "return_to_provider"})
    number = shelf.yard.started(sale, back)
    shelf.yard.pick(number, "CEMENT", 5, batch="L1").ok()
    shelf.yard.act(number, "finalize").ok()
    shelf.yard.change_settings(packing_required=True)
    shelf.pass_days()
    packing = PackingScenario(shelf.yard.erp, shelf.yard)
    orders = {document: packing.order(document)["id"] for document in (sale, back)}
    units = {document: packing.unit(order) for document, order in orders.items()}

    refused = packing.put(units[sale], "CEMENT", 2, batch="L1")
    assert refused.blocked == shelf.refused
    assert packing.complete(orders[sale]).code == "conflict"
    packing.done(packing.complete(orders[sale], short=True, reason="Expired"))
    packing.done(packing.put(units[back], "CEMENT", 3, batch="L1"))
    packing.done(packing.act(units[back], "close"))
    packing.done(packing.complete(orders[back]))

    assert [packing.done(packing.dispatch(one))["status"] for one in (sale, back)] == ["closed"] * 2
    assert shelf.rows() == []


def test_setting_allows_expired_goods(shelf: Shelf) -> None:
    shelf.yard.change_settings(expired_stock="allow")
    shelf.require_days(30)
    shelf.pass_days()

    number = shelf.allocated()

    shelf.yard.pick(number, "CEMENT", 5, batch="L1").ok()


def test_transfers_move_expired_goods_between_positions(shelf: Shelf) -> None:
    shelf.pass_days()
    line = {"item_code": "CEMENT", "qty": 5, "batch": "L1", "from_bin": "A-01", "to_bin": "B-01"}
    body = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [line]}

    assert shelf.yard.erp.post("/transfers", body).status == 201


def test_undone_picks_of_goods_that_expired_are_allocated_and_not_picked_again(
    shelf: Shelf,
) -> None:
    number = shelf.allocated()
    shelf.yard.pick(number, "CEMENT", 5, batch="L1").ok()
    shelf.pass_days()

    shelf.yard.undo(number, "CEMENT", 5, batch="L1").ok()

    assert shelf.rows() == [("available", 5, 5)]
    assert shelf.yard.pick(number, "CEMENT", 5, batch="L1").problems == shelf.refused


# Replacing allocations


def test_allocate_replaces_goods_that_expired(shelf: Shelf) -> None:
    shelf.yard.stock("BRICK", 2)
    number = shelf.yard.started(shelf.yard.order(("CEMENT", 5), ("BRICK", 2)))
    shelf.add_l2(3)
    shelf.pass_days()

    lines = shelf.yard.act(number, "allocate").ok()["lines"]

    assert [(line["bin_code"], line["batch_num"]) for line in lines] == [
        ("A-01", "L2"), (None, None), ("A-01", None),
    ]  # fmt: skip
    assert shelf.rows() == [("available", 5, 0)]
    assert shelf.yard.level("CEMENT") == (8, 3, 5)
    assert shelf.yard.level("BRICK") == (2, 2, 0)


def test_release_of_a_wave_replaces_goods_that_expired(shelf: Shelf) -> None:
    numbers = [shelf.yard.picking(shelf.yard.order(("CEMENT", qty)))["id"] for qty in (2, 3)]
    shelf.add_l2()
    shelf.pass_days()

    WaveScenario(shelf.yard).wave(numbers, "plan", "release")

    for number in numbers:
        assert _batches(shelf.yard.erp.get(f"/pickings/{number}").data) == ["L2"]
    assert shelf.rows() == [("available", 5, 0)]


def test_allocation_that_died_after_the_release_is_repeated(
    shelf: Shelf, aws_faults: AwsFaults
) -> None:
    number = shelf.allocated()
    shelf.add_l2()
    shelf.pass_days()
    with pytest.raises(Killed), aws_faults.faulty(kill_after_step(1)):
        shelf.yard.act(number, "allocate")
    assert shelf.rows() == [("available", 5, 0)]

    assert _batches(shelf.yard.act(number, "allocate").ok()) == ["L2"]


def test_many_expired_allocations_are_released_in_steps(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.yard.erp.post("/products", {"item_code": "SAW", "name": "Saw", "man_ser_num": True})
    serials = [f"S-{number}" for number in range(6)]
    for serial in serials:
        shelf.yard.stock("SAW", 1, serial=serial, expiry_date=shelf.dates[0])
    number = shelf.yard.started(shelf.yard.order(("SAW", 6)))
    shelf.pass_days()
    monkeypatch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 6)

    [line] = shelf.yard.act(number, "allocate").ok()["lines"]

    assert (line["bin_code"], line["serials"]) == (None, [])
    assert shelf.yard.level("SAW") == (6, 0, 6)


def test_serials_are_not_exchanged_for_expired_ones(shelf: Shelf) -> None:
    shelf.yard.stock("DRILL", 1, serial="OLD", expiry_date=shelf.dates[0])
    first = shelf.yard.started(shelf.yard.order(("DRILL", 1)))
    shelf.yard.stock("DRILL", 1, serial="NEW", expiry_date=shelf.dates[9])
    second = shelf.yard.picking(shelf.yard.order(("DRILL", 1)))["id"]
    shelf.pass_days()

    assert shelf.yard.pick(first, "DRILL", 1, serials=["NEW"]).problems == {
        "serials": f"serial NEW cannot be picked: PKG-{second} would get other goods, and serial"
        f" OLD of DRILL expired on {shelf.dates[0]}, today is {shelf.dates[1]}"
    }


# Days that goods must have left


def test_goods_with_too_few_days_left_are_not_sold(shelf: Shelf) -> None:
    number = shelf.allocated()
    shelf.add_l2(1)
    shelf.require_days(10)
    shelf.yard.change_settings(pick_substitution="any")
    shelf.yard.stock("CEMENT", 1, batch="L3", expiry_date=shelf.dates[1])
    refused = f"batch L1 of CEMENT expires on {shelf.dates[0]}: 0 days left, 10 required"

    assert shelf.yard.pick(number, "CEMENT", 1, batch="L1").problems == {"batch": refused}
    assert shelf.yard.pick(number, "CEMENT", 1, batch="L3").problems == {
        "batch": f"batch L3 of CEMENT expires on {shelf.dates[1]}: 1 day left, 10 required"
    }
    assert _batches(shelf.yard.act(number, "allocate").ok()) == ["L2", None]
    for kind, batches in (
        ("delivery_note", [None]), ("sale_order", [None]), ("return_to_provider", ["L1"]),
    ):  # fmt: skip
        picking = shelf.yard.picking(shelf.yard.order(("CEMENT", 1), head={"type": kind}))
        assert _batches(picking) == batches, kind
    TransferScenario(shelf.yard.erp, shelf.yard).order(("CEMENT", 4))
    assert shelf.rows() == [("available", 5, 5)]


def test_goods_with_too_few_days_left_are_not_packed(shelf: Shelf) -> None:
    packing = PackingScenario(shelf.yard.erp, shelf.yard)
    document = shelf.yard.order(("CEMENT", 5))
    packing.picked(document, ("CEMENT", 5), batch="L1")
    unit = packing.unit(packing.order(document)["id"])
    shelf.require_days(1)

    assert packing.put(unit, "CEMENT", 5).blocked == {
        "item_code": f"batch L1 of CEMENT expires on {shelf.dates[0]}: 0 days left, 1 required"
    }
    body = {"item_code": "CEMENT", "batch": "L1", "expiry_date": shelf.dates[1], "reason": "Label"}
    shelf.yard.erp.post("/stock-adjustments", body).ok()
    packing.done(packing.put(unit, "CEMENT", 5))


def test_goods_without_batch_are_packed_as_far_as_they_have_not_expired(shelf: Shelf) -> None:
    packing = PackingScenario(shelf.yard.erp, shelf.yard)
    shelf.yard.stock("BRICK", 3, expiry_date=shelf.dates[0])
    shelf.yard.stock("BRICK", 2, "B-01", expiry_date=shelf.dates[9])
    shelf.yard.stock("DRILL", 1, serial="OLD", expiry_date=shelf.dates[0])
    shelf.yard.stock("DRILL", 1, serial="NEW", expiry_date=shelf.dates[9])
    document = shelf.yard.order(("BRICK", 5), ("DRILL", 2))
    number = shelf.yard.started(document)
    shelf.yard.pick(number, "BRICK", 3).ok()
    shelf.yard.pick(number, "BRICK", 2, "B-01").ok()
    shelf.yard.pick(number, "DRILL", 2, serials=["OLD", "NEW"]).ok()
    shelf.yard.act(number, "finalize").ok()
    unit = packing.unit(packing.order(document)["id"])
    shelf.pass_days()
    packing.erp = shelf.yard.erp

    packing.done(packing.put(unit, "BRICK", 1))
    packing.done(packing.put(unit, "DRILL", 1, serials=["NEW"]))

    expired = f"expired on {shelf.dates[0]}, today is {shelf.dates[1]}"
    assert packing.put(unit, "BRICK", 2).blocked == {
        "item_code": f"BRICK {expired}; others left to pack: 1"
    }
    assert packing.put(unit, "DRILL", 1, serials=["OLD"]).blocked == {
        "item_code": f"serial OLD of DRILL {expired}"
    }


# The expiry date of a line


def test_expiry_date_of_a_line_is_binding(shelf: Shelf) -> None:
    shelf.add_l2()
    shelf.yard.stock("CEMENT", 5, batch="L3", expiry_date=shelf.dates[20])

    picking = shelf.yard.picking(shelf.yard.order(("CEMENT", 6), expiry_date=shelf.dates[10]))

    assert [(one["batch_num"], one["qty"]) for one in picking["lines"]] == [("L2", 5), (None, 1)]


@pytest.mark.parametrize("setting", ["batch", "any"])
def test_other_dates_than_that_of_a_line_are_picked_only_with_any(
    shelf: Shelf, setting: str
) -> None:
    shelf.yard.change_settings(pick_substitution=setting)
    shelf.add_l2()
    order = shelf.yard.order(("CEMENT", 2), expiry_date=shelf.dates[10])
    free = shelf.yard.order(("CEMENT", 1))
    number = shelf.yard.started(order, free)

    answer = shelf.yard.pick(number, "CEMENT", 3, batch="L1")

    if setting == "any":
        answer.ok()
        return
    assert answer.problems == {
        "batch": f"batch L1 of CEMENT expires on {shelf.dates[0]}; the order requires"
        f" {shelf.dates[10]}"
    }
    # What needs no date is picked first for the line without one.
    shelf.yard.pick(number, "CEMENT", 1, batch="L1").ok()


def test_batch_with_another_date_than_its_line_is_refused(shelf: Shelf) -> None:
    line = {"item_code": "CEMENT", "qty": 1, "batch": "L1", "expiry_date": shelf.dates[3]}
    body = {
        "external_ref": "SO-8", "type": "sale_order", "doc_date": "2026-03-01",
        "partner_code": "C-1", "warehouse_code": "YARD", "lines": [line],
    }  # fmt: skip

    assert shelf.yard.erp.post("/exit-documents", body, key="k").problems == {
        "lines.0.expiry_date": f"batch L1 of CEMENT is in stock with the expiry date"
        f" {shelf.dates[0]}, {shelf.dates[3]} given"
    }
