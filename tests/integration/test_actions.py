"""Every action of every subject with states, in every state: what is listed is what is possible.

A resource in each of its statuses gets each action of its table. `actions` of its detail names
those that its state admits; the others are refused, late ones with `stale_state`, early ones with
`conflict`. What an action does, and how it is refused for other reasons, is tested at its subject.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from shared.integration.exports.context import export_context
from shared.integration.imports.context import import_context
from shared.kernel.db.transaction import Transaction
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.receiving.rules import MAX_LINES
from tests.clock import Clock
from tests.faults import AwsFaults, Killed, kill_after_step
from tests.gateway import Erp, Response
from tests.import_scenario import ImportScenario, leave_all_to_worker
from tests.packing_scenario import PackingScenario
from tests.receiving_scenario import ReceivingScenario
from tests.return_scenario import ReturnScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario
from tools.action_tables import SUBJECTS, Subject

_BY_PATH = {subject.path: subject for subject in SUBJECTS}
_BRICK = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}
_MOST_UNITS = 2
_BACK = {"lines": [{"item_code": "BRICK", "qty": 1, "bin_code": "B-01"}]}

type _Make = Callable[[], int]
type _Act = tuple[str, Mapping[str, Any]]


@dataclass
class _States:
    """Resources of a subject in each status.

    `states` has the function that makes one, by status; the text after a space tells apart several
    with the same status. `bodies` are the bodies of the actions that need one.
    """

    states: Mapping[str, _Make]
    bodies: Mapping[str, object] = field(default_factory=dict)
    caller: Erp | None = None


class _Goods:
    """Makers of resources in the warehouses YARD and SHOP."""

    def __init__(self, stack: Stack, erp: Erp, faults: AwsFaults) -> None:
        self.stack, self.erp, self.faults = stack, erp, faults
        self.yard = WarehouseScenario.with_master_data(erp, "YARD", "SHOP")
        self.yard.stock("BRICK", 50)
        self.yard.stock("CEMENT", 10, batch="L1")
        self.receiving = ReceivingScenario(erp, self.yard)
        self.packing = PackingScenario(erp, self.yard)
        self.orders = TransferScenario(erp, self.yard)
        self.waves = WaveScenario(self.yard)

    def interrupt_dispatch(self, path: str) -> None:
        """Dispatch a resource with several picks, and end the request after the first of them."""
        with pytest.MonkeyPatch.context() as patch, self.faults.faulty(kill_after_step()):
            patch.setattr("shared.kernel.db.steps.STEP_ACTIONS", 1)
            with pytest.raises(Killed):
                self.erp.post(f"{path}/dispatch")

    # Entry documents and receipts

    def entry(self, *received: float, end: bool = True) -> int:
        """Create a document of two bricks, and a receipt of each quantity."""
        order = self.receiving.order({"qty": 2})
        for qty in received:
            self.receipt(order, qty, *(["finalize"] if end else []))
        return order

    def receipt(self, order: int | None = None, qty: float = 1, *acts: str) -> int:
        number = self.receiving.started(self.entry() if order is None else order)
        self.receiving.receive(number, qty).ok()
        for act in acts:
            self.receiving.act(number, act).ok()
        return number

    def full_receipt(self) -> int:
        """Create a receipt with the maximum number of lines, of which all but one are undone."""
        number, tx = self.receipt(), Transaction(self.stack.store())
        record = RECEIPTS.get(tx.store, number)
        [line] = record.entity.lines
        undone = [line.model_copy(update={"undone": True})] * (MAX_LINES - 1)
        RECEIPTS.save(tx, record, record.entity, lines=[line, *undone])
        tx.commit()
        return number

    # Exit documents and pickings

    def exit(self, qty: float = 0, *acts: str) -> int:
        """Create a document of two bricks, and pick some of them."""
        order = self.yard.order(("BRICK", 2))
        if qty:
            self.picking(order, qty, *acts)
        return order

    def picking(self, order: int | None = None, qty: float = 1, *acts: str) -> int:
        number = self.yard.started(self.exit() if order is None else order)
        self.yard.pick(number, "BRICK", qty).ok()
        for act in acts:
            more = {"shortage_reason": "other"} if act == "finalize" and qty < 2 else {}
            self.yard.act(number, act, **more).ok()
        return number

    def unpacked(self) -> int:
        """Create a document with staged goods in a company that dispatches packed goods only."""
        number = self.exit(2, "finalize")
        self.yard.change_settings(packing_required=True)
        return number

    def in_packing(self) -> int:
        """Create a document whose staged goods are being packed."""
        number = self.exit(2, "finalize")
        self.packing.order(number)
        return number

    def closed(self, path: str) -> int:
        number = self.exit() if path == "/exit-documents" else self.entry()
        self.erp.post(f"{path}/{number}/close").ok()
        return number

    # Packing orders and units

    def packing_order(self, packed: float = 0, *acts: str) -> int:
        document = self.exit(2, "finalize")
        order: int = self.packing.order(document)["id"]
        if packed:
            unit = self.packing.unit(order)
            self.packing.done(self.packing.put(unit, "BRICK", packed))
            self.packing.done(self.packing.act(unit, "close"))
        for act in acts:
            path = (
                f"/exit-documents/{document}" if act == "dispatch" else f"/packing-orders/{order}"
            )
            self.erp.post(f"{path}/{act}").ok()
        return order

    def full_packing_order(self) -> int:
        order = self.packing_order()
        for _ in range(_MOST_UNITS):
            self.packing.unit(order)
        return order

    def leaving_packing_order(self) -> int:
        document = self.packing.staged_lots(("BRICK", 1, {}), ("CEMENT", 1, {"batch": "L1"}))
        order: int = self.packing.order(document)["id"]
        self.packing.done(self.packing.complete(order, short=True, reason="Late"))
        self.interrupt_dispatch(f"/exit-documents/{document}")
        return order

    def units(self, *closed: str) -> tuple[int, int]:
        """Create a unit in a unit, and close some of them; return the inner and the outer one."""
        order: int = self.packing.order(self.exit(2, "finalize"))["id"]
        outer = self.packing.unit(order, "pallet")
        inner = self.packing.unit(order, parent_id=outer)
        self.packing.done(self.packing.put(inner, "BRICK", 1))
        self.packing.done(self.packing.put(outer, "BRICK", 1))
        for one in closed:
            self.packing.done(self.packing.act(inner if one == "inner" else outer, "close"))
        return inner, outer

    def unit(self, *acts: str) -> int:
        document = self.exit(2, "finalize")
        order: int = self.packing.order(document)["id"]
        number = self.packing.unit(order)
        self.packing.done(self.packing.put(number, "BRICK", 2))
        for act in acts:
            if act == "close":
                self.packing.done(self.packing.act(number, "close"))
            else:
                self.packing.done(self.packing.complete(order))
                if act == "dispatch":
                    self.packing.done(self.packing.dispatch(document))
        return number

    # Transfers, transfer orders and waves

    def transfer(self, qty: float = 1, *, execute: bool = False) -> int:
        move = {"item_code": "BRICK", "qty": qty, "from_bin": "A-01", "to_bin": "B-01"}
        ends = {"from_warehouse": "YARD", "to_warehouse": "YARD"}
        number = self.erp.post("/transfers", {**ends, "lines": [move], "execute": False}).id
        if execute:
            self.erp.post(f"/transfers/{number}/execute").ok()
        return number

    def transfer_order(self, picked: float = 0, *acts: _Act) -> int:
        number = self.orders.order(("BRICK", 2))
        if picked:
            self.orders.pick(number, "BRICK", picked)
        for act, body in acts:
            self.orders.done(number, act, **body)
        return number

    def unpicked_order(self) -> int:
        """Create an order that is picking, of which every pick was undone."""
        return self.transfer_order(1, ("picks/undo", _BRICK))

    def leaving_transfer_order(self) -> int:
        number = self.orders.order(("BRICK", 2), ("CEMENT", 1))
        self.orders.pick(number, "BRICK", 2)
        self.orders.pick(number, "CEMENT", 1, batch="L1")
        self.interrupt_dispatch(f"/transfer-orders/{number}")
        return number

    def picking_of_order(self, picked: float = 0, *acts: str) -> int:
        number = self.transfer_order(picked, *((act, {}) for act in acts))
        picking: int = self.orders.shown(number)["picking_id"]
        return picking

    def wave(self, *acts: str, work: bool = False, start: bool = False) -> int:
        [picking] = self.waves.pickings(1)
        before = [act for act in acts if act in {"plan", "release", "cancel"}]
        number = self.waves.wave([picking], *before)
        if start:
            self.yard.act(picking, "start").ok()
        if work:
            self.waves.work(picking)
        for act in acts:
            if act not in before:
                self.waves.act(number, act).ok()
        return number


def _documents_and_receipts(goods: _Goods) -> Mapping[str, _States]:
    line = {"lines": _BRICK, "undo": _BRICK}
    return {
        "/entry-documents": _States(
            {
                "open": goods.entry,
                "assigned": lambda: _created(goods.receiving.receipt, goods.entry()),
                "partial-complete": lambda: goods.entry(1),
                "partial-complete with a receipt": lambda: goods.entry(1, end=False),
                "completed": lambda: goods.entry(1, 1),
                "completed with a receipt": lambda: goods.entry(2, end=False),
                "closed": lambda: goods.closed("/entry-documents"),
            },
        ),
        "/exit-documents": _States(
            {
                "open": goods.exit,
                "assigned": lambda: _created(goods.yard.picking, goods.exit()),
                "partial-complete": lambda: goods.exit(1, "finalize"),
                "partial-complete with a picking": lambda: goods.exit(1),
                "completed": lambda: goods.exit(2, "finalize"),
                "completed with a picking": lambda: goods.exit(2),
                "completed while packed": goods.in_packing,
                "completed not packed": goods.unpacked,
                "closed": lambda: goods.closed("/exit-documents"),
            },
        ),
        "/receipts": _States(
            {
                "pending": lambda: goods.receiving.receipt(goods.entry()),
                "started": goods.receipt,
                "started with all lines": goods.full_receipt,
                "finalized": lambda: goods.receipt(None, 1, "finalize"),
                "synchronized": lambda: goods.receipt(None, 1, "finalize", "synchronize"),
                "cancelled": lambda: goods.receipt(None, 1, "cancel"),
                "reverted": lambda: goods.receipt(None, 1, "finalize", "revert"),
            },
            line,
        ),
    }


def _created(make: Callable[[int], object], document: int) -> int:
    """Create work on a document; return the document."""
    make(document)
    return document


def _pickings_and_packing(goods: _Goods) -> Mapping[str, _States]:
    content = {"item_code": "BRICK", "qty": 1}

    def packed_picking() -> int:
        number = goods.picking(None, 2, "finalize")
        document = goods.erp.get(f"/pickings/{number}").ok()["document"]["id"]
        goods.packing.order(document)
        return number

    def shipped_picking() -> int:
        number = goods.picking(None, 2, "finalize")
        document = goods.erp.get(f"/pickings/{number}").ok()["document"]["id"]
        goods.packing.done(goods.packing.dispatch(document))
        return number

    return {
        "/pickings": _States(
            {
                "pending": lambda: int(goods.yard.picking(goods.exit())["id"]),
                "started": goods.picking,
                "finalized": lambda: goods.picking(None, 1, "finalize"),
                "finalized and packed": packed_picking,
                "finalized and dispatched": shipped_picking,
                "synchronized": lambda: goods.picking(None, 2, "finalize", "synchronize"),
                "cancelled": lambda: goods.picking(None, 1, "cancel"),
                "reverted": lambda: goods.picking(None, 2, "finalize", "revert"),
                "pending of an order": goods.picking_of_order,
                "started of an order": lambda: goods.picking_of_order(1),
                "finalized of an order": lambda: goods.picking_of_order(1, "finish-picking"),
                "cancelled of an order": lambda: goods.picking_of_order(1, "cancel"),
            },
            {"picks": _BRICK, "undo": _BRICK, "finalize": {"shortage_reason": "other"}},
        ),
        "/packing-orders": _States(
            {
                "open": goods.packing_order,
                "in_progress": lambda: goods.packing_order(1),
                "packed": lambda: goods.packing_order(2, "complete"),
                "packed while dispatched": goods.leaving_packing_order,
                "open with the most units": goods.full_packing_order,
                "shipped": lambda: goods.packing_order(2, "complete", "dispatch"),
                "cancelled": lambda: goods.packing_order(0, "cancel"),
            },
            {"handling-units": {"type": "carton"}, "complete": {"short": True, "reason": "Late"}},
        ),
        "/handling-units": _States(
            {
                "open": goods.unit,
                "open with an open unit": lambda: goods.units()[1],
                "closed": lambda: goods.unit("close"),
                "closed in a closed unit": lambda: goods.units("inner", "outer")[0],
                "closed of a packed order": lambda: goods.unit("close", "complete"),
                "dispatched": lambda: goods.unit("close", "dispatch"),
            },
            {"contents": content, "remove": content},
        ),
    }


def _transfers_and_waves(goods: _Goods) -> Mapping[str, _States]:
    end: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("dispatch", {}),
        ("receive", {"final": True}),
    )
    some = {"lines": [{"item_code": "BRICK", "qty": 1, "bin_code": "B-01"}]}
    closed = (*end, ("close", {"reason": "Lost"}))
    return {
        "/transfers": _States(
            {
                "pending": goods.transfer,
                "error": lambda: goods.transfer(99, execute=True),
                "transferred": lambda: goods.transfer(1, execute=True),
            },
            {"acknowledge": {"sap_status": "sent"}},
        ),
        "/transfer-orders": _States(
            {
                "draft": lambda: goods.orders.draft(("BRICK", 2)).id,
                "released": goods.transfer_order,
                "picking": lambda: goods.transfer_order(1),
                "picking of nothing": goods.unpicked_order,
                "picked": lambda: goods.transfer_order(2),
                "picked while dispatched": goods.leaving_transfer_order,
                "in_transit": lambda: goods.transfer_order(2, *end[:1]),
                "receiving": lambda: goods.transfer_order(2, end[0], ("receive", some)),
                "received": lambda: goods.transfer_order(2, *end),
                "closed": lambda: goods.transfer_order(2, *closed),
                "cancelled": lambda: goods.transfer_order(1, ("cancel", {})),
            },
            {
                "release": {"picker_id": 7},
                "picks": _BRICK,
                "undo": _BRICK,
                "receive": {"final": True},
                "close": {"reason": "Lost"},
            },
        ),
        "/waves": _States(
            {
                "draft": goods.wave,
                "planned": lambda: goods.wave("plan"),
                "released": lambda: goods.wave("plan", "release"),
                "in_progress": lambda: goods.wave("plan", "release", start=True),
                "picked": lambda: goods.wave("plan", "release", work=True),
                "completed": lambda: goods.wave("plan", "release", "complete", work=True),
                "closed": lambda: goods.wave("plan", "release", "complete", "close", work=True),
                "cancelled": lambda: goods.wave("cancel"),
            }
        ),
    }


def _returns(erp: Erp) -> _States:
    scenario = ReturnScenario(erp)
    decision = {"lines": [{"item_code": "BRICK", "qty": 1, "action": "quarantine"}]}

    def arrived(*acts: _Act) -> int:
        number = scenario.expected(("BRICK", 1))
        for act, body in acts:
            scenario.done(number, act, **body)
        return number

    received: tuple[_Act, ...] = (("lines", _BACK), ("finish", {}))
    return _States(
        {
            "expected": arrived,
            "receiving": lambda: arrived(("lines", _BACK)),
            "received": lambda: arrived(*received),
            "dispositioned": lambda: arrived(*received, ("dispositions", decision)),
            "cancelled": lambda: arrived(("cancel", {})),
        },
        {"lines": _BACK, "undo": _BACK, "dispositions": decision},
    )


def _holds(goods: _Goods, clock: Clock) -> _States:
    line = {"item_code": "BRICK", "qty": 1}

    def held(*acts: str, use: bool = False, seconds: int = 0) -> int:
        goods.yard.stock("BRICK", 1)
        body = {"warehouse_code": "YARD", "ttl_seconds": 60, "lines": [line]}
        number: int = goods.yard.erp.post("/holds", body).ok(201)["id"]
        for act in acts:
            goods.yard.erp.post(f"/holds/{number}/{act}").ok()
        if use:
            goods.yard.order(("BRICK", 1), head={"hold_id": number})
        clock.advance(seconds)
        return number

    return _States(
        {
            "active": held,
            "used": lambda: held(use=True),
            "released": lambda: held("release"),
            "expired": lambda: held(seconds=60),
        },
        {"extend": {"ttl_seconds": 60}},
    )


def _counts(goods: _Goods) -> _States:
    yard = goods.yard
    line = {"bin_code": "A-01", "item_code": "BRICK", "qty": 1}

    def count(*acts: str) -> int:
        yard.stock("BRICK", 3)
        for one in yard.erp.walk("/counts"):
            if "cancel" in yard.erp.get(f"/counts/{one['id']}").ok()["actions"]:
                yard.erp.post(f"/counts/{one['id']}/cancel").ok()
        body = {"warehouse_code": "YARD", "item_codes": ["BRICK"]}
        number: int = yard.erp.post("/counts", body).ok(201)["id"]
        for act in acts:
            yard.erp.post(f"/counts/{number}/{act}", line if act == "lines" else None).ok()
        return number

    return _States(
        {
            "open": count,
            "counting": lambda: count("lines"),
            "counted": lambda: count("lines", "finish"),
            "posted": lambda: count("lines", "finish", "post"),
            "cancelled": lambda: count("cancel"),
        },
        {"lines": line, "recount": {"lines": [1]}},
    )


def _approvals(stack: Stack, goods: _Goods, clock: Clock) -> _States:
    supervisor = Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))
    goods.yard.change_settings(approval_adjustment_qty=Decimal(5))

    def decided(decision: str | None = None, *, repeated: bool = False) -> int:
        number: int = goods.yard.adjust(increase=6).json()["error"]["approval_id"]
        if decision:
            supervisor.post(f"/approvals/{number}/{decision}").ok()
        if repeated:
            goods.yard.adjust(increase=6).ok(201)
        return number

    def expired() -> int:
        number = decided()
        clock.advance(24 * 3600)
        return number

    return _States(
        {
            "pending": decided,
            "granted": lambda: decided("grant"),
            "denied": lambda: decided("deny"),
            "used": lambda: decided("grant", repeated=True),
            "expired": expired,
        },
        caller=supervisor,
    )


def _imports(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> _States:
    scenario = ImportScenario(stack)
    file = b"Item code,Name\nNAIL,Nail\n"

    def valid(content: bytes = file) -> int:
        number: int = scenario.import_file("products", "products.csv", content)["id"]
        return number

    def committing() -> int:
        number = valid()
        leave_all_to_worker(monkeypatch)
        scenario.erp.post(f"/imports/{number}/commit").ok(202)
        return number

    def validating() -> int:
        leave_all_to_worker(monkeypatch)
        number: int = scenario.upload("products", "products.csv", file).ok(202)["id"]
        return number

    def failed(*, readable: bool) -> int:
        number = valid()
        context = import_context(stack.tenant(), stack.store())
        context.update(number, lambda _: {"status": "failed", "readable": readable})
        return number

    def cancelled() -> int:
        number = valid()
        scenario.erp.post(f"/imports/{number}/cancel").ok()
        return number

    upload = {"kind": "products", "filename": "products.csv"}
    return _States(
        {
            "uploaded": lambda: scenario.erp.post("/imports/uploads", upload).id,
            "validating": validating,
            "validated": valid,
            "invalid": lambda: valid(b"Item code,Name\n,Nail\n"),
            "committing": committing,
            "committed": lambda: int(scenario.commit(valid())["id"]),
            "failed": lambda: failed(readable=True),
            "failed before the commit": lambda: failed(readable=False),
            "cancelled": cancelled,
        }
    )


def _ensure_listed_is_possible(stack: Stack, erp: Erp, path: str, states: _States) -> None:
    """Assert that each state of a subject lists the actions that it does not refuse."""
    subject = _BY_PATH[path]
    assert {name.split(" ")[0] for name in states.states} == set(subject.table.statuses)
    restore = stack.take_snapshot()
    for state, make in states.states.items():
        number = make()
        status = state.split(" ")[0]
        shown = erp.get(f"{path}/{number}").ok()
        assert shown.get("wms_status", shown["status"]) == status, state
        assert all("actions" not in row for row in erp.get(path).data), path
        restore_state = stack.take_snapshot()
        for name in subject.table.actions:
            send = partial(
                _act, states.caller or erp, subject, name, number, states.bodies.get(name)
            )
            if name in shown["actions"]:
                answer = send()
                assert answer.status != 409, (path, state, name, answer.text)
                restore_state()
                continue
            with stack.unchanged():
                answer = send()
            case = (path, state, name, answer.text)
            assert (answer.status, answer.code) == (409, _refusal(subject, name, state)), case
            if answer.code == "stale_state" and path != "/handling-units":
                needed = " or ".join(subject.table.actions[name].starts)
                sentence = f" is {status}; it must be {needed} for this action."
                assert answer.json()["message"].endswith(sentence), case
        in_order = [name for name in subject.table.actions if name in shown["actions"]]
        assert shown["actions"] == in_order, state
        restore()


def _exports(stack: Stack, erp: Erp) -> _States:
    context = export_context(stack.tenant(), stack.store())

    def export(status: str) -> Callable[[], int]:
        def made() -> int:
            for one in erp.walk("/exports"):
                if "cancel" in erp.get(f"/exports/{one['id']}").ok()["actions"]:
                    erp.post(f"/exports/{one['id']}/cancel").ok()
            number: int = erp.post("/exports", {"objects": ["product"]}).ok(202)["id"]
            context.update(number, lambda _: {"status": status})
            return number

        return made

    return _States(
        {
            status: export(status)
            for status in ("pending", "running", "completed", "failed", "cancelled")
        }
    )


def _act(caller: Erp, subject: Subject, name: str, number: int, body: object) -> Response:
    method, path = subject.operation(name).split(" ")
    assert method == "POST"
    if "{id}" in path:
        return caller.post(path.replace("{id}", str(number)), body)
    return caller.post(path, {"document_id": number})


def _refusal(subject: Subject, name: str, state: str) -> str:
    """Return the code with which an action is refused."""
    if (subject.path, name) == ("/imports", "commit"):
        return "import_refused"
    if state.endswith(" of an order") and name not in {"allocate", "synchronize"}:
        return "conflict"  # it is picked through the actions of its transfer order
    if state in {"closed in a closed unit", "closed of a packed order"}:
        return "stale_state"
    status = state.split(" ", maxsplit=1)[0]
    order, starts = subject.table.statuses, subject.table.actions[name].starts
    is_late = order.index(status) > max(order.index(one) for one in starts)
    return "stale_state" if is_late else "conflict"


def _states_of(
    path: str,
    stack: Stack,
    erp: Erp,
    clock: Clock,
    aws_faults: AwsFaults,
    *,
    monkeypatch: pytest.MonkeyPatch,
) -> _States:
    without_goods: Mapping[str, Callable[[], _States]] = {
        "/returns": lambda: _returns(erp),
        "/imports": lambda: _imports(stack, monkeypatch),
        "/exports": lambda: _exports(stack, erp),
    }
    if path in without_goods:
        return without_goods[path]()
    goods = _Goods(stack, erp, aws_faults)
    monkeypatch.setattr("shared.warehouse.packing.actions.MAX_UNITS", _MOST_UNITS)
    if path == "/holds":
        return _holds(goods, clock)
    if path == "/counts":
        return _counts(goods)
    if path == "/approvals":
        return _approvals(stack, goods, clock)
    of_goods = (_documents_and_receipts, _pickings_and_packing, _transfers_and_waves)
    return next(found[path] for make in of_goods if path in (found := make(goods)))


@pytest.mark.parametrize("path", _BY_PATH)
def test_action_is_listed_exactly_when_the_state_does_not_refuse_it(
    stack: Stack,
    erp: Erp,
    clock: Clock,
    aws_faults: AwsFaults,
    monkeypatch: pytest.MonkeyPatch,
    *,
    path: str,
) -> None:
    states = _states_of(path, stack, erp, clock, aws_faults, monkeypatch=monkeypatch)
    _ensure_listed_is_possible(stack, erp, path, states)
