"""Quantities that count a unit of measure, on plain data."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from shared.kernel.db.items import Item, Key
from shared.kernel.validation import InvalidBody, check, problems_of
from shared.warehouse.catalog.models import Packaging, PackagingChange
from shared.warehouse.catalog.repository import code_key
from shared.warehouse.catalog.rules import unit_problems, with_counted_gtins
from shared.warehouse.catalog.unit_quantities import in_base_units, lines_in_base_units
from shared.warehouse.documents.models import EntryDraft
from shared.warehouse.stock.adjustment_models import AdjustmentDraft
from tests.cases import each_case

_ALIASES: Mapping[Key, Item] = {
    code_key("BRICK"): {"id": 1, "units": {"Box": 12, "GRAM": Decimal("0.001")}},
    code_key("TILE"): {"id": 2},
    code_key("OLD"): {"id": 2, "former": True},
}


def _counted(*lines: object) -> tuple[list[Any], dict[str, str]]:
    """Return the lines of an entry document in base units, and the problems by field."""
    facts = {"external_ref": "PO-1", "type": "purchase_order", "doc_date": "2026-03-01"}
    codes = {"partner_code": "P-1", "warehouse_code": "YARD"}
    body = check(EntryDraft, {**facts, **codes, "lines": list(lines)})
    counted = lines_in_base_units(body, _ALIASES)
    found = problems_of(counted)
    assert isinstance(counted, InvalidBody) == bool(found)
    return list(counted.lines or ()), {problem.field: problem.message for problem in found}


def test_units_match_without_case_and_stay_as_sent() -> None:
    lines, problems = _counted(
        {"item_code": "BRICK", "qty": 2, "unit": " bOX"},
        {"item_code": "BRICK", "qty": 1500, "unit": "gram"},
        {"item_code": "BRICK", "qty": 3},
        {"item_code": "TILE", "qty": 4, "unit": None},
    )
    assert problems == {}
    assert [(line.qty, line.unit, line.unit_qty) for line in lines] == [
        (24, "bOX", 2), (Decimal("1.5"), "gram", 1500), (3, None, None), (4, None, None),
    ]  # fmt: skip


def test_all_problems_of_units_are_named_at_once() -> None:
    lines, problems = _counted(
        {"item_code": "BRICK", "qty": 2, "unit": "PALLET"},
        {"item_code": "TILE", "qty": 2, "unit": "BOX"},
        {"item_code": "BRICK", "qty": Decimal("0.0001"), "unit": "GRAM"},
        {"item_code": "BRICK", "qty": 90_000_000, "unit": "BOX"},
        {"item_code": "BRICK", "qty": 1 / Decimal(3), "unit": "BOX"},
        {"item_code": "BRICK", "qty": 2, "unit": "x" * 21},
        {"item_code": "NONE", "qty": 2, "unit": "BOX"},
        {"item_code": "OLD", "qty": 2, "unit": "BOX"},
        {"qty": 2, "unit": "BOX"},
    )
    assert problems == {
        "lines.0.unit": "the product has no unit PALLET; it has Box (12), GRAM (0.001)",
        "lines.1.unit": "the product has no unit BOX; it has none",
        "lines.2.qty": "0.0001 GRAM are 0.0000001 units; at most 6 decimals fit",
        "lines.3.qty": "must count at most 999999999 units; 1080000000 requested",
        "lines.4.qty": "must have at most 6 decimals",
        "lines.5.unit": "must have at most 20 characters",
        "lines.6.item_code": "no product has the code NONE",
        "lines.7.item_code": "no product has the code OLD",
        "lines.8.item_code": "is required",
    }
    assert [line.qty for line in lines] == [None] * 6 + [2, 2, 2], "unknown quantities are none"


def test_every_quantity_of_an_adjustment_counts_its_unit() -> None:
    sent = {"item_code": "BRICK", "unit": "box", "reason": "Count", "qty": 2, "counted_qty": 0}
    draft = in_base_units(
        check(AdjustmentDraft, sent), _ALIASES, ("counted_qty", "increase", "decrease", "qty")
    )
    assert (draft.counted_qty, draft.increase, draft.qty) == (0, None, 24)


_FORMER = Packaging.model_validate(
    {
        "units": [{"unit": "BOX", "qty": 12}, {"unit": "KG", "qty": Decimal("2.5")}],
        "gtins": [{"gtin": "14006381333938", "units": 12, "unit": "BOX"}],
    }
)
_GTIN = {"gtin": "14006381333938"}


_PACKAGINGS: Mapping[str, tuple[Mapping[str, object], Mapping[str, str]]] = {
    "same name": (
        {"units": [{"unit": "Box", "qty": 12}, {"unit": "BOX", "qty": 6}]},
        {"units.1.unit": "is the same unit as units.0.unit"},
    ),
    "a unit that a GTIN names is left out": (
        {"units": [{"unit": "BAG", "qty": 12}]},
        {"units": "must have BOX, which the GTIN 14006381333938 names"},
    ),
    "a unit that a GTIN names has a fraction": (
        {"units": [{"unit": "box", "qty": Decimal("2.5")}]},
        {
            "units.0.qty": "must be a whole number of at most 1000000:"
            " the GTIN 14006381333938 names the unit"
        },
    ),
    "GTINs of units": (
        {
            "gtins": [
                {**_GTIN, "unit": "BAG"},
                {**_GTIN, "unit": "KG"},
                {**_GTIN, "unit": "box", "units": 6},
                {**_GTIN, "unit": "box", "units": 12},
            ]
        },
        {
            "gtins.0.unit": "the product has no unit BAG; it has BOX (12), KG (2.5)",
            "gtins.1.unit": "must be a whole number of at most 1000000: KG counts 2.5",
            "gtins.2.units": "must be 12, as box counts, or not be sent",
        },
    ),
    "units without the GTINs of before": ({"units": [], "gtins": [_GTIN]}, {}),
    "not a list": ({"units": 5, "gtins": [{**_GTIN, "unit": "BAG"}]}, {}),
}


@each_case(("body", "problems"), _PACKAGINGS.values(), named=_PACKAGINGS)
def test_problems_of_the_units_of_a_packaging(
    body: Mapping[str, object], problems: Mapping[str, str]
) -> None:
    found = unit_problems(check(PackagingChange, body), _FORMER)
    assert {one.field: one.message for one in found} == problems


def test_gtins_on_a_unit_count_what_it_counts_now() -> None:
    units = Packaging.model_validate({"units": [{"unit": "Box", "qty": 10}]}).units
    changed = with_counted_gtins(_FORMER.model_copy(update={"units": units}))
    assert [(one.unit, one.units) for one in changed.gtins] == [("Box", 10)]
