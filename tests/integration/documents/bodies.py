"""Bodies of documents for the tests."""

from typing import Any


def document_body(reference: str = "PO-1", **more: Any) -> dict[str, Any]:
    """Return the body of an entry document; keywords replace fields."""
    return {
        "external_ref": reference,
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "V-1",
        "warehouse_code": "YARD",
        "lines": [{"item_code": "BRICK", "qty": 100}],
        **more,
    }
