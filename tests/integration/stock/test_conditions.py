"""Conditions that protect stock against concurrent writes and against lost sequences."""

from typing import Any

import pytest

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.records import HEAD
from shared.kernel.db.transaction import Transaction
from shared.warehouse.stock.repository import MOVEMENTS, STOCK
from tests.clock import Clock
from tests.faults import AwsFaults, conflict
from tests.gateway import Erp
from tests.stack import Stack
from tests.stock_invariants import assert_invariants
from tests.warehouse_scenario import WarehouseScenario

_UNCONDITIONAL_KINDS = {"held", "open", "count", "acme", "transfer_order_request"}
"""Kinds of items that are written without a condition: sums, marks, and events in the outbox."""

_LINES = [{"item_code": "BRICK", "qty": 1}]
_PACKING: list[tuple[str, dict[str, Any]]] = [
    ("/packing-orders", {"exit_document_id": 1}),
    ("/packing-orders/1/handling-units", {"type": "carton"}),
    ("/handling-units/1/contents", {"item_code": "BRICK", "qty": 2}),
    ("/handling-units/1/close", {}),
    # One EPC that is not expected: the validation fails.
    ("/rfid-validations", {"packing_order_id": 1, "epcs": ["urn:epc:id:sscc:0614141.1234567890"]}),
    ("/packing-orders/1/complete", {}),
]
"""Requests that pack the goods of the exit document 1: path and body."""
_MORE_REQUESTS: list[tuple[str, dict[str, Any]]] = [
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
    (
        "/exit-documents",
        {
            "external_ref": "SO-W", "type": "sale_order", "doc_date": "2026-03-01",
            "partner_code": "C-1", "warehouse_code": "YARD", "lines": _LINES,
        },
    ),
    ("/pickings", {"document_id": 2, "allocate": False}),
    ("/waves", {"warehouse_code": "YARD", "strategy": "batch", "picking_ids": [3]}),
    ("/waves/1/plan", {}),
    ("/returns", {"exit_document_id": 1, "lines": [{**_LINES[0], "reason": "other"}]}),
]  # fmt: skip
"""Further requests that write stock or warehouse work: path and body."""


def _kinds(actions: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return the kind of each item that a transaction writes, and whether it has a condition.

    The index entries of what stays in an entity have that of its head.
    """
    conditioned = dict[tuple[str, str], bool]()
    for action in actions:
        [(_, body)] = action.items()
        key = body.get("Key") or body["Item"]
        conditioned[key["PK"]["S"], key["SK"]["S"]] = "ConditionExpression" in body
    return [
        (partition.partition("#")[0], conditioned.get((partition, HEAD), False))
        if sort == "LOOKUP#FIXED" or sort.startswith("SEARCH#")
        else (partition.partition("#")[0], has_condition)
        for (partition, sort), has_condition in conditioned.items()
    ]


def test_every_write_of_stock_and_work_has_a_condition(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    supervisor = Erp(stack.gateway, stack.user_token(permissions="approvals.grant"))
    more = {"item_code": "BRICK", "qty": 2, "bin_code": "B-01"}
    with aws_faults.recorded() as seen:
        yard.stock("BRICK", 5)
        order = yard.order(("BRICK", 2))
        number = yard.started(order)
        yard.pick(number, "BRICK", 2)
        yard.act(number, "finalize")
        answers = [yard.erp.post(path, body, key=path) for path, body in _PACKING]
        answers += [yard.erp.post(f"/exit-documents/{order}/dispatch")]
        answers += [yard.erp.post(path, body, key=path) for path, body in _MORE_REQUESTS]
        assert yard.erp.post("/receipts/1/lines", more).code == "approval_required"
        answers.append(supervisor.post("/approvals/1/grant"))
        answers.append(yard.erp.post("/receipts/1/lines", more))
    assert {answer.status for answer in answers} == {200, 201}

    written = [
        kind
        for call in seen.calls
        if call.operation == "TransactWriteItems"
        for kind in _kinds(call.request["TransactItems"])
    ]
    kinds = {kind for kind, _ in written}
    assert kinds >= {
        "stock", "stock_row", "level", "level_total", "movement", "entry", "exit", "receipt",
        "picking", "transfer", "transfer_order", "wave", "approval", "approval_request",
        "packing_order", "handling_unit", "rfid_validation", "rfid_differences", "return",
    }  # fmt: skip
    assert {kind for kind, conditioned in written if not conditioned} <= _UNCONDITIONAL_KINDS


@pytest.mark.parametrize("sequence", [MOVEMENTS.kind, STOCK.kind])
def test_lost_sequence_overwrites_nothing(
    sequence: str, yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    assert clock
    yard.stock("BRICK", 5)
    store = stack.store()
    key = {"PK": {"S": "sequence"}, "SK": {"S": sequence}}
    store.client.delete_item(TableName=store.table, Key=key)
    with stack.unchanged():
        assert yard.adjust("BRICK", "B-01", increase=1).status == 503
    assert_invariants(store)


def test_movement_that_was_replaced_meanwhile_is_not_overwritten(
    yard: WarehouseScenario, stack: Stack
) -> None:
    """Only an upgrade of the table replaces movements."""
    yard.stock("BRICK", 5)
    store = stack.store()
    record = MOVEMENTS.get(store, 1)
    first, second = Transaction(store), Transaction(store)
    for tx in (first, second):
        MOVEMENTS.replace(tx, record, record.entity)
    first.commit()
    with pytest.raises(StaleRead):
        second.commit()


def test_second_attempt_of_a_pick_is_one_read_and_one_transaction(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    yard.stock("BRICK", 10)
    number = yard.started(yard.order(("BRICK", 5)))
    assert yard.pick(number, "BRICK", 1).status == 200

    with aws_faults.recorded() as once:
        assert yard.pick(number, "BRICK", 1).status == 200
    with aws_faults.recorded() as twice, aws_faults.faulty(conflict()):
        assert yard.pick(number, "BRICK", 1).status == 200

    assert twice.operations[-3:] == ["TransactWriteItems", "BatchGetItem", "TransactWriteItems"]
    assert len(twice.operations) == len(once.operations) + 2
    assert_invariants(stack.store())
