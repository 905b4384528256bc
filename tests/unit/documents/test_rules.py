"""Rules of documents: checks, types, progress and closing."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.errors import Problem
from shared.warehouse.catalog.lines import LineProblems
from shared.warehouse.documents import rules
from shared.warehouse.documents.models import Document, DocumentProgress, EntryDraft, ExitDraft
from shared.warehouse.documents.vocabulary import PRIORITIES, TYPES
from shared.warehouse.master_data.named_codes import MasterData
from tests.master_data import YARD, known_position, known_products

NOW = "2026-03-01T09:30:00.000Z"

PRODUCTS = known_products("BRICK", "CEMENT", "DRILL", "HAULAGE")
KNOWN = MasterData(
    products=PRODUCTS,
    warehouses={"YARD": YARD},
    positions={
        ("YARD", "A-01"): known_position(1, "A-01"),
        ("YARD", "A-02"): known_position(2, "A-02", blocked=True),
    },
)


def entry(*lines: dict[str, Any], **more: Any) -> EntryDraft:
    body = {
        "external_ref": "PO-1",
        "type": "purchase_order",
        "doc_date": "2026-03-01",
        "partner_code": "V-1",
        "warehouse_code": "YARD",
        "lines": list(lines) or [{"item_code": "BRICK", "qty": Decimal(1)}],
    }
    return EntryDraft.model_validate(body | more)


def invalid(draft: EntryDraft | ExitDraft) -> list[str]:
    return [problem.field for problem in rules.examine(draft, KNOWN).invalid]


def test_valid_document_has_no_problems() -> None:
    draft = entry(
        {"item_code": "BRICK", "qty": Decimal("0.5"), "destination_bin": "A-01"},
        {"item_code": "CEMENT", "qty": Decimal(2), "batch": "B1"},
        {"item_code": "DRILL", "qty": Decimal(2), "serials": ["S1", "S2"]},
        {"item_code": "DRILL", "qty": Decimal(2)},
    )
    assert rules.examine(draft, KNOWN) == LineProblems([], [])


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({"item_code": "NONE", "qty": Decimal(1)}, "item_code"),
        ({"item_code": "BRICK", "qty": Decimal(1), "batch": "B1"}, "batch"),
        ({"item_code": "CEMENT", "qty": Decimal(1), "serials": ["S1"]}, "serials"),
        ({"item_code": "DRILL", "qty": Decimal("1.5")}, "qty"),
        ({"item_code": "DRILL", "qty": Decimal(3), "serials": ["S1", "S2"]}, "serials"),
        ({"item_code": "DRILL", "qty": Decimal(2), "serials": ["S1", "S1"]}, "serials.1"),
        ({"item_code": "BRICK", "qty": Decimal(1), "destination_bin": "A-02"}, "destination_bin"),
        ({"item_code": "BRICK", "qty": Decimal(1), "destination_bin": "Z-1"}, "destination_bin"),
        ({"item_code": "BRICK", "qty": Decimal(1), "external_ref": "10"}, "external_ref"),
    ],
)
def test_problem_has_the_path_of_the_line(line: dict[str, Any], field: str) -> None:
    good = {"item_code": "BRICK", "qty": Decimal(1), "external_ref": "10"}
    assert invalid(entry(good, line)) == [f"lines.1.{field}"]


def test_product_not_kept_in_stock_is_blocked_not_invalid() -> None:
    findings = rules.examine(entry({"item_code": "HAULAGE", "qty": Decimal(1)}), KNOWN)
    assert not findings.invalid
    assert [problem.field for problem in findings.blocked] == ["lines.0.item_code"]


def test_unknown_warehouse_causes_no_position_problems() -> None:
    nowhere = MasterData(products=PRODUCTS, warehouses={}, positions={})
    draft = entry({"item_code": "BRICK", "qty": Decimal(1), "destination_bin": "A-01"})
    found = [problem.field for problem in rules.examine(draft, nowhere).invalid]
    assert found == ["warehouse_code"]


def test_batch_has_one_expiry_date_on_an_entry_document() -> None:
    cement = {"item_code": "CEMENT", "qty": Decimal(1), "batch": "B1"}
    lines: list[dict[str, Any]] = [
        {**cement, "expiry_date": "2030-01-31"},
        {**cement, "expiry_date": "2030-01-31"},
        cement,
        {**cement, "batch": "B2", "expiry_date": "2031-02-28"},
        {**cement, "expiry_date": "2031-02-28"},
    ]
    found = rules.examine(entry(*lines), KNOWN).invalid
    assert found == [
        Problem(
            "lines.4.expiry_date",
            "batch B1 has the expiry date 2030-01-31 at lines.0.expiry_date",
        )
    ]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), min_size=1, max_size=5))
def test_repeated_serial_is_a_problem(serials: list[list[str]]) -> None:
    lines = [
        {"item_code": "DRILL", "qty": Decimal(max(1, len(own))), "serials": own} for own in serials
    ]
    repeated = [field for field in invalid(entry(*lines)) if ".serials." in field]
    every = [serial for own in serials for serial in own]
    assert len(repeated) == len(every) - len(set(every))


@given(
    st.sampled_from([(kind, key, name) for kind, types in TYPES.items() for key, names in
                     types.items() for name in (key, *names)]),
    st.sampled_from([str.upper, str.lower, str.title, lambda text: f"  {text} "]),
)  # fmt: skip
def test_types_match_regardless_of_case_and_accents(
    named: tuple[str, str, str], write: Any
) -> None:
    kind, key, name = named
    model = EntryDraft if kind == "entry" else ExitDraft
    body = entry().model_dump() | {"type": write(name)}
    assert model.model_validate(body).type == key
    plain = write(name).translate(str.maketrans("íóÍÓ", "ioIO"))
    assert model.model_validate(body | {"type": plain}).type == key


def test_high_priority_has_the_lowest_number() -> None:
    assert PRIORITIES["alta"] < PRIORITIES["normal"] < PRIORITIES["baja"]


def document() -> Document:
    draft = entry(
        {"item_code": "BRICK", "qty": Decimal(10)}, {"item_code": "CEMENT", "qty": Decimal(5)}
    )
    return rules.new_document(7, draft, KNOWN, NOW, source="api")


def test_closing_cancels_open_quantities_and_keeps_complete_lines() -> None:
    new = document()
    done = new.lines[0].model_copy(
        update={"status": "complete", "open_qty": Decimal(0), "done_qty": Decimal(10)}
    )
    half = new.lines[1].model_copy(
        update={"status": "partial", "open_qty": Decimal(3), "done_qty": Decimal(2)}
    )
    closed = rules.closed(new.model_copy(update={"lines": [done, half]}))

    assert closed.status == "closed"
    assert closed.lines[0] == done
    given_up = closed.lines[1]
    assert given_up.status == "closed"
    assert (given_up.open_qty, given_up.done_qty) == (Decimal(0), Decimal(2))


def test_undone_work_does_not_reopen_a_closed_document() -> None:
    received = rules.advanced(
        document(),
        DocumentProgress(done={1: Decimal(10), 2: Decimal(2)}, ended_work=3, with_goods=True),
    )
    closed = rules.closed(received)

    codes = {line.product_id: "NEW" for line in closed.lines}
    after = rules.advanced(
        closed,
        DocumentProgress(done={1: Decimal(-10), 2: Decimal(-2)}, ended_work=3, item_codes=codes),
    )

    assert (after.status, after.finished) == ("closed", [])
    assert [one.item_code for one in after.lines] == [one.item_code for one in closed.lines]
    assert [(line.done_qty, line.open_qty, line.status) for line in after.lines] == [
        (Decimal(0), Decimal(0), "closed"),
        (Decimal(0), Decimal(0), "closed"),
    ]
