"""Import of inventory counts: the counted quantities of stock.

A row is a stock adjustment, or with the code of an open count it fills a line of that.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.importer import Applied, ApplyOptions, CheckedGroup, Importer
from shared.integration.imports.kinds.reads_ahead import ReadsAhead
from shared.integration.imports.kinds.standard_columns import LINE_ITEM_CODE, LINE_UNIT, words_of
from shared.integration.imports.kinds.value_words import STATUSES, TITLES
from shared.kernel.db.actions import MAX_ACTIONS
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched
from shared.kernel.errors import Conflict, NotFound, Problem, StaleState
from shared.kernel.fields import Code, Measure, Moment, Reason
from shared.kernel.validation import Checked, InvalidBody, check, given_fields, problems_of
from shared.warehouse.counts import service as counts
from shared.warehouse.counts.models import GoodsCount
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
    Column(_WORDS, "count", aliases=("count code", "código de conteo")),
    Column(_WORDS, "counted_at", "datetime", aliases=("counted on",)),
)
_COUNT_CODE = re.compile(r"CN-([1-9]\d{0,17})", re.ASCII)
_ADJUSTMENT_FIELDS = ("expected_qty", "expiry_date", "reason")
"""Fields that a row for a count cannot have: posting the count knows what is expected."""
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
    count: Code | None = None
    counted_at: Moment | None = None


class StockCountImporter(Importer):
    """Adjusts stock to what was counted, or fills open counts.

    A row is one stock adjustment, or one line of a count: it is applied or rejected alone. An
    adjustment without a difference changes nothing.
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
        found = dict[int, Sequence[Problem]]()
        by_count: dict[str | None, list[int]] = {}
        for at, draft in enumerate(drafts):
            by_count.setdefault(draft.count, []).append(at)
        for code, rows in by_count.items():
            some = [drafts[at] for at in rows]
            if code is None:
                rules = LineRules(limit=None, dated_counts=True)
                results = examine_lines(tx, some, rules, adds=False)
                found |= {
                    at: [*_adjustment_problems(drafts[at]), *one.problems]
                    for at, one in zip(rows, results, strict=True)
                }
            else:
                found |= dict(zip(rows, _count(tx, code, some, adds=False), strict=True))
        _name_rows(drafts, found)
        return [
            # The fields have their problems already.
            CheckedGroup([one for one in found[at] if one not in problems_of(draft)])
            for at, draft in enumerate(drafts)
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
            if valid and draft.count != valid[0].count:
                break
            valid.append(draft)
        if code := valid[0].count:
            return [problems or True for problems in _count(tx, code, valid)]
        limit = settings_of(tx.company).approval_adjustment_qty
        rules = LineRules(
            limit=None if options.may_approve else limit,
            dated_counts=True,
            actions=MAX_ACTIONS - _OTHER_ACTIONS,
        )
        reads = options.ahead.reads if isinstance(options.ahead, _CountReads) else None
        results = add_lines(tx, valid, rules, reads)
        return [result.problems or True for result in results]


def _count(
    tx: Transaction, code: str, rows: Sequence[Checked[StockCount]], *, adds: bool = True
) -> list[list[Problem]]:
    """Fill lines of the count `code`; return the problems of the leading rows that were tried."""
    found = _COUNT_CODE.fullmatch(code)
    own = [_row_problems(row) for row in rows]
    number = int(found[1]) if found else 0
    try:
        whs_code = counts.stored_count(tx.store, number).entity.whs_code
        for row, problems in zip(rows, own, strict=True):
            if row.warehouse not in {None, whs_code}:
                problems.append(Problem("warehouse", f"{code} counts the warehouse {whs_code}"))
        goods = [_goods(row) for row in rows]
        if adds:
            first = own.index([]) if [] in own else len(own)
            if first:
                return own[:first]
            end = next((at for at, problems in enumerate(own) if problems), len(own))
            counted = counts.count_rows(tx, number, goods[:end])
        else:
            counted = counts.count_rows(tx, number, goods, adds=False)
    except NotFound:
        return [[*problems, Problem("count", f"no count has the code {code}")] for problems in own]
    except (Conflict, StaleState) as refused:
        return [[*problems, Problem("count", refused.message.rstrip("."))] for problems in own]
    return [
        [*problems, *(replace(one, field=_field(one.field)) for one in more)]
        for problems, more in zip(own, counted, strict=False)
    ]


def _name_rows(drafts: Sequence[Checked[StockCount]], found: dict[int, Sequence[Problem]]) -> None:
    """Let problems name the row whose goods they take for stock, as `lines` and its index."""
    serials = dict[tuple[str | None, str], int]()
    dates = dict[tuple[str | None, str | None], tuple[str, int]]()
    for at, draft in enumerate(drafts):
        if draft.serial and (first := serials.get((draft.item_code, draft.serial))) is not None:
            text = f"serial {draft.serial} is already in"
            place = f"{text} stock at {drafts[first].warehouse} {drafts[first].bin_code}"
            row = f"{text} lines.{first}.serial"
            found[at] = [
                replace(one, message=row) if one.message == place else one for one in found[at]
            ]
        if (dated := dates.get((draft.item_code, draft.batch))) is not None:
            date, first = dated
            start = f"batch {draft.batch} of {draft.item_code} is in stock with the expiry date"
            row = f"batch {draft.batch} has the expiry date {date} at lines.{first}.expiry_date"
            found[at] = [
                replace(one, message=row) if one.message.startswith(f"{start} {date},") else one
                for one in found[at]
            ]
        if found[at] or not draft.counted_qty:
            continue
        if draft.serial:
            serials.setdefault((draft.item_code, draft.serial), at)
        if draft.expiry_date:
            dates.setdefault((draft.item_code, draft.batch), (draft.expiry_date, at))


def _row_problems(row: Checked[StockCount]) -> list[Problem]:
    given = given_fields(row, [one for one in _ADJUSTMENT_FIELDS if one in row.model_fields_set])
    return [Problem(name, "is not allowed with count") for name in given]


def _adjustment_problems(row: Checked[StockCount]) -> list[Problem]:
    given = given_fields(row, ["counted_at"])
    return [Problem(name, "is only allowed with count") for name in given]


def _goods(row: Checked[StockCount]) -> Checked[GoodsCount]:
    """Return what a row counts, as a request to the count says it."""
    values = {
        "bin_code": row.bin_code, "item_code": row.item_code, "batch": row.batch,
        "serials": [row.serial] if row.serial else None, "qty": row.counted_qty,
        "unit": row.unit, "inventory_status": row.inventory_status, "counted_at": row.counted_at,
    }  # fmt: skip
    return check(GoodsCount, {name: value for name, value in values.items() if value is not None})


def _field(name: str) -> str:
    """Return the field of a row that a field of a counted line stands for."""
    head = name.partition(".")[0]
    return {"qty": "counted_qty", "serials": "serial", "": "count"}.get(head, head)


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
            bodies = self.bodies[start : self.end]
            drafts = [check(StockCount, body) for body in bodies if not body.get("count")]
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
