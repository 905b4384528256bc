"""Lists of receipts, pickings and transfers."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from shared.kernel.db import gathered_list
from shared.kernel.db.store import Store
from tests.faults import AwsFaults
from tests.gateway import Erp
from tests.integration.entity_factories import ORDER, PLANTED, SALE, picking
from tests.stack import Stack

type Found = tuple[Mapping[str, str], list[int]]
"""A query, and the ids that it returns."""
type Wrong = tuple[Mapping[str, str], list[str]]
"""A query, and its invalid parameters."""

STATUSES = ("pending", "started", "finalized", "synchronized", "cancelled", "reverted")
TRANSFER_STATUSES = ("pending", "transferred", "error")
DOCUMENTED = ("/receipts", "/pickings")
ALL = (*DOCUMENTED, "/transfers")
SORTS: Mapping[str, Sequence[str]] = {
    "/receipts": ["created_at", "updated_at", "finalized_at"],
    "/pickings": ["created_at", "updated_at", "finalized_at", "priority"],
    "/transfers": ["created_at", "updated_at"],
}


def _times(number: int) -> dict[str, str]:
    return {
        "created_at": f"2026-03-{number:02d}T12:00:00.000Z",
        "updated_at": f"2026-04-{number * 5 % 12 + 1:02d}T08:00:00.000Z",
    }


def _head(number: int) -> dict[str, Any]:
    day = number * 7 % 12 + 1
    return {
        **_times(number),
        "status": STATUSES[number % 6],
        "finalized_at": f"2026-05-{day:02d}T08:00:00.000Z" if number % 3 else None,
    }


def _row(path: str, number: int) -> dict[str, Any]:
    if path == "/transfers":
        return {
            **_times(number),
            "status": TRANSFER_STATUSES[number % 3],
            "from_whs_code": ("CEN", "DUB")[number % 2] if number % 4 else None,
            "to_whs_code": ("DUB", "CEN", "CORK")[number % 3],
        }
    half = (number + 1) // 2
    document = {**ORDER, "external_ref": f"REF-{half}", "id": half} if number < 12 else None
    if path == "/receipts":
        return {**_head(number), "document": document}
    priority = number % 3 + 1 if number % 4 else None
    documents = [document, SALE] if document else []
    return {**_head(number), "documents": documents, "priority": priority}


def _insert_twelve(store: Store, path: str) -> None:
    """Insert twelve records: pairs share a document, the last has none, some values are missing."""
    for number in range(1, 13):
        PLANTED[path](store, **_row(path, number))


@pytest.fixture(params=ALL)
def path(request: pytest.FixtureRequest, stack: Stack) -> str:
    """Path of a list of twelve records."""
    asked: str = request.param
    _insert_twelve(stack.store(), asked)
    return asked


FOUND_IN_ALL: Sequence[Found] = [
    ({}, list(range(1, 13))),
    ({"from": "2026-03-10"}, [10, 11, 12]),
    ({"to": "02/03/2026"}, [1, 2]),
    ({"from": "2026-03-04", "to": "2026-03-06"}, [4, 5, 6]),
    ({"from": "2026-03-04", "to": "2026-03-06", "status": "pending"}, [6]),
    ({"updated_since": "2026-04-10T08:00:00Z"}, [2, 7, 9]),
    ({"updated_since": "2026-04-10T10:00:00.001+02:00"}, [2, 7]),
    ({"updated_since": "2026-04-10T08:00:00Z", "to": "2026-03-07"}, [2, 7]),
]
FOUND_BY_DOCUMENT: Sequence[Found] = [
    ({"status": "pending"}, [6, 12]),
    ({"status": "started"}, [1, 7]),
    ({"status": "finalized"}, [2, 8]),
    ({"status": "synchronized"}, [3, 9]),
    ({"status": "cancelled"}, [4, 10]),
    ({"status": "reverted"}, [5, 11]),
    ({"external_ref": "REF-2"}, [3, 4]),
    ({"external_ref": "REF-6"}, [11]),
    ({"external_ref": "ref-2"}, []),
    ({"external_ref": "REF"}, []),
    ({"external_ref": "REF-2", "status": "cancelled"}, [4]),
    ({"external_ref": "REF-2", "to": "2026-03-03"}, [3]),
]
FOUND: Mapping[str, Sequence[Found]] = {
    "/receipts": [
        *FOUND_BY_DOCUMENT,
        ({"document_id": "2"}, [3, 4]),
        ({"document_id": "2", "external_ref": "REF-3"}, []),
    ],
    "/pickings": [
        *FOUND_BY_DOCUMENT,
        ({"external_ref": "SO-9"}, list(range(1, 12))),
        ({"external_ref": "SO-9", "status": "pending"}, [6]),
        ({"external_ref": "SO-9", "from": "2026-03-04", "to": "2026-03-06"}, [4, 5, 6]),
        ({"external_ref": "SO-9", "updated_since": "2026-04-10T08:00:00Z"}, [2, 7, 9]),
        ({"document_id": "2"}, [3, 4]),
        ({"document_id": "3"}, list(range(1, 12))),
        ({"document_id": "3", "status": "cancelled"}, [4, 10]),
        ({"document_id": "3", "external_ref": "REF-2"}, [3, 4]),
        ({"document_id": "2", "external_ref": "SO-9"}, [3, 4]),
        ({"document_id": "4", "external_ref": "REF-2"}, []),
        ({"document_id": "1000"}, []),
    ],
    "/transfers": [
        ({"status": "pending"}, [3, 6, 9, 12]),
        ({"status": "transferred"}, [1, 4, 7, 10]),
        ({"status": "error"}, [2, 5, 8, 11]),
        ({"from_warehouse": "CEN"}, [2, 6, 10]),
        ({"to_warehouse": "CORK"}, [2, 5, 8, 11]),
        ({"from_warehouse": "DUB", "to_warehouse": "CEN"}, [1, 7]),
        ({"from_warehouse": "CEN", "status": "error"}, [2]),
        ({"to_warehouse": "cork"}, []),
    ],
}


def test_every_filter_returns_matching_records(erp: Erp, path: str) -> None:
    for query, found in (*FOUND_IN_ALL, *FOUND[path]):
        rows = erp.walk(path, **query, sort="created_at", per_page=2)
        assert [row["id"] for row in rows] == found, query
        page = erp.get(path, query={**query, "per_page": 1}).json()
        assert page["meta"]["total"] == len(found), query
        assert [row["id"] for row in page["data"]] == found[-1:], "the newest comes first"


@pytest.mark.parametrize("query", [{}, {"status": "pending"}, {"from": "2026-03-03"}])
def test_every_sort_works_in_both_directions_with_missing_values_first(
    erp: Erp, path: str, query: Mapping[str, str]
) -> None:
    rows = erp.walk(path, **query)
    assert len(rows) >= 2
    for sort in SORTS[path]:
        expected = sorted(rows, key=lambda row: (*_place(row, sort), row["id"]))
        assert erp.walk(path, **query, sort=sort, per_page=3) == expected, sort
        assert erp.walk(path, **query, sort=f"-{sort}", per_page=3) == expected[::-1], sort
        second = erp.get(path, query={**query, "sort": sort, "per_page": 1, "page": 2})
        assert second.data == [expected[1]], sort


def _place(row: Mapping[str, Any], sort: str) -> tuple[Any, ...]:
    """Return the place of a row in an order; a priority that is missing counts as Normal."""
    value = 2 if sort == "priority" and row[sort] is None else row[sort]
    return value is not None, value or 0


def test_priorities_sort_as_numbers(stack: Stack, erp: Erp) -> None:
    for priority in (10, 2, None, 1, 100):
        picking(stack.store(), priority=priority)

    shown = [row["priority"] for row in erp.walk("/pickings", sort="priority")]
    assert shown == [1, 2, None, 10, 100]


WRONG_IN_ALL: Sequence[Wrong] = [
    ({"status": "open"}, ["status"]),
    ({"status": ""}, ["status"]),
    ({"sort": "id"}, ["sort"]),
    ({"sort": "+created_at"}, ["sort"]),
    ({"from": "yesterday"}, ["from"]),
    ({"to": "2026-02-30"}, ["to"]),
    ({"from": "2026-03-02", "to": "2026-03-01"}, ["to"]),
    ({"updated_since": "2026-03-01T09:30:00"}, ["updated_since"]),
    ({"page": "0", "per_page": "x"}, ["page", "per_page"]),
]
WRONG_REFERENCES: Sequence[Wrong] = [
    ({"external_ref": ""}, ["external_ref"]),
    ({"external_ref": "x" * 256}, ["external_ref"]),
    ({"document_id": "EX-1"}, ["document_id"]),
    ({"document_id": "0"}, ["document_id"]),
]
WRONG: Mapping[str, Sequence[Wrong]] = {
    "/receipts": [*WRONG_REFERENCES, ({"sort": "priority"}, ["sort"])],
    "/pickings": WRONG_REFERENCES,
    "/transfers": [
        ({"sort": "finalized_at"}, ["sort"]),
        ({"status": "finalized"}, ["status"]),
        ({"from_warehouse": "", "to_warehouse": "a\tb"}, ["from_warehouse", "to_warehouse"]),
    ],
}


@pytest.mark.parametrize("asked", ALL)
def test_invalid_parameter_is_named(erp: Erp, asked: str) -> None:
    for query, wrong in (*WRONG_IN_ALL, *WRONG[asked]):
        answer = erp.get(asked, query=query)
        assert sorted(answer.invalid_fields) == wrong


def test_parameters_of_other_lists_are_refused(erp: Erp, path: str) -> None:
    unknown = {"external_ref": "REF-2"} if path == "/transfers" else {"from_warehouse": "CEN"}

    assert len(erp.get(path, query={**unknown, "color": "red"}).data) == 12


NARROW: Mapping[str, Sequence[Mapping[str, str]]] = {
    "/receipts": [
        {"external_ref": "REF-2"},
        {"from": "2026-03-11"},
    ],
    "/pickings": [{"external_ref": "REF-2"}],
    "/transfers": [{"updated_since": "2026-04-11T08:00:00Z"}, {"to": "2026-03-02"}],
}


def test_page_examines_the_entries_it_shows_and_the_newest_change(
    erp: Erp, aws_faults: AwsFaults, path: str
) -> None:
    for query in NARROW[path]:
        with aws_faults.recorded() as seen:
            found = erp.get(path, query=query).data

        assert (len(found), seen.entries_examined) == (2, 3), query


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
