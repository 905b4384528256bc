"""Every subject with states refuses early actions with `conflict`, late ones with `stale_state`.

Each subject has an early and a late action here; its own tests have all of its statuses.
"""

from decimal import Decimal
from typing import Any

from tests.gateway import Erp
from tests.packing_scenario import PackingScenario
from tests.receiving_scenario import ReceivingScenario
from tests.return_scenario import ReturnScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario
from tests.wave_scenario import WaveScenario

_GOODS = {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}
_MOVE = {"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "B-01"}
_TRANSFER = {"from_warehouse": "YARD", "to_warehouse": "YARD", "lines": [_MOVE], "execute": False}


class _Refusals:
    """Assertions about requests that the state of a resource refuses."""

    def __init__(self, stack: Stack, erp: Erp) -> None:
        self._stack, self._erp = stack, erp

    def early(self, path: str, states: str, body: object = None, erp: Erp | None = None) -> None:
        self._refused(erp, path, body, "conflict", states)

    def late(self, path: str, states: str, body: object = None, erp: Erp | None = None) -> None:
        self._refused(erp, path, body, "stale_state", states)

    def _refused(self, erp: Erp | None, path: str, body: object, code: str, states: str) -> None:
        """Assert the code, and that the message says the state and what it must be."""
        state, needed = states.split(" -> ")
        with self._stack.unchanged():
            answer = (erp or self._erp).post(path, body)
        message = answer.json()["message"]
        assert (answer.status, answer.code) == (409, code), (path, message)
        assert message.endswith(f" is {state}; it must be {needed} for this action."), path


def test_entry_documents_and_receipts(erp: Erp, stack: Stack) -> None:
    refusals, receiving = _Refusals(stack, erp), ReceivingScenario(erp)
    order = receiving.order({"qty": 1})
    path = f"/receipts/{receiving.receipt(order)}"

    refusals.early(f"{path}/lines", "pending -> started", _GOODS)
    refusals.early(f"{path}/revert", "pending -> finalized or synchronized")
    erp.post(f"{path}/cancel").ok()
    refusals.late(f"{path}/lines", "cancelled -> started", _GOODS)
    erp.post(f"/entry-documents/{order}/close").ok()
    workable = "open or assigned or partial-complete"
    refusals.late("/receipts", f"closed -> {workable}", {"document_id": order})
    refusals.late(f"/entry-documents/{order}/close", f"closed -> {workable} or completed")


def test_exit_documents_pickings_packing_orders_and_units(
    erp: Erp, stack: Stack, yard: WarehouseScenario
) -> None:
    refusals, packing = _Refusals(stack, erp), PackingScenario(erp, yard)
    waiting = f"/pickings/{yard.picking(yard.order(('BRICK', 1)))['id']}"
    document = packing.staged(("BRICK", 1))[0]
    order = packing.order(document)["id"]
    inner, unit = packing.unit(order), packing.unit(order)
    closed = packing.staged_order(("BRICK", 1))

    refusals.early(f"{waiting}/picks", "pending -> started", _GOODS)
    refusals.early(f"/handling-units/{unit}/reopen", "open -> closed")
    packing.done(packing.put(unit, "BRICK", 1))
    for one in (inner, unit):
        packing.done(packing.act(one, "close", weight_kg=1))
    refusals.late(f"/handling-units/{unit}/contents", "closed -> open", _GOODS)
    packing.done(packing.complete(order))
    refusals.late(f"/handling-units/{unit}/reopen", "packed -> open or in_progress")
    refusals.late(f"/packing-orders/{order}/complete", "packed -> open or in_progress")
    packing.done(packing.dispatch(document))
    refusals.late(f"/packing-orders/{order}/cancel", "shipped -> open or in_progress or packed")
    packing.done(packing.cancel(closed))
    refusals.late(f"/packing-orders/{closed}/complete", "cancelled -> open or in_progress")
    workable = "open or assigned or partial-complete"
    for action in ("dispatch", "close"):
        path = f"/exit-documents/{document}/{action}"
        refusals.late(path, f"closed -> {workable} or completed")
    refusals.late("/pickings", f"closed -> {workable}", {"document_id": document})
    erp.post(f"{waiting}/cancel").ok()
    refusals.late(f"{waiting}/start", "cancelled -> pending")


def test_transfers_transfer_orders_and_waves(
    erp: Erp, stack: Stack, yard: WarehouseScenario
) -> None:
    refusals, orders, waves = _Refusals(stack, erp), TransferScenario(erp, yard), WaveScenario(yard)
    transfer = f"/transfers/{erp.post('/transfers', _TRANSFER).id}"
    order = orders.draft(("BRICK", 1)).id
    wave = waves.wave(waves.pickings(1))

    refusals.early(f"{transfer}/acknowledge", "pending -> transferred", {"sap_status": "sent"})
    refusals.early(f"/transfer-orders/{order}/dispatch", "draft -> picked", {})
    refusals.early(f"/waves/{wave}/release", "draft -> planned")
    erp.post(f"{transfer}/execute").ok()
    refusals.early(f"{transfer}/acknowledge", "error -> transferred", {"sap_status": "sent"})
    yard.stock("BRICK", 1)
    erp.post(f"{transfer}/execute").ok()
    orders.done(order, "cancel")
    waves.act(wave, "cancel").ok()
    refusals.late(f"{transfer}/execute", "transferred -> pending or error")
    refusals.late(f"/transfer-orders/{order}/dispatch", "cancelled -> picked", {})
    refusals.late(f"/waves/{wave}/plan", "cancelled -> draft")


def test_returns_and_approvals(erp: Erp, stack: Stack) -> None:
    refusals, returns = _Refusals(stack, erp), ReturnScenario(erp)
    number = returns.expected(("BRICK", 1))
    path = f"/returns/{number}"
    supervisor = Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))
    returns.yard.change_settings(approval_adjustment_qty=Decimal(5))
    refused: dict[str, Any] = returns.yard.adjust(increase=6).json()
    approval = f"/approvals/{refused['error']['approval_id']}"

    refusals.early(f"{path}/finish", "expected -> receiving")
    returns.done(number, "cancel")
    refusals.late(f"{path}/finish", "cancelled -> receiving")
    supervisor.post(f"{approval}/deny").ok()
    refusals.late(f"{approval}/grant", "denied -> pending", erp=supervisor)
