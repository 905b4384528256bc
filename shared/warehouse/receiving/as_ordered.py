"""What a receipt receives as it was ordered: the open lines whose goods need nothing else."""

from decimal import Decimal

from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.catalog.several_lines import line_quantities
from shared.warehouse.documents.models import Document, DocumentLine
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.receiving.models import OpenReceiptLine, ReceiptLineDraft, ReceiptNeed


def goods_as_ordered(
    tx: Transaction, document: Document, bin_code: str | None
) -> list[ReceiptLineDraft]:
    """Return the goods that are open and need nothing, at `bin_code` or their destinations."""
    quantities = dict[tuple[str, str | None, str | None], Decimal]()
    for line, needs in _open_lines(tx, document):
        if not needs:
            goods = (line.item_code, bin_code or line.bin_code, line.expiry_date)
            quantities[goods] = quantities.get(goods, ZERO) + line.open_qty
    return [
        ReceiptLineDraft(item_code=item_code, qty=qty, bin_code=place, expiry_date=date)
        for (item_code, place, date), total in quantities.items()
        for qty in line_quantities(total)
    ]


def lines_with_needs(tx: Transaction, document: Document) -> list[OpenReceiptLine]:
    """Return the open lines whose goods need a batch, serials or an expiry date."""
    return [
        OpenReceiptLine(
            line_num=line.line_num, item_code=line.item_code, qty=line.open_qty, needs=needs
        )
        for line, needs in _open_lines(tx, document)
        if needs
    ]


def _open_lines(
    tx: Transaction, document: Document
) -> list[tuple[DocumentLine, list[ReceiptNeed]]]:
    """Return the open lines, each with what its goods need.

    Goods of a product with `min_remaining_days` need a date unless all of its lines have one:
    those without would fill its first line.
    """
    lines = [line for line in document.lines if line.open_qty]
    known = NamedCodes(products=(line.item_code for line in lines)).read(tx).products
    days = catalog.least_days(tx.store, sorted({line.product_id for line in lines}))
    undated = {line.product_id for line in lines if line.expiry_date is None}
    dated = {number for number, least in days.items() if least and number in undated}
    return [
        (line, _needs(known.get(line.item_code), is_dated=line.product_id in dated))
        for line in lines
    ]


def _needs(product: KnownProduct | None, *, is_dated: bool) -> list[ReceiptNeed]:
    needs: list[tuple[ReceiptNeed, bool]] = [
        ("batch", product is not None and product.by_batch),
        ("serials", product is not None and product.by_serial),
        ("expiry_date", is_dated),
    ]
    return [name for name, is_needed in needs if is_needed]
