"""The search of documents and of work on them: what finds them, what it costs, what writes it."""

from collections.abc import Iterator
from typing import Any

import pytest

from shared.kernel.db.search import SEARCH
from tests.cases import each_case
from tests.dynamodb.in_memory_table import InMemoryTable
from tests.faults import AwsFaults, Recording
from tests.gateway import Erp
from tests.integration.documents.bodies import document_body
from tests.integration.stored_entities import assert_derived_items_match
from tests.integration.upgrade.conftest import set_version
from tests.lists import LISTS
from tests.lists.filling import fill
from tests.lists.spec import HOURLY
from tests.return_scenario import ReturnScenario
from tests.stack import Stack
from tests.transfer_scenario import TransferScenario
from tests.warehouse_scenario import WarehouseScenario

_ROWS = 1_000
_BESIDE = 20
"""Items that a list reads in addition to the entries: the totals, and the newest change."""
_NAMES = {"partner_code": "C-0042", "partner_name": "Ferretería Central"}


def _exit(erp: Erp, reference: str, **more: Any) -> int:
    body = document_body(external_ref=reference, type="sale_order", **(_NAMES | more))
    return erp.post("/exit-documents", body, key=reference).id


def _found(erp: Erp, path: str, search: str, **more: object) -> list[int]:
    return sorted(row["id"] for row in erp.walk(path, search=search, **more))


def _entries_written(seen: Recording) -> int:
    """Return how many items with search entries the transactions have written."""
    return sum(
        f"#{SEARCH}#" in str(action)
        for call in seen.calls
        if call.operation == "TransactWriteItems"
        for action in call.request["TransactItems"]
    )


def test_document_is_found_by_number_reference_and_partner(yard: WarehouseScenario) -> None:
    erp = yard.erp
    first, second = (_exit(erp, reference) for reference in ("SO-2026-00123", "B-0077"))
    for search in ("so-2026", "2026-123", "00123", f"ex-{first} ferr", "42 123"):
        assert _found(erp, "/exit-documents", search) == [first], search
    for search in ("central", "c-42 FERRETERIA", "c-0042"):
        assert _found(erp, "/exit-documents", search) == [first, second], search
    assert _found(erp, "/exit-documents", "central", status="closed") == []
    assert _found(erp, "/exit-documents", "central", sort="-priority") == [first, second]
    assert _found(erp, "/exit-documents", "YARD") == []
    long = "00017 Construcciones-Reformas del Norte y Sur de España S.L."
    third = _exit(erp, "B-0078", partner_name=long)
    assert _found(erp, "/exit-documents", long) == [third]
    assert _found(erp, "/exit-documents", long.replace("Norte", "Oeste")) == []
    assert _found(erp, "/entry-documents", "central") == []
    entry = erp.post("/entry-documents", document_body(external_ref="PO-900"), key="po").id
    assert _found(erp, "/entry-documents", "po-900") == [entry]


def test_change_of_the_name_rewrites_the_entries_and_another_change_does_not(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    number = _exit(yard.erp, "SO-1")
    path = f"/exit-documents/{number}"
    with aws_faults.recorded() as seen:
        yard.erp.patch(path, {"comments": "Call before"}).ok()
    assert not _entries_written(seen)
    with aws_faults.recorded() as seen:
        yard.erp.patch(path, {"partner_name": "Hardware South"}).ok()
    assert _entries_written(seen) == 1
    assert _found(yard.erp, "/exit-documents", "central") == []
    assert _found(yard.erp, "/exit-documents", "south") == [number]
    assert_derived_items_match(stack)


def test_work_is_found_by_all_of_its_documents(
    yard: WarehouseScenario, stack: Stack, aws_faults: AwsFaults
) -> None:
    erp = yard.erp
    orders = [_exit(erp, f"SO-77{at}") for at in range(3)]
    picking = erp.post("/pickings", {"document_ids": orders, "allocate": False}).id
    alone = erp.post("/pickings", {"document_id": _exit(erp, "SO-990"), "allocate": False}).id
    for search in ("so-770", "771", "SO-772 771", f"pkg-{picking} so-77"):
        assert _found(erp, "/pickings", search) == [picking], search
        assert _found(erp, "/pickings", search, ids=f"{picking},{alone}") == [picking], search
        assert _found(erp, "/pickings", search, status="pending") == [picking], search
    assert _found(erp, "/pickings", "so") == [picking, alone]
    assert _found(erp, "/pickings", "central") == []
    with aws_faults.recorded() as seen:
        erp.post(f"/pickings/{picking}/start").ok()
    assert not _entries_written(seen)
    entry = erp.post("/entry-documents", document_body(external_ref="PO-900"), key="po").id
    receipt = erp.post("/receipts", {"document_id": entry}).id
    assert _found(erp, "/receipts", "PO-9") == [receipt]
    assert _found(erp, "/receipts", f"EN-{entry}") == [receipt]
    assert_derived_items_match(stack)


def test_return_is_found_by_code_reference_and_partner(erp: Erp, stack: Stack) -> None:
    number = ReturnScenario(erp).expected(("BRICK", 1), external_ref="RMA-0042")
    partner = erp.get(f"/returns/{number}").data["card_code"]
    for search in ("rma-42", "0042", f"rt-{number}", partner):
        assert _found(erp, "/returns", search) == [number], search
    assert_derived_items_match(stack)


def test_transfer_order_is_found_by_code_and_reference(erp: Erp, stack: Stack) -> None:
    scenario = TransferScenario(erp)
    order = scenario.draft(("BRICK", 2), external_ref="MOVE-0815").id
    for search in ("move-8", "815", f"to-{order}"):
        assert _found(erp, "/transfer-orders", search) == [order], search
    assert_derived_items_match(stack)


@each_case("path", ["/exit-documents", "/receipts", "/pickings", "/returns", "/transfer-orders"])
def test_search_is_refused_until_the_table_is_upgraded(path: str, erp: Erp, stack: Stack) -> None:
    assert stack
    set_version("acme", 3)
    try:
        answer = erp.get(path, query={"search": "123"})
        assert answer.status == 503
        assert "needs version 4" in answer.json()["error"]["message"]
        assert erp.get(path).status == 200
    finally:
        set_version("acme", 4)


@pytest.fixture
def many(stack: Stack, aws_faults: AwsFaults) -> Iterator[InMemoryTable]:
    """A table with 1,000 exit documents, which answers the requests."""
    table = fill(stack.store(), LISTS["/exit-documents"], _ROWS, HOURLY)
    with aws_faults.faulty(table.fault):
        yield table


@pytest.mark.parametrize(
    ("search", "found"),
    [("ref-000123", 2), ("ex-123", 1), ("p-000012 ref", 20), ("central", 667)],
)
def test_search_examines_what_it_finds(
    many: InMemoryTable, stack: Stack, aws_faults: AwsFaults, search: str, found: int
) -> None:
    erp = stack.erp()
    assert erp.get("/exit-documents/1").status == 200  # fills the caches
    before = many.examined
    with aws_faults.recorded() as seen:
        answer = erp.get("/exit-documents", query={"search": search})
    assert answer.json()["meta"]["total"] == found
    assert many.examined - before <= 5 * found + _BESIDE
    assert seen.round_trips <= 4
