"""What guards the books against those who write at the same time, and against lost counters."""

from typing import Any

import pytest

from shared.warehouse.stock.repository import MOVEMENTS, STOCK
from tests.clock import Clock
from tests.faults import AwsFaults
from tests.stack import Stack
from tests.stock_invariants import prove
from tests.warehouse_scenario import WarehouseScenario

_FREE = {"held", "open", "count", "acme", "transfer_order_request"}
"""Sums, marks, the events of acme in the outbox: what is written without looking."""

_LINES = [{"item_code": "BRICK", "qty": 1}]
_MORE: list[tuple[str, dict[str, Any]]] = [
    (
        "/entry-documents",
        {
            "external_ref": "PO-1", "type": "purchase_order", "doc_date": "2026-03-01",
            "partner_code": "P-1", "warehouse_code": "YARD", "lines": _LINES,
        },
    ),
    ("/receipts", {"document_id": 1}),
    ("/receipts/1/start", {}),
    ("/receipts/1/lines", {"item_code": "BRICK", "qty": 1, "bin_code": "B-01"}),
    (
        "/transfers",
        {
            "from_warehouse": "YARD", "to_warehouse": "SHOP", "execute": False,
            "lines": [{"item_code": "BRICK", "qty": 1, "from_bin": "A-01", "to_bin": "A-01"}],
        },
    ),
    ("/transfers/1/execute", {}),
    (
        "/transfer-orders",
        {
            "from_warehouse": "YARD", "to_warehouse": "SHOP", "release": True, "picker_id": 7,
            "lines": _LINES,
        },
    ),
    ("/transfer-orders/1/picks", {"item_code": "BRICK", "qty": 1, "bin_code": "A-01"}),
]  # fmt: skip
"""What else writes stock or the work on it: path and body."""


@pytest.fixture
def yard(stack: Stack) -> WarehouseScenario:
    return WarehouseScenario.furnished(stack.erp(), "YARD", "SHOP")


def _kind(action: dict[str, Any]) -> tuple[str, bool]:
    """Which kind of item an action writes, and whether on a condition."""
    [(_, body)] = action.items()
    key = body.get("Key") or body["Item"]
    return key["PK"]["S"].partition("#")[0], "ConditionExpression" in body


def test_every_write_of_stock_and_its_work_depends_on_what_was_read(
    yard: WarehouseScenario, aws_faults: AwsFaults
) -> None:
    with aws_faults.recorded() as seen:
        yard.stock("BRICK", 5)
        order = yard.order(("BRICK", 2))
        number = yard.started(order)
        yard.pick(number, "BRICK", 2)
        yard.act(number, "finalize")
        answers = [yard.erp.post(f"/exit-documents/{order}/dispatch")]
        answers += [yard.erp.post(path, body, key=path) for path, body in _MORE]
    assert {answer.status for answer in answers} == {200, 201}

    written = [
        _kind(action)
        for call in seen.calls
        if call.operation == "TransactWriteItems"
        for action in call.request["TransactItems"]
    ]
    kinds = {kind for kind, _ in written}
    assert kinds >= {
        "stock", "stock_row", "level", "level_total", "movement", "entry", "exit", "receipt",
        "picking", "transfer", "transfer_order",
    }  # fmt: skip
    assert {kind for kind, conditioned in written if not conditioned} <= _FREE


@pytest.mark.parametrize("sequence", [MOVEMENTS.kind, STOCK.kind])
def test_a_lost_sequence_overwrites_nothing(
    sequence: str, yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    assert clock
    yard.stock("BRICK", 5)
    store = stack.store()
    key = {"PK": {"S": "sequence"}, "SK": {"S": sequence}}
    store.client.delete_item(TableName=store.table, Key=key)
    before = _without_sequences(stack)
    body = {
        "item_code": "BRICK", "warehouse": "YARD", "bin_code": "B-01", "increase": 1,
        "reason": "Found",
    }  # fmt: skip

    answer = yard.erp.post("/stock-adjustments", body)

    assert answer.status == 503
    assert _without_sequences(stack) == before
    prove(store)


def _without_sequences(stack: Stack) -> list[dict[str, Any]]:
    return [item for item in stack.stored() if item["PK"]["S"] != "sequence"]
