"""A deletion is killed between the deletion mark on the product and its commit."""

import pytest

from tests.clock import Clock
from tests.faults import AwsFaults, kill_after_step
from tests.gateway import Erp
from tests.integration.stored_entities import assert_counters_match, read_stored_entities
from tests.integration.write_routes import EXAMPLES, PURCHASE
from tests.stack import Stack


@pytest.fixture
def marked(erp: Erp, aws_faults: AwsFaults, clock: Clock) -> Erp:
    """The ERP of a tenant in which the deletion of product 1 was killed after its mark."""
    clock.freeze()
    EXAMPLES["POST /entry-documents"].prepared(erp)

    assert aws_faults.kills(kill_after_step(), lambda: erp.delete("/products/1"))
    return erp


def test_document_of_the_product_gets_retry_after(stack: Stack, marked: Erp, clock: Clock) -> None:
    began = clock.monotonic()
    refused = marked.post("/entry-documents", PURCHASE, key="po")

    assert (refused.status, refused.code) == (503, "service_unavailable")
    assert clock.monotonic() - began < 10
    clock.advance(int(refused.headers["Retry-After"]))
    marked.post("/entry-documents", PURCHASE, key="po").ok(201)
    assert marked.delete("/products/1").code == "conflict"
    assert_counters_match(stack, read_stored_entities(stack))


def test_marked_product_can_be_deleted_later(stack: Stack, marked: Erp, clock: Clock) -> None:
    assert marked.get("/products/1").status == 200
    clock.advance(31)

    assert marked.delete("/products/1").status == 200
    assert marked.post("/entry-documents", PURCHASE, key="po").code == "validation_failed"
    assert_counters_match(stack, read_stored_entities(stack))
