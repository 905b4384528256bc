"""Rules of pickings: how many lines a picking may have."""

from decimal import Decimal

import pytest

from shared.kernel.db.records import Record
from shared.kernel.errors import Problem
from shared.kernel.validation import check
from shared.warehouse.documents.models import Document, DocumentLine
from shared.warehouse.picking import rules
from shared.warehouse.picking.models import PickingDraft

AT = "2026-03-01T09:30:00.000Z"


def document(number: int, *, done: int, left: int) -> Record[Document]:
    lines = [
        DocumentLine(
            line_num=at + 1, product_id=1, item_code="BRICK", qty=Decimal(1),
            open_qty=Decimal(at >= done),
        )
        for at in range(done + left)
    ]  # fmt: skip
    entity = Document(
        id=number, type="sale_order", external_ref=f"SO-{number}", source="api", status="open",
        card_code="C-1", doc_date="2026-03-01", whs_code="YARD", created_at=AT, updated_at=AT,
        lines=lines,
    )  # fmt: skip
    return Record(number, 1, entity)


@pytest.mark.parametrize(("left", "problems"), [(600, 0), (601, 1)])
def test_a_picking_has_at_most_a_thousand_open_lines(left: int, problems: int) -> None:
    found = [document(1, done=300, left=400), document(2, done=0, left=left)]

    shown = list(rules.document_problems(PickingDraft(document_ids=[1, 2]), found))

    message = "1001 lines are open; a picking has at most 1000"
    assert shown == [Problem("document_ids", message)] * problems


def test_an_invalid_id_hides_no_unknown_document() -> None:
    draft = check(PickingDraft, {"document_ids": ["x", 9]})

    assert rules.document_ids(draft) == [9]
    assert list(rules.document_problems(draft, [])) == [
        Problem("document_ids.1", "no exit document has the id 9")
    ]
