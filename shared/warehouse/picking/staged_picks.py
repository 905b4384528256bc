"""The stock changes of picks in one transaction: goods become staged stock at their position."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.lists.entity_pages import MAX_INDEX_LAG_MS
from shared.kernel.db.records import Record
from shared.kernel.db.steps import has_room
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Conflict, Problem, ServiceError, ValidationFailed
from shared.kernel.fields import ZERO, plain
from shared.warehouse.picking import rules
from shared.warehouse.picking.expiry import ExpiryRule
from shared.warehouse.picking.holders import allocating_pickings
from shared.warehouse.picking.models import (
    MAX_EXCHANGED,
    Pick,
    PickDraft,
    StoredPicking,
    picking_code,
)
from shared.warehouse.picking.pick_rules import PickPart
from shared.warehouse.picking.repository import PICKINGS
from shared.warehouse.picking.rules import Holder
from shared.warehouse.stock.models import (
    InventoryStatus,
    MovementCause,
    RowKey,
    StockRefused,
    StockRow,
)
from shared.warehouse.stock.posting import StockPosting


@dataclass(frozen=True, slots=True)
class PickPlan:
    """A valid pick and the allocations that it uses (`parts`).

    Goods of a part that is not exact are taken instead of the allocated ones. `expiry` says which
    goods may be taken.
    """

    draft: PickDraft
    product_id: int
    warehouse_id: int
    parts: Sequence[PickPart]
    expiry: ExpiryRule

    def row_key(self, status: InventoryStatus, part: PickPart) -> RowKey:
        """Return the key of a row at the position of the pick."""
        place = (self.product_id, self.warehouse_id, self.draft.bin_code)
        return RowKey(*place, status, self.draft.batch, part.serial)


class StagedPicks:
    """The stock changes of picks, and the allocations that they exchange with other pickings.

    `plans` are the picks by index; `staged` has, for each that is made, its parts and the rows that
    gained them.
    """

    def __init__(
        self, tx: Transaction, record: Record[StoredPicking], plans: Mapping[int, PickPlan]
    ) -> None:
        self._tx = tx
        self._record = record
        self._plans = plans
        self._posting = StockPosting(tx, cause=MovementCause(type="picking", id=record.id))
        self._exchange: _Exchange | None = None
        self.staged: dict[int, list[tuple[PickPart, StockRow]]] = {}

    def documents_of(self, picks: Collection[int]) -> set[int]:
        """Return the ids of the documents for which the picks with these indexes are."""
        lines = self._record.entity.lines
        return {lines[part.line].document_id for at in picks for part in self._plans[at].parts}

    def load(self, *, adds: bool) -> None:
        """Load the stock of the plans; `adds` is whether it will be changed."""
        plans = list(self._plans.values())
        parts = [(plan, part) for plan in plans for part in plan.parts]
        targets = [plan.row_key("staged", part) for plan, part in parts]
        targets += [plan.row_key("available", part) for plan, part in parts if not part.exact]
        self._posting.load(
            rows=list({part.allocation.stock_id for _, part in parts}),
            targets=targets,
            movements=len(parts) if adds else None,
            beside=lambda rows: plans[0].expiry.read_ahead(self._record.entity, rows),
        )

    def stage(
        self, cost: Callable[[Collection[int]], Cost], *, checks: bool
    ) -> dict[int, ServiceError]:
        """Make the leading picks that fit into the transaction; return why others are refused.

        `cost` returns what else the picks with these indexes take. With `checks`, all are tried.
        """
        posting, refused = self._posting, dict[int, ServiceError]()
        exchange = _Exchange.of(self._tx, posting, self._record.entity, list(self._plans.values()))
        full: list[Callable[[], None]] = []
        for at, plan in self._plans.items():
            points = [posting.changes.savepoint(), exchange.savepoint()]
            try:
                moved = _stage_parts(posting, self._record.entity, plan, exchange)
            except (ValidationFailed, Conflict) as error:
                refused[at] = error
                for roll_back in points:
                    roll_back()
                continue
            if full:
                continue
            others = cost([*self.staged, at]) + self._record.cost + exchange.cost()
            if self.staged and not has_room(self._tx, Cost(posting.planned_actions) + others):
                full = points
                if not checks:
                    break
                continue
            self.staged[at] = moved
        for roll_back in full:
            roll_back()
        self._exchange = exchange
        return refused

    def post(self) -> StoredPicking:
        """Add the changes to the transaction; return the picking afterwards."""
        posting, picking = self._posting, self._record.entity
        posting.post()
        if self._exchange:
            self._exchange.save(self._tx)
        for moved in self.staged.values():
            for part, row in moved:
                picking = rules.picked(picking, part, _stored_pick(posting, part, row))
        return picking


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The other pickings that have allocated serials of a pick, by the ids of their rows."""

    expiry: ExpiryRule
    holders: Mapping[int, Holder]
    records: Mapping[int, Record[StoredPicking]]
    after: dict[int, StoredPicking]
    """The other pickings after the exchange, by id."""

    @classmethod
    def of(
        cls,
        tx: Transaction,
        posting: StockPosting,
        picking: StoredPicking,
        plans: Collection[PickPlan],
    ) -> "_Exchange":
        """Find the pickings with which picks exchange allocations.

        Raises:
            StaleRead: The index does not show yet who has allocated a serial.
        """
        own = {one.stock_id for line in picking.lines for one in line.allocations}
        rows: dict[int, list[StockRow]] = {}
        for plan in plans:
            for part in plan.parts:
                row = _allocated_row(posting, plan, part)
                if row is not None and row.id not in own:
                    rows.setdefault(row.product_id, []).append(row)
        found = [one for of_product in rows.values() for one in
                 allocating_pickings(tx.store, of_product)]  # fmt: skip
        records = {record.id: record for record in found if record.id != picking.id}
        wanted = {row.id for of_product in rows.values() for row in of_product}
        holders = rules.holders_by_row(wanted, [record.entity for record in records.values()])
        if len(holders) < len(wanted) and tx.elapsed_ms < MAX_INDEX_LAG_MS:
            raise StaleRead
        return cls(next(iter(plans)).expiry, holders, records, {})

    def cost(self) -> Cost:
        """Return what the other pickings take of the transaction."""
        return sum((self.records[number].cost for number in self.after), Cost())

    def savepoint(self) -> Callable[[], None]:
        """Return a function that reverts every exchange made after this call."""
        before = dict(self.after)

        def roll_back() -> None:
            self.after.clear()
            self.after.update(before)

        return roll_back

    def give(self, row: StockRow, part: PickPart, allocated: StockRow) -> bool:
        """Give the allocation of a part to the picking that has allocated `row`, if one has.

        `allocated` is the row of that allocation.

        Raises:
            ValidationFailed: The order of that picking names serials, or its goods may not have
                the expiry date of the allocation.
        """
        holder = self.holders.get(row.id)
        if holder is None:
            return False
        other = self.after.get(holder.picking, self.records[holder.picking].entity)
        line, code = other.lines[holder.line], picking_code(other.id)
        refusal = self.expiry.picking_refusal(other, line, allocated)
        reason = f"{code} would get other goods, and {refusal}" if refusal else None
        if line.serials:
            reason = f"the order of {code} names it"
        if reason:
            message = f"serial {part.serial} cannot be picked: {reason}"
            raise ValidationFailed([Problem("serials", message)])
        self.after[other.id] = rules.with_exchanged(other, holder, part.allocation)
        return True

    def save(self, tx: Transaction) -> None:
        """Save the other pickings."""
        for number, picking in self.after.items():
            PICKINGS.save(tx, self.records[number], picking)


def _allocated_row(posting: StockPosting, plan: PickPlan, part: PickPart) -> StockRow | None:
    """Return the row of a serial that other work has allocated at the position of a part."""
    place = (part.allocation.bin_code, part.allocation.batch_num)
    if part.exact or part.serial is None or place != (plan.draft.bin_code, plan.draft.batch):
        return None
    key = plan.row_key("available", part)
    row = posting.changes.find(key)
    return row if row is not None and row.key == key and row.allocated else None


def _stage_parts(
    posting: StockPosting, picking: StoredPicking, plan: PickPlan, exchange: _Exchange
) -> list[tuple[PickPart, StockRow]]:
    """Move the parts of a pick to staged stock; raise ValidationFailed with all problems."""
    moved: list[tuple[PickPart, StockRow]] = []
    problems: dict[Problem, None] = {}
    before = set(exchange.after)
    for at, part in enumerate(plan.parts):
        try:
            moved.append((part, _stage_part(posting, picking, plan, at, exchange)))
        except ValidationFailed as error:
            problems |= dict.fromkeys(error.problems)
            if part.serial is None:
                break  # the problem is that of the whole quantity
    others = len(exchange.after.keys() - before)
    if others > MAX_EXCHANGED:
        message = (
            f"are allocated to {others} other pickings, at most {MAX_EXCHANGED} per line;"
            " pick fewer"
        )
        problems[Problem("serials", message)] = None
    if problems:
        raise ValidationFailed(list(problems))
    return moved


def _stage_part(
    posting: StockPosting, picking: StoredPicking, plan: PickPlan, at: int, exchange: _Exchange
) -> StockRow:
    """Move the part at index `at` of a pick from available to staged stock; return that row."""
    part = plan.parts[at]
    allocated = posting.row(part.allocation.stock_id)
    theirs = _allocated_row(posting, plan, part)
    is_allocated = True
    if part.exact:
        row = allocated
    elif theirs is not None and exchange.give(theirs, part, posting.with_date(allocated)):
        row = theirs
    else:
        posting.changes.release(allocated, part.qty)
        row = _free_row(posting, plan, at)
        is_allocated = False
    line, goods = picking.lines[part.line], posting.with_date(row)
    if refusal := plan.expiry.picking_refusal(picking, line, goods):
        field = "item_code" if plan.draft.batch is None else "batch"
        raise ValidationFailed([Problem(field, refusal)])
    staged = row.model_copy(update={"inventory_status": "staged"})
    try:
        moved = posting.changes.move(
            "pick", part.qty, source=row, target=staged, allocated=is_allocated
        )
    except StockRefused as refused:
        raise Conflict(f"The goods cannot be picked: {refused}.") from refused
    return moved or staged


def _free_row(posting: StockPosting, plan: PickPlan, at: int) -> StockRow:
    """Return the row of the goods that are picked instead of those of the part at index `at`.

    Messages count the whole pick: the parts before this one are taken from the row already.

    Raises:
        ValidationFailed: There are fewer at the position.
        Conflict: There are enough, but they are allocated to other work.
    """
    part = plan.parts[at]
    picked = plain(sum((one.qty for one in plan.parts), ZERO))
    taken = sum((one.qty for one in plan.parts[:at]), ZERO)
    # A serial has one row for all places.
    key = plan.row_key("available", part)
    row = posting.changes.find(key)
    here = row is not None and row.key == key
    if row is None or not here or row.qty < part.qty:
        if part.serial is not None:
            message = (
                f"serial {part.serial} is not available at {plan.draft.bin_code}: {_found(row)}"
            )
            raise ValidationFailed([Problem("serials", message)])
        there = plain(taken + (row.qty if row and here else ZERO))
        batch = "" if plan.draft.batch is None else f" of batch {plan.draft.batch}"
        message = f"{picked} picked, {there}{batch} in stock at {plan.draft.bin_code}"
        raise ValidationFailed([Problem("qty", message)])
    if row.qty - row.allocated < part.qty:
        exact = sum((one.qty for one in plan.parts if one.exact), ZERO)
        own = f"{plain(exact)} allocated to the picking and " if exact else ""
        free = plain(taken - exact + row.qty - row.allocated)
        raise Conflict(
            f"{picked} of {row.item_code} picked at {plan.draft.bin_code}, {own}{free} free there;"
            " the rest is allocated to other work."
        )
    return row


def _found(row: StockRow | None) -> str:
    """Return where a serial is; its row is that of the last place."""
    if row is None or not row.qty:
        return "it is not in stock"
    return f"it is {row.inventory_status} at {row.bin_code or 'no position'} in {row.whs_code}"


def _stored_pick(posting: StockPosting, part: PickPart, staged: StockRow) -> Pick:
    return Pick(
        staged_id=posting.row_id(staged),
        position_id=staged.position_id or 0,
        bin_code=staged.bin_code or "",
        batch_num=staged.batch_num,
        serial=part.serial,
        qty=part.qty,
        expiry_date=staged.expiry_date,
    )
