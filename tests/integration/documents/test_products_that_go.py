"""A document names a product that is just being deleted."""

from collections.abc import Callable
from typing import Any

from shared.kernel.db.transaction import Transaction
from shared.warehouse.catalog import service
from shared.warehouse.references import retire
from tests.clock import Clock
from tests.gateway import Erp
from tests.stack import Stack


def test_an_invalid_body_is_refused_as_such_once_the_outcome_is_known(
    yard: Erp, order: Callable[..., dict[str, Any]], stack: Stack, clock: Clock
) -> None:
    assert clock.monotonic() > 0  # waits pass at once
    retire(Transaction(stack.store()), service.product_key("BRICK"))
    clock.advance(50)  # of the 60 s that the mark of a deletion that broke off stands

    answer = yard.post("/entry-documents", order(doc_date="tomorrow"), key="k1")

    assert answer.status == 422
    assert [problem["field"] for problem in answer.json()["errors"]] == ["doc_date"]
