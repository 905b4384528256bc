"""No operation plans more actions in a transaction than MAX_PLANNED_ACTIONS.

Operations whose transactions grow with the request are played at their largest size, or so long
that they fill several steps. The failure names the operation that has grown: plan fewer actions in
it, or split it into steps. Do not raise the limit: what a later version adds to a change needs the
room. `test_openapi_conformance.py` compares the examples of all write routes with the limit.

The commit of an import of products may have more, because it counts the actions of each row.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import partial

import pytest

from shared.integration.imports.kinds.importer import _IMPORT_ACTIONS
from shared.integration.imports.kinds.products import ProductImporter
from shared.kernel.db.actions import MAX_ACTIONS, MAX_PLANNED_ACTIONS
from shared.warehouse.catalog.models import MAX_GTINS
from shared.warehouse.gs1.numbers import check_digit
from shared.warehouse.packing.models import MAX_PICKINGS as MAX_PACKED_PICKINGS
from shared.warehouse.picking.models import MAX_DOCUMENTS
from shared.warehouse.picking.models import MAX_SERIALS as MAX_PICKED_SERIALS
from shared.warehouse.receiving.models import MAX_SERIALS as MAX_RECEIVED_SERIALS
from shared.warehouse.returns.models import MAX_DISPOSITION_LINES, MAX_GOODS_LINES
from shared.warehouse.transfer_orders.models import MAX_ARRIVAL_LINES
from shared.warehouse.transfers.models import MAX_LINES
from shared.warehouse.transfers.models import MAX_SERIALS as MAX_MOVED_SERIALS
from tests.dynamodb.request_cost import Gauge, Measurement, Reading
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.import_scenario import ImportScenario
from tests.operation_sizes import (
    Sizes,
    assert_margin_is_kept,
    operation_sizes,
    planned_actions,
)
from tests.packing_scenario import PackingScenario
from tests.receiving_scenario import ReceivingScenario
from tests.sampling import is_complete, sampled
from tests.stack import Stack, prepare_once
from tests.stock_invariants import assert_invariants
from tests.transfer_scenario import TransferScenario
from tests.warehouse_operations import packing, returns, stock, transfers
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

_LINES = 25 if is_complete() else 20
"""Lines of a document; its steps are full from 20 on, whose transactions are the largest."""
_ACROSS = 6
"""The largest number of lines of a transfer between warehouses."""
_PICKINGS = 90 if is_complete() else 75
"""Pickings of a wave; the steps that create it are full from 75 on."""


@pytest.fixture
def sizes(aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sizes]:
    """The sizes of the test's operations, which are checked at its end."""
    with operation_sizes(aws_faults, monkeypatch) as sizes:
        yield sizes
    assert_margin_is_kept(sizes)


def test_a_fifth_of_the_actions_of_dynamodb_is_left() -> None:
    assert MAX_ACTIONS == 100
    assert MAX_PLANNED_ACTIONS == 80


def test_correction_of_a_batch_of_many_rows_keeps_the_margin(stack: Stack, sizes: Sizes) -> None:
    yard = WarehouseScenario.with_master_data(stack.erp(), "YARD")
    both = {"item_code": "PUMP", "name": "Pump", "man_btch_num": True, "man_ser_num": True}
    assert yard.erp.post("/products", both).status == 201
    for number in range(MAX_PLANNED_ACTIONS):
        yard.stock("PUMP", 1, batch="L1", serial=f"S-{number}")
    batch = {"item_code": "PUMP", "batch": "L1", "expiry_date": "2030-01-31", "reason": "Misread"}

    assert yard.erp.post("/stock-adjustments", batch, key="k1").status == 200

    assert max(sizes.values()) > MAX_PLANNED_ACTIONS - 10


def test_change_of_all_gtins_keeps_the_margin(erp: Erp, sizes: Sizes) -> None:
    assert erp.post("/products", {"item_code": "BOLT", "name": "Bolt"}).status == 201
    for first in (0, MAX_GTINS):
        digits = [f"{number:07d}" for number in range(first + 1, first + MAX_GTINS + 1)]
        gtins = [{"gtin": one + check_digit(one)} for one in digits]
        assert erp.put("/products/1/packaging", {"gtins": gtins}, key=f"k{first}").status == 200

    assert max(sizes.values()) > 2 * MAX_GTINS


_OF_ONE_SIZE: Mapping[str, Callable[[Gauge], Iterator[Measurement]]] = {
    "adjustments": stock.adjustments,
    "lots received": stock.lots_received,
    "serials picked": stock.serials_picked,
    "transfers": transfers.transfers,
    "serials transferred": transfers.serials_away,
    "serials returned": returns.serials_returned,
}
"""Operations that `make compare` measures with the same goods, and of which no figure may grow."""
_MEASUREMENTS: Mapping[str, Callable[[Gauge], Iterator[Measurement]]] = {
    **(_OF_ONE_SIZE if is_complete() else {}),
    "counts": stock.counts,
    "receipts": partial(stock.receipts, lines=_LINES),
    "pickings": partial(stock.pickings, lines=_LINES),
    "packing": partial(packing.packing, lines=_LINES),
    "transfer orders": partial(transfers.transfer_orders, lines=_LINES),
    "returns": partial(returns.returns, lines=_LINES),
    "waves": partial(transfers.waves, pickings=_PICKINGS),
}


class _Player(Gauge):
    """Sends the requests of a measurement without measuring their units."""

    def read(
        self,
        path: str,
        body: object = None,
        *,
        into: Reading | None = None,
        refused: str | None = None,
    ) -> Reading:
        assert refused is None, "refused requests are of one size"
        self.post(path, body)
        return into or Reading()


@pytest.mark.parametrize("part", sampled("margins", list(_MEASUREMENTS), every=2))
def test_warehouse_operation_keeps_the_margin(
    part: str,
    stack: Stack,
    aws_faults: AwsFaults,
    sizes: Sizes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with planned_actions(monkeypatch) as planned:
        assert list(_MEASUREMENTS[part](_Player(stack, aws_faults)))
    assert max(sizes.values()) > 1
    assert part != "pickings" or max(planned) in range(62, 73), "steps are full"
    assert_invariants(stack.store())


def _serials(most: int) -> list[str]:
    return [f"S-{number:02d}" for number in range(most)]


def _yard(erp: Erp, products: int) -> tuple[WarehouseScenario, list[str]]:
    def prepare() -> list[str]:
        return _stocked(WarehouseScenario.with_master_data(erp, "YARD", "SHOP"), products)

    codes = prepare_once(erp, ("products in a yard", products), prepare)
    return WarehouseScenario(erp), codes


def _stocked(yard: WarehouseScenario, products: int) -> list[str]:
    """Create products, each with 2 pieces at the position G-NUMBER, from 10 on; return their codes.

    There are as many empty positions H-NUMBER in YARD and in SHOP.
    """
    codes = [f"P-{number:02d}" for number in range(products)]
    slots = {
        "naming_mask": "{aisle}-{slot}", "slots": {"from": 10, "to": 9 + products},
        "capacity_units": 2,
    }  # fmt: skip
    for aisle, whs_code in (("G", "YARD"), ("H", "YARD"), ("H", "SHOP")):
        body = {"whs_code": whs_code, "aisles": [aisle], **slots}
        assert yard.erp.post("/warehouse-positions/bulk", body).status in {200, 201}
    for number, code in enumerate(codes, 10):
        assert yard.erp.post("/products", {"item_code": code, "name": code}).status == 201
        yard.stock(code, 2, f"G-{number}")
    return codes


@pytest.mark.parametrize("qty", sampled("moved", [1, 2], every=2))
@pytest.mark.parametrize(("destination", "lines"), [("YARD", MAX_LINES), ("SHOP", _ACROSS)])
@pytest.mark.usefixtures("sizes")
def test_largest_transfer_keeps_the_margin(
    destination: str, lines: int, qty: int, erp: Erp
) -> None:
    """No two lines share a product or a position; a quantity of 2 empties the positions."""
    yard, codes = _yard(erp, lines)
    yard.change_settings(capacity="enforce")
    moves = [
        {"item_code": code, "qty": qty, "from_bin": f"G-{number}", "to_bin": f"H-{number}"}
        for number, code in enumerate(codes, 10)
    ]
    body = {"from_warehouse": "YARD", "to_warehouse": destination, "lines": moves}
    made = erp.post("/transfers", {**body, "execute": False}).ok(201)
    assert erp.post(f"/transfers/{made['id']}/execute").data["status"] == "transferred"


@pytest.mark.usefixtures("sizes")
def test_transfer_of_the_most_serials_keeps_the_margin(erp: Erp) -> None:
    yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    serials = _serials(MAX_MOVED_SERIALS)
    for serial in serials:
        yard.stock("DRILL", 1, serial=serial)
    line = {
        "item_code": "DRILL", "qty": len(serials), "serials": serials,
        "from_bin": "A-01", "to_bin": "B-01",
    }  # fmt: skip
    body = {"from_warehouse": "YARD", "to_warehouse": "SHOP", "lines": [line]}
    assert erp.post("/transfers", body).status == 201


@pytest.mark.usefixtures("sizes")
def test_approved_receipt_of_the_most_serials_keeps_the_margin(erp: Erp, stack: Stack) -> None:
    receiving = ReceivingScenario(erp)
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    number = receiving.started(receiving.order({"item_code": "DRILL", "qty": 1}))
    serials = _serials(MAX_RECEIVED_SERIALS)
    receiving.receive(
        number, len(serials), item_code="DRILL", serials=serials, approve=True, by=chief
    ).ok()
    assert receiving.act(number, "cancel").status == 200


@pytest.mark.parametrize("who", ["the caller", "another user"])
@pytest.mark.usefixtures("sizes")
def test_receipt_of_approved_lines_keeps_the_margin(who: str, erp: Erp, stack: Stack) -> None:
    yard, codes = _yard(erp, _LINES)
    receiving, by_caller = ReceivingScenario(erp, yard), who == "the caller"
    goods = [{"item_code": code, "qty": 1} for code in codes]
    path = f"/receipts/{receiving.started(receiving.order(*goods))}/lines"
    lines = {"lines": [{**one, "qty": 2, "approve": by_caller} for one in goods]}
    chief = Erp(stack.gateway, stack.user_token(permissions="entries.manage approvals.grant"))
    if by_caller:
        answer = chief.post(path, lines)
    else:
        number = erp.post(path, lines, key="k").json()["error"]["approval_id"]
        chief.post(f"/approvals/{number}/grant").ok()
        answer = erp.post(path, lines, key="k")
    assert len(answer.data["approvals"]) == _LINES


@pytest.mark.usefixtures("sizes")
def test_picking_of_the_most_serials_and_orders_keeps_the_margin(erp: Erp) -> None:
    yard, codes = _yard(erp, MAX_DOCUMENTS)
    serials = _serials(MAX_PICKED_SERIALS)
    for serial in serials:
        yard.stock("DRILL", 1, serial=serial)
    wanted = ("DRILL", len(serials)), *((code, 1) for code in codes)
    number = yard.started(*(yard.order(line) for line in wanted[:MAX_DOCUMENTS]))
    yard.pick(number, "DRILL", len(serials), serials=serials).ok()
    yard.undo(number, "DRILL", len(serials), serials=serials).ok()
    yard.pick(number, "DRILL", len(serials), serials=serials).ok()
    for at, (code, qty) in enumerate(wanted[1:MAX_DOCUMENTS], 10):
        assert yard.pick(number, code, qty, f"G-{at}").status == 200
    assert yard.act(number, "finalize").status == 200
    assert yard.act(number, "revert").status == 200


@pytest.mark.usefixtures("sizes")
def test_exchange_of_the_most_serials_keeps_the_margin(erp: Erp) -> None:
    """Each serial that is picked was allocated to another picking, but one."""
    yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
    yard.stock_serials(*_serials(2 * MAX_PICKED_SERIALS))
    number = yard.started(yard.order(("DRILL", MAX_PICKED_SERIALS)))
    others = [yard.picking(yard.order(("DRILL", 1))) for _ in range(MAX_PICKED_SERIALS)]
    theirs = [one["lines"][0]["serials"][0] for one in others]

    refused = yard.pick(number, "DRILL", len(theirs), serials=theirs)
    assert "are allocated to 25 other pickings, at most 24 per line" in refused.problems["serials"]
    own = yard.erp.get(f"/pickings/{number}").ok()["lines"][0]["serials"][:1]
    yard.pick(number, "DRILL", len(theirs), serials=[*theirs[1:], *own]).ok()


@pytest.mark.parametrize(
    "act", sampled("ends of a picking", ["cancel", "finalize", "finalize with a grant"], every=3)
)
@pytest.mark.usefixtures("sizes")
def test_long_picking_in_a_wave_keeps_the_margin(act: str, erp: Erp, stack: Stack) -> None:
    yard, codes = _yard(erp, _LINES)
    waves = WaveScenario(yard)
    number = yard.picking(yard.order(*((code, 2) for code in codes)))["id"]
    waves.wave([number], "plan", "release")
    assert yard.act(number, "start").status == 200
    for at, code in enumerate(codes, 10):
        assert yard.pick(number, code, 1, f"G-{at}").status == 200
    more = {"shortage_reason": "damaged"} if act != "cancel" else {}
    if act == "finalize with a grant":
        yard.change_settings(approval_shortage_percent=Decimal(0))
        assert yard.act(number, "finalize", **more).code == "approval_required"
        supervisor = Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))
        assert supervisor.post("/approvals/1/grant").status == 200
    assert yard.act(number, act.partition(" ")[0], **more).status == 200


def test_packing_orders_of_the_most_pickings_and_units_keep_the_margin(
    erp: Erp, sizes: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty pickings are marked at once; a dispatch and a cancellation of units take steps."""
    monkeypatch.setattr("shared.warehouse.packing.actions.MAX_UNITS", MAX_PLANNED_ACTIONS)
    packing = PackingScenario(erp)
    packing.yard.change_settings(gs1_company_prefix="4006381")
    document = packing.yard.order(("BRICK", MAX_PACKED_PICKINGS))
    for _ in range(MAX_PACKED_PICKINGS):
        packing.yard.stock("BRICK", 1)
        packing.picked(document, ("BRICK", 1))
    for end in (packing.cancel, packing.complete):
        order = packing.order(document)["id"]
        for _ in range(MAX_PLANNED_ACTIONS):
            packing.unit(order)
        body = {"short": True, "reason": "Loose"} if end == packing.complete else {}
        packing.done(end(order, **body))
    packing.done(packing.dispatch(document))
    assert max(sizes.values()) > MAX_PLANNED_ACTIONS - 10


@pytest.mark.parametrize("qty", sampled("arrived", [1, 2], every=2))
@pytest.mark.usefixtures("sizes")
def test_largest_arrival_keeps_the_margin(qty: int, erp: Erp) -> None:
    orders = TransferScenario(erp)
    codes = _stocked(orders.yard, MAX_ARRIVAL_LINES)
    orders.yard.change_settings(capacity="enforce")
    number = orders.order(*((code, 2) for code in codes))
    for at, code in enumerate(codes, 10):
        orders.pick(number, code, 2, bin_code=f"G-{at}")
    orders.done(number, "dispatch")
    lines = [
        {"item_code": code, "qty": qty, "bin_code": f"H-{at}"} for at, code in enumerate(codes, 10)
    ]
    orders.done(number, "receive", lines=lines, final=True)


@pytest.mark.usefixtures("sizes")
def test_arrival_of_the_most_serials_keeps_the_margin(erp: Erp) -> None:
    orders = TransferScenario(erp)
    serials = _serials(MAX_MOVED_SERIALS)
    for serial in serials:
        orders.yard.stock("DRILL", 1, serial=serial)
    number = orders.order(("DRILL", len(serials)))
    for part in (serials[:MAX_PICKED_SERIALS], serials[MAX_PICKED_SERIALS:]):
        orders.pick(number, "DRILL", len(part), serials=part)
    orders.done(number, "dispatch")
    line = {"item_code": "DRILL", "qty": len(serials), "bin_code": "B-01", "serials": serials}
    orders.done(number, "receive", lines=[line], final=True)


@pytest.mark.parametrize(
    "action", sampled("dispositions", ["restock", "return_to_provider"], every=2)
)
@pytest.mark.usefixtures("sizes")
def test_largest_return_keeps_the_margin(action: str, erp: Erp) -> None:
    """Goods arrive at new positions, more than announced; each line has another product."""
    _, codes = _yard(erp, MAX_GOODS_LINES)
    yard = WarehouseScenario(erp)
    order = yard.order(*((code, 2) for code in codes))
    picking = yard.started(order)
    for at, code in enumerate(codes, 10):
        assert yard.pick(picking, code, 2, f"G-{at}").status == 200
    assert yard.act(picking, "finalize").status == 200
    assert erp.post(f"/exit-documents/{order}/dispatch").status == 200
    announced = [{"item_code": code, "qty": 1} for code in codes]
    made = erp.post("/returns", {"exit_document_id": order, "lines": announced})
    path = f"/returns/{made.data['id']}"
    come = [{"item_code": code, "qty": 2, "bin_code": f"H-{at}"}
            for at, code in enumerate(codes, 10)]  # fmt: skip
    assert erp.post(f"{path}/lines", {"lines": come}).status == 200
    assert erp.post(f"{path}/finish").status == 200
    for part in (slice(MAX_DISPOSITION_LINES), slice(MAX_DISPOSITION_LINES, None)):
        lines = [{"item_code": code, "qty": 2, "action": action, "bin_code": "B-01"}
                 for code in codes[part]]  # fmt: skip
        answer = erp.post(f"{path}/dispositions", {"lines": lines}).ok()
    assert answer["status"] == "dispositioned"


def test_long_import_fills_its_transactions(
    stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = MAX_ACTIONS + _IMPORT_ACTIONS
    text = "\n".join(["item_code,name", *(f"P-{number},P" for number in range(rows))])
    imports = ImportScenario(stack)
    answer = imports.upload("products", "products.csv", text.encode())
    assert answer.status in {200, 201, 202}, answer.text
    imports.drain_queue()
    with operation_sizes(aws_faults, monkeypatch) as sizes:
        assert imports.commit(answer.data["id"])["status"] == "committed"
    most = MAX_PLANNED_ACTIONS + ProductImporter.further_actions
    assert most - 10 < max(sizes.values()) <= most < MAX_ACTIONS


def test_import_of_counts_in_several_warehouses_fills_its_transactions(
    stack: Stack, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    imports = ImportScenario(stack)
    warehouses, rows = 4, 40
    for number in range(warehouses):
        whs_code = f"W-{number}"
        imports.erp.post("/warehouses", {"whs_code": whs_code, "name": "W"}).ok(201)
        position = {"whs_code": whs_code, "bin_code": "A"}
        imports.erp.post("/warehouse-positions", position).ok(201)
    products = "\n".join(["item_code,name", *(f"P-{number},P" for number in range(rows))])
    counts = "\n".join([
        "item_code,warehouse,bin_code,counted_qty",
        *(f"P-{number},W-{number % warehouses},A,1" for number in range(rows)),
    ])  # fmt: skip
    imports.commit(imports.import_file("products", "p.csv", products.encode())["id"])
    one = imports.import_file("stock_counts", "c.csv", counts.encode())
    with operation_sizes(aws_faults, monkeypatch) as sizes:
        assert imports.commit(one["id"])["documents"]["committed"] == rows
    assert MAX_ACTIONS - 15 < max(sizes.values()) < MAX_ACTIONS
