"""With the setting `capacity` at `enforce`, a position gets no more than fits."""

from collections import Counter
from typing import Any

import pytest

from shared.kernel.db.table import index_name
from shared.warehouse.stock.repository import STOCK
from tests.concurrency import run_concurrently
from tests.faults import Answer, AwsFaults, Call, Forward
from tests.gateway import Erp, Response
from tests.integration.between_calls import before_each_call
from tests.receiving_scenario import ReceivingScenario
from tests.return_scenario import ReturnScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

_BY_POSITION = index_name(STOCK.index_of("bin_code"))


@pytest.fixture
def yard(erp: Erp) -> WarehouseScenario:
    """Return YARD, where at most 10 units fit at B-01."""
    yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    _limit(yard, "B-01", capacity_units=10)
    yard.change_settings(capacity="enforce")
    return yard


def _limit(
    yard: WarehouseScenario, bin_code: str, *, whs_code: str = "YARD", **limits: Any
) -> None:
    query = {"warehouse": whs_code, "bin_code": bin_code}
    [position] = yard.erp.get("/warehouse-positions", query=query).data
    yard.erp.patch(f"/warehouse-positions/{position['id']}", limits).ok()


def _transfer(yard: WarehouseScenario, *lines: dict[str, Any], **more: Any) -> Response:
    """POST a transfer within YARD; by default, goods move from A-01 to B-01."""
    body = {
        "from_warehouse": "YARD", "to_warehouse": "YARD",
        "lines": [{"item_code": "BRICK", "from_bin": "A-01", "to_bin": "B-01", **line}
                  for line in lines],
    }  # fmt: skip
    return yard.erp.post("/transfers", {**body, **more})


def _at(yard: WarehouseScenario, bin_code: str) -> float:
    rows = yard.erp.walk("/stocks", bin_code=bin_code, status="in")
    return float(sum(row["qty"] for row in rows))


def test_receipt_of_more_than_fits_is_refused(yard: WarehouseScenario) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    number = receiving.started(receiving.order({"qty": 30}))
    receiving.receive(number, 7, bin_code="B-01").ok()
    refused = receiving.receive(number, 4, bin_code="B-01")
    assert refused.blocked == {"qty": "4 requested, 3 of BRICK fit at B-01"}
    receiving.receive(number, 3, bin_code="B-01").ok()
    receiving.receive(number, 4, bin_code="A-01").ok()
    assert (_at(yard, "B-01"), _at(yard, "A-01")) == (10, 4)


def test_lines_of_a_receipt_fit_together(yard: WarehouseScenario) -> None:
    receiving = ReceivingScenario(yard.erp, yard)
    order = receiving.order({"qty": 30}, {"item_code": "CEMENT", "qty": 30})
    number = receiving.started(order)
    lines = [
        {"item_code": "BRICK", "qty": 8, "bin_code": "B-01"},
        {"item_code": "CEMENT", "qty": 3, "bin_code": "B-01", "batch": "L1"},
        {"item_code": "CEMENT", "qty": 2, "bin_code": "B-01", "batch": "L2"},
    ]
    refused = receiving.act(number, "lines", body={"lines": lines})
    assert refused.blocked == {"lines.1.qty": "3 requested, 2 of CEMENT fit at B-01"}
    assert _at(yard, "B-01") == 0
    receiving.act(number, "lines", body={"lines": [lines[0], lines[2]]}).ok()
    assert _at(yard, "B-01") == 10


def test_weight_and_volume_limit_what_is_received(yard: WarehouseScenario) -> None:
    yard.erp.put("/products/1/packaging", {"weight_kg": 2.5}).ok()
    _limit(yard, "A-01", capacity_weight_kg=21)
    receiving = ReceivingScenario(yard.erp, yard)
    number = receiving.started(receiving.order({"qty": 30}))
    refused = receiving.receive(number, 9, bin_code="A-01")
    assert refused.blocked == {"qty": "9 requested, 8.4 of BRICK fit at A-01"}


def test_serials_that_do_not_fit_are_refused(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 9, "B-01")
    receiving = ReceivingScenario(yard.erp, yard)
    number = receiving.started(receiving.order({"item_code": "DRILL", "qty": 2}))
    drills: dict[str, Any] = {"item_code": "DRILL", "bin_code": "B-01"}
    refused = receiving.receive(number, 2, serials=["S-1", "S-2"], **drills)
    assert refused.blocked == {"qty": "2 requested, 1 of DRILL fit at B-01"}
    receiving.receive(number, 1, serials=["S-1"], **drills).ok()


def test_transfer_of_more_than_fits_is_refused_on_each_line(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 30)
    yard.stock("CEMENT", 5, batch="L1")
    lines: list[dict[str, Any]] = [{"qty": 8}, {"item_code": "CEMENT", "qty": 5, "batch": "L1"}]
    refused = _transfer(yard, *lines)
    assert refused.blocked == {"lines.1.qty": "5 requested, 2 of CEMENT fit at B-01"}
    both = _transfer(yard, {"qty": 31}, {"item_code": "CEMENT", "qty": 11, "batch": "L1"})
    assert both.status == 409, both.text
    assert _at(yard, "B-01") == 0


def test_transfer_takes_the_room_that_an_earlier_line_leaves(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 10, "B-01", batch="L1")
    away = {"item_code": "CEMENT", "qty": 4, "batch": "L1", "from_bin": "B-01", "to_bin": "A-01"}
    assert _transfer(yard, {"qty": 4}).blocked.keys() == {"lines.0.qty"}
    _transfer(yard, away, {"qty": 4}).ok(201)
    assert _at(yard, "B-01") == 10


def test_transfer_that_waits_fails_when_its_goods_do_not_fit(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 30)
    waiting = _transfer(yard, {"qty": 11}, execute=False).ok(201)
    executed = yard.erp.post(f"/transfers/{waiting['id']}/execute").ok()
    message = "Line 1: 11 requested, 10 of BRICK fit at B-01."
    assert (executed["status"], executed["message"]) == ("error", message)


def test_arrival_of_a_transfer_order_is_refused(yard: WarehouseScenario) -> None:
    _limit(yard, "B-01", whs_code="SHOP", capacity_units=5)
    yard.stock("BRICK", 30)
    transfers = TransferScenario(yard.erp, yard)
    number = transfers.underway(("BRICK", 8))
    refused = transfers.receive(number, {"item_code": "BRICK", "qty": 6})
    assert refused.blocked == {"lines.0.qty": "6 requested, 5 of BRICK fit at B-01"}
    refused = transfers.receive(number, *({"item_code": "BRICK", "qty": 3} for _ in range(2)))
    assert refused.blocked == {"lines.1.qty": "3 requested, 2 of BRICK fit at B-01"}
    transfers.receive(number, {"item_code": "BRICK", "qty": 5}).ok()


def test_returned_goods_are_received_and_restocked_where_they_fit(erp: Erp) -> None:
    returns = ReturnScenario(erp)
    yard = returns.yard
    yard.change_settings(capacity="enforce")
    _limit(yard, "B-01", capacity_units=7)
    _limit(yard, "F-01", capacity_units=4)
    number = returns.expected(("BRICK", 9))
    refused = returns.receive(number, {"qty": 5}, {"qty": 4})
    assert refused.blocked == {"lines.1.qty": "4 requested, 2 of BRICK fit at B-01"}
    returns.receive(number, {"qty": 7}, {"qty": 2, "bin_code": "A-01"}).ok()
    returns.done(number, "finish")
    moved = {"qty": 6, "action": "restock", "bin_code": "F-01"}
    refused = returns.decide(number, moved)
    assert refused.blocked == {"lines.0.qty": "6 requested, 4 of BRICK fit at F-01"}
    returns.decide(number, {"qty": 7, "action": "restock"}).ok()
    returns.decide(number, {"qty": 2, "action": "restock", "bin_code": "F-01"}).ok()
    assert (_at(yard, "B-01"), _at(yard, "F-01")) == (7, 2)


def test_adjustments_and_undos_are_counted_and_never_refused(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 10)
    receiving = ReceivingScenario(yard.erp, yard)
    number = receiving.started(receiving.order({"qty": 30}))
    receiving.receive(number, 6, bin_code="B-01").ok()
    yard.stock("CEMENT", 12, "B-01", batch="L1")
    refused = receiving.receive(number, 1, bin_code="B-01")
    assert refused.blocked == {"qty": "1 requested, 0 of BRICK fit at B-01"}
    yard.adjust("CEMENT", "B-01", decrease=12, batch="L1").ok(201)
    receiving.undo(number, 3, bin_code="B-01").ok()
    assert _transfer(yard, {"qty": 8}).blocked.keys() == {"lines.0.qty"}
    _transfer(yard, {"qty": 6}).ok(201)
    assert _at(yard, "B-01") == 9


def test_goods_of_before_the_setting_are_counted(yard: WarehouseScenario) -> None:
    yard.change_settings(capacity="ignore")
    yard.stock("BRICK", 30)
    _transfer(yard, {"qty": 12}).ok(201)
    yard.adjust("BRICK", "B-01", decrease=5).ok(201)
    yard.change_settings(capacity="enforce")
    refused = _transfer(yard, {"qty": 4})
    assert refused.blocked == {"lines.0.qty": "4 requested, 3 of BRICK fit at B-01"}
    _transfer(yard, {"qty": 3}).ok(201)
    yard.change_settings(capacity="ignore")
    yard.stock("CEMENT", 1, "B-01", batch="L1")
    yard.change_settings(capacity="enforce")
    assert _transfer(yard, {"qty": 1}).blocked.keys() == {"lines.0.qty"}


def test_picked_goods_count_until_they_leave(yard: WarehouseScenario) -> None:
    yard.stock("BRICK", 10, "B-01")
    yard.stock("CEMENT", 5, batch="L1")
    cement = {"item_code": "CEMENT", "qty": 2, "batch": "L1"}
    order = yard.order(("BRICK", 4))
    number = yard.started(order)
    assert yard.pick(number, "BRICK", 4, "B-01").status == 200
    assert _transfer(yard, cement).blocked.keys() == {"lines.0.qty"}
    yard.act(number, "finalize").ok()
    yard.erp.post(f"/exit-documents/{order}/dispatch").ok()
    _transfer(yard, cement).ok(201)


def test_position_with_many_rows_is_counted_from_the_index(
    yard: WarehouseScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.warehouse.master_data.uses._MAX_IDS", 1)
    yard.stock("BRICK", 30)
    yard.stock("CEMENT", 3, batch="L1")
    yard.stock("CEMENT", 3, batch="L2")
    _transfer(yard, {"qty": 5}).ok(201)
    for batch in ("L1", "L2"):
        _transfer(yard, {"item_code": "CEMENT", "qty": 2, "batch": batch}).ok(201)
    refused = _transfer(yard, {"qty": 2})
    assert refused.blocked == {"lines.0.qty": "2 requested, 1 of BRICK fit at B-01"}


def test_twenty_receipts_into_the_last_place(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    """Each is of another product, so that nothing but the position is the same."""
    receiving = ReceivingScenario(yard.erp, yard)
    yard.stock("BRICK", 7, "B-01")
    numbers = []
    for at in range(20):
        code = f"SKU-{at:02}"
        yard.erp.post("/products", {"item_code": code, "name": code}).ok(201)
        numbers.append((receiving.started(receiving.order({"item_code": code, "qty": 1})), code))
    aws_faults.latency = 0.002

    def receive(at: int) -> Response:
        number, code = numbers[at]
        return receiving.receive(number, 1, item_code=code, bin_code="B-01")

    answers = run_concurrently(20, receive)
    assert Counter(one.status for one in answers) == {200: 3, 422: 17}
    assert {"".join(one.blocked) for one in answers if one.status == 422} == {"qty"}
    assert _at(yard, "B-01") == 10


def test_what_arrives_meanwhile_is_counted(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 10)
    yard.stock("CEMENT", 4, "B-01", batch="L1")

    def adjust() -> float:
        before = _at(yard, "B-01")
        yard.stock("CEMENT", 3, "B-01", batch="L1")
        return before

    for before in before_each_call(
        stack, aws_faults, lambda: _transfer(yard, {"qty": 5}), adjust,
        family="an adjustment meanwhile", every=1, at_least=4,
    ):  # fmt: skip
        assert _at(yard, "B-01") == {4.0: 7.0, 9.0: 12.0}[before]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(("hidden", "status"), [(2, 422), (10**6, 503)])
def test_rows_that_the_index_does_not_show_yet_are_counted(
    yard: WarehouseScenario, aws_faults: AwsFaults, hidden: int, status: int
) -> None:
    """However long it lags: without the rows, nobody knows what fits."""
    yard.stock("BRICK", 30)
    yard.stock("CEMENT", 9, "B-01", batch="L1")  # not among the ids of the position
    queries = 0

    def lag(call: Call, forward: Forward) -> Answer:
        nonlocal queries
        answer = forward()
        if call.operation == "Query" and call.request.get("IndexName") == _BY_POSITION:
            queries += 1
            if queries <= hidden and answer[0] is not None:
                answer[0][1]["Items"] = []
        return answer

    with aws_faults.faulty(lag):
        refused = _transfer(yard, {"qty": 2})
    assert refused.status == status
    if status == 422:
        assert refused.blocked == {"lines.0.qty": "2 requested, 1 of BRICK fit at B-01"}
        assert queries > hidden
    assert _at(yard, "B-01") == 9
