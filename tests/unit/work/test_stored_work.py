"""Stored receipts, pickings and transfers keep every value exactly."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from shared.warehouse.picking.models import Allocation, Pick, StoredPicking, StoredPickingLine
from shared.warehouse.receiving.models import StoredReceipt, StoredReceiptLine
from shared.warehouse.transfers.models import StoredTransfer, TransferLine
from shared.warehouse.work.models import DocumentReference, Operator

AT = "2026-03-01T09:30:00.000Z"
UUID = "7f6cb3a2-58f4-4d2c-9a0b-2c1f6f3f9e11"
SALE = DocumentReference(
    id=3, type="sale_order", doc_num="EX-3", card_code="C-7", external_ref="SO-9"
)
MILLIONTH = Decimal("999999999.000001")


def test_receipt_keeps_the_stock_of_its_lines() -> None:
    line = StoredReceiptLine(
        product_id=1,
        item_code="CEMENT",
        qty=MILLIONTH,
        batch_num="B7",
        serials=["S1"],
        document_lines={2: Decimal(5), 3: MILLIONTH - 5},
        position_id=5,
        bin_code="A-01-1",
        inventory_status="quarantine",
        expiry_date="2027-01-31",
        stock_ids=[11, 12],
    )
    whole = StoredReceipt(
        id=1, uuid=UUID, status="started", operator=Operator(id=7, name=None), document=SALE,
        whs_code="CEN", started_at=AT, created_at=AT, updated_at=AT, lines=[line],
    )  # fmt: skip

    assert StoredReceipt.model_validate_json(whole.model_dump_json()) == whole
    plain = StoredReceiptLine(product_id=1, item_code="BRICK", qty=Decimal(1))
    assert (plain.inventory_status, plain.stock_ids, plain.undone) == ("available", [], False)


def test_picking_keeps_allocations_and_picks() -> None:
    line = StoredPickingLine(
        document_id=3,
        document_line=1,
        product_id=1,
        item_code="DRILL",
        qty=Decimal(2),
        picked_qty=Decimal(1),
        status="partial",
        allocations=[
            Allocation(stock_id=11, position_id=5, bin_code="A-01-1", serial="S1", qty=Decimal(1)),
            Allocation(stock_id=12, position_id=5, bin_code="A-1", batch_num="B7", qty=MILLIONTH),
        ],
        picks=[
            Pick(
                staged_id=21,
                position_id=5,
                bin_code="A-01-1",
                batch_num="B7",
                serial="S1",
                qty=Decimal(1),
                dispatched=True,
            )
        ],
    )
    whole = StoredPicking(
        id=9, uuid=UUID, status="finalized", priority=1, has_shortage=True,
        shortage_reason="could_not_locate", documents=[SALE, SALE], whs_code="CEN",
        warehouse_id=4, wave_id=2,
        created_at=AT, updated_at=AT, lines=[line],
    )  # fmt: skip

    assert StoredPicking.model_validate_json(whole.model_dump_json()) == whole


@pytest.mark.parametrize("doc_entry", [80123, "080123", None])
def test_transfer_keeps_the_type_of_doc_entry(
    doc_entry: int | str | None,
) -> None:
    line = TransferLine(product_id=1, item_code="BRICK", qty=MILLIONTH, from_bin="A", to_bin="B")
    whole = StoredTransfer(
        id=5, status="pending", doc_entry=doc_entry, reason="Replenish", created_at=AT,
        updated_at=AT, lines=[line],
    )  # fmt: skip

    again = StoredTransfer.model_validate_json(whole.model_dump_json())
    assert again == whole
    assert type(again.doc_entry) is type(doc_entry)


@pytest.mark.parametrize("model", [StoredReceipt, StoredPicking, StoredTransfer])
def test_unknown_status_is_refused(
    model: type[StoredReceipt | StoredPicking | StoredTransfer],
) -> None:
    entity = {
        "id": 1, "uuid": UUID, "status": "pending", "whs_code": "CEN", "warehouse_id": 4,
        "document": SALE.model_dump(), "created_at": AT, "updated_at": AT,
    }  # fmt: skip

    assert model.model_validate(entity).status == "pending"
    with pytest.raises(ValidationError, match="status"):
        model.model_validate({**entity, "status": "closed"})
