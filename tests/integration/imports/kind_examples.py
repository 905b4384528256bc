"""An example of each import kind: bodies of single requests, and the same data as rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.integration.imports.models import ImportKind
from tests.integration.imports.import_files import RowValues, cells, document_rows


@dataclass(frozen=True, slots=True)
class KindExample:
    """Entities of one kind: the path and the bodies of the requests that create them.

    `listed` is the path of the list that shows what they create, if it is another one.
    """

    kind: ImportKind
    path: str
    bodies: Sequence[Mapping[str, Any]]
    listed: str | None = None

    @property
    def list_path(self) -> str:
        """The path of the list that shows what the requests create."""
        return self.listed or self.path

    def rows(self) -> list[RowValues]:
        """Return the entities as rows of an import file."""
        return list(self._rows())

    def _rows(self) -> Iterator[RowValues]:
        for body in self.bodies:
            if "lines" in body:
                yield from document_rows(body)
            else:
                yield cells(body)


PRODUCTS = KindExample(
    "products",
    "/products",
    [
        {
            "item_code": "0042", "name": "Trowel, small", "barcode": "4006381333931",
            "type": "tool", "image_url": "https://example.com/t.png", "sales_unit": "UN",
            "purchase_unit": "BOX", "man_btch_num": True, "inventory_item": True,
            "min_remaining_days": 30,
            "metadata": {"ERP.id-7": "0017", "memo": "a ñ"},
        },
        {"item_code": "1E5", "name": 'Caña 2½"', "man_ser_num": True},
        {"item_code": "CALL-OUT", "name": "=2+3", "inventory_item": False},
    ],
)  # fmt: skip

ENTRIES = KindExample(
    "entry_documents",
    "/entry-documents",
    [
        {
            "external_ref": "PO-1", "type": "purchase_order", "doc_date": "2026-03-01",
            "due_date": "2026-03-09", "partner_code": "007", "partner_name": "Müller & Söhne",
            "warehouse_code": "YARD", "comments": "Ring twice",
            "metadata": {"Buyer": "007"},
            "lines": [
                {
                    "item_code": "BRICK", "qty": 12.5, "destination_bin": "A-01",
                    "external_ref": "10",
                    "metadata": {"pos": "10"},
                },
                {"item_code": "CEMENT", "qty": 3, "batch": "L-1", "expiry_date": "2027-01-31"},
                {"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-2"]},
            ],
        },
        {
            "external_ref": "PO-1", "type": "Goods receipt", "doc_date": "01/03/2026",
            "partner_code": "V-2", "warehouse_code": "SHOP",
            "lines": [{"item_code": "BRICK", "qty": 1}],
        },
    ],
)  # fmt: skip

EXITS = KindExample(
    "exit_documents",
    "/exit-documents",
    [
        {
            "external_ref": "SO-1", "type": "Orden de venta", "doc_date": "2026-03-01",
            "partner_code": "C-1", "partner_name": "Client", "warehouse_code": "YARD",
            "priority": "Alta", "ship_to": "1 High Street", "comments": "Fragile",
            "ship_to_address": {
                "name": "Ana Ruiz", "company": "Obras SA", "line1": "Calle Mayor 1",
                "line2": "Nave 2", "city": "Madrid", "state": "MD", "zip_code": "28001",
                "country": "ES", "phone": "910 000", "email": "ana@example.com",
            },
            "carrier_code": "DHL", "service_code": "EXPRESS",
            "metadata": {"shop": "es"},
            "lines": [
                {"item_code": "BRICK", "qty": 4, "external_ref": "10", "metadata": {"x.y": "1"}},
                {"item_code": "CEMENT", "qty": 2, "batch": "L-1"},
                {"item_code": "DRILL", "qty": 1, "serials": ["S-1"]},
            ],
        },
        {
            "external_ref": "SO-2", "type": "delivery_note", "doc_date": "2026-03-02",
            "partner_code": "C-2", "warehouse_code": "YARD",
            "lines": [{"item_code": "BRICK", "qty": 5}, {"item_code": "BRICK", "qty": 0.25}],
        },
    ],
)  # fmt: skip

TRANSFERS = KindExample(
    "transfer_orders",
    "/transfer-orders",
    [
        {
            "external_ref": "TR-1", "from_warehouse": "YARD", "to_warehouse": "SHOP",
            "priority": 3, "reason": "Refill", "due_at": "2026-03-01T09:30:00+01:00",
            "ship_to_address": {"city": "Bath", "country": "GB"}, "carrier_code": "DHL",
            "metadata": {"truck": "2"},
            "lines": [
                {"item_code": "BRICK", "qty": 7, "external_ref": "A-1", "metadata": {"pos": "10"}},
                {"item_code": "CEMENT", "qty": 1, "batch_num": "L-1"},
                {"item_code": "CEMENT", "qty": 2, "expected_batches": ["L-2", "L-3"]},
                {"item_code": "DRILL", "qty": 2, "expected_series": ["S-1", "S-2"]},
            ],
        },
        {
            "external_ref": "TR-2", "from_warehouse": "SHOP", "to_warehouse": "YARD",
            "lines": [{"item_code": "BRICK", "qty": 1}],
        },
    ],
)  # fmt: skip

RETURNS = KindExample(
    "returns",
    "/returns",
    [
        {
            "external_ref": "RMA-1", "warehouse_code": "YARD", "partner_code": "C-1",
            "metadata": {"ticket": "9"},
            "lines": [
                {
                    "item_code": "BRICK", "qty": 7, "reason": "not_wanted", "external_ref": "1",
                    "metadata": {"pos": "1"},
                },
                {"item_code": "CEMENT", "qty": 1.5, "batch": "L-1"},
                {"item_code": "DRILL", "qty": 2, "serials": ["S-1", "S-2"], "reason": "defective"},
            ],
        },
        {
            "external_ref": "RMA-2", "warehouse_code": "SHOP", "partner_code": "C-2",
            "lines": [{"item_code": "BRICK", "qty": 1}],
        },
    ],
)  # fmt: skip
"""Returns without exit document, which the company of the tests allows."""

PICK_FACES = KindExample(
    "pick_faces",
    "/pick-faces",
    [
        {
            "item_code": "BRICK", "warehouse_code": "YARD", "bin_code": "F-01",
            "minimum": 10, "maximum": 100.5,
        },
        {"item_code": "BRICK", "warehouse_code": "YARD", "bin_code": "B-01", "minimum": 0},
        {"item_code": "CEMENT", "warehouse_code": "YARD", "bin_code": "F-01"},
    ],
)  # fmt: skip

STOCK_COUNTS = KindExample(
    "stock_counts",
    "/stock-adjustments",
    [
        {
            "item_code": "BRICK", "warehouse": "YARD", "bin_code": "A-01", "counted_qty": 12.5,
            "expected_qty": 0, "inventory_status": "quarantine", "reason": "Opening stock",
        },
        {
            "item_code": "CEMENT", "warehouse": "YARD", "bin_code": "B-01", "counted_qty": 3,
            "batch": "L-1", "reason": "Opening stock",
        },
        {
            "item_code": "DRILL", "warehouse": "YARD", "bin_code": "A-01", "counted_qty": 1,
            "serial": "S-1", "reason": "Opening stock",
        },
    ],
    listed="/stock-movements",
)  # fmt: skip
"""Each creates a movement."""

KIND_EXAMPLES = (PRODUCTS, ENTRIES, EXITS, TRANSFERS, RETURNS, STOCK_COUNTS, PICK_FACES)
