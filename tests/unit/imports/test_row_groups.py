"""From rows to what is applied as a whole: which rows belong together, what is told of which."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.integration.imports.files.columns import ImportKind
from shared.integration.imports.files.reader import FileRows
from shared.integration.imports.files.row_groups import Unit, Units, characters
from shared.integration.imports.kinds.layouts import LAYOUTS
from shared.integration.imports.report.rejected_rows import RowProblem
from shared.kernel.errors import Problem
from shared.kernel.spreadsheets.table import InvalidCell, Cell, Row

ENTRY = ("external_ref", "type", "warehouse_code", "item_code", "qty")


def file_of(kind: ImportKind, fields: tuple[str, ...], *rows: list[Cell]) -> FileRows:
    columns = LAYOUTS[kind].by_field
    return FileRows(
        header=fields,
        columns=[(place, columns[name]) for place, name in enumerate(fields)],
        rows=[Row(number, cells) for number, cells in enumerate(rows, 2)],
    )


def units(kind: ImportKind, fields: tuple[str, ...], *rows: list[Cell]) -> list[Unit]:
    made = Units(file_of(kind, fields, *rows), kind, "UTC")
    found = list(made.all())
    assert len(found) == made.count()
    assert sorted(row.number for unit in found for row in unit.rows) == [*range(2, len(rows) + 2)]
    return found


def numbers(found: list[Unit]) -> list[list[int]]:
    return [[row.number for row in unit.rows] for unit in found]


def told(unit: Unit) -> set[tuple[int, str, str]]:
    return {
        (row, problem.field, problem.message)
        for row, problems in unit.problems.items()
        for problem in problems
    }


def test_rows_of_one_reference_and_type_are_one_document() -> None:
    found = units(
        "entry_documents",
        ENTRY,
        ["A", "purchase_order", "W", "X", 1],
        ["B", "purchase_order", "W", "X", 2],
        ["A", "Orden de Compra", "W", "Y", 3],
        ["A", "goods_receipt", "W", "X", 4],
        [" A", "PURCHASE ORDER ", "w", "Z", 5],
    )
    assert numbers(found) == [[2, 4, 6], [3], [5]]
    assert found[0].body["external_ref"] == "A"
    assert found[0].body["lines"] == [
        {"item_code": "X", "qty": 1},
        {"item_code": "Y", "qty": 3},
        {"item_code": "Z", "qty": 5},
    ]
    assert all(unit.problems == {} for unit in found)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (7, "7"),
        (Decimal("1E+3"), "1000"),
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1), "2026-03-01"),  # noqa: DTZ001 - as spreadsheets have them
        (True, "TRUE"),
    ],
)
def test_a_reference_is_the_same_however_its_cell_is_typed(one: Cell, same: str) -> None:
    rows: list[list[Cell]] = [[ref, "purchase_order", "W", "X", 1] for ref in (one, same)]
    [unit] = units("entry_documents", ENTRY, *rows)
    assert unit.body["external_ref"] == same


def test_what_differs_within_a_document_is_told_of_the_later_row() -> None:
    [unit] = units(
        "entry_documents",
        ENTRY,
        ["A", "purchase_order", None, "X", 1],
        ["A", "purchase_order", "W", "X", 2],
        ["A", "purchase_order", "V", "X", 3],
    )
    assert unit.body["warehouse_code"] == "W"
    assert told(unit) == {(4, "warehouse_code", "differs from row 3 of the same document")}


def test_rows_without_a_reference_stand_alone() -> None:
    found = units(
        "transfer_orders",
        ("external_ref", "from_warehouse", "item_code"),
        [None, "W", "X"],
        ["A", "W", "X"],
        ["", "V", "Y"],
        [InvalidCell("#N/A"), "V", "Y"],
    )
    assert numbers(found) == [[2], [3], [4], [5]]
    assert told(found[3]) == {(5, "external_ref", "is the error #N/A")}


def test_a_row_that_may_be_of_a_document_stops_it() -> None:
    found = units(
        "entry_documents",
        ENTRY,
        ["A", "purchase_order", "W", "X", 1],
        [None, "purchase_order", "W", "Y", 2],
        ["B", "purchase_order", "W", "X", 1],
        ["B", "purchase ordr", "W", "X", 1],
    )
    may_be = "row {} may be of the same document, and does not say so"
    by_rows = {tuple(row.number for row in unit.rows): told(unit) for unit in found}
    assert by_rows[2,] == {(2, "external_ref", may_be.format(3))}
    assert by_rows[4,] == {(4, "external_ref", may_be.format(5))}


def test_cells_become_what_a_body_has() -> None:
    [unit] = units(
        "products",
        ("item_code", "name", "man_btch_num", "barcode"),
        [" 0042 ", "  ", "sí", Decimal(12)],
    )
    assert unit.body == {"item_code": "0042", "man_btch_num": True, "barcode": "12"}


def test_what_cannot_be_converted_is_told_once() -> None:
    file = file_of("entry_documents", ENTRY, ["A", "purchase_order", "W", "X", "many"])
    made = Units(file, "entry_documents", "UTC")
    [unit] = made.all()
    made.reject(unit, [Problem("lines.0.qty", "is required"), Problem("doc_date", "is required")])
    assert told(unit) == {(2, "qty", "must be a number"), (2, "doc_date", "is required")}
    assert unit.problems[2][0] == RowProblem(4, "qty", "must be a number")
    assert unit.problems[2][1] == RowProblem(None, "doc_date", "is required")


def test_problems_are_told_of_the_row_and_cell_they_came_from() -> None:
    rows: list[list[Cell]] = [["A", "purchase_order", "W", "X", 1] for _ in range(3)]
    made = Units(file_of("entry_documents", ENTRY, *rows), "entry_documents", "UTC")
    [unit] = made.all()
    made.reject(
        unit,
        [
            Problem("lines.2.item_code", "no product"),
            Problem("lines.1.serials.0", "is on the document already, at lines.0.serials.1"),
            Problem("warehouse_code", "no warehouse"),
            Problem("lines", "too many"),
        ],
    )
    assert told(unit) == {
        (4, "item_code", "no product"),
        (3, "serials", "is on the document already, at row 2"),
        (2, "warehouse_code", "no warehouse"),
        (2, "lines", "too many"),
    }
    assert unit.problems[4][0].column == 3


def test_cells_beyond_the_header_are_told_unless_they_are_empty() -> None:
    first, second = units(
        "products", ("item_code", "name"), ["A", "Good", None, "extra"], ["B", "Better", "", None]
    )
    assert first.problems == {2: [RowProblem(3, "", "is beyond the last column")]}
    assert second.problems == {}


def test_of_two_rows_of_one_product_the_second_is_told() -> None:
    found = units("products", ("item_code",), ["A"], ["a"], ["A "], [None], [None])
    assert [told(unit) for unit in found] == [
        set(),
        set(),
        {(4, "item_code", "is in row 2 already")},
        set(),
        set(),
    ]


def test_very_many_problems_of_a_row_end() -> None:
    made = Units(file_of("products", ("item_code",), ["A"]), "products", "UTC")
    [unit] = made.all()
    made.reject(unit, [Problem("item_code", f"wrong {n}") for n in range(1000)])
    messages = [problem.message for problem in unit.problems[2]]
    assert messages == [*(f"wrong {n}" for n in range(50)), "and more"]


def test_characters_are_those_of_texts() -> None:
    assert characters([Row(2, ["abc", 12, None]), Row(3, ["ñ", True])]) == 4


@given(st.lists(st.tuples(st.sampled_from("AB "), st.sampled_from("xy?")), max_size=12))
def test_every_row_is_in_one_document_and_in_order(keys: list[tuple[str, str]]) -> None:
    types: dict[str, Any] = {"x": "purchase_order", "y": "goods_receipt", "?": "nonsense"}
    rows: list[list[Cell]] = [[ref, types[kind], "W", "X", 1] for ref, kind in keys]
    found = units("entry_documents", ENTRY, *rows)
    for unit in found:
        assert [row.number for row in unit.rows] == sorted(row.number for row in unit.rows)
        assert len({(row.cells[0], row.cells[1]) for row in unit.rows}) == 1
        assert len(unit.rows) == 1 or unit.rows[0].cells[0] != " "
        assert len(unit.body["lines"]) == len(unit.rows)  # type: ignore[arg-type]
    firsts = [unit.rows[0].number for unit in found]
    assert firsts == sorted(firsts)


def test_a_reference_that_is_an_error_is_none() -> None:
    found = units(
        "entry_documents",
        ENTRY,
        ["PO-1", "purchase_order", "W1", "A", 1],
        [InvalidCell("#N/A"), None, None, "B", 2],
    )

    assert numbers(found) == [[2], [3]]
    assert all(unit.problems for unit in found), "the second row may be of the first document"


def test_rows_of_unknown_types_are_suspected_of_known_ones_only() -> None:
    strangers: list[list[Cell]] = [["PO-1", f"type {n}", "W1", "A", 1] for n in range(300)]
    first, *others = units(
        "entry_documents", ENTRY, ["PO-1", "purchase_order", "W1", "A", 1], *strangers
    )

    assert 0 < len(first.problems[2]) <= 100
    assert [unit.problems for unit in others] == [{}] * 300, "their type is told of later"
