"""Many stock adjustments in few transactions and few reads.

`examine_lines` tells what is wrong with them. `add_lines` adds as many of them as fit into a
transaction, in their order: each sees the stock as those before it have left it. What they read is
read for many at once (`LineReads`) and kept from one transaction to the next: each transaction is
conditioned on what was read: on versions, on missing items and on the fence.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from shared.identity.audit import service as audit
from shared.identity.audit.models import Actor
from shared.identity.audit.repository import AUDIT
from shared.kernel import references
from shared.kernel.db.actions import Cost
from shared.kernel.db.counters import fenced_shards, shard_key
from shared.kernel.db.items import Item, Key
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.sequences import allocate_ids
from shared.kernel.db.store import Store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import Prefetched
from shared.kernel.errors import Conflict, Problem, ServiceError, StaleState, ValidationFailed
from shared.kernel.fields import ZERO, json_number
from shared.kernel.validation import Checked, InvalidBody, problems_of
from shared.warehouse.approvals.need import ApprovalNeed
from shared.warehouse.catalog.service import product_key
from shared.warehouse.catalog.unit_quantities import in_base_units
from shared.warehouse.master_data.named_codes import NamedCodes
from shared.warehouse.stock.adjustment_models import AdjustmentFields, AdjustmentLine
from shared.warehouse.stock.adjustment_rules import adjustment_problems, is_correction
from shared.warehouse.stock.adjustments import (
    AUDITED_FIELDS,
    QUANTITIES,
    HoldersOf,
    MadeAdjustment,
    PlannedAdjustment,
    approval_need,
    make_adjustment,
    method_of,
    plan_adjustment,
    stock_there,
)
from shared.warehouse.stock.batches import Batch, batch_from_rows, lot_of
from shared.warehouse.stock.models import Lot, RowKey
from shared.warehouse.stock.posting import (
    StockPosting,
    arrival_keys,
    fence_master_data,
    new_entities,
)
from shared.warehouse.stock.repository import MOVEMENTS, STOCK, TOTALS, batch_key, row_key
from shared.warehouse.warehouses.service import position_key, warehouse_key

_AT_ONCE = 100
"""Most adjustments that one transaction tries; one that changes nothing takes no action."""
_IN_ONE_READ = 100
"""Most keys that DynamoDB reads in one call."""
_LEAST_AT_ONCE = 7
"""Fewest adjustments that fill a transaction."""
_AUDIT_COST = Cost(2)
"""Cost of the entry of the audit log, with the totals of the log."""
_COUNTERS = 2
"""Actions for the totals of a warehouse: of its stock rows, and of its levels."""

type LineCode = Literal["invalid", "stale_state", "conflict", "approval_required"]
type MayExceed = Callable[[int, MadeAdjustment], bool]
"""Returns whether the adjustment at an index may change more units than the limit."""


@dataclass(frozen=True, slots=True)
class LineRules:
    """The rules by which adjustments are refused.

    `limit` is the number of units that may change without an approval; `may_exceed` returns for
    which adjustments it does not count. With `dated_counts`, a counted quantity may have the expiry
    date of the goods that it adds. `holders_of` names the work to which stock is allocated.
    `actions` is how many actions of a transaction the adjustments may take, by default those of a
    step (`shared.kernel.db.steps`).
    """

    limit: Decimal | None
    dated_counts: bool = False
    may_exceed: MayExceed = lambda _at, _made: False
    holders_of: HoldersOf = lambda _row: None
    actions: int | None = None


@dataclass(frozen=True, slots=True)
class LineResult:
    """The result of an adjustment; if it is refused, `code` and the problems of its fields.

    `made` has the goods and their quantities before and after, which are equal if the adjustment is
    refused; None if it names no stock. `movement_id` is known once the stock is posted. `need` says
    for which quantities an approval is required.
    """

    problems: Sequence[Problem] = ()
    code: LineCode | None = None
    made: MadeAdjustment | None = None
    moved: bool = False
    movement_id: int | None = None
    need: ApprovalNeed | None = None

    @property
    def before(self) -> Decimal:
        """Quantity in stock before the adjustment."""
        return self.made.before if self.made else ZERO

    @property
    def after(self) -> Decimal:
        """Quantity in stock after the adjustment."""
        return self.made.after if self.made else ZERO

    @property
    def adjustment(self) -> AdjustmentLine | None:
        """The adjustment as it is shown, `stale` if it is refused."""
        if self.made is None:
            return None
        status = "stale" if self.code else "applied"
        return AdjustmentLine.from_stored(
            self.made.goods, status=status, **self.made.shown(self.movement_id)
        )


@dataclass(slots=True)
class LineReads:
    """What many adjustments read: items by key (None: does not exist), and ids by sequence.

    Use one for all transactions of a request or an import. Call `committed` after each, and `clear`
    before one that is retried.
    """

    items: dict[Key, Item | None] = field(default_factory=dict)
    ids: dict[str, list[int]] = field(default_factory=dict)
    batches: dict[Lot, Batch] = field(default_factory=dict)
    """Those that are not stored."""
    actor: Actor | None = None
    takes_unused_as_new: bool = False
    """Whether products with unused codes are assumed to have no total, which saves reading it. If a
    transaction finds one, set this to False before the retry."""

    @property
    def prefetched(self) -> Prefetched:
        """Items and ids for the first attempt of a transaction."""
        return Prefetched(self.items, {kind: list(ids) for kind, ids in self.ids.items()})

    def read(self, store: Store, drafts: Sequence[Checked[AdjustmentFields]]) -> None:
        """Read what adjustments need and is not read yet, 100 items in a call."""
        # Whatever shard a transaction uses, its fence is older than the master data.
        self._read(store, (shard_key(STOCK.kind, shard) for shard in fenced_shards()))
        self._read(store, _codes(drafts).keys)
        targets = [target for draft in drafts for target in self._targets(draft)]
        keys = {key for target in targets for key in arrival_keys([target])}
        totals = {TOTALS.key(target.product_id) for target in targets}
        if len(keys) > _IN_ONE_READ:
            if self.takes_unused_as_new:
                aliases = (
                    self.items[product_key(one.item_code)] for one in drafts if one.item_code
                )
                unused = (alias for alias in aliases if alias and references.UNUSED in alias)
                for alias in unused:
                    self.items.setdefault(TOTALS.key(int(alias["id"])), None)
            self._read(store, totals)
            # A product without a total never had stock; the transaction is conditioned on that.
            new = [one for one in targets if self.items[TOTALS.key(one.product_id)] is None]
            for key in arrival_keys(new):
                self.items.setdefault(key, None)
        self._read(store, keys)
        rows = (self.items[row_key(target)] for target in targets)
        self._read(store, (STOCK.key(int(alias["id"])) for alias in rows if alias))
        lots = {lot for target in targets if (lot := lot_of(target))} - self.batches.keys()
        self._derive(store, [lot for lot in sorted(lots) if self.items[batch_key(lot)] is None])

    def _derive(self, store: Store, lots: Sequence[Lot]) -> None:
        """Add batches that are not stored: from their rows, or new ones if there is no total."""
        new = [lot for lot in lots if self.items[TOTALS.key(lot[0])] is None]
        old = [lot for lot in lots if self.items[TOTALS.key(lot[0])] is not None]
        self.batches.update((lot, Batch(lot, is_out=True)) for lot in new)
        found = map_concurrently(lambda lot: batch_from_rows(store, lot), old)
        self.batches.update(zip(old, found, strict=True))

    def allocate_ids(self, store: Store, drafts: Sequence[Checked[AdjustmentFields]]) -> None:
        """Allocate the ids that adjustments may take, in one call for each sequence.

        Call `read` before. Without this call, each transaction allocates its own ids.
        """
        targets = [target for draft in drafts for target in self._targets(draft)]
        needed = {
            **new_entities(targets, self.items),
            MOVEMENTS.kind: len(drafts),
            AUDIT.kind: 1 + len(drafts) // _LEAST_AT_ONCE,
        }
        for kind, count in needed.items():
            ids = self.ids.setdefault(kind, [])
            if (missing := count - len(ids)) > 0:
                first = allocate_ids(store, kind, missing)
                ids += range(first, first + missing)

    def _read(self, store: Store, keys: Iterable[Key]) -> None:
        missing = [key for key in dict.fromkeys(keys) if key not in self.items]
        if missing:
            found = store.get_many(missing)
            self.items.update((key, found.get(key)) for key in missing)

    def _targets(self, draft: Checked[AdjustmentFields]) -> list[RowKey]:
        """Return the keys of the rows that an adjustment may change, if its codes exist."""
        code, whs_code, bin_code = draft.item_code, draft.warehouse, draft.bin_code
        if not (code and whs_code and bin_code):
            return []
        product, warehouse = (
            self.items.get(key) for key in (product_key(code), warehouse_key(whs_code))
        )
        position = self.items.get(position_key(whs_code, bin_code))
        if not (product and warehouse and position):
            return []
        statuses = [draft.inventory_status or "available", draft.to_status]
        ids = int(product["id"]), int(warehouse["id"])
        return [
            RowKey(*ids, bin_code, status, draft.batch, draft.serial)
            for status in statuses
            if status
        ]

    def committed(self, tx: Transaction) -> None:
        """Take over what a committed transaction has written, and drop the ids that it has used."""
        for key, item in tx.written_items.items():
            before = self.items.get(key)
            if before and references.UNUSED in before:
                self.items[key] = references.used(before)
            elif item is not None and key in self.items:
                self.items[key] = item
            else:
                self.items.pop(key, None)
        for kind, ids in self.ids.items():
            del ids[: tx.ids_taken(kind)]

    def clear(self) -> None:
        """Forget the items: one of them has changed since it was read."""
        self.items.clear()
        self.batches.clear()


def _codes(drafts: Sequence[Checked[AdjustmentFields]]) -> NamedCodes:
    return NamedCodes(
        products=(draft.item_code for draft in drafts),
        warehouses=(draft.warehouse for draft in drafts),
        positions=((draft.warehouse, draft.bin_code) for draft in drafts),
    )


def examine_lines(
    tx: Transaction,
    drafts: Sequence[Checked[AdjustmentFields]],
    rules: LineRules,
    reads: LineReads | None = None,
    *,
    adds: bool = True,
) -> list[LineResult]:
    """Return what adjustments would do, one after the other, and every problem of each.

    Nothing is added to the transaction but its fence. `adds` is whether `add_lines` follows in
    the transaction, for which ids are reserved.
    """
    lines = _Lines(tx, drafts, rules, reads or LineReads(), adds=adds)
    return [lines.make(at) for at in range(len(drafts))]


def add_lines(
    tx: Transaction,
    drafts: Sequence[AdjustmentFields],
    rules: LineRules,
    reads: LineReads | None = None,
) -> list[LineResult]:
    """Add the leading adjustments that fit into the transaction; return the result of each.

    At least one is done. Those that are refused add nothing. The others have one entry of the
    audit log together.
    """
    reads = reads or LineReads()
    lines = _Lines(tx, drafts[:_AT_ONCE], rules, reads)
    posting, results = lines.posting, list[LineResult]()

    def add(at: int) -> None:
        results.append(lines.make(at))

    def others() -> Cost:
        moved = [at for at, result in enumerate(results) if result.moved]
        uses = [item for item in lines.codes_of(moved) if references.UNUSED in item]
        # A step has room for the counters of one warehouse anyway.
        counters = _COUNTERS * max(0, len({drafts[at].warehouse for at in moved}) - 1)
        return Cost(len(uses) + counters) + (_AUDIT_COST if moved else Cost())

    count = range(len(lines.planned))
    added = posting.add_while_fitting(count, add, others, rules.actions)
    del results[len(added) :]
    posting.post()
    numbers = iter(posting.movement_ids)
    results = [replace(one, movement_id=next(numbers)) if one.moved else one for one in results]
    moved = [at for at, one in enumerate(results) if one.moved]
    if moved:
        reads.actor = reads.actor or audit.actor_of(tx)
        _record(tx, [one.adjustment for one in results if one.moved], reads.actor)
        references.record_use(tx, lines.codes_of(moved), is_planned=True)
    return results


class _Lines:
    """Adjustments whose stock is read, to be made one after the other in one transaction."""

    def __init__(
        self,
        tx: Transaction,
        drafts: Sequence[Checked[AdjustmentFields]],
        rules: LineRules,
        reads: LineReads,
        *,
        adds: bool = True,
    ) -> None:
        self._rules = rules
        tx.store.add_to_cache(reads.items)
        reads.read(tx.store, drafts)
        fence_master_data(tx)
        codes = _codes(drafts)
        self._found = {key: item for key in codes.keys if (item := reads.items.get(key))}
        known = codes.known(tx, self._found)
        self._today = tx.company.today
        self.planned: list[PlannedAdjustment | list[Problem]] = []
        for draft in drafts:
            if misplaced := list(_other_kind(draft, rules)):
                self.planned.append(misplaced)
                continue
            base = in_base_units(draft, self._found, QUANTITIES)
            found = adjustment_problems(base, known, dated_counts=rules.dated_counts)
            problems = [*problems_of(base), *found]
            if isinstance(base, InvalidBody) or problems:
                self.planned.append(problems)
            else:
                self.planned.append(plan_adjustment(base, known, tx.now))
        valid = [one for one in self.planned if isinstance(one, PlannedAdjustment)]
        self.posting = StockPosting(tx)
        targets = [target for one in valid for target in one.targets]
        is_refused = len(valid) < len(self.planned)
        movements = 0 if is_refused else len(valid)
        self.posting.load(
            targets=targets, movements=movements if adds else None, batches=reads.batches
        )

    def codes_of(self, lines: Iterable[int]) -> list[Item]:
        """Return the aliases of the codes that these adjustments name."""
        drafts = [
            one.draft for at in lines if isinstance(one := self.planned[at], PlannedAdjustment)
        ]
        return [self._found[key] for key in _codes(drafts).keys]

    def make(self, at: int) -> LineResult:
        """Make the stock change of one adjustment, or return why it is refused."""
        planned, changes, rules = self.planned[at], self.posting.changes, self._rules
        if not isinstance(planned, PlannedAdjustment):
            return LineResult(planned, "invalid")
        row, before = stock_there(self.posting, planned.here)
        roll_back, moved = changes.savepoint(), len(changes.movements)
        unchanged = MadeAdjustment(planned, row or planned.here, before, before)
        try:
            made = make_adjustment(self.posting, planned, self._today, rules.holders_of)
        except (ValidationFailed, StaleState, Conflict) as refused:
            roll_back()
            field = method_of(planned.draft)
            problems = refused.problems or [Problem(field, refused.message.rstrip("."))]
            return LineResult(problems, _CODES[type(refused)], unchanged)
        exceeds = rules.limit is not None and abs(made.after - before) > rules.limit
        if rules.limit is not None and exceeds and not rules.may_exceed(at, made):
            roll_back()
            need = approval_need(made, rules.limit)
            problem = Problem(method_of(planned.draft), need.message.rstrip("."))
            return LineResult([problem], "approval_required", unchanged, need=need)
        return LineResult(made=made, moved=len(changes.movements) > moved)


def _other_kind(draft: Checked[AdjustmentFields], rules: LineRules) -> Iterator[Problem]:
    """Yield a problem if a draft is not an adjustment of a quantity."""
    yield from (one for one in problems_of(draft) if not one.field)
    if is_correction(draft) and not rules.dated_counts:
        yield Problem("expiry_date", "is corrected by a request of its own, without lines")


_CODES: Mapping[type[ServiceError], LineCode] = {
    ValidationFailed: "invalid",
    StaleState: "stale_state",
    Conflict: "conflict",
}


def _record(tx: Transaction, made: Sequence[AdjustmentLine | None], actor: Actor) -> None:
    """Add the entry of the audit log for the adjustments of a transaction that moved stock."""
    lines = [
        {
            "movement_id": one.movement_id,
            "qty": {
                "from": json_number(one.qty_before or ZERO),
                "to": json_number(one.qty_after or ZERO),
            },
            "reason": one.reason,
            **{name: value for name in AUDITED_FIELDS if (value := getattr(one, name)) is not None},
        }
        for one in made
        if one
    ]
    audit.record(
        tx, "stock.adjusted", "stock_movement", None, details={"lines": lines}, actor=actor
    )
