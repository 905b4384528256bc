"""Decisions about holds on plain data."""

from decimal import Decimal
from typing import Any

from shared.kernel.clock import instant, milliseconds_of
from shared.kernel.validation import check
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.holds import rules
from shared.warehouse.holds.level_shares import held_shares
from shared.warehouse.holds.models import HoldExpiry, HoldLineDraft, StoredHold
from tests.cases import each_case

_NOW = milliseconds_of("2026-03-01T09:00:00.000Z")
_LATEST = "2026-04-01T09:00:00.000Z"


def _hold(**values: Any) -> StoredHold:
    lines = [
        {"product_id": number, "item_code": f"P-{number}", "qty": qty}
        for number, qty in ((1, 2), (2, "0.5"), (1, 3))
    ]
    return StoredHold.model_validate(
        {
            "id": 5, "stage": "active", "warehouse_id": 7, "whs_code": "YARD", "lines": lines,
            "expires_at": instant(_NOW), "created_at": "", "updated_at": "", **values,
        }
    )  # fmt: skip


def test_hold_expires_at_its_instant() -> None:
    hold = _hold()
    assert [rules.status_at(hold, _NOW + by) for by in (-1, 0, 1)] == ["active"] + ["expired"] * 2
    assert rules.last_expired(_NOW) < rules.first_unexpired(_NOW)
    for status in ("used", "released"):
        assert rules.status_at(_hold(stage=status), _NOW) == status


def test_lines_of_a_product_are_held_together() -> None:
    held = [(place.product_id, *one) for place, one in held_shares(_hold())]
    assert held == [(1, _NOW, Decimal(5)), (2, _NOW, Decimal("0.5"))]
    assert list(held_shares(_hold(stage="used"))) == []


@each_case(
    ("body", "fields"),
    [
        ({}, ["expires_at"]),
        ({"expires_at": _LATEST, "ttl_seconds": 1}, ["expires_at", "ttl_seconds"]),
        ({"expires_at": instant(_NOW)}, ["expires_at"]),
        ({"expires_at": instant(_NOW + 1)}, []),
        ({"expires_at": _LATEST}, []),
        ({"expires_at": "2026-04-01T09:00:00.001Z"}, ["expires_at"]),
        ({"ttl_seconds": 31 * 86_400}, []),
    ],
)
def test_expiry_is_one_moment_within_31_days(body: dict[str, Any], fields: list[str]) -> None:
    draft = check(HoldExpiry, body)
    assert [problem.field for problem in rules.expiry_problems(draft, _NOW)] == fields


def test_document_orders_at_most_what_is_held_of_each_product() -> None:
    products = {
        f"P-{number}": KnownProduct(number, f"P-{number}", "Part", False, False, True)
        for number in (1, 2, 3)
    }

    def problems(*lines: tuple[int, float | str]) -> dict[str, str]:
        sent = [
            check(HoldLineDraft, {"item_code": f"P-{number}", "qty": Decimal(str(qty))})
            for number, qty in lines
        ]
        numbered = [(f"lines.{at}", line) for at, line in enumerate(sent)]
        found = rules.use_problems(_hold(), numbered, products)
        return {problem.field: problem.message for problem in found}

    assert problems((1, 4), (1, 1), (2, "0.5")) == {}
    assert problems((1, 4), (2, "0.5"), (1, "1.5"), (3, 1)) == {
        "lines.0.qty": "5.5 ordered, 5 held of P-1 by HD-5",
        "lines.2.qty": "5.5 ordered, 5 held of P-1 by HD-5",
        "lines.3.qty": "1 ordered, 0 held of P-3 by HD-5",
    }
