"""What receipts and pickings fill of a document adds up, whatever is undone."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.fields import ZERO
from shared.warehouse.documents.models import Document, DocumentLine, DocumentProgress
from shared.warehouse.documents.rules import advanced
from shared.warehouse.picking import pick_rules, undo_rules
from shared.warehouse.picking import rules as picking_rules
from shared.warehouse.picking.models import (
    Allocation,
    Pick,
    PickDraft,
    StoredPicking,
    StoredPickingLine,
)
from shared.warehouse.receiving import rules
from shared.warehouse.receiving.models import ReceiptLineDraft, StoredReceipt, StoredReceiptLine
from shared.warehouse.stock.models import StockRow
from shared.warehouse.work.models import DocumentReference

AT = "2026-03-01T09:30:00.000Z"
UUID = "7f6cb3a2-58f4-4d2c-9a0b-2c1f6f3f9e11"
ORDER = DocumentReference(id=1, type="purchase_order", doc_num="1", card_code="P", external_ref="1")

type Sums = dict[int, Decimal]


def document(lines: Sequence[Mapping[str, Any]]) -> Document:
    return Document(
        id=1, type="purchase_order", external_ref="PO-1", source="api", status="open",
        card_code="P-1", doc_date="2026-03-01", whs_code="YARD", created_at=AT, updated_at=AT,
        lines=[
            DocumentLine(
                line_num=number, product_id=2, item_code="CEMENT", open_qty=line["qty"], **line
            )
            for number, line in enumerate(lines, 1)
        ],
    )  # fmt: skip


def added(quantities: Iterable[Mapping[int, Decimal]]) -> Sums:
    """Return quantities by line, without those that are 0."""
    sums: Sums = {}
    for each in quantities:
        for number, qty in each.items():
            sums[number] = sums.get(number, ZERO) + qty
    return {number: qty for number, qty in sums.items() if qty}


_qty = st.integers(1, 6).map(Decimal)
_batched = st.lists(
    st.fixed_dictionaries({"qty": _qty, "batch": st.sampled_from([None, "L1", "L2"])}),
    min_size=1, max_size=4,
)  # fmt: skip


def _serials_by_line(data: st.DataObject) -> list[dict[str, Any]]:
    names, lines = iter(range(100)), list[dict[str, Any]]()
    for qty in data.draw(st.lists(_qty, min_size=1, max_size=4)):
        named = [f"S{next(names)}" for _ in range(int(qty))]
        lines.append({"qty": qty, "serials": named if data.draw(st.booleans()) else []})
    return lines


class Receiving:
    """Two receipts of a document, which receive and undo."""

    def __init__(self, order: Document) -> None:
        self.order = order
        self.receipts = [
            StoredReceipt(
                id=number, uuid=UUID, status="started", document=ORDER, whs_code="YARD",
                created_at=AT, updated_at=AT,
            )
            for number in range(2)
        ]  # fmt: skip
        self._rows = 0

    def receive(self, at: int, draft: ReceiptLineDraft) -> None:
        by_line = rules.quantities_by_line(self.order, draft, Decimal(10))
        rows = range(self._rows, self._rows + len(draft.serials or "1"))
        self._rows = rows.stop
        line = StoredReceiptLine(
            product_id=2, item_code="CEMENT", qty=draft.qty, batch_num=draft.batch,
            serials=draft.serials or [], document_lines=by_line, stock_ids=list(rows),
        )  # fmt: skip
        receipt = self.receipts[at]
        self.save(at, by_line, [*receipt.lines, line])

    def undo(self, at: int, draft: ReceiptLineDraft) -> None:
        before = self.receipts[at].lines
        lines = rules.without_parts(self.receipts[at], rules.split_undo(self.receipts[at], draft))
        self.save(at, rules.quantities_between(before, lines), lines)

    def revert(self, at: int) -> None:
        receipt = self.receipts[at]
        undone = rules.lines_to_undo(receipt)
        change = rules.undone_quantities(receipt, undone)
        self.save(at, change, rules.with_undone(receipt, undone))

    def save(self, at: int, change: Mapping[int, Decimal], lines: list[StoredReceiptLine]) -> None:
        self.order = advanced(self.order, DocumentProgress(done=change))
        self.receipts[at] = self.receipts[at].model_copy(update={"lines": lines})

    def check(self) -> None:
        lines = [line for one in self.receipts for line in one.lines]
        assert all(sum(line.document_lines.values()) == line.qty for line in lines)
        done = {line.line_num: line.done_qty for line in self.order.lines if line.done_qty}
        assert done == added(line.document_lines for line in lines if not line.undone)


@given(st.data())
def test_fills_of_receipts_add_up(data: st.DataObject) -> None:
    is_serial = data.draw(st.booleans())
    lines = _serials_by_line(data) if is_serial else data.draw(_batched)
    receiving, new = Receiving(document(lines)), [f"S{number}" for number in range(40)]
    for _ in range(data.draw(st.integers(1, 12))):
        at = data.draw(st.integers(0, 1))
        there = rules.received_lines(receiving.receipts[at])
        other = receiving.receipts[1 - at]
        action = data.draw(st.sampled_from(["receive", "receive", "undo", "undo", "revert"]))
        body: dict[str, Any] = {"item_code": "CEMENT"}
        if action == "revert":
            receiving.revert(at)
        elif action == "undo" and not there:
            continue
        elif is_serial:
            known = new if action == "receive" else [one for line in there for one in line.serials]
            serials = data.draw(
                st.lists(st.sampled_from(known), min_size=1, max_size=4, unique=True)
            )
            draft = ReceiptLineDraft(**body, qty=Decimal(len(serials)), serials=serials)
            new = [one for one in new if one not in serials] + serials * (action == "undo")
            getattr(receiving, action)(at, draft)
        else:
            batch = data.draw(st.sampled_from(["L1", "L2", "L3"]))
            most = sum((line.qty for line in there if line.batch_num == batch), ZERO)
            qty = data.draw(_qty) if action == "receive" else min(data.draw(_qty), most)
            if qty:
                draft = ReceiptLineDraft(**body, qty=qty, batch=batch)
                getattr(receiving, action)(at, draft)
        assert receiving.receipts[1 - at] is other, "fills of other work never change"
        receiving.check()


@given(st.data())
def test_fills_of_a_picking_are_in_order_and_add_up(data: st.DataObject) -> None:
    order = document(data.draw(_batched))
    picking, row = _allocated(order), 100
    for _ in range(data.draw(st.integers(1, 12))):
        before, batch = picking, data.draw(st.sampled_from(["L1", "L2"]))
        undo = data.draw(st.booleans())
        parts = [
            part
            for line in picking.lines
            for part in (line.picks if undo else line.allocations)
            if part.batch_num == batch
        ]
        qty = min(data.draw(_qty), sum((one.qty for one in parts), ZERO))
        if not qty:
            continue
        draft = PickDraft(item_code="CEMENT", qty=qty, bin_code="A-01", batch=batch)
        if undo:
            for taken in list(undo_rules.split_undo(picking, draft, qty)):
                picking = undo_rules.unpicked(picking, taken, _row(taken.line, batch))
        else:
            for part in pick_rules.split_pick(picking, draft, "none"):
                row += 1
                pick = Pick(staged_id=row, position_id=5, bin_code="A-01", batch_num=batch,
                            qty=part.qty)  # fmt: skip
                picking = picking_rules.picked(picking, part, pick)
        progress = picking_rules.document_progress(before, picking)
        order = advanced(order, progress[1])
        done = {line.line_num: line.done_qty for line in order.lines if line.done_qty}
        assert done == added({line.document_line: line.picked_qty} for line in picking.lines)
        _check_order(picking, batch)


def _allocated(order: Document) -> StoredPicking:
    """Return a picking of a document; a line that names no batch has stock of L1."""
    lines = [
        StoredPickingLine(
            document_id=1, document_line=line.line_num, product_id=2, item_code="CEMENT",
            qty=line.qty, batch_num=line.batch,
            allocations=[
                Allocation(stock_id=at, position_id=5, bin_code="A-01",
                           batch_num=line.batch or "L1", qty=line.qty),
            ],
        )
        for at, line in enumerate(order.lines)
    ]  # fmt: skip
    sale = ORDER.model_copy(update={"type": "sale_order"})
    return StoredPicking(
        id=1, uuid=UUID, status="started", documents=[sale], whs_code="YARD", warehouse_id=4,
        created_at=AT, updated_at=AT, lines=lines,
    )  # fmt: skip


def _check_order(picking: StoredPicking, batch: str) -> None:
    """Assert that picked goods of a batch fill binding lines first, then the others, in order."""
    lines = [one for one in picking.lines if (one.batch_num or "L1") == batch]
    lines.sort(key=lambda line: line.batch_num is None)
    left = [line.qty - line.picked_qty for line in lines]
    first_open = next((at for at, qty in enumerate(left) if qty), len(lines))
    assert all(not line.picked_qty for line in lines[first_open + 1 :])


def _row(number: int, batch: str) -> StockRow:
    return StockRow.model_validate(
        {
            "id": number, "product_id": 2, "product_name": "Cement", "item_code": "CEMENT",
            "qty": 1, "status": "in", "warehouse_id": 4, "whs_code": "YARD", "position_id": 5,
            "bin_code": "A-01", "batch_num": batch, "inventory_status": "available",
            "received_at": AT, "created_at": AT, "updated_at": AT,
        }
    )  # fmt: skip
