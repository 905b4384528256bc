"""Work of a warehouse, sent through the API.

The smoke test, the demo, the sample data, the run under load and the benchmark share it. Each
function sends through the caller's `post`, which decides about tokens, retries and failures.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Literal

type Body = dict[str, Any]
type Post = Callable[[str, Any], Any]
"""Sends a body to a path with POST; returns `data` of the response, or raises."""
type OrderType = Literal["purchase_order", "sale_order"]

PATHS: Mapping[OrderType, str] = {
    "purchase_order": "/entry-documents",
    "sale_order": "/exit-documents",
}
_PARTNERS: Mapping[OrderType, str] = {"purchase_order": "V-100", "sale_order": "C-200"}


def order_of(
    order_type: OrderType, reference: str, warehouse: str, lines: Iterable[Body], **more: Any
) -> Body:
    """Return the body of an order; `more` are further fields, or other values of these."""
    return {
        "external_ref": reference,
        "type": order_type,
        "doc_date": "2026-03-01",
        "partner_code": _PARTNERS[order_type],
        "warehouse_code": warehouse,
        "lines": list(lines),
        **more,
    }


def create_order(post: Post, order: Body) -> Body:
    """Create an order, and return it."""
    created: Body = post(PATHS[order["type"]], order)
    return created


def start_receipt(post: Post, document: int) -> str:
    """Create and start a receipt of an entry document; return its path."""
    path = f"/receipts/{post('/receipts', {'document_id': document})['id']}"
    post(f"{path}/start", None)
    return path


def receive(post: Post, document: int, goods: Iterable[Body]) -> Body:
    """Receive goods for an entry document, and finalize the receipt; return it."""
    path = start_receipt(post, document)
    post(f"{path}/lines", {"lines": list(goods)})
    receipt: Body = post(f"{path}/finalize", None)
    return receipt


def picks_of(picking: Body) -> list[Body]:
    """Return the bodies that pick the allocated lines of a picking."""
    return [
        {
            "item_code": line["item_code"],
            "qty": line["qty"],
            "bin_code": line["bin_code"],
            "batch": line["batch_num"],
            "serials": line["serials"] or None,
        }
        for line in picking["lines"]
        if line["bin_code"]
    ]


def pick(post: Post, picking: Body) -> Body:
    """Start an allocated picking, pick all of it, and finalize it; return it."""
    path = f"/pickings/{picking['id']}"
    post(f"{path}/start", None)
    post(f"{path}/picks", {"as_allocated": True})
    finalized: Body = post(f"{path}/finalize", None)
    return finalized


def ship(post: Post, document: int) -> Body:
    """Pick all of an exit document, and dispatch it; return the document."""
    pick(post, post("/pickings", {"document_id": document}))
    dispatched: Body = post(f"/exit-documents/{document}/dispatch", None)
    return dispatched


def contents_of(packing_order: Body) -> list[Body]:
    """Return the bodies that pack the goods of a packing order into a handling unit."""
    return [
        {
            "item_code": line["item_code"],
            "qty": line["qty"],
            "batch": line["batch_num"],
            "serials": line["serial_numbers"] or None,
        }
        for line in packing_order["lines"]
    ]


def stock_sums(
    each: Callable[..., Iterable[Body]], **query: str
) -> dict[str, tuple[Decimal, Decimal, Decimal]]:
    """Return the stock of each product by its movements, by its rows and by its levels.

    `each` returns the rows of a list; `query` restricts the three lists.
    """
    sums: dict[str, list[Decimal]] = defaultdict(lambda: [Decimal(0)] * 3)
    for movement in each("/stock-movements", **query):
        sign = (movement["to"] is not None) - (movement["from"] is not None)
        sums[movement["item_code"]][0] += sign * Decimal(str(movement["qty"]))
    for row in each("/stocks", **query):
        sums[row["item_code"]][1] += Decimal(str(row["qty"]))
    for total in each("/stock-levels", **query, totals="true"):
        level = Decimal(str(total["on_hand"])) + Decimal(str(total["in_transit"]))
        sums[total["item_code"]][2] += level
    return {item: (moved, rows, levels) for item, (moved, rows, levels) in sums.items()}
