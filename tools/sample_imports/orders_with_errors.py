"""Orders with 42 errors of 21 categories, one in a document, and with unusual but valid values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from datetime import date
from decimal import Decimal
from typing import Any

from tools.sample_imports.orders import FIELDS, OrderSeries, orders
from tools.sample_imports.sheets import ImportSheet, RowValues, sheet

SERIES = OrderSeries(count=100, first_number=9001, seed=20, first_day=date(2026, 11, 30))

type _Marker = tuple[RowValues, str, str]
"""A row, a field of it, and the category of its value."""

_EXTRA = ""
"""Field of the cell right of the last column."""
_OPTIONAL = ("line_external_ref", "batch", "serials")
"""Fields of a line that rows with errors leave out."""
_PRODUCT_STEP = 37
"""Distance between the products of two rows with errors."""


@dataclass(frozen=True, slots=True)
class _Category:
    """A category of errors.

    Attributes:
        field: The field for which the error is reported.
        description: What is wrong.
        examples: Two examples. Each consists of the rows of a document, as changes of a valid row.
            The error is in the last row.
        product: Fields of the product in the rows.
    """

    field: str
    description: str
    examples: Sequence[Sequence[RowValues]]
    product: Mapping[str, str] = dataclass_field(default_factory=lambda: {"inventory_item": "yes"})


_PLAIN = {"inventory_item": "yes", "man_btch_num": "no", "man_ser_num": "no"}
_BY_SERIAL = {"man_ser_num": "yes"}

_CATEGORIES: Mapping[str, _Category] = {
    "unknown_product": _Category(
        "item_code",
        "no product has the code",
        [[{"item_code": "CTL-ZZ-1X1"}], [{"item_code": "17"}]],
    ),
    "quantity_zero": _Category("qty", "is not greater than 0", [[{"qty": 0}], [{"qty": "0.00"}]]),
    "quantity_negative": _Category(
        "qty", "is not greater than 0", [[{"qty": -5}], [{"qty": "-0.5"}]]
    ),
    "quantity_text": _Category("qty", "is not a number", [[{"qty": "ten"}], [{"qty": "12 pcs"}]]),
    "quantity_decimals": _Category(
        "qty",
        "has more than 6 decimals",
        [[{"qty": Decimal("1.2345678")}], [{"qty": Decimal("10.0000001")}]],
        _PLAIN,
    ),
    "reference_missing": _Category(
        "external_ref", "is missing", [[{"external_ref": None}], [{"external_ref": "   "}]]
    ),
    "type_unknown": _Category(
        "type", "is not a type of document", [[{"type": "Salse order"}], [{"type": "Invoice"}]]
    ),
    "date_unreadable": _Category(
        "doc_date", "is not a date", [[{"doc_date": "next Monday"}], [{"doc_date": "2026-11"}]]
    ),
    "date_not_in_calendar": _Category(
        "due_date",
        "is not a day of the calendar",
        [[{"due_date": "2027-02-30"}], [{"due_date": "31/11/2026"}]],
    ),
    "unknown_warehouse": _Category(
        "warehouse_code",
        "no warehouse has the code",
        [[{"warehouse_code": "CENT"}], [{"warehouse_code": "MAD"}]],
    ),
    "priority_unknown": _Category(
        "priority", "is not a priority", [[{"priority": "urgent"}], [{"priority": "0"}]]
    ),
    "batch_without_batches": _Category(
        "batch",
        "the product is not managed by batch",
        [[{"batch": "L26001"}], [{"batch": "0"}]],
        _PLAIN,
    ),
    "serials_not_as_many": _Category(
        "serials",
        "number of serials differs from the quantity",
        [[{"qty": 3, "serials": "SN1, SN2"}], [{"qty": 1, "serials": "SN3, SN4"}]],
        _BY_SERIAL,
    ),
    "serial_twice": _Category(
        "serials",
        "the document contains the same serial twice",
        [[{"qty": 1, "serials": "SN5"}] * 2, [{"qty": 2, "serials": "SN6, SN6"}]],
        _BY_SERIAL,
    ),
    "fraction_by_serial": _Category(
        "qty",
        "is not a whole number although the product is managed by serial",
        [[{"qty": Decimal("1.5")}], [{"qty": Decimal("0.25")}]],
        _BY_SERIAL,
    ),
    "code_too_long": _Category(
        "partner_code",
        "has more than 50 characters",
        [[{"partner_code": "C" * 51}], [{"partner_code": "C10001 " * 9}]],
    ),
    "differs_within_document": _Category(
        "due_date",
        "differs from the first row of the document",
        [
            [{"due_date": date(2027, 1, 8)}, {"due_date": date(2027, 1, 11)}],
            [{"due_date": "08/01/2027"}, {"due_date": "08/01/2027"}, {"due_date": "01/08/2027"}],
        ],
    ),
    "control_characters": _Category(
        "partner_name",
        "has control characters",
        [[{"partner_name": "Hollins\x07 & Rowe"}], [{"partner_name": "\x1b[31mBrindley"}]],
    ),
    "not_kept_in_stock": _Category(
        "item_code", "the product is a service", [[{}], [{}]], {"inventory_item": "no"}
    ),
    "unit_unknown": _Category(
        "unit",
        "the product has no such unit of measure",
        [[{"unit": "BOX"}], [{"unit": "PALLET"}]],
        _PLAIN,
    ),
    "beyond_last_column": _Category(
        _EXTRA,
        "is right of the last header",
        [[{_EXTRA: "see e-mail"}], [{_EXTRA: 12}]],
    ),
}

_UNUSUAL: Sequence[tuple[str, str, Sequence[RowValues]]] = (
    ("formula_like", "partner_name", [{"partner_name": "=Equals= Lighting Ltd"}]),
    ("formula_like", "ship_to", [{"ship_to": "@ the gate, 14 Kestrel Way"}]),
    ("formula_like", "comments", [{"comments": "-> call +44 121 496 0111 first"}]),
    ("formula_like", "comments", [{"comments": "+1 helper needed"}]),
    ("other_name", "type", [{"type": "orden de VENTA"}]),
    ("other_name", "type", [{"type": "sale_order"}]),
    ("other_name", "priority", [{"priority": "ALTA"}]),
    ("other_date", "doc_date", [{"doc_date": "04/12/2026"}]),
    ("leading_zeros", "external_ref", [{"external_ref": "000815"}]),
    ("spaces", "external_ref", [{"external_ref": "  SO-2026-09999 "}]),
    ("given_once", "due_date", [{}, dict.fromkeys((*FIELDS[2:10], *_OPTIONAL))]),
)
"""Category, field and rows of unusual values that are valid."""


def orders_with_errors(products: Sequence[RowValues]) -> tuple[ImportSheet, dict[str, Any]]:
    """Return the file, and its expected errors: row, field and category of each."""
    documents = orders(SERIES, products)
    errors: list[_Marker] = []
    examples = [
        (name, category, example)
        for name, category in _CATEGORIES.items()
        for example in category.examples
    ]
    for number, (name, category, example) in enumerate(examples):
        document = documents[2 * number]
        candidates = [one for one in products if category.product.items() <= one.items()]
        code = candidates[number * _PRODUCT_STEP % len(candidates)]["item_code"]
        line: RowValues = {"item_code": code, "qty": 2, **dict.fromkeys(_OPTIONAL)}
        document[:] = [document[0] | line | change for change in example]
        errors.append((document[-1], category.field, name))
    unusual: list[_Marker] = []
    for number, (name, field, changes) in enumerate(_UNUSUAL):
        document = documents[2 * number + 1]
        document[:] = [document[0] | change for change in changes]
        unusual.append((document[-1], field, name))
    rows = [row_values for document in documents for row_values in document]
    description = {
        "kind": "exit_documents",
        "documents": len(documents),
        "rows": len(rows),
        "categories": {name: one.description for name, one in _CATEGORIES.items()},
        "errors": _located(errors, rows),
        "unusual": _located(unusual, rows),
    }
    return _sheet(rows), description


def _located(markers: Sequence[_Marker], rows: Sequence[RowValues]) -> list[dict[str, object]]:
    numbers = {id(row_values): number for number, row_values in enumerate(rows, 2)}
    return [
        {"row": numbers[id(row_values)], "field": field, "category": name}
        for row_values, field, name in markers
    ]


def _sheet(rows: Sequence[RowValues]) -> ImportSheet:
    plain = sheet("exit_documents", "en", FIELDS, rows)
    header, *cells = plain.rows
    extra = [[row_values[_EXTRA]] if _EXTRA in row_values else [] for row_values in rows]
    return ImportSheet(
        plain.kind,
        [header, *([*row_cells, *more] for row_cells, more in zip(cells, extra, strict=True))],
    )
