"""Changes that commit after another request has changed, deleted or marked what they have read."""

from collections.abc import Callable

import pytest

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.transaction import Transaction
from shared.kernel.references import undo_retirement
from shared.warehouse.catalog.service import product_key
from shared.warehouse.master_data.uses import retire
from shared.warehouse.waves import repository as waves
from tests.clock import Clock
from tests.gateway import Erp, Response
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario

type BeforeCommit = Callable[..., list[Response]]


@pytest.fixture
def before_commit(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> BeforeCommit:
    """Return a function that makes calls before the commit with a number; it returns answers."""
    commit = Transaction.commit
    assert clock.monotonic() > 0  # the clock fixture makes waits immediate

    def arrange(number: int, *calls: Callable[[], Response]) -> list[Response]:
        answers: list[Response] = []
        commits: list[Transaction] = []

        def late(tx: Transaction) -> None:
            commits.append(tx)
            if len(commits) == number:
                answers.extend(call() for call in calls)
            commit(tx)

        monkeypatch.setattr(Transaction, "commit", late)
        return answers

    return arrange


def _id_of(erp: Erp, path: str, **query: str) -> int:
    (number,) = [one["id"] for one in erp.walk(path) if query.items() <= one.items()]
    assert isinstance(number, int)
    return number


def _product(erp: Erp) -> str:
    return f"/products/{_id_of(erp, '/products', item_code='BRICK')}"


def _position(erp: Erp) -> str:
    query = {"whs_code": "YARD", "bin_code": "B-01"}
    return f"/warehouse-positions/{_id_of(erp, '/warehouse-positions', **query)}"


def _receive(erp: Erp) -> Response:
    line = {"item_code": "BRICK", "qty": 1, "destination_bin": "B-01"}
    body = {
        "external_ref": "PO-1", "type": "purchase_order", "doc_date": "2026-03-01",
        "partner_code": "P-1", "warehouse_code": "YARD", "lines": [line],
    }  # fmt: skip
    return erp.post("/entry-documents", body, key="document")


def _transfer_order(erp: Erp, key: str) -> Response:
    body = {
        "external_ref": "MOVE-1", "from_warehouse": "YARD", "to_warehouse": "SHOP",
        "lines": [{"item_code": "BRICK", "qty": 1}],
    }  # fmt: skip
    return erp.post("/transfer-orders", body, key=key)


@pytest.mark.parametrize(
    ("path_of", "change"),
    [
        (_product, lambda erp, path: erp.delete(path)),
        (_product, lambda erp, path: erp.patch(path, {"item_code": "PAVER"})),
        (_product, lambda erp, path: erp.patch(path, {"man_btch_num": True})),
        (_position, lambda erp, path: erp.delete(path)),
    ],
    ids=["delete product", "rename product", "change rules of product", "delete position"],
)
def test_change_that_waited_too_long_is_not_applied_to_master_data_in_use(
    path_of: Callable[[Erp], str],
    change: Callable[[Erp, str], Response],
    yard: WarehouseScenario,
    before_commit: BeforeCommit,
    clock: Clock,
) -> None:
    """The environment of the change is frozen until its mark of 30 s has expired."""
    erp = yard.erp
    path = path_of(erp)
    before = erp.get(path).data

    def receive() -> Response:
        clock.advance(31)
        return _receive(erp)

    # The first commit marks the master data. The other deletion marks it, and removes its mark.
    answers = before_commit(2, receive, lambda: erp.delete(path))
    change(erp, path)

    assert [answer.status for answer in answers] == [201, 409]
    assert erp.get(path).data == before


def test_mark_is_neither_replaced_nor_removed_by_another_change(
    yard: WarehouseScenario, stack: Stack, clock: Clock
) -> None:
    assert yard
    store, alias = stack.store(), product_key("BRICK")
    first = retire(Transaction(store), alias)
    with pytest.raises(StaleRead):
        retire(Transaction(store), alias)
    clock.advance(31)
    second = retire(Transaction(store), alias)

    undo_retirement(Transaction(store), alias, first)

    assert (store.get(alias) or {})["retired_by"] == second != first


def test_product_of_a_closed_document_can_be_deleted(yard: WarehouseScenario) -> None:
    erp = yard.erp
    number = _receive(erp).data["id"]
    assert erp.delete(_product(erp)).status == 409

    assert erp.post(f"/entry-documents/{number}/close").status == 200

    assert erp.delete(_product(erp)).status == 200


@pytest.mark.parametrize(
    "change", [waves.touch_pending, waves.extend_pending, waves.discard_pending]
)
def test_wave_that_is_not_pending_is_not_changed_as_pending(
    change: Callable[[Transaction, int], None], stack: Stack
) -> None:
    tx = Transaction(stack.store())
    change(tx, 1)
    with pytest.raises(StaleRead):
        tx.commit()
    assert waves.read_pending(stack.store(), [1]) == {}


def test_product_of_a_completed_document_can_be_deleted(yard: WarehouseScenario) -> None:
    erp = yard.erp
    document = _receive(erp).data["id"]
    receipt = f"/receipts/{erp.post('/receipts', {'document_id': document}, key='r').data['id']}"
    goods = {"item_code": "BRICK", "qty": 1, "bin_code": "B-01"}
    for action, body in (("start", {}), ("lines", goods), ("finalize", {})):
        assert erp.post(f"{receipt}/{action}", body, key=action).status in {200, 201}
    assert erp.get(f"/entry-documents/{document}").data["status"] == "completed"
    gone = {
        "item_code": "BRICK", "warehouse": "YARD", "bin_code": "B-01", "counted_qty": 0,
        "reason": "Broken",
    }  # fmt: skip
    assert erp.post("/stock-adjustments", gone).status == 201

    assert erp.delete(_product(erp)).status == 200


def test_dispatch_in_steps_ships_nothing_of_an_order_that_is_picked_again(
    yard: WarehouseScenario, before_commit: BeforeCommit
) -> None:
    erp, serials = yard.erp, [f"S-{number}" for number in range(46)]
    for serial in serials:
        yard.stock("DRILL", 1, serial=serial)
    order = yard.order(("DRILL", 46), ("BRICK", 1))
    first = yard.started(order)
    for part in (serials[:23], serials[23:]):
        assert yard.pick(first, "DRILL", 23, serials=part).status == 200
    assert yard.act(first, "finalize", shortage_reason="could_not_locate").status == 200
    yard.stock("BRICK", 1)

    second = before_commit(1, lambda: erp.post("/pickings", {"document_id": order}, key="second"))
    answer = erp.post(f"/exit-documents/{order}/dispatch", key="dispatch")

    assert [one.status for one in second] == [201]
    assert answer.code == "conflict"
    assert yard.level("DRILL") == (46, 46, 0)


def test_position_is_not_created_in_a_warehouse_that_is_being_deleted(
    erp: Erp, before_commit: BeforeCommit
) -> None:
    warehouse = erp.post("/warehouses", {"whs_code": "NEW", "name": "New"}).data["id"]
    body = {"whs_code": "NEW", "bin_code": "A-01"}

    # The first commit marks the warehouse, the second deletes it.
    created = before_commit(2, lambda: erp.post("/warehouse-positions", body, key="position"))
    deleted = erp.delete(f"/warehouses/{warehouse}")

    assert [one.code for one in created] == ["service_unavailable"]
    assert deleted.status == 200
    assert erp.walk("/warehouse-positions") == []
