"""Rules of new transfer orders."""

from decimal import Decimal
from typing import Any

import pytest

from shared.kernel.validation import check, ensure_valid
from shared.warehouse.master_data.named_codes import MasterData
from shared.warehouse.transfer_orders import rules
from shared.warehouse.transfer_orders.models import TransferOrderDraft
from shared.warehouse.work.models import Operator
from tests.master_data import SHOP, YARD, known_products

KNOWN = MasterData(
    products=known_products("BRICK", "CEMENT", "DRILL"),
    warehouses={"YARD": YARD, "SHOP": SHOP},
    positions={},
)
ANA = Operator(id=7, name="Ana")
BODY = {
    "from_warehouse": "YARD",
    "to_warehouse": "SHOP",
    "lines": [{"item_code": "BRICK", "qty": 3}],
}


def draft(**more: Any) -> TransferOrderDraft:
    return ensure_valid(check(TransferOrderDraft, {**BODY, **more}))


def problems_of(*, by_client: bool = True, **more: Any) -> dict[str, str]:
    found = rules.examine(draft(**more), KNOWN, ANA, by_client=by_client)
    return {problem.field: problem.message for problem in [*found.invalid, *found.blocked]}


@pytest.mark.parametrize(
    ("release", "picker", "by_client", "fields"),
    [
        (True, None, True, ["picker_id"]),
        (True, 7, True, []),
        (True, None, False, []),
        (False, None, True, []),
        (None, None, True, []),
    ],
)
def test_picker_is_required_only_when_a_client_releases(
    release: bool | None,  # noqa: FBT001 - a field of the body
    picker: int | None,
    by_client: bool,  # noqa: FBT001 - a case of the table
    fields: list[str],
) -> None:
    assert list(problems_of(release=release, picker_id=picker, by_client=by_client)) == fields


@pytest.mark.parametrize(
    ("line", "problems"),
    [
        ({"item_code": "CEMENT", "batch_num": "B1", "expected_batches": ["B1", "B2"]}, {}),
        ({"item_code": "DRILL", "expected_series": ["S1", "S2", "S3"]}, {}),
        ({"item_code": "DRILL", "expected_series": []}, {}),
        (
            {"item_code": "BRICK", "batch_num": "B1", "expected_batches": ["B1"]},
            {
                "lines.0.batch_num": "product BRICK is not managed by batch",
                "lines.0.expected_batches": "product BRICK is not managed by batch",
            },
        ),
        (
            {"item_code": "CEMENT", "expected_series": ["S1", "S2", "S3"]},
            {"lines.0.expected_series": "product CEMENT is not managed by serial"},
        ),
        (
            {"item_code": "DRILL", "expected_series": ["S1", "S2"]},
            {"lines.0.expected_series": "2 given, 3 required"},
        ),
        (
            {"item_code": "DRILL", "expected_series": ["S1", "S2", "S1"]},
            {
                "lines.0.expected_series.2": (
                    "is on the document already, at lines.0.expected_series.0"
                )
            },
        ),
        (
            {"item_code": "DRILL", "qty": Decimal("1.5")},
            {"lines.0.qty": "must be a whole number: product DRILL is managed by serial"},
        ),
    ],
)
def test_batches_and_serials_need_products_managed_that_way(
    line: dict[str, Any], problems: dict[str, str]
) -> None:
    assert problems_of(lines=[{"qty": 3, **line}]) == problems


def test_line_number_of_the_erp_is_on_an_order_once() -> None:
    line = {"item_code": "BRICK", "qty": 3, "external_ref": "10"}
    assert list(problems_of(lines=[line, line])) == ["lines.1.external_ref"]


def test_warehouses_must_exist_and_be_different() -> None:
    assert problems_of(to_warehouse="YARD") == {
        "to_warehouse": "must be another warehouse than from_warehouse, YARD"
    }
    assert problems_of(from_warehouse="MOON") == {
        "from_warehouse": "no warehouse has the code MOON"
    }
    assert not rules.names_two_warehouses(draft(to_warehouse="YARD"), KNOWN)
    assert not rules.names_two_warehouses(draft(to_warehouse="MOON"), KNOWN)
    assert rules.names_two_warehouses(draft(), KNOWN)


def test_invalid_field_is_not_reported_again() -> None:
    raw = {"from_warehouse": 5, "lines": [{"item_code": 5, "qty": "x"}, 7], "release": "yes"}

    found = rules.examine(check(TransferOrderDraft, raw), KNOWN, ANA, by_client=True)

    assert (found.invalid, found.blocked) == ([], [])


def test_new_order_is_a_draft() -> None:
    drafted = rules.new_order(5, [8], draft(picker_id=7), KNOWN, "now", "api")
    urgent = rules.new_order(5, [9], draft(priority=0), KNOWN, "now", "import")

    assert (drafted.status, drafted.priority, drafted.picker_id) == ("draft", 2, None)
    assert urgent.priority == 0
    assert [(line.id, line.line_num, line.qty) for line in drafted.lines] == [(8, 1, Decimal(3))]
    assert (drafted.origin.name, drafted.destination.id) == ("Yard", 2)
