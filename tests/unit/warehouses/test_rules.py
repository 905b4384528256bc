"""Decisions about warehouses and positions."""

from string import ascii_uppercase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kernel.errors import Problem
from shared.kernel.validation import check
from shared.warehouse.warehouses import rules
from shared.warehouse.warehouses.models import (
    KnownWarehouse,
    LabelRange,
    PositionBulk,
    PositionCreate,
)

CEN = KnownWarehouse(1, "CEN", "Central")
DUB = KnownWarehouse(2, "DUB", "Dublin")


def names(**fields: Any) -> tuple[list[str], list[Problem]]:
    draft = check(PositionBulk, {"whs_code": "CEN", **fields})
    positions, found = rules.named_positions(draft)
    return [position.bin_code for position in positions], found


def test_the_last_label_of_the_mask_counts_fastest() -> None:
    made, _ = names(naming_mask="{slot}/{aisle}", aisles=["A", "B"], slots=["1", "2"])

    assert made == ["1/A", "1/B", "2/A", "2/B"]


def test_a_mask_without_labels_names_one_position() -> None:
    assert names(naming_mask="DOCK") == (["DOCK"], [])


@pytest.mark.parametrize(
    ("mask", "labels", "field"),
    [
        ("{aisle}-{shelf}", {"aisles": ["A"]}, "naming_mask"),
        ("{aisle", {"aisles": ["A"]}, "naming_mask"),
        ("{aisle}{rack}", {"aisles": ["A", "A1"], "racks": ["1", "11"]}, "naming_mask"),
        ("{aisle}", {"aisles": ["A", "A"]}, "naming_mask"),
        ("x" * 20 + "{aisle}", {"aisles": ["A" * 31]}, "naming_mask"),
        ("{aisle}", {"aisles": ["A"], "racks": ["1"]}, "racks"),
        ("{aisle}{rack}", {"aisles": ["A"]}, "racks"),
        ("{aisle}", {"aisles": ["A", "B"], "pick_sequence_start": 10**9}, "pick_sequence_start"),
    ],
)
def test_mask_and_labels_must_fit_together(mask: str, labels: dict[str, Any], field: str) -> None:
    _, found = names(naming_mask=mask, **labels)

    assert [problem.field for problem in found] == [field]


def test_labels_that_are_not_valid_are_not_called_missing() -> None:
    wrong = {"from": "1", "to": 5}

    assert names(naming_mask="{rack}-{slot}", racks=wrong, slots=["1"]) == ([], [])


_labels = st.lists(st.text(ascii_uppercase, min_size=1, max_size=3), min_size=1, max_size=5)


@given(aisles=_labels, racks=_labels, start=st.integers(0, 10**6))
def test_every_combination_is_named_once_in_order(
    aisles: list[str], racks: list[str], start: int
) -> None:
    aisles, racks = list(dict.fromkeys(aisles)), list(dict.fromkeys(racks))
    draft = PositionBulk(
        naming_mask="{aisle}-{rack}", aisles=aisles, racks=racks, pick_sequence_start=start
    )

    made, found = rules.named_positions(draft)

    assert found == []
    assert [(position.labels["aisle"], position.labels["rack"]) for position in made] == [
        (aisle, rack) for aisle in aisles for rack in racks
    ]
    assert [position.pick_sequence for position in made] == [*range(start, start + len(made))]


@given(first=st.integers(0, 10**6), more=st.integers(0, 999), digits=st.integers(1, 9))
def test_a_range_holds_its_ends_with_leading_zeros(first: int, more: int, digits: int) -> None:
    labels = LabelRange.model_validate(
        {"from": first, "to": first + more, "digits": digits}
    ).labels()

    assert [int(label) for label in labels] == [*range(first, first + more + 1)]
    assert all(len(label) >= digits and label.isdigit() for label in labels)
    assert len(labels[0]) == max(digits, len(str(first)))


@pytest.mark.parametrize(
    ("number", "code", "warehouse", "fields"),
    [
        (1, None, CEN, []),
        (None, "DUB", DUB, []),
        (1, "CEN", CEN, []),
        (None, None, None, ["whs_code"]),
        (1, "DUB", CEN, ["whs_code"]),
        (9, "CEN", CEN, ["warehouse_id"]),
        (9, "NIX", None, ["warehouse_id", "whs_code"]),
    ],
)
def test_a_warehouse_is_named_by_id_or_code(
    number: int | None, code: str | None, warehouse: KnownWarehouse | None, fields: list[str]
) -> None:
    draft = PositionCreate(bin_code="A", warehouse_id=number, whs_code=code)

    named, found = rules.warehouse_of(draft, [CEN, DUB])

    assert (named, [problem.field for problem in found]) == (warehouse, fields)
