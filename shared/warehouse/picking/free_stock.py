"""Load the stock from which lines of pickings get their allocations.

A level names the rows with available stock of its product, as long as they are few. Only those of
other products are found by an index, page by page. At first, rows and levels that have enough are
read eventually consistent: the commit refuses what it allocates from an older state. What is short
then, or contradicts its level, is read again (D-046).
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING

from shared.kernel.db.items import AttributeMap
from shared.kernel.db.parallel import map_concurrently, run_all
from shared.kernel.db.transaction import Transaction
from shared.kernel.fields import ZERO
from shared.warehouse.master_data.named_codes import NamedCodes, picking_refusal
from shared.warehouse.picking import filling
from shared.warehouse.picking.expiry import ExpiryRule, document_type
from shared.warehouse.picking.filling import WantedGoods
from shared.warehouse.picking.models import StoredPicking, StoredPickingLine
from shared.warehouse.stock import service as stock
from shared.warehouse.stock.models import FreeRow
from shared.warehouse.stock.posting import StockPosting

if TYPE_CHECKING:
    from shared.warehouse.warehouses.models import KnownPosition

MAX_PAGES = 30
"""Pages of rows that are examined for one step, 300 rows of each product at a time."""

type WantedLine = tuple[StoredPicking, StoredPickingLine]
"""A picking, and a line of it that lacks stock."""
type _Starts = dict[int, AttributeMap | None]
"""Products that need more stock, and where their next page of the index starts."""
type _FreePage = tuple[list[FreeRow], AttributeMap | None]
"""Rows with free stock, and where the next page starts."""
type _Demands = dict[int, dict[WantedGoods, Decimal]]
"""The quantity that lines lack, by product and by the goods that they accept."""
type _RowsOf = Mapping[int, Sequence[FreeRow]]
"""Rows by product."""


class FreeStock:
    """The free stock of the products of some lines, of one warehouse, loaded into a posting.

    After `load`, `positions` are those to pick it from, and `skipped` the products with rows that
    were not loaded, because they do not fit.
    """

    def __init__(
        self,
        tx: Transaction,
        posting: StockPosting,
        expiry: ExpiryRule,
        lines: Sequence[WantedLine],
    ) -> None:
        self.positions: list[KnownPosition] = []
        self.skipped = set[int]()
        self._tx = tx
        self._posting = posting
        self._expiry = expiry
        self._lines = lines
        self._picking = lines[0][0]
        self._products = sorted({line.product_id for _, line in lines})
        self._unpickable = set[str]()
        self._late = set[int]()
        """Products whose level has enough, and whose rows are read eventually consistent."""
        self._unsure = set(self._products) if tx.may_read_late else set[int]()
        """Products whose level was read eventually consistent."""
        self._known_demands: _Demands = {}
        """Empty until they are needed, and after the expiry dates that count may have changed."""

    def load(self) -> None:
        """Load stock until it is enough for the lines, or nothing is left to load."""
        named, serials = self._read_levels()
        left: _Starts = dict.fromkeys(self._without_serials)
        for _ in range(MAX_PAGES):
            found, lasts = self._read_pages({one: left[one] for one in left if one not in named})
            self._load_rows({**named, **found}, serials)
            again = {one for one in named if not self._is_complete(one)}
            self._late -= again
            left = {one: last for one, last in lasts.items() if last and self._lacks(one)}
            left |= dict.fromkeys(sorted(again))
            if not left:
                break
            named, serials = {}, []
        self.skipped |= left.keys()

    def wanted_goods(self, one: WantedLine) -> WantedGoods:
        """Return the goods that a line accepts."""
        picking, line = one
        first_day = self._expiry.first_day(document_type(picking, line), line.product_id)
        return filling.wanted_goods(line, first_day)

    @property
    def _without_serials(self) -> list[int]:
        """The products of lines that name no serials, whose rows any may be."""
        return sorted({line.product_id for _, line in self._lines if not line.serials})

    def _read_levels(self) -> tuple[_RowsOf, list[FreeRow]]:
        """Return the rows that levels name, if they name any, and those of the required serials."""
        warehouse, may_read_late = self._picking.warehouse_id, self._tx.may_read_late
        serials = {
            (line.product_id, one)
            for _, line in self._lines
            for one in filling.missing_serials(line)
        }
        found, rows_of_serials = run_all(
            lambda: self._posting.read_free_rows(
                [(product, warehouse) for product in self._products], consistent=not may_read_late
            ),
            lambda: stock.rows_of_serials(self._tx.store, serials) if serials else [],
        )
        demands, named = self._demands(), dict[int, Sequence[FreeRow]]()
        for product in self._without_serials:
            available, rows = found[product, warehouse]
            if rows is not None:
                named[product] = rows
                if may_read_late and available >= sum(demands[product].values()):
                    self._late.add(product)
        return named, rows_of_serials

    def _read_pages(self, starts: _Starts) -> tuple[_RowsOf, _Starts]:
        """Read a page of rows of each product that fit; return also where the next ones start."""

        def read_page(
            start: tuple[int, AttributeMap | None],
        ) -> _FreePage:
            return stock.free_rows(self._tx.store, start[0], self._picking.warehouse_id, start[1])

        pages = map_concurrently(read_page, list(starts.items()))
        demands, found = self._demands(), dict[int, Sequence[FreeRow]]()
        for product, (page, _) in zip(starts, pages, strict=True):
            found[product] = [row for row in page if self._fits(row, demands[product])]
            if len(found[product]) < len(page):
                self.skipped.add(product)
        return found, {one: last for one, (_, last) in zip(starts, pages, strict=True)}

    def _load_rows(self, found: _RowsOf, serials: Sequence[FreeRow]) -> None:
        """Load rows of products and of serials, with the levels and positions; set `positions`."""
        rows = [*serials, *chain.from_iterable(found.values())]
        whs_code = self._picking.whs_code
        ahead = NamedCodes(positions=((whs_code, row.bin_code) for row in rows))
        # The expiry dates of serials, and of rows that a level names, are not known yet.
        dated = {one for one in found if any(row.expiry_date is not None for row in found[one])}
        if serials:
            dated |= {line.product_id for _, line in self._lines if line.serials}
        run_all(
            lambda: self._load(found, serials),
            # Read at the same time: `named` then finds them in the cache.
            lambda: self._tx.store.get_many(ahead.keys),
            lambda: self._read_days(dated),
        )
        loaded = self._posting.changes.rows.values()
        # What named the rows may not show a date that a row got a moment ago.
        self._read_days({row.product_id for row in loaded if row.expiry_date})
        named = NamedCodes(positions=((whs_code, row.bin_code) for row in loaded))
        self.positions = [
            position
            for position in named.read(self._tx).positions.values()
            if picking_refusal(whs_code, position.bin_code, position) is None
        ]
        self._known_demands = {}
        pickable = {position.bin_code for position in self.positions}
        self._unpickable |= {row.bin_code for row in rows if row.bin_code} - pickable

    def _load(self, found: _RowsOf, serials: Sequence[FreeRow]) -> None:
        again = self._unsure & found.keys() - self._late
        self._unsure -= again
        rows = {one: {row.id for row in found[one]} for one in found}
        required = {row.id for row in serials}
        warehouse = self._picking.warehouse_id
        self._posting.read_ahead(
            # Nothing reads a required serial again that seems to be taken.
            late=set().union(*(rows[one] for one in self._late & found.keys())) - required,
            again=set().union(*(rows[one] for one in again)),
            levels=[(product, warehouse) for product in again],
        )
        self._posting.load(
            rows=list(required.union(*rows.values())),
            levels=[(product, warehouse) for product in self._products],
            movements=0,
        )

    def _is_complete(self, product: int) -> bool:
        """Return whether the rows that a level names are all there are, or enough for the lines.

        Rows that are read eventually consistent have enough: what is short is read again.
        """
        is_all = self._posting.has_all_free_rows((product, self._picking.warehouse_id))
        return is_all and not (product in self._late and self._lacks(product))

    def _read_days(self, products: AbstractSet[int]) -> None:
        """Read `min_remaining_days` of those of the products that are picked for sale."""
        for_sale = {
            line.product_id
            for picking, line in self._lines
            if line.product_id in products and self._expiry.is_sale(document_type(picking, line))
        }
        self._expiry.read(for_sale)

    def _demands(self) -> _Demands:
        if not self._known_demands:
            self._known_demands = self._read_demands()
        return self._known_demands

    def _read_demands(self) -> _Demands:
        found: _Demands = {}
        for one in self._lines:
            line = one[1]
            demand = found.setdefault(line.product_id, {})
            goods = self.wanted_goods(one)
            demand[goods] = demand.get(goods, ZERO) + line.unallocated
        return found

    def _fits(self, row: FreeRow, demand: Iterable[WantedGoods]) -> bool:
        """Return whether a row has goods that lines accept, and may be at a pickable position."""
        is_wanted = any(goods.admits(row.batch_num, row.expiry_date) for goods in demand)
        return is_wanted and row.bin_code not in self._unpickable

    def _lacks(self, product: int) -> bool:
        """Return whether the loaded rows of a product have less than lines need.

        Lines may take stock that others could have: enough for all of them is enough for each.
        """
        rows = [row for row in self._posting.changes.rows.values() if row.product_id == product]
        places = {position.id: False for position in self.positions}
        demand = self._demands()[product]
        for goods in demand:
            fitting = [row for row in rows if goods.admits(row.batch_num, row.expiry_date)]
            qty = sum((qty for one, qty in demand.items() if goods.overlaps(one)), ZERO)
            if sum((part for _, part in stock.choose_rows(fitting, places, qty)), ZERO) < qty:
                return True
        return False
