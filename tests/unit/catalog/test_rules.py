"""Rules of products."""

from typing import Any

import pytest

from shared.warehouse.catalog import rules
from shared.warehouse.catalog.models import Product, ProductChange, ProductCreate

BRICK = Product(id=1, item_code="BRICK", sku="BRICK", name="Brick", created_at="a", updated_at="a")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"item_code": "A"}, "A"),
        ({"sku": "A"}, "A"),
        ({"item_code": "A", "sku": "A"}, "A"),
        ({}, ""),
        ({"item_code": None, "sku": "A"}, "A"),
    ],
)
def test_sku_is_an_alias_of_item_code(body: dict[str, Any], code: str) -> None:
    draft = ProductCreate.model_validate({"name": "X", **body})
    assert (rules.code_of(draft), rules.code_problems(draft)) == (code, [])


def test_different_item_code_and_sku_are_a_problem() -> None:
    change = ProductChange.model_validate({"item_code": "A", "sku": "B"})
    problems = rules.code_problems(change)
    assert [problem.field for problem in problems] == ["sku"]


def test_null_flags_become_defaults_and_absent_flags_stay_unset() -> None:
    sent = {"man_btch_num": None, "man_ser_num": True, "inventory_item": None, "barcode": None}
    assert rules.values(ProductChange.model_validate(sent)) == {
        "man_btch_num": False,
        "man_ser_num": True,
        "inventory_item": True,
        "barcode": None,
    }
    assert rules.values(ProductChange()) == {}


@pytest.mark.parametrize(
    ("change", "matters"),
    [
        ({"name": "Red brick", "barcode": "1", "type": "t"}, False),
        ({"item_code": "BRICK-2"}, True),
        ({"man_btch_num": True}, True),
        ({"man_ser_num": True}, True),
        ({"inventory_item": False}, True),
    ],
)
def test_only_code_and_management_change_the_identity_of_a_product(
    change: dict[str, Any], *, matters: bool
) -> None:
    assert rules.changes_identity(BRICK, BRICK.model_copy(update=change)) is matters
