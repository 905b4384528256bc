"""What the lists of pickings have beyond those of all subjects."""

import pytest

from shared.kernel.db.lists import gathered_list
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.entity_factories import SALE, picking
from tests.stack import Stack


def test_priorities_sort_as_numbers(stack: Stack, erp: Erp) -> None:
    for priority in (10, 2, None, 1, 100):
        picking(stack.store(), priority=priority)

    shown = [row["priority"] for row in erp.walk("/pickings", sort="priority")]
    assert shown == [1, 2, None, 10, 100]


def test_picking_of_a_transfer_order_is_not_found_by_the_id_of_a_document(
    stack: Stack, erp: Erp
) -> None:
    sale = picking(stack.store(), documents=[SALE])
    order = picking(stack.store(), documents=[{**SALE, "type": "transfer_order"}])
    assert [row["id"] for row in erp.walk("/pickings", document_id=3)] == [sale]
    assert [row["id"] for row in erp.walk("/pickings", external_ref="SO-9")] == [order, sale]


def test_page_of_further_documents_takes_two_round_trips(
    stack: Stack, erp: Erp, aws_faults: AwsFaults, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered_list, "_FEW", 0)  # the pickings are many, compared with all
    for number in range(30):
        picking(stack.store(), documents=[{**SALE, "id": 100 + number}, SALE])
    query = {"document_id": "3", "per_page": "10"}
    erp.get("/pickings", query=query)
    with aws_faults.recorded() as seen:
        page = erp.get("/pickings", query=query).json()
    assert page["meta"]["total"] == 30
    assert (len(page["data"]), seen.entries_examined) == (10, 30 + 1)  # the newest change


def test_two_documents_with_the_same_reference_find_their_picking_once(
    stack: Stack, erp: Erp
) -> None:
    note = {**SALE, "id": 4, "type": "delivery_note"}
    number = picking(stack.store(), documents=[SALE, note])
    page = erp.get("/pickings", query={"external_ref": "SO-9"}).json()
    assert ([row["id"] for row in page["data"]], page["meta"]["total"]) == ([number], 1)
