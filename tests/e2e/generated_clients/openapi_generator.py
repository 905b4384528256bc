"""Calls of the Python client of openapi-generator, sent to the running stack.

Reads BASE_URL, TOKEN and RUN from the environment, and prints the number of calls.
"""

import os
from datetime import date
from typing import Any

import stowage_generated as generated

_RUN = os.environ["RUN"]
_CODE, _ITEM, _BIN = f"G{_RUN}", f"GEN-{_RUN}", "A-01"
_calls = 0

_client = generated.ApiClient(
    generated.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["TOKEN"])
)


def call(name: str, *arguments: Any, **named: Any) -> Any:
    """Call an operation, such as `products.list_products`; return the parsed body."""
    global _calls  # noqa: PLW0603
    _calls += 1
    group, _, operation = name.partition(".")
    api = getattr(generated, f"{group.title().replace('_', '')}Api")(_client)
    return getattr(api, operation)(*arguments, **named)


def refusal(status: int, name: str, *arguments: Any) -> str:
    """Call an operation that is refused; return the error code."""
    try:
        call(name, *arguments)
    except generated.ApiException as error:
        if error.status != status:
            raise
        return generated.ErrorResponse.from_json(error.body).error.code.value
    raise AssertionError(f"{name} was not refused")


def main() -> None:
    """Receive goods of a new product, and pick them."""
    product = call("products.create_product", {"item_code": _ITEM, "name": "A product"}).data
    assert call("products.list_products", item_code=_ITEM).data[0].id == product.id
    assert refusal(404, "products.get_product", 999_999_999) == "not_found"
    again = {"item_code": _ITEM, "name": "Another product"}
    assert refusal(422, "products.create_product", again) == "validation_failed"
    call("warehouses.create_warehouse", {"whs_code": _CODE, "name": "Generated"})
    position = {"bin_code": _BIN, "whs_code": _CODE}
    call("warehouse_positions.create_warehouse_position", position)

    order = {
        "external_ref": f"GPO-{_RUN}", "type": "purchase_order", "doc_date": date(2026, 3, 1),
        "partner_code": "V1", "warehouse_code": _CODE, "lines": [{"item_code": _ITEM, "qty": 10}],
    }  # fmt: skip
    entry = call("entry_documents.create_entry_document", f"entry-{_RUN}", order).data
    receipt = call("receipts.create_receipt", {"document_id": entry.id}).data
    call("receipts.start_receipt", receipt.id)
    line = {"item_code": _ITEM, "qty": 10, "bin_code": _BIN}
    call("receipts.create_receipt_line", receipt.id, line)
    call("receipts.finalize_receipt", receipt.id)

    sold = {
        **order, "external_ref": f"GSO-{_RUN}", "type": "sale_order", "priority": "Alta",
        "lines": [{"item_code": _ITEM, "qty": 4}],
    }  # fmt: skip
    leaving = call("exit_documents.create_exit_document", f"exit-{_RUN}", sold).data
    assert leaving.priority == 1
    one = generated.PickingDraftWithDocumentId(document_id=leaving.id)
    picking = call("pickings.create_picking", generated.PickingDraft(one)).data
    assert picking.lines[0].bin_code == _BIN
    (level,) = call("stock_levels.list_stock_levels", item_code=_ITEM).data
    assert level.available == 6
    call("webhooks.list_webhooks")
    print(f"{_calls} calls")  # noqa: T201


if __name__ == "__main__":
    main()
