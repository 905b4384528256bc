"""Rules of receipts: examples and properties."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.errors import Problem
from shared.kernel.validation import check, of_valid_fields
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.documents.models import Document, DocumentLine
from shared.warehouse.receiving.models import ReceiptLineDraft, StoredReceipt, StoredReceiptLine
from shared.warehouse.receiving.rules import (
    MAX_LINES,
    OverReceipt,
    ReceivedGoods,
    approval_need,
    default_bin,
    differences,
    examine,
    expiry_date,
    lines_to_undo,
    over_receipt,
    quantities_by_line,
    refusal_of_lines,
    undone_quantities,
    with_undone,
)
from shared.warehouse.warehouses.models import KnownPosition
from shared.warehouse.work.models import DocumentReference

AT = "2026-03-01T09:30:00.000Z"
CEMENT = KnownProduct(2, "CEMENT", "Cement", by_batch=True, by_serial=False, in_stock=True)
SHELF = KnownPosition(5, "A-01", "storage", pickable=True, disabled=False, blocked=False)


def line(number: int, qty: str, done: str = "0", **more: Any) -> DocumentLine:
    ordered, received = Decimal(qty), Decimal(done)
    return DocumentLine(
        line_num=number,
        product_id=more.pop("product_id", 2),
        item_code=more.pop("item_code", "CEMENT"),
        qty=ordered,
        open_qty=max(Decimal(0), ordered - received),
        done_qty=received,
        status="open",
        **more,
    )


def order(*lines: DocumentLine) -> Document:
    return Document(
        id=1, type="purchase_order", external_ref="PO-1", source="api", status="open",
        card_code="P-1", doc_date="2026-03-01", whs_code="YARD", created_at=AT, updated_at=AT,
        lines=list(lines),
    )  # fmt: skip


def draft(qty: str = "1", **more: Any) -> ReceiptLineDraft:
    body: dict[str, Any] = {"item_code": "CEMENT", "qty": Decimal(qty), "batch": "L1", **more}
    return ReceiptLineDraft.model_validate(body)


def parts_of(
    document: Document, draft: ReceiptLineDraft, tolerance: str = "0"
) -> dict[int, Decimal]:
    return quantities_by_line(document, draft, Decimal(tolerance))


def test_line_of_the_same_batch_is_filled_first_and_another_batch_last() -> None:
    document = order(line(1, "5", batch="L2"), line(2, "5"), line(3, "5", batch="L1"))

    assert parts_of(document, draft("5")) == {3: 5}
    assert parts_of(document, draft("8")) == {3: 5, 2: 3}
    assert parts_of(document, draft("12")) == {3: 5, 2: 5, 1: 2}
    assert parts_of(document, draft("16")) == {3: 6, 2: 5, 1: 5}
    assert parts_of(document, draft("6", batch="L9")) == {2: 5, 1: 1}


def test_serials_fill_the_lines_that_name_them_first_and_lines_of_others_last() -> None:
    document = order(
        line(1, "2", serials=["S-1", "S-2"]), line(2, "1"), line(3, "2", serials=["S-3", "S-4"])
    )

    def filled(*serials: str) -> dict[int, Decimal]:
        return parts_of(document, draft(str(len(serials)), batch=None, serials=list(serials)))

    assert filled("S-4", "S-1") == {1: 1, 3: 1}
    assert filled("S-9", "S-4") == {3: 1, 2: 1}
    assert filled("S-9", "S-8", "S-4") == {3: 1, 2: 1, 1: 1}
    assert filled("S-9", "S-8", "S-7", "S-4", "S-1") == {1: 2, 2: 1, 3: 2}


def test_tolerance_of_each_line_is_filled_after_all_ordered_quantities() -> None:
    document = order(line(1, "10"), line(2, "100"))

    assert parts_of(document, draft("110"), "10") == {1: 10, 2: 100}
    assert parts_of(document, draft("111.5"), "10") == {1: 11, 2: Decimal("100.5")}
    assert parts_of(document, draft("121"), "10") == {1: 11, 2: 110}
    assert parts_of(document, draft("122"), "10") == {1: 12, 2: 110}, "approved"
    serials = draft("13", serials=[f"S-{number}" for number in range(13)])
    assert parts_of(order(line(1, "5"), line(2, "6")), serials, "20") == {1: 6, 2: 7}


def test_quantity_approved_for_one_line_takes_no_tolerance_of_another() -> None:
    document = order(line(1, "10", "30"), line(2, "100", "90"))

    assert over_receipt(document, draft("20"), Decimal(10)) is None
    assert parts_of(document, draft("20"), "10") == {2: 20}
    assert over_receipt(document, draft("20.000001"), Decimal(10)) == OverReceipt(
        Decimal(110), Decimal(121), Decimal("140.000001")
    )


def test_tolerance_of_serials_is_a_whole_number_per_line() -> None:
    document = order(line(1, "5"), line(2, "5"))

    assert over_receipt(document, draft("11"), Decimal(10)) is None
    serials = [f"S-{number}" for number in range(11)]
    assert over_receipt(document, draft("10", serials=serials[:10]), Decimal(10)) is None
    assert over_receipt(document, draft("11", serials=serials), Decimal(10)) == OverReceipt(
        Decimal(10), Decimal(10), Decimal(11)
    )


amounts = st.decimals(min_value=0, max_value=10**6, places=6)


@given(
    lines=st.lists(st.tuples(amounts, amounts, st.sampled_from([None, "L1", "L2"])), min_size=1),
    qty=amounts.filter(bool),
)
def test_received_quantity_is_counted_once_and_fills_open_lines_first(
    lines: Sequence[tuple[Decimal, Decimal, str | None]], qty: Decimal
) -> None:
    document = order(
        *(
            line(number, str(ordered), str(done), batch=batch)
            for number, (ordered, done, batch) in enumerate(lines)
        )
    )

    parts = parts_of(document, draft(str(qty)))

    assert sum(parts.values()) == qty
    assert all(part > 0 for part in parts.values())
    still_open = {one.line_num: one.open_qty - parts.get(one.line_num, 0) for one in document.lines}
    if any(left > 0 for left in still_open.values()):
        assert all(left >= 0 for left in still_open.values()), (
            "no line has too much while one waits"
        )


def test_default_position_is_the_destination_of_the_filled_lines() -> None:
    document = order(
        line(1, "5", bin_code="A-01"), line(2, "5", bin_code="A-01"), line(3, "5", bin_code="B-01")
    )

    assert default_bin(document, parts_of(document, draft("10"))) == "A-01"
    assert default_bin(document, parts_of(document, draft("11"))) is None
    assert default_bin(order(line(1, "5")), parts_of(order(line(1, "5")), draft())) is None
    assert default_bin(document, parts_of(document, draft(item_code="BRICK"))) is None


def default_date(document: Document, body: ReceiptLineDraft) -> str | None:
    return expiry_date(body, document, parts_of(document, body))


def test_default_expiry_date_comes_from_the_document_line_of_the_same_batch() -> None:
    expected = {"batch": "L1", "expiry_date": "2031-01-31"}
    document = order(
        line(1, "5", expiry_date="2030-01-31"), line(2, "5", batch="L1"), line(3, "5", **expected)
    )

    assert default_date(document, draft()) == "2031-01-31"
    assert default_date(document, draft(batch="L2")) is None
    assert default_date(document, draft(batch=None)) == "2030-01-31"
    assert default_date(document, draft(expiry_date="01/02/2032")) == "2032-02-01"


def test_default_expiry_date_without_a_batch_comes_from_the_filled_lines() -> None:
    document = order(
        line(1, "5", "5", expiry_date="2030-01-31"),
        line(2, "5"),
        line(3, "5", expiry_date="2032-01-31"),
        line(4, "5", expiry_date="2031-01-31"),
    )

    assert default_date(document, draft("5", batch=None)) is None
    assert default_date(document, draft("10", batch=None)) == "2032-01-31"
    assert default_date(document, draft("15", batch=None)) == "2031-01-31", "the earliest"


@pytest.mark.parametrize(
    ("tolerance", "qty", "fits"),
    [
        ("0", "4", True), ("0", "4.000001", False), ("10", "5", True), ("10", "5.000001", False),
        ("0.1", "4.01", True), ("100", "14", True),
    ],
)  # fmt: skip
def test_tolerance_is_a_percentage_of_the_whole_ordered_quantity(
    tolerance: str,
    qty: str,
    fits: bool,  # noqa: FBT001
) -> None:
    document = order(line(1, "7", "6"), line(2, "3"), line(3, "90", item_code="BRICK"))

    over = over_receipt(document, draft(qty), Decimal(tolerance))

    most = 10 * (1 + Decimal(tolerance) / 100)
    assert over == (None if fits else OverReceipt(Decimal(10), most, 6 + Decimal(qty)))


def test_an_over_receipt_without_approval_is_refused_with_the_numbers() -> None:
    need = approval_need(7, "BRICK", OverReceipt(Decimal(10), Decimal("10.5"), Decimal(11)))
    assert (need.code, need.resource.object, need.resource.id) == ("over_receipt", "receipt", 7)
    assert need.message == (
        "11 of BRICK would be received, 10 ordered; more than 10.5 needs the approval of a user"
        " with approvals.grant."
    )


@pytest.mark.parametrize(
    ("facts", "field", "words"),
    [
        ({"product": None}, "item_code", "no product has the code CEMENT"),
        ({"document": order(line(1, "5", item_code="BRICK"))}, "item_code", "not on the document"),
        ({"position": None}, "bin_code", "YARD has no position A-01"),
        ({"bin_code": None}, "bin_code", "is required"),
        ({"today": "2030-01-02", "draft": draft(expiry_date="2030-01-01")}, "expiry_date", "today"),
    ],
)  # fmt: skip
def test_every_problem_has_its_field_and_message(
    facts: dict[str, Any], field: str, words: str
) -> None:
    good: dict[str, Any] = {
        "draft": draft(), "document": order(line(1, "5")), "by_line": {1: 1}, "bin_code": "A-01",
        "product": CEMENT, "position": SHELF, "today": "2026-03-01",
    }  # fmt: skip
    assert list(examine(ReceivedGoods(**good))) == []

    [found] = examine(ReceivedGoods(**{**good, **facts}))

    assert found.field == field
    assert words in found.message


def test_product_no_longer_kept_in_stock_is_refused() -> None:
    gone = replace(CEMENT, in_stock=False)
    arrival = ReceivedGoods(
        draft(), order(line(1, "5")), {1: Decimal(1)}, "A-01", gone, SHELF, "2026-03-01"
    )

    assert [problem.message for problem in examine(arrival)] == [
        "product CEMENT is not kept in stock"
    ]


def test_problems_of_an_invalid_field_are_reported_once() -> None:
    invalid = check(ReceiptLineDraft, {"item_code": "DRILL", "qty": 2, "serials": ["S1", 5]})
    found = [Problem("serials", "is required"), Problem("serials.0", "no"), Problem("qty", "no")]

    assert [problem.field for problem in of_valid_fields(invalid, found)] == ["qty"]


# Differences from what the document announced


def goods(*numbers: int, serials: str = "", batch: str | None = None) -> StoredReceiptLine:
    """Return goods that fill these lines of the document."""
    return StoredReceiptLine(
        product_id=2, item_code="CEMENT", qty=Decimal(len(numbers)), serials=serials.split(),
        batch_num=batch, document_lines=dict.fromkeys(numbers, Decimal(1)),
    )  # fmt: skip


def differences_of(
    document: Document, *received: StoredReceiptLine, own: int | None = None
) -> list[tuple[int, str, str]]:
    shown = received if own is None else received[:own]
    found = differences(document, received, shown, document.lines)
    return [(one["line_num"], one["kind"], one["value"]) for one in found]


def test_what_no_line_announces_is_unexpected_and_what_nobody_received_is_missing() -> None:
    document = order(
        line(1, "2", serials=["S1", "S2"]).model_copy(update={"status": "complete"}),
        line(2, "2", serials=["S3", "S4"]),
        line(3, "5", batch="L1").model_copy(update={"status": "closed"}),
        line(4, "5"),
    )

    assert differences_of(document) == [
        (1, "missing_serial", "S1"), (1, "missing_serial", "S2"), (3, "missing_batch", "L1"),
    ]  # fmt: skip
    received = (goods(1, serials="S1 S9"), goods(2, 3, batch="L2"), goods(4, batch="L7"))
    assert differences_of(document, *received, received[0]) == [
        (1, "unexpected_serial", "S9"), (1, "missing_serial", "S2"),
        (3, "unexpected_batch", "L2"), (3, "missing_batch", "L1"),
    ]  # fmt: skip
    assert differences_of(document, goods(2, serials="S3"), goods(1, serials="S2 S8"), own=1) == [
        (1, "missing_serial", "S1"), (3, "missing_batch", "L1"),
    ]  # fmt: skip
    assert differences_of(document, goods(1, serials="S4 S1"), goods(2, serials="S2")) == [
        (3, "missing_batch", "L1")
    ], "announced on another line of the product"


def test_other_product_does_not_announce_serials() -> None:
    document = order(
        line(1, "1", serials=["S1"]), line(2, "1", serials=["S2"], product_id=3, item_code="DRILL")
    )

    assert differences_of(document, goods(1, serials="S2")) == [(1, "unexpected_serial", "S2")]


# Undoing


ORDER = DocumentReference(
    id=1, type="purchase_order", doc_num=None, card_code=None, external_ref=None
)


def receipt(*lines: tuple[int, int]) -> StoredReceipt:
    """Return a receipt with a line for each pair of product and number of stock rows."""
    return StoredReceipt(
        id=1, uuid="u", status="started", document=ORDER, whs_code="CEN",
        created_at=AT, updated_at=AT,
        lines=[
            StoredReceiptLine(
                product_id=product, item_code=str(product), qty=Decimal(rows),
                document_lines={product: Decimal(rows)}, stock_ids=list(range(rows)),
            )
            for product, rows in lines
        ],
    )  # fmt: skip


def test_receipt_with_a_thousand_lines_takes_no_more() -> None:
    assert refusal_of_lines(receipt(*[(1, 1)] * (MAX_LINES - 1))) is None
    refusal = refusal_of_lines(receipt(*[(1, 1)] * MAX_LINES)) or ""
    assert refusal.startswith("Receipt 1 has 1000 lines, the maximum")


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 25)), max_size=60), st.data())
def test_steps_undo_every_line_once(lines: list[tuple[int, int]], data: st.DataObject) -> None:
    whole = rest = receipt(*lines)
    steps = []
    while left := lines_to_undo(rest):
        step = left[: data.draw(st.integers(1, len(left)))]
        rest = rest.model_copy(update={"lines": with_undone(rest, step)})
        steps.append(step)

    assert sorted(at for step in steps for at in step) == list(range(len(lines)))
    undone: dict[int, Decimal] = {}
    for step in steps:
        for number, qty in undone_quantities(whole, step).items():
            undone[number] = undone.get(number, Decimal(0)) + qty
    received: dict[int, Decimal] = {}
    for product, rows in lines:
        received[product] = received.get(product, Decimal(0)) + rows
    assert undone == {product: -qty for product, qty in received.items()}


def test_lines_are_undone_product_by_product() -> None:
    mixed = receipt((1, 1), (2, 1), (1, 1), (2, 1))

    assert lines_to_undo(mixed) == [0, 2, 1, 3]
