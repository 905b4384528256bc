"""Rows are grouped into documents, and problems are assigned to rows and cells."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.integration.imports.files.reader import ParsedFile
from shared.integration.imports.files.row_groups import RowGroup, RowGrouper, count_characters
from shared.integration.imports.models import ImportKind
from shared.integration.imports.report.rejected_rows import RowProblem
from shared.kernel.errors import Problem
from shared.kernel.spreadsheets.table import Cell, InvalidCell, Row
from tests.cases import each_case
from tests.unit.imports.layouts import LAYOUTS

ENTRY = ("external_ref", "type", "warehouse_code", "item_code", "qty")


def file_of(kind: ImportKind, fields: tuple[str, ...], *rows: list[Cell]) -> ParsedFile:
    columns = LAYOUTS[kind].by_field
    return ParsedFile(
        header=fields,
        columns=[(index, columns[name]) for index, name in enumerate(fields)],
        rows=[Row(number, cells) for number, cells in enumerate(rows, 2)],
    )


def groups_of(kind: ImportKind, fields: tuple[str, ...], *rows: list[Cell]) -> list[RowGroup]:
    grouper = RowGrouper(file_of(kind, fields, *rows), kind, "UTC")
    groups = list(grouper.groups())
    assert len(groups) == grouper.count()
    assert sorted(row.number for group in groups for row in group.rows) == [
        *range(2, len(rows) + 2)
    ]
    return groups


def row_numbers(groups: list[RowGroup]) -> list[list[int]]:
    return [[row.number for row in group.rows] for group in groups]


def problems_of(group: RowGroup) -> set[tuple[int, str, str]]:
    return {
        (row, problem.field, problem.message)
        for row, problems in group.problems.items()
        for problem in problems
    }


def test_rows_of_one_reference_and_type_are_one_document() -> None:
    groups = groups_of(
        "entry_documents",
        ENTRY,
        ["A", "purchase_order", "W", "X", 1],
        ["B", "purchase_order", "W", "X", 2],
        ["A", "Orden de Compra", "W", "Y", 3],
        ["A", "goods_receipt", "W", "X", 4],
        [" A", "PURCHASE ORDER ", "w", "Z", 5],
    )
    assert row_numbers(groups) == [[2, 4, 6], [3], [5]]
    assert groups[0].body["external_ref"] == "A"
    assert groups[0].body["lines"] == [
        {"item_code": "X", "qty": 1},
        {"item_code": "Y", "qty": 3},
        {"item_code": "Z", "qty": 5},
    ]
    assert all(group.problems == {} for group in groups)


@pytest.mark.parametrize(
    ("one", "same"),
    [
        (7, "7"),
        (Decimal("1E+3"), "1000"),
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1), "2026-03-01"),  # noqa: DTZ001 - as in spreadsheets
        (True, "TRUE"),
    ],
)
def test_a_reference_is_the_same_however_its_cell_is_typed(one: Cell, same: str) -> None:
    rows: list[list[Cell]] = [[ref, "purchase_order", "W", "X", 1] for ref in (one, same)]
    [group] = groups_of("entry_documents", ENTRY, *rows)
    assert group.body["external_ref"] == same


@each_case(
    "priorities", [("Alta", "high", "1", " HIGH "), (1, Decimal("1.0"), "1.0"), ("baja", 3, "Low")]
)
def test_a_priority_is_the_same_however_it_is_written(priorities: tuple[Cell, ...]) -> None:
    fields = (*ENTRY, "priority")
    rows: list[list[Cell]] = [["A", "sale_order", "W", "X", 1, one] for one in priorities]
    [group] = groups_of("exit_documents", fields, *rows)
    assert (problems_of(group), group.body["priority"] in {"1", "3"}) == (set(), True)


def test_a_row_that_differs_from_its_document_has_a_problem() -> None:
    [group] = groups_of(
        "entry_documents",
        ENTRY,
        ["A", "purchase_order", None, "X", 1],
        ["A", "purchase_order", "W", "X", 2],
        ["A", "purchase_order", "V", "X", 3],
    )
    assert group.body["warehouse_code"] == "W"
    assert problems_of(group) == {(4, "warehouse_code", "differs from row 3 of the same document")}


def test_cells_of_white_space_are_empty_in_columns_of_every_type() -> None:
    columns = LAYOUTS["products"].columns
    fields = tuple(column.field for column in columns)
    [group] = groups_of("products", fields, ["A", "Good", *["\u00a0 "] * (len(fields) - 2), " "])
    assert (group.body, group.problems) == ({"item_code": "A", "name": "Good"}, {})
    [group] = groups_of("pick_faces", ("item_code", "minimum"), ["A", " "])
    assert (group.body, group.problems) == ({"item_code": "A"}, {})


def test_rows_of_a_document_may_write_one_moment_in_several_ways() -> None:
    moments: list[Cell] = ["2026-03-01T10:00:00Z", "2026-03-01 11:00+01:00", "20260301T10"]
    rows: list[list[Cell]] = [["A", moment, "X"] for moment in moments]
    [group] = groups_of("transfer_orders", ("external_ref", "due_at", "item_code"), *rows)
    assert group.problems == {}
    assert group.body["due_at"] == "2026-03-01T10:00:00.000Z"


def test_a_row_without_a_reference_is_a_group_of_its_own() -> None:
    groups = groups_of(
        "transfer_orders",
        ("external_ref", "from_warehouse", "item_code"),
        [None, "W", "X"],
        ["A", "W", "X"],
        ["", "V", "Y"],
        [InvalidCell("#N/A"), "V", "Y"],
    )
    assert row_numbers(groups) == [[2], [3], [4], [5]]
    assert problems_of(groups[0]) == {(2, "external_ref", "is required")}
    assert problems_of(groups[2]) == {(4, "external_ref", "is required")}
    assert problems_of(groups[3]) == {(5, "external_ref", "is not a valid value: #N/A")}


def test_a_document_is_rejected_if_a_row_without_reference_or_type_may_belong_to_it() -> None:
    groups = groups_of(
        "entry_documents",
        ENTRY,
        ["A", "purchase_order", "W", "X", 1],
        [InvalidCell("#N/A"), None, None, "Y", 2],
        [None, "purchase_order", "W", "Y", 2],
        ["B", "purchase_order", "W", "X", 1],
        ["B", "purchase ordr", "W", "X", 1],
    )
    by_rows = {tuple(row.number for row in group.rows): problems_of(group) for group in groups}
    advice = "and may belong to this document; add it or remove the row"
    assert by_rows[2,] == {(2, "", f"row {row} has no reference {advice}") for row in (3, 4)}
    assert by_rows[3,] == {(3, "external_ref", "is not a valid value: #N/A")}
    assert by_rows[5,] == {(5, "", f"row 6 has no valid type {advice}")}


def test_a_type_may_be_blank_from_the_second_row_of_a_document_on() -> None:
    groups = groups_of(
        "entry_documents",
        ENTRY,
        ["A", "purchase_order", "W", "X", 1],
        ["A", None, None, "Y", 2],
        ["B", "goods_receipt", "W", "X", 3],
        ["A", " ", None, "Z", 4],
    )
    assert row_numbers(groups) == [[2, 3, 5], [4]]
    assert groups[0].body["type"] == "purchase_order"
    assert len(groups[0].body["lines"]) == 3  # type: ignore[arg-type]
    assert all(group.problems == {} for group in groups)


@each_case(
    "types",
    [
        [None, "purchase_order"],
        ["purchase_order", "goods_receipt", None],
        ["purchase_order", InvalidCell("#N/A")],
    ],
)
def test_a_type_that_the_rows_above_do_not_determine_is_missing(types: list[Cell]) -> None:
    groups = groups_of("entry_documents", ENTRY, *[["A", one, "W", "X", 1] for one in types])
    assert len(groups) == len(types)
    advice = "has no valid type and may belong to this document; add it or remove the row"
    bad = next(number for number, one in enumerate(types, 2) if not isinstance(one, str))
    for group in groups:
        if group.rows[0].number != bad:
            number = group.rows[0].number
            assert (number, "", f"row {bad} {advice}") in problems_of(group)


def test_cells_of_columns_that_mean_the_same_are_equal() -> None:
    columns = LAYOUTS["products"].by_field
    fields = ("item_code", "name", "barcode", "item_code", "barcode")
    rows: list[list[Cell]] = [
        ["A", "Good", "1", "A", 1],
        ["A", "Good", "1", "B", None],
        [None, "Good", "1", "A", "2"],
    ]
    file = ParsedFile(
        header=["Code", "Name", "Barcode", "SKU", "EAN"],
        columns=[(index, columns[name]) for index, name in enumerate(fields)],
        rows=[Row(number, cells) for number, cells in enumerate(rows, 2)],
    )
    groups = list(RowGrouper(file, "pick_faces", "UTC").groups())
    assert [group.body["item_code"] for group in groups] == ["A"] * 3
    assert [group.problems for group in groups] == [
        {},
        {3: [RowProblem(3, "item_code", "differs from A in the column Code")]},
        {4: [RowProblem(4, "barcode", "differs from 1 in the column Barcode")]},
    ]


def test_cells_are_converted_to_the_types_of_the_body() -> None:
    [group] = groups_of(
        "products",
        ("item_code", "name", "man_btch_num", "barcode"),
        [" 0042 ", "  ", "sí", Decimal(12)],
    )
    assert group.body == {"item_code": "0042", "man_btch_num": True, "barcode": "12"}


def test_a_cell_that_cannot_be_converted_has_one_problem() -> None:
    file = file_of("entry_documents", ENTRY, ["A", "purchase_order", "W", "X", "many"])
    grouper = RowGrouper(file, "entry_documents", "UTC")
    [group] = grouper.groups()
    grouper.reject(
        group, [Problem("lines.0.qty", "is required"), Problem("doc_date", "is required")]
    )
    assert problems_of(group) == {(2, "qty", "must be a number"), (2, "doc_date", "is required")}
    assert group.problems[2][0] == RowProblem(4, "qty", "must be a number")
    assert group.problems[2][1] == RowProblem(None, "doc_date", "is required")


def test_problems_are_assigned_to_the_row_and_cell_of_their_field() -> None:
    rows: list[list[Cell]] = [["A", "purchase_order", "W", "X", 1] for _ in range(3)]
    grouper = RowGrouper(file_of("entry_documents", ENTRY, *rows), "entry_documents", "UTC")
    [group] = grouper.groups()
    grouper.reject(
        group,
        [
            Problem("lines.2.item_code", "no product"),
            Problem("lines.1.serials.0", "is on the document already, at lines.0.serials.1"),
            Problem("warehouse_code", "no warehouse"),
            Problem("lines", "too many"),
        ],
    )
    assert problems_of(group) == {
        (4, "item_code", "no product"),
        (3, "serials", "is on the document already, at row 2"),
        (2, "warehouse_code", "no warehouse"),
        (2, "lines", "too many"),
    }
    assert group.problems[4][0].column == 3


def test_a_cell_beyond_the_header_has_a_problem_unless_it_is_empty() -> None:
    first, second = groups_of(
        "products", ("item_code", "name"), ["A", "Good", None, "extra"], ["B", "Better", "", None]
    )
    assert first.problems == {
        2: [RowProblem(3, "", "is in column 4, but the header has 2 columns")]
    }
    assert second.problems == {}


def test_the_second_row_of_one_product_has_a_problem() -> None:
    groups = groups_of("products", ("item_code",), ["A"], ["a"], ["A "], [None], [None])
    assert [problems_of(group) for group in groups] == [
        set(),
        set(),
        {(4, "item_code", "already used in row 2")},
        set(),
        set(),
    ]


def test_the_problems_of_a_row_are_limited() -> None:
    grouper = RowGrouper(file_of("products", ("item_code",), ["A"]), "products", "UTC")
    [group] = grouper.groups()
    grouper.reject(group, [Problem("item_code", f"wrong {n}") for n in range(1000)])
    messages = [problem.message for problem in group.problems[2]]
    assert messages == [
        *(f"wrong {n}" for n in range(50)),
        "has more problems; only the first 50 are listed",
    ]


def test_only_characters_of_texts_are_counted() -> None:
    assert count_characters([Row(2, ["abc", 12, None]), Row(3, ["ñ", True])]) == 4


@given(st.lists(st.tuples(st.sampled_from("AB "), st.sampled_from("xy?")), max_size=12))
def test_every_row_is_in_one_document_in_its_order(keys: list[tuple[str, str]]) -> None:
    types: dict[str, Any] = {"x": "purchase_order", "y": "goods_receipt", "?": "nonsense"}
    rows: list[list[Cell]] = [[ref, types[kind], "W", "X", 1] for ref, kind in keys]
    groups = groups_of("entry_documents", ENTRY, *rows)
    for group in groups:
        assert [row.number for row in group.rows] == sorted(row.number for row in group.rows)
        assert len({(row.cells[0], row.cells[1]) for row in group.rows}) == 1
        assert len(group.rows) == 1 or group.rows[0].cells[0] != " "
        assert len(group.body["lines"]) == len(group.rows)  # type: ignore[arg-type]
    first_rows = [group.rows[0].number for group in groups]
    assert first_rows == sorted(first_rows)


def test_rows_of_unknown_types_may_belong_to_documents_of_known_types_only() -> None:
    unknown: list[list[Cell]] = [["PO-1", f"type {n}", "W1", "A", 1] for n in range(300)]
    first, *others = groups_of(
        "entry_documents", ENTRY, ["PO-1", "purchase_order", "W1", "A", 1], *unknown
    )

    assert 0 < len(first.problems[2]) <= 100
    assert [group.problems for group in others] == [{}] * 300, (
        "the request model refuses their types later"
    )
