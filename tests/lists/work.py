"""The lists of receipts, of pickings and of transfers."""

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from shared.warehouse.picking.models import StoredPicking
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.receiving.models import StoredReceipt
from shared.warehouse.receiving.repository import RECEIPTS
from shared.warehouse.transfers.models import StoredTransfer
from shared.warehouse.transfers.repository import TRANSFERS
from tests.lists import spec
from tests.lists.warehouses import WAREHOUSE_CODES, by_warehouse, warehouse_of

_STATUSES = ("pending", "started", "finalized", "synchronized", "cancelled", "reverted")
_TRANSFER_STATUSES = ("pending", "transferred", "error")


def _reference(number: int) -> str:
    # A document may have several receipts or pickings.
    return f"REF-{number // 2:07d}"


def _order(number: int, kind: str) -> dict[str, Any]:
    return {
        "id": number // 2,
        "type": kind,
        "doc_num": (None, f"EN-{number}", number)[number % 3],
        "card_code": spec.unless(number, 4, "P-100"),
        "external_ref": spec.unless(number, 5, _reference(number)),
    }


def _work(number: int, times: spec.Times) -> dict[str, Any]:
    return {
        **times.of(number),
        "uuid": f"0b9d5c52-7d1e-4a7b-9b0f-{number:012d}",
        "concept": spec.unless(number, 3, "Reposición"),
        "status": _STATUSES[number % 6],
        "comments": spec.unless(number, 2, "Gate 4"),
        "user_id": spec.unless(number, 4, 7),
        "operator": spec.unless(number, 3, {"id": 9, "name": spec.unless(number, 2, "Ana Núñez")}),
        "started_at": spec.unless(number, 4, times.created(number)),
        "finalized_at": spec.unless(
            number, 3, (times.updated if number % 5 else times.created)(number)
        ),
    }


def _receipt(number: int, times: spec.Times) -> StoredReceipt:
    return StoredReceipt.model_validate(
        {
            **_work(number, times),
            "document": _order(number, "purchase_order"),
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
            "announced": False,
            "lines": [{"product_id": 1, "item_code": "BRICK", "qty": 2.5}],
        }
    )


def _picking(number: int, times: spec.Times) -> StoredPicking:
    documents = _sales(number)
    return StoredPicking.model_validate(
        {
            **_work(number, times),
            "priority": spec.unless(number, 4, number % 3 + 1),
            "due_date": spec.unless(number, 3, f"2026-04-{number % 20 + 10}"),
            "wave_id": spec.unless(number, 2, number % 5 + 1),
            "has_shortage": number % 5 == 0,
            "documents": documents,
            "warehouse_id": warehouse_of(number),
            "whs_code": WAREHOUSE_CODES[warehouse_of(number)],
        }
    )


def _sales(number: int) -> list[dict[str, Any]]:
    """Return the exit documents of a picking: none, one or several."""
    if number % 7 == 0:
        return []
    others = [number + 2, number + 4][: number % 3]
    return [_order(one, "sale_order") for one in (number, *others)]


def _documents(row: spec.Row) -> list[dict[str, Any]]:
    if "documents" in row:
        documents: list[dict[str, Any]] = row["documents"]
        return documents
    return [row["document"]]


def _external_ref(row: spec.Row, value: str) -> bool:
    return any(document["external_ref"] == value for document in _documents(row))


def _document_id(row: spec.Row, value: str) -> bool:
    return any(str(document["id"]) == value for document in _documents(row))


_FILTERS = {
    "status": spec.one_of("status", _STATUSES, wrong=("", "Pending", "open")),
    "external_ref": spec.Filter(
        lambda count: (_reference(count // 2 | 1), _reference(count), "no such value"),
        _external_ref,
        spec.INVALID_TEXTS,
        selective=True,
    ),
    "document_id": spec.Filter(
        lambda count: (str(count // 4 | 1), str(max(1, count // 2)), "999999999999"),
        _document_id,
        spec.INVALID_IDS,
        selective=True,
    ),
}


def _search(own: Callable[[spec.Row], str | None]) -> spec.Filter:
    def texts(row: spec.Row) -> Iterator[Any]:
        yield own(row)
        for document in _documents(row):
            yield from (document["doc_num"], document["external_ref"])

    return spec.begins_words(
        texts, values=("EN-1", "ref-00", "1 ref", "12", "f-0000001", "pkg-1"), code=_reference
    )


_SORTS = "created_at updated_at finalized_at"
_FIELDS = """
    integer: id user_id? operator.id document.id
    string: uuid?! concept? status comments? operator.name?
    string: document.type document.card_code? document.external_ref?
    string|integer: document.doc_num?
    object: operator?
    date-time: started_at? finalized_at? created_at?! updated_at?!
"""

RECEIPT_LIST = spec.Listed(
    path="/receipts",
    collection=RECEIPTS,
    make=_receipt,
    period=True,
    fields=spec.fields(f"{_FIELDS}object: document?!"),
    filters={**_FILTERS, "search": _search(lambda _: None)},
    sorts=spec.sorted_by(_SORTS),
)

PICKING_LIST = spec.Listed(
    path="/pickings",
    collection=PICKINGS,
    make=_picking,
    period=True,
    fields=spec.fields(
        f"{_FIELDS}object: document?\nstring: code\ninteger: priority? wave_id?\n"
        "date: due_date?\nboolean: has_shortage"
    ),
    filters={
        **_FILTERS,
        "search": _search(itemgetter("code")),
        "has_shortage": spec.flag("has_shortage"),
    },
    sorts=spec.sorted_by(f"{_SORTS} priority"),
    hidden_values=lambda number: {"documents": _sales(number)},
)


def _transfer(number: int, times: spec.Times) -> StoredTransfer:
    return StoredTransfer.model_validate(
        {
            **times.of(number),
            "status": _TRANSFER_STATUSES[number % 3],
            "sap_status": spec.unless(number, 2, "sent"),
            "from_whs_code": spec.unless(number, 5, WAREHOUSE_CODES[warehouse_of(number)]),
            "to_whs_code": spec.unless(number, 4, WAREHOUSE_CODES[warehouse_of(number // 2)]),
            "doc_entry": (None, 4711, "4711-A")[number % 3],
            "message": spec.unless(number, 3, "Period is closed"),
            "reason": spec.unless(number, 4, "Tidy up"),
            "user_id": spec.unless(number, 4, 7),
            "operator": spec.unless(
                number, 3, {"id": 9, "name": spec.unless(number, 2, "Ana Núñez")}
            ),
        }
    )


TRANSFER_LIST = spec.Listed(
    path="/transfers",
    collection=TRANSFERS,
    make=_transfer,
    period=True,
    fields=spec.fields("""
        integer: id user_id? operator.id
        string: status wms_status sap_status? from_whs_code? to_whs_code? message? reason?
        string: operator.name?
        string|integer: doc_entry?
        object: operator?
        date-time: created_at?! updated_at?!
    """),
    filters={
        "status": spec.one_of("status", _TRANSFER_STATUSES, wrong=("", "started")),
        "from_warehouse": by_warehouse("from_whs_code"),
        "to_warehouse": by_warehouse("to_whs_code"),
    },
)
