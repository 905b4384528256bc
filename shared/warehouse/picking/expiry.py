"""The expiry dates that goods must have to leave with a document.

With the setting `expired_stock` at `block`, goods past their expiry date leave with returns to
providers only. Goods with fewer days left than their product requires do not leave with sales
orders and delivery notes either. The day of the expiry date is the last good one.

An expiry date that the line of a document names is binding, as its batch is.
"""

from collections.abc import Collection, Iterable
from datetime import date, timedelta

from shared.kernel.db.transaction import Transaction
from shared.warehouse.catalog import service as catalog
from shared.warehouse.picking.models import StoredPicking, StoredPickingLine
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.models import StockRow

_SALES = frozenset({"sale_order", "delivery_note"})
_FREE = "return_to_provider"


class ExpiryRule:
    """The expiry rule of one company on its present day."""

    def __init__(self, tx: Transaction) -> None:
        settings = settings_of(tx.company)
        self._store = tx.store
        self._today = tx.company.today
        self._blocks = settings.expired_stock == "block"
        self._dates_bind = settings.pick_substitution != "any"
        self._least_days: dict[int, int] = {}

    def applies_to(self, picking: StoredPicking) -> bool:
        """Return whether the expiry dates of goods matter for a picking."""
        is_limited = any(self.limits(one.type) for one in picking.documents)
        return is_limited or any(line.expiry_date for line in picking.lines)

    def limits(self, document_type: str) -> bool:
        """Return whether the expiry dates of goods matter for a type of document."""
        return self._blocks and document_type != _FREE

    def is_sale(self, document_type: str) -> bool:
        """Return whether `min_remaining_days` holds for a type of document."""
        return self._blocks and document_type in _SALES

    def read(self, products: Collection[int]) -> None:
        """Read `min_remaining_days` of products that are picked for sale."""
        if wanted := sorted(set(products) - self._least_days.keys()):
            self._least_days |= catalog.least_days(self._store, wanted)

    def read_for(self, document_types: Iterable[str], products: Collection[int]) -> None:
        """Read `min_remaining_days` of products if it holds for one of these types of documents."""
        if any(map(self.is_sale, document_types)):
            self.read(products)

    def read_ahead(self, picking: StoredPicking, rows: Iterable[StockRow]) -> None:
        """Read `min_remaining_days` of the products of dated rows, if it holds for the picking."""
        products = {row.product_id for row in rows if row.expiry_date}
        self.read_for((one.type for one in picking.documents), products)

    def first_day(self, document_type: str, product: int) -> str | None:
        """Return the earliest expiry date that goods may have, None for any.

        `read` was called for the product, unless none of its goods has a date.
        """
        if not self.limits(document_type):
            return None
        days = self._least_days.get(product, 0) if document_type in _SALES else 0
        return str(date.fromisoformat(self._today) + timedelta(days)) if days else self._today

    def refusal(
        self, document_type: str, product: int, what: str, expiry_date: str | None
    ) -> str | None:
        """Return why the goods `what` with an expiry date may not leave; None if they may."""
        if expiry_date is None:
            return None
        self.read_for([document_type], [product])
        first = self.first_day(document_type, product)
        if first is None or expiry_date >= first:
            return None
        if expiry_date < self._today:
            return f"{what} expired on {expiry_date}, today is {self._today}"
        left = (date.fromisoformat(expiry_date) - date.fromisoformat(self._today)).days
        required = self._least_days[product]
        days = "1 day" if left == 1 else f"{left} days"
        return f"{what} expires on {expiry_date}: {days} left, {required} required"

    def picking_refusal(
        self, picking: StoredPicking, line: StoredPickingLine, row: StockRow
    ) -> str | None:
        """Return why goods of a stock row may not be picked for a line; None if they may."""
        what, date = _goods(row), row.expiry_date
        if refusal := self.refusal(document_type(picking, line), line.product_id, what, date):
            return refusal
        if not self._dates_bind or line.expiry_date in {None, date}:
            return None
        there = f"expires on {date}" if date else "has no expiry date"
        return f"{what} {there}; the order requires {line.expiry_date}"


def document_type(picking: StoredPicking, line: StoredPickingLine) -> str:
    """Return the type of the document of a line of a picking."""
    return next((one.type for one in picking.documents if one.id == line.document_id), "")


def _goods(row: StockRow) -> str:
    if row.serial_number is not None:
        return f"serial {row.serial_number} of {row.item_code}"
    if row.batch_num is not None:
        return f"batch {row.batch_num} of {row.item_code}"
    return f"{row.item_code} at {row.bin_code}"
