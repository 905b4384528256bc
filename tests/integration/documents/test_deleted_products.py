"""Creation of a document with a product that is being deleted."""

from collections.abc import Callable
from typing import Any

from shared.kernel.db.transaction import Transaction
from shared.warehouse.catalog import service
from shared.warehouse.references import retire
from tests.clock import Clock
from tests.stack import Stack
from tests.warehouse_scenario import WarehouseScenario


def test_invalid_body_is_refused_after_the_retirement_ends(
    yard: WarehouseScenario,
    document_body: Callable[..., dict[str, Any]],
    stack: Stack,
    clock: Clock,
) -> None:
    assert clock.monotonic() > 0  # the clock fixture makes waits immediate
    retire(Transaction(stack.store()), service.product_key("BRICK"))
    clock.advance(50)  # the mark of an interrupted deletion expires after 30 s

    answer = yard.erp.post("/entry-documents", document_body(doc_date="tomorrow"), key="k1")

    assert answer.invalid_fields == ["doc_date"]
