"""Orders with planted errors: forty of twenty sorts, one in a document, and odd but valid rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from tools.sample_imports.orders import FIELDS, Series, orders
from tools.sample_imports.sheets import Record, Sheet, sheet

SERIES = Series(count=100, first_number=9001, seed=20, first_day=date(2026, 11, 30))

type _Mark = tuple[Record, str, str]
"""A row, the field in it that is meant, the sort of what is there."""

_BEYOND = ""
"""Field of what stands to the right of the last column."""
_STEP = 37
"""From the product of one planted row to that of the next."""


@dataclass(frozen=True, slots=True)
class _Sort:
    """A sort of error.

    Attributes:
        at: The field at which it is reported.
        says: What is wrong.
        ways: Two ways to plant it, each of them the rows of a document, as changes of a valid
            row. The error is in the last.
        of: What the product of the rows is like.
    """

    at: str
    says: str
    ways: Sequence[Sequence[Record]]
    of: Mapping[str, str] = field(default_factory=lambda: {"inventory_item": "yes"})


_PLAIN = {"inventory_item": "yes", "man_btch_num": "no", "man_ser_num": "no"}
_BY_SERIAL = {"man_ser_num": "yes"}

_SORTS: Mapping[str, _Sort] = {
    "unknown_product": _Sort(
        "item_code",
        "no product has the code",
        [[{"item_code": "CTL-ZZ-1X1"}], [{"item_code": "17"}]],
    ),
    "quantity_zero": _Sort("qty", "is not more than 0", [[{"qty": 0}], [{"qty": "0.00"}]]),
    "quantity_negative": _Sort("qty", "is not more than 0", [[{"qty": -5}], [{"qty": "-0.5"}]]),
    "quantity_text": _Sort("qty", "is no number", [[{"qty": "ten"}], [{"qty": "12 pcs"}]]),
    "quantity_decimals": _Sort(
        "qty",
        "has more than 6 decimals",
        [[{"qty": Decimal("1.2345678")}], [{"qty": Decimal("10.0000001")}]],
        _PLAIN,
    ),
    "reference_missing": _Sort(
        "external_ref", "is missing", [[{"external_ref": None}], [{"external_ref": "   "}]]
    ),
    "type_unknown": _Sort(
        "type", "is no type of document", [[{"type": "Salse order"}], [{"type": "Invoice"}]]
    ),
    "date_unreadable": _Sort(
        "doc_date", "is no date", [[{"doc_date": "next Monday"}], [{"doc_date": "2026-11"}]]
    ),
    "date_not_in_calendar": _Sort(
        "due_date",
        "is not in the calendar",
        [[{"due_date": "2027-02-30"}], [{"due_date": "31/11/2026"}]],
    ),
    "unknown_warehouse": _Sort(
        "warehouse_code",
        "no warehouse has the code",
        [[{"warehouse_code": "CENT"}], [{"warehouse_code": "MAD"}]],
    ),
    "priority_unknown": _Sort(
        "priority", "is no priority", [[{"priority": "urgent"}], [{"priority": "0"}]]
    ),
    "batch_without_batches": _Sort(
        "batch",
        "the product is not managed by batch",
        [[{"batch": "L26001"}], [{"batch": "0"}]],
        _PLAIN,
    ),
    "serials_not_as_many": _Sort(
        "serials",
        "are not as many as the quantity",
        [[{"qty": 3, "serials": "SN1, SN2"}], [{"qty": 1, "serials": "SN3, SN4"}]],
        _BY_SERIAL,
    ),
    "serial_twice": _Sort(
        "serials",
        "the same serial is in the document twice",
        [[{"qty": 1, "serials": "SN5"}] * 2, [{"qty": 2, "serials": "SN6, SN6"}]],
        _BY_SERIAL,
    ),
    "fraction_by_serial": _Sort(
        "qty",
        "is not whole, and the product is managed by serial",
        [[{"qty": Decimal("1.5")}], [{"qty": Decimal("0.25")}]],
        _BY_SERIAL,
    ),
    "code_too_long": _Sort(
        "partner_code",
        "has more than 50 characters",
        [[{"partner_code": "C" * 51}], [{"partner_code": "C10001 " * 9}]],
    ),
    "differs_within_document": _Sort(
        "due_date",
        "is another than in the first row of the document",
        [
            [{"due_date": date(2027, 1, 8)}, {"due_date": date(2027, 1, 11)}],
            [{"due_date": "08/01/2027"}, {"due_date": "08/01/2027"}, {"due_date": "01/08/2027"}],
        ],
    ),
    "control_characters": _Sort(
        "partner_name",
        "has characters that no text may have",
        [[{"partner_name": "Hollins\x07 & Rowe"}], [{"partner_name": "\x1b[31mBrindley"}]],
    ),
    "not_kept_in_stock": _Sort(
        "item_code", "the product is a service", [[{}], [{}]], {"inventory_item": "no"}
    ),
    "beyond_last_column": _Sort(
        _BEYOND,
        "stands to the right of the last header",
        [[{_BEYOND: "see e-mail"}], [{_BEYOND: 12}]],
    ),
}

_HARMLESS: Sequence[tuple[str, str, Sequence[Record]]] = (
    ("like_a_formula", "partner_name", [{"partner_name": "=Equals= Lighting Ltd"}]),
    ("like_a_formula", "ship_to", [{"ship_to": "@ the gate, 14 Kestrel Way"}]),
    ("like_a_formula", "comments", [{"comments": "-> call +44 121 496 0111 first"}]),
    ("like_a_formula", "comments", [{"comments": "+1 helper needed"}]),
    ("other_words", "type", [{"type": "orden de VENTA"}]),
    ("other_words", "type", [{"type": "sale_order"}]),
    ("other_words", "priority", [{"priority": "ALTA"}]),
    ("other_date", "doc_date", [{"doc_date": "04/12/2026"}]),
    ("leading_zeros", "external_ref", [{"external_ref": "000815"}]),
    ("spaces", "external_ref", [{"external_ref": "  SO-2026-09999 "}]),
    ("told_once", "due_date", [{}, dict.fromkeys(FIELDS[2:10])]),
)
"""Sort, field and rows of what looks odd and is no error."""


def planted(products: Sequence[Record]) -> tuple[Sheet, dict[str, Any]]:
    """Return the file, and what is planted in it: row, field and sort of each error."""
    documents = orders(SERIES, products)
    errors: list[_Mark] = []
    ways = [(name, sort, way) for name, sort in _SORTS.items() for way in sort.ways]
    for number, (name, sort, way) in enumerate(ways):
        document = documents[2 * number]
        fitting = [one for one in products if sort.of.items() <= one.items()]
        code = fitting[number * _STEP % len(fitting)]["item_code"]
        line: Record = {"item_code": code, "qty": 2, "batch": None, "serials": None}
        document[:] = [document[0] | line | change for change in way]
        errors.append((document[-1], sort.at, name))
    harmless: list[_Mark] = []
    for number, (name, at, rows) in enumerate(_HARMLESS):
        document = documents[2 * number + 1]
        document[:] = [document[0] | change for change in rows]
        harmless.append((document[-1], at, name))
    records = [record for document in documents for record in document]
    told = {
        "kind": "exit_documents",
        "documents": len(documents),
        "rows": len(records),
        "sorts": {name: sort.says for name, sort in _SORTS.items()},
        "errors": _told(errors, records),
        "harmless": _told(harmless, records),
    }
    return _sheet(records), told


def _told(marks: Sequence[_Mark], records: Sequence[Record]) -> list[dict[str, object]]:
    rows = {id(record): row for row, record in enumerate(records, 2)}
    return [{"row": rows[id(record)], "field": at, "sort": name} for record, at, name in marks]


def _sheet(records: Sequence[Record]) -> Sheet:
    plain = sheet("exit_documents", "en", FIELDS, records)
    header, *rows = plain.rows
    beyond = [[record[_BEYOND]] if _BEYOND in record else [] for record in records]
    return Sheet(
        plain.kind, [header, *([*row, *more] for row, more in zip(rows, beyond, strict=True))]
    )
