"""The lists of entry documents and of exit documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.warehouse.documents.models import Document
from shared.warehouse.documents.repository import ENTRIES, EXITS
from tests.lists import spec

_PER_PARTNER = 20
_STATUSES = ("open", "open", "assigned", "partial-complete", "completed", "closed")
_SOURCES = ("api", "api", "import", "web", "sap")
_ENTRY_TYPES = ("purchase_order", "goods_receipt", "delivery_good")
_EXIT_TYPES = ("sale_order", "delivery_note", "return_to_provider")
_LINE_STATUSES = ("open", "partial", "complete", "closed")
_DISPLAYED = {
    "Orden de compra": "purchase_order",
    "GOODS RECEIPT": "goods_receipt",
    "entrada de mercancia": "goods_receipt",
    "Nota de entrega": "delivery_note",
    "sales order": "sale_order",
    "Devolución a proveedor": "return_to_provider",
}
_PRIORITIES: Mapping[str, int] = {"1": 1, "Alta": 1, "high": 1, "Normal": 2, "low": 3, "BAJA": 3}


def _reference(number: int) -> str:
    # Two documents of different types have the same reference.
    return f"REF-{number // 2:07d}"


def _partner(number: int) -> str:
    return f"P-{number // _PER_PARTNER:06d}"


def _line(line_num: int, number: int) -> dict[str, Any]:
    return {
        "line_num": line_num,
        "external_ref": spec.unless(number, 2, str(10 * line_num)),
        "product_id": number % 500 + line_num,
        "item_code": f"ITEM-{number % 500 + line_num:07d}",
        "qty": 12,
        **({} if number % 4 else {"unit": "BOX", "unit_qty": 0.5}),
        "open_qty": 8.5,
        "done_qty": 3.5,
        "status": _LINE_STATUSES[(number + line_num) % 4],
        "metadata": {"erp_line": str(line_num)},
    }


def _document(number: int, times: spec.Times, types: Sequence[str], **more: Any) -> Document:
    return Document.model_validate(
        {
            **times.of(number),
            "type": types[number % 3],
            "external_ref": _reference(number),
            "source": _SOURCES[number % 5],
            "status": _STATUSES[number % 6],
            "card_code": _partner(number),
            "card_name": spec.unless(number, 3, "Ferretería Central S.A."),
            "doc_date": f"2026-03-{number * 11 % 28 + 1:02d}",
            "due_date": spec.unless(number, 2, f"2026-04-{number % 20 + 10}"),
            "comments": spec.unless(number, 4, "Ring the bell\nat gate 4."),
            "whs_code": f"W{number % 3 + 1}",
            "metadata": {"erp_id": str(number)},
            "lines": [_line(line_num, number) for line_num in range(1, number % 3 + 2)],
            **more,
        }
    )


def _entry(number: int, times: spec.Times) -> Document:
    return _document(number, times, _ENTRY_TYPES)


def _exit(number: int, times: spec.Times) -> Document:
    return _document(
        number,
        times,
        _EXIT_TYPES,
        priority=spec.unless(number, 4, number % 3 + 1),
        ship_to=spec.unless(number, 3, "Muelle 3, Talcahuano"),
        ship_to_address=spec.unless(number, 2, spec.address_of(number)),
        carrier_code=spec.unless(number, 3, "DHL"),
        service_code=spec.unless(number, 4, "EXPRESS"),
    )


def _type(values: Sequence[str], wrong: Sequence[str]) -> spec.Filter:
    return spec.Filter(
        lambda _: values,
        lambda row, value: row["type"] == _DISPLAYED.get(value, value),
        ("", "order", *wrong),
        selective=True,
    )


def _search(prefix: str) -> spec.Filter:
    return spec.begins_words(
        lambda row: (row["doc_num"], row["external_ref"], row["card_code"], row["card_name"]),
        values=(f"{prefix}-1", "ref 00001", "FERRETERIA s.a", "central p-00", "erreteria", "p"),
        code=_reference,
    )


_FILTERS = {
    "external_ref": spec.equal("external_ref", _reference),
    "card_code": spec.equal("card_code", _partner),
    "status": spec.one_of(
        "status",
        ("open", "assigned", "partial-complete", "completed", "closed"),
        wrong=("", "Open", "pending"),
    ),
    "source": spec.among(
        "source", ("import", "api", "web", "sap"), wrong=("", "API", "fax"), narrow=True
    ),
    "due_to": spec.Filter(
        lambda _: ("2026-04-15", "2026-04-10", "2026-12-31"),
        lambda row, value: row["due_date"] is not None and row["due_date"] <= value,
        spec.INVALID_DATES,
    ),
}
_SORTS = "created_at updated_at doc_date"
_FIELDS = """
    integer: id lines.line_num?!
    number: lines.qty lines.unit_qty? lines.open_qty
    string: doc_num?! type external_ref?! source?! status?! card_code?! card_name? comments?
    string: lines.external_ref? lines.item_code?! lines.unit? lines.whs_code?! lines.status?!
    string: metadata.erp_id lines.metadata.erp_line
    object: metadata lines.metadata
    array: lines
    date: doc_date?! due_date?
    date-time: created_at?! updated_at?!
"""

ENTRY_LIST = spec.Listed(
    path="/entry-documents",
    collection=ENTRIES,
    make=_entry,
    aliases=lambda one: [(f"entry_ref#{one.type}\x1f{one.external_ref}", "ALIAS")],
    fields=spec.fields(f"{_FIELDS}number: lines.received_qty"),
    filters={
        **_FILTERS,
        "search": _search("en"),
        "type": _type(
            (*_ENTRY_TYPES, "Orden de compra", "GOODS RECEIPT", "entrada de mercancia"),
            ("sale_order",),
        ),
    },
    sorts=spec.sorted_by(_SORTS),
)

EXIT_LIST = spec.Listed(
    path="/exit-documents",
    collection=EXITS,
    make=_exit,
    aliases=lambda one: [(f"exit_ref#{one.type}\x1f{one.external_ref}", "ALIAS")],
    fields=spec.fields(
        f"{_FIELDS}number: lines.picked_qty\ninteger: priority?\n"
        f"string: ship_to? carrier_code? service_code?\n{spec.ADDRESS_FIELDS}"
    ),
    filters={
        **_FILTERS,
        "search": _search("EX"),
        "type": _type(
            (*_EXIT_TYPES, "Nota de entrega", "sales order", "Devolución a proveedor"),
            ("purchase_order",),
        ),
        "priority": spec.Filter(
            lambda _: tuple(_PRIORITIES),
            lambda row, value: row["priority"] == _PRIORITIES[value],
            ("", "0", "4", "urgent"),
        ),
    },
    sorts=spec.sorted_by(f"{_SORTS} priority"),
)
