from collections.abc import Callable
from typing import Any

import pytest

from shared.kernel.db.transaction import Transaction
from shared.warehouse.references import register_references
from tests.gateway import Erp
from tests.stack import Stack

type Make = Callable[..., dict[str, Any]]


@pytest.fixture
def create_warehouse(erp: Erp) -> Make:
    """Return a function that creates a warehouse; keywords are its fields."""

    def make(code: str = "CEN", **more: object) -> dict[str, Any]:
        return erp.post("/warehouses", {"whs_code": code, "name": f"Depot {code}", **more}).ok(201)

    return make


@pytest.fixture
def create_position(erp: Erp) -> Make:
    """Return a function that creates a position; keywords are its fields."""

    def make(bin_code: str, whs_code: str = "CEN", **more: object) -> dict[str, Any]:
        body = {"whs_code": whs_code, "bin_code": bin_code, **more}
        return erp.post("/warehouse-positions", body).ok(201)

    return make


@pytest.fixture
def create_open_document(stack: Stack) -> Callable[..., None]:
    """Return a function that registers an open document that refers to master data."""

    def register(**ids: int) -> None:
        tx = Transaction(stack.store())
        register_references(tx, "entry", 1, {facet: [number] for facet, number in ids.items()})
        tx.commit()

    return register
