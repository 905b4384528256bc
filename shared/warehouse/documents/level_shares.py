"""The shares that entry and exit documents have in the levels of their products."""

from collections.abc import Iterator
from decimal import Decimal

from shared.warehouse.documents.models import Document
from shared.warehouse.stock.models import LevelPlace

type _Share = tuple[LevelPlace, str, Decimal]


def entry_shares(document: Document) -> Iterator[_Share]:
    """Yield the open quantities of an entry document, which are incoming."""
    return _open(document, "incoming")


def exit_shares(document: Document) -> Iterator[_Share]:
    """Yield the open quantities of an exit document, which are committed."""
    return _open(document, "committed")


def _open(document: Document, name: str) -> Iterator[_Share]:
    # Early releases stored no ids of what a document names; no work can begin on such a document.
    for warehouse in document.named.get("warehouse", ())[:1]:
        for line in document.lines:
            if line.open_qty:
                place = LevelPlace(line.product_id, warehouse, line.item_code, document.whs_code)
                yield place, name, line.open_qty
