from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def document_body() -> Callable[..., dict[str, Any]]:
    """Return a function that returns the body of an entry document; keywords replace fields."""

    def write(reference: str = "PO-1", **more: Any) -> dict[str, Any]:
        return {
            "external_ref": reference,
            "type": "purchase_order",
            "doc_date": "2026-03-01",
            "partner_code": "V-1",
            "warehouse_code": "YARD",
            "lines": [{"item_code": "BRICK", "qty": 100}],
            **more,
        }

    return write
