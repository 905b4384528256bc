"""Bodies of documents for the tests."""

from typing import Any


def document_body(**more: Any) -> dict[str, Any]:
    """Return the body of an entry document; keywords replace fields."""
    return {
        "external_ref": "PO-1",
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "V-1",
        "warehouse_code": "YARD",
        "lines": [{"item_code": "BRICK", "qty": 100}],
        **more,
    }
