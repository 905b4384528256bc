"""Deletion of warehouses and positions concurrent with new references to them."""

import pytest

from shared.kernel.db.actions import StaleRead
from shared.kernel.db.transaction import Transaction
from shared.warehouse.master_data.uses import retire
from shared.warehouse.warehouses import service
from tests.gateway import Erp
from tests.integration.conftest import BeforeNextCommit
from tests.integration.stored_entities import read_stored_entities
from tests.integration.warehouses.conftest import Make
from tests.integration.write_routes import MAP
from tests.stack import Stack


def test_concurrent_bulk_requests_create_each_position_once(
    central: Erp, before_next_commit: BeforeNextCommit
) -> None:
    body = {"whs_code": "CEN", "bin_code": "A-01"}
    created = before_next_commit(lambda: central.post("/warehouse-positions", body))
    assert central.post("/warehouse-positions", body).code == "validation_failed"
    assert created[0].status == 201

    depot = {"whs_code": "DUB", "name": "Dublin"}
    created = before_next_commit(lambda: central.post("/warehouses", depot))
    assert central.post("/warehouses", depot).code == "validation_failed"
    assert created[0].status == 201


def test_warehouses_and_positions_are_looked_up_in_one_read(
    stack: Stack, erp: Erp, create_warehouse: Make, create_position: Make
) -> None:
    create_warehouse("CEN", name="Central")
    create_position("A-01")
    create_position("A-02", disabled=True, is_blocked=True)
    erp.patch("/warehouses/1", {"name": "Midlands"})
    erp.patch("/warehouse-positions/1", {"is_blocked": True})
    pairs = [("CEN", "A-01"), ("CEN", "A-02"), ("CEN", "A-03"), ("DUB", "A-01")]
    tx = Transaction(stack.store())

    found = tx.store.get_many(
        [service.warehouse_key("CEN"), service.warehouse_key("DUB")]
        + [service.position_key(*pair) for pair in pairs]
    )

    warehouses = service.known_warehouses(tx, ["CEN", "DUB"], found)
    positions = service.known_positions(tx, pairs, found)
    assert {code: (known.id, known.name) for code, known in warehouses.items()} == {
        "CEN": (1, "Midlands")
    }
    assert {
        pair: (known.id, known.bin_code, known.disabled, known.blocked)
        for pair, known in positions.items()
    } == {("CEN", "A-01"): (1, "A-01", False, True), ("CEN", "A-02"): (2, "A-02", True, True)}


def test_use_case_is_retried_while_master_data_is_deleted(
    stack: Stack, create_warehouse: Make, create_position: Make
) -> None:
    create_warehouse("CEN")
    create_position("A-01")
    keys = [service.warehouse_key("CEN"), service.position_key("CEN", "A-01")]
    for key in keys:
        retire(Transaction(stack.store()), key)
    tx = Transaction(stack.store())
    found = tx.store.get_many(keys)

    with pytest.raises(StaleRead):
        service.known_warehouses(tx, ["CEN"], found)
    with pytest.raises(StaleRead):
        service.known_positions(tx, [("CEN", "A-01")], found)


def test_map_is_not_published_for_a_warehouse_deleted_concurrently(
    central: Erp, stack: Stack, before_next_commit: BeforeNextCommit
) -> None:
    deleted = before_next_commit(lambda: central.delete("/warehouses/1"))

    answer = central.put("/warehouses/1/layout", MAP)

    assert deleted[0].status == 200
    assert (answer.status, answer.code) == (410, "gone")
    assert read_stored_entities(stack).entities["layout"] == []


def test_map_published_during_a_deletion_is_deleted_too(
    central: Erp, stack: Stack, before_next_commit: BeforeNextCommit
) -> None:
    published = before_next_commit(lambda: central.put("/warehouses/1/layout", MAP))

    answer = central.delete("/warehouses/1")

    assert (published[0].status, answer.status) == (200, 200)
    assert central.get("/warehouses/1/layout").status == 410
    assert read_stored_entities(stack).entities["layout"] == []


def test_concurrent_publications_are_two_versions(
    central: Erp, before_next_commit: BeforeNextCommit
) -> None:
    first = before_next_commit(lambda: central.put("/warehouses/1/layout", MAP))

    second = central.put("/warehouses/1/layout", {"width_m": 7, "depth_m": 7})

    assert (first[0].data["version"], second.data["version"]) == (1, 2)
    assert central.get("/warehouses/1/layout").data == second.data
