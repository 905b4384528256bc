"""Import of inventory counts: the counted quantities of stock, as stock adjustments make them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.column_words import STATUSES, TITLES
from shared.integration.imports.kinds.importer import Applied, ApplyOptions, CheckedGroup, Importer
from shared.integration.imports.kinds.reads_ahead import ReadsAhead
from shared.integration.imports.kinds.standard_columns import LINE_ITEM_CODE, LINE_UNIT, words_of
from shared.kernel.db.actions import MAX_ACTIONS
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched
from shared.kernel.fields import Code, Measure, Reason
from shared.kernel.validation import Checked, InvalidBody, check, problems_of
from shared.warehouse.settings.values import settings_of
from shared.warehouse.stock.adjustment_lines import LineReads, LineRules, add_lines, examine_lines
from shared.warehouse.stock.adjustment_models import AdjustmentFields

_WORDS = words_of("stock_counts")
_COLUMNS = (
    Column(
        _WORDS,
        "warehouse",
        required=True,
        synonyms=("warehouse code", "código de almacén"),
        aliases=("whs code",),
    ),
    Column(_WORDS, "bin_code", required=True, aliases=("bin", "location", "posición")),
    Column(
        _WORDS,
        "item_code",
        required=True,
        synonyms=LINE_ITEM_CODE.synonyms,
        aliases=LINE_ITEM_CODE.aliases,
    ),
    Column(_WORDS, "batch", synonyms=("batch num",), aliases=("lot",)),
    Column(_WORDS, "serial", aliases=("serie",)),
    Column(
        _WORDS,
        "inventory_status",
        choices=[*STATUSES.values()],
        keys=[*STATUSES],
        aliases=("status", "estado"),
    ),
    Column(
        _WORDS,
        "counted_qty",
        "decimal",
        required=True,
        aliases=("counted", "quantity", "qty", "contado", "cantidad"),
    ),
    Column(_WORDS, "expected_qty", "decimal", aliases=("expected", "esperado")),
    Column(_WORDS, "expiry_date", "date", aliases=("expiry", "fecha de vencimiento", "caducidad")),
    Column(_WORDS, "unit", synonyms=LINE_UNIT.synonyms, aliases=LINE_UNIT.aliases),
    Column(_WORDS, "reason"),
)
_OTHER_ACTIONS = 8
"""Actions of a transaction besides those of the rows, which are counted exactly: the import, the
claim of its request, the events, the totals of the stock and of one warehouse, the place in a
queue, and one to spare."""
_READ_AT_ONCE = 500
"""Rows whose stock is read together. With more of them, more have changed when they are applied."""


class StockCount(AdjustmentFields):
    """A row: the counted quantity of one stock."""

    item_code: Code
    warehouse: Code
    bin_code: Code
    counted_qty: Measure
    reason: Reason = "inventory count"


class StockCountImporter(Importer):
    """Adjusts stock to what was counted.

    A row is one stock adjustment: it is applied or rejected alone. A row without a difference
    changes nothing.
    """

    layout = FileLayout(
        TITLES["stock_counts"],
        _COLUMNS,
        distinct_fields={
            "item_code": None,
            "warehouse": None,
            "bin_code": None,
            "batch": "",
            "serial": "",
            "inventory_status": "available",
        },
        has_metadata=False,
    )
    model = StockCount
    most_groups: ClassVar[int] = 40

    def validate_all(
        self, tx: Transaction, drafts: Sequence[Checked[StockCount]], options: ApplyOptions
    ) -> Sequence[CheckedGroup]:
        """See Importer. Whether a row needs an approval depends on who commits it."""
        del options
        results = examine_lines(tx, drafts, LineRules(limit=None, dated_counts=True), adds=False)
        return [
            # The fields have their problems already.
            CheckedGroup([one for one in result.problems if one not in problems_of(draft)])
            for draft, result in zip(drafts, results, strict=True)
        ]

    def reads_ahead(self, store: Store, bodies: Sequence[Mapping[str, object]]) -> ReadsAhead:
        """See Importer."""
        return _CountReads(store, bodies)

    def apply_leading(
        self, tx: Transaction, drafts: Sequence[Checked[StockCount]], options: ApplyOptions
    ) -> Sequence[Applied]:
        """See Importer. A row above the limit of approvals needs a user who may grant them."""
        valid: list[StockCount] = []
        for draft in drafts:
            if isinstance(draft, InvalidBody):
                if not valid:
                    return [draft.problems]
                break
            valid.append(draft)
        limit = settings_of(tx.company).approval_adjustment_qty
        rules = LineRules(
            limit=None if options.may_approve else limit,
            dated_counts=True,
            actions=MAX_ACTIONS - _OTHER_ACTIONS,
        )
        reads = options.ahead.reads if isinstance(options.ahead, _CountReads) else None
        results = add_lines(tx, valid, rules, reads)
        return [result.problems or True for result in results]


@dataclass(slots=True)
class _CountReads:
    """What the rows of a part file read: for all rows before `end`."""

    store: Store
    bodies: Sequence[Mapping[str, object]]
    reads: LineReads = field(default_factory=lambda: LineReads(takes_unused_as_new=True))
    end: int = 0

    def for_step(self, start: int) -> Prefetched:
        """See ReadsAhead."""
        if self.end < min(len(self.bodies), start + StockCountImporter.most_groups):
            self.end = max(self.end, start) + _READ_AT_ONCE
            drafts = [check(StockCount, body) for body in self.bodies[start : self.end]]
            self.reads.read(self.store, drafts)
            self.reads.allocate_ids(self.store, drafts)
        return self.reads.prefetched

    def end_step(self, tx: Transaction, *, retried: bool) -> None:
        """See ReadsAhead."""
        self.reads.committed(tx)
        if retried:
            self.reads.clear()
            self.reads.takes_unused_as_new = False
            self.end = 0
