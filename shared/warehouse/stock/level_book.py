"""The levels and totals that one transaction changes: each is written once, at the commit.

Two things change a level: stock that moves (`StockPosting`), and the shares of entities such as
documents, each a quantity that an entity adds to the levels of its products while it is open
(`add_shares`). The book adds up both.

Shares of more products than the transaction has room for are prepared. Transactions before it add
the changes of its other levels to them as `pending`, where they count for nothing. The transaction
inserts its mark, and from then on all of them count. Transactions after it add them to the figures.
When the transaction is refused, its mark is inserted as aborted, and another attempt prepares again
under another name. A request that dies leaves pending changes behind: with a mark they count, and
the next writer of the level adds them; without one, the next writer after a minute drops them, and
inserts the mark as aborted, so that the request commits nothing any more. A later attempt of the
same use case does so at once, also one of the request that repeats it: `level_marks.use_case_of`.

What pending changes wait for is in `level_marks`, adding them to the figures in `level_settling`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Decimal

from shared.kernel.db.actions import Cost, StaleRead
from shared.kernel.db.parallel import map_concurrently
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Problem, StaleState
from shared.kernel.fields import ZERO, plain
from shared.kernel.observability import logger
from shared.warehouse.stock import level_rules
from shared.warehouse.stock.free_rows import NO_ROWS, SeenRows, rows_to_name
from shared.warehouse.stock.level_marks import (
    abort,
    is_abandoned,
    is_full,
    left_marks,
    new_mark,
    new_name,
    sellable,
    states_of,
    use_case_of,
)
from shared.warehouse.stock.level_rules import LevelChange
from shared.warehouse.stock.level_settling import (
    SETTLE_SECONDS,
    StoredLevels,
    are_shares_shown,
    fold,
    ids_of,
    level_keys,
    parts_of,
    products_of,
    raise_level_event,
    settle,
)
from shared.warehouse.stock.models import (
    MAX_HOLDS,
    SHARES_SINCE,
    HeldQuantity,
    LevelPlace,
    PendingShares,
    Place,
    StoredLevel,
)
from shared.warehouse.stock.repository import LEVELS, TOTALS, level_id

_RETRY_MS = 1_500
"""How long a level that disagrees with the rows is treated as a stale read and retried."""
MOST_SMALL = 30
"""Most products whose shares are changed within the transaction itself."""
_LEVEL_BYTES = 1_000

_WAIT_MS = 2_000
"""How long to wait for other transactions of which what can be sold depends, from the first try."""

type LevelShares = Iterable[tuple[LevelPlace, str, Decimal]]
"""What an entity adds to levels: the place, the name of the share, and the quantity."""
type TakenMore = tuple[LevelPlace, Decimal, str | None]
"""The level of a line of a request, by how much the line raises what is taken of what can be sold,
and the field that says so: None of a line that lowers it."""


def add_shares[E](
    shares: Callable[[E], LevelShares],
) -> Callable[[Transaction, E | None, E | None], None]:
    """Return the `add_shares` of a collection whose entities have these shares of levels."""

    def add(tx: Transaction, before: E | None, after: E | None) -> None:
        book = LevelBook.of(tx)
        for entity, sign in ((after, 1), (before, -1)):
            for place, name, qty in shares(entity) if entity is not None else ():
                book.add_share(place, name, sign * qty)

    return add


def add_held[E](
    held: Callable[[E], Iterable[tuple[LevelPlace, HeldQuantity]]],
) -> Callable[[Transaction, E | None, E | None], None]:
    """Return the `add_shares` of a collection whose entities hold these quantities of levels."""

    def add(tx: Transaction, before: E | None, after: E | None) -> None:
        book = LevelBook.of(tx)
        for entity, sign in ((after, 1), (before, -1)):
            for place, hold in held(entity) if entity is not None else ():
                book.add_hold(place, hold, sign)

    return add


class LevelBook:
    """The changes of levels in one transaction: its `GatheredChanges`."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._changes: dict[Place, LevelChange] = {}
        self._of_stock: set[Place] = set()
        """Levels whose stock changes."""
        self._seen_rows: dict[Place, SeenRows] = {}
        """The rows of these levels, as far as they were read."""
        self.due_later: set[Place] = set()
        """Levels whose events are left to later steps, if they change."""
        self._limited: set[Place] = set()
        """Levels whose `sellable` must not fall below 0 by the changes."""
        self._use_case = use_case_of(tx)
        self._name: str | None = None
        self._prepared: list[Place] = []

    @classmethod
    def of(cls, tx: Transaction) -> "LevelBook":
        """Return the book of a transaction."""
        book = tx.gathered.get(LEVELS.kind)
        if not isinstance(book, LevelBook):
            book = tx.gathered[LEVELS.kind] = cls(tx)
        return book

    def add_stock(self, change: LevelChange, seen: SeenRows) -> None:
        """Add a change of stock; `seen` are the rows of the level after it."""
        place = change.place
        ids = (place.product_id, place.warehouse_id)
        former = self._changes.get(ids)
        self._changes[ids] = LevelChange(place)
        for one in (former, change) if former else (change,):
            self._changes[ids].add(one.amounts)
            self._changes[ids].add_holds(one.holds)
        self._of_stock.add(ids)
        self._seen_rows[ids] = seen.and_others(self._seen_rows.get(ids))

    def add_share(self, place: LevelPlace, name: str, qty: Decimal) -> None:
        """Add a change of a share."""
        ids = (place.product_id, place.warehouse_id)
        self._changes.setdefault(ids, LevelChange(place)).add({name: qty})

    def add_hold(self, place: LevelPlace, hold: HeldQuantity, number: int) -> None:
        """Add so many entries of a hold; a negative number is removed."""
        ids = (place.product_id, place.warehouse_id)
        self._changes.setdefault(ids, LevelChange(place)).add_holds({hold: number})

    def limit(
        self, lines: Iterable[TakenMore], *, commits: bool = True, holds: bool = False
    ) -> list[Problem]:
        """Return the problems of taking more than can be sold, for each field that takes some.

        The lines of a request that `holds` them are also refused beyond MAX_HOLDS.

        Without problems, the caller adds the changes, and the commit depends on what was found.
        With `commits` False it adds none; then what others have prepared counts for nothing.

        Raises:
            StaleRead: It depends on a transaction that is under way.
            UnservedTable: The levels do not show what can be sold before an upgrade.
        """
        tx = self._tx
        tx.store.ensure_version(SHARES_SINCE, "What can be sold")
        by_place: dict[Place, list[TakenMore]] = {}
        for line in lines:
            by_place.setdefault((line[0].product_id, line[0].warehouse_id), []).append(line)
        levels = self._read_levels(by_place)
        states = states_of(tx.store, levels.values())
        problems, waits = list[Problem](), False
        for ids, of_place in by_place.items():
            if holds and is_full(levels.get(ids), states, self._is_ended, tx.now_ms):
                message = f"{MAX_HOLDS} active holds have {_names(of_place)}; more are not allowed"
                problems += [Problem(name, message) for _, _, name in of_place if name]
                continue
            qty = sum((more for _, more, _ in of_place), ZERO)
            former = self._changes.get(ids)
            in_book = level_rules.taken(former, tx.now_ms) if former else ZERO
            most, least = sellable(levels.get(ids), states, self._is_ended, tx.now_ms)
            can_be = max(ZERO, (least if commits else most) - in_book)
            if qty <= can_be:
                self._limited.add(ids)
                continue
            waits |= commits and qty <= most - in_book
            message = f"{plain(qty)} requested, {plain(can_be)} can be sold of {_names(of_place)}"
            problems += [Problem(name, message) for _, _, name in of_place if name]
        if waits and tx.elapsed_ms < _WAIT_MS:
            raise StaleRead
        return problems

    def _read_levels(self, places: Collection[Place]) -> dict[Place, StoredLevel]:
        """Read levels, with what `write` reads of small changes."""
        is_large = len({product for product, _ in places}) > MOST_SMALL
        keys = [LEVELS.key(level_id(*one)) for one in places] if is_large else level_keys(places)
        found = self._tx.store.get_many(keys)
        records = {one: LEVELS.from_items(found, level_id(*one)) for one in places}
        return {one: record.entity for one, record in records.items() if record}

    @property
    def item_codes(self) -> set[str]:
        """The codes of the products whose levels are changed."""
        return {one.place.item_code for one in self._changes.values()}

    def cost(self) -> Cost:
        """See GatheredChanges."""
        changes = [one for one in self._changes.values() if not one.is_empty]
        others = [one for one in changes if ids_of(one) not in self._of_stock]
        is_large = len(products_of(others)) > MOST_SMALL
        if is_large:
            changes = [one for one in changes if ids_of(one) in self._of_stock]
        count = len(changes) + len(products_of(changes)) + is_large  # the mark
        return Cost(count, count * _LEVEL_BYTES)

    def write(self) -> None:
        """See GatheredChanges."""
        tx = self._tx
        changes = [self._changes[ids] for ids in sorted(self._changes)]
        changes = [one for one in changes if not one.is_empty]
        others = [one for one in changes if ids_of(one) not in self._of_stock]
        # Levels and totals; less than there is room for, because the events may take an item.
        fits = len(changes) + len(products_of(changes)) < tx.free_actions
        if len(products_of(others)) > MOST_SMALL or (others and not fits):
            self._prepare(others)
            changes = [one for one in changes if ids_of(one) in self._of_stock]
        if changes:
            self._write(changes)

    def committed(self) -> None:
        """See GatheredChanges."""
        if self._name is None:
            return
        # The changes count already; what is not done here, later writers of the levels do.
        store = self._tx.store.beside_claim()
        try:
            fold(store, self._name, self._prepared)
            if store.deadline.remaining > SETTLE_SECONDS:
                for name in left_marks(store, most=1):
                    settle(store, name)
        except Exception:  # noqa: BLE001 - the change is committed, whatever happens here
            logger.warning("pending changes of levels are left", exc_info=True)

    def refused(self) -> None:
        """See GatheredChanges; the next writers of the levels drop the pending changes."""
        if self._name is None:
            return
        # Without a mark, they are dropped after a minute. One that is committed after all stays.
        tx = Transaction(self._tx.store.beside_claim())
        abort(tx, self._name)
        try:
            tx.commit()
        except Exception:  # noqa: BLE001 - the caller gets the error of the change
            logger.warning("pending changes of levels are not aborted", exc_info=True)

    def _write(self, changes: Sequence[LevelChange]) -> None:
        tx = self._tx
        levels = StoredLevels(tx, map(ids_of, changes))
        levels.reserve_ids()
        settled = levels.settle(self._is_ended)
        for change in changes:
            ids = ids_of(change)
            before = settled(levels.level_of(change))
            level = self._changed(change, before, of_stock=ids in self._of_stock)
            event_due = ids in self.due_later
            named = rows_to_name(before, level, self._seen_rows.get(ids, NO_ROWS))
            level = level.model_copy(update={"event_due": event_due, "free_rows": named})
            written = levels.put_level(change, level)
            is_shown = ids in self._of_stock or are_shares_shown(tx)
            if is_shown and not event_due:
                raise_level_event(tx, written)
        moved = {product for product, _ in self._of_stock}
        for change in level_rules.total_changes(changes):
            total = settled(levels.total_of(change))
            of_stock = change.place.product_id in moved
            levels.put_total(change, self._changed(change, total, of_stock=of_stock))

    def _changed(self, change: LevelChange, level: StoredLevel, *, of_stock: bool) -> StoredLevel:
        """Return a level after a change.

        Raises:
            StaleRead: Rows, or a hold, are older than the level.
            StaleState: A hold has expired for another request, whose clock is ahead of this one.
        """
        try:
            return level_rules.apply_level_change(level, change, self._tx.now_ms, of_stock=of_stock)
        except level_rules.NegativeLevel as error:
            # A commit between the two reads can show in the level and not yet in the rows.
            if self._tx.elapsed_ms < _RETRY_MS:
                raise StaleRead from error
            raise
        except level_rules.HoldExpired as error:
            raise _hold_expired(self._tx, error.change) from None

    def _prepare(self, changes: Sequence[LevelChange]) -> None:
        """Commit changes as pending ones, and add the mark that makes them count."""
        tx = self._tx
        by_place = {ids_of(one): one for one in changes}
        name = self._name = new_name(self._use_case)
        self._prepared = list(by_place)
        store = tx.store.beside_claim()

        def prepare(places: Sequence[Place]) -> bool:
            part = [by_place[place] for place in places]
            try:
                return run_transaction(
                    store, lambda own: self._add_pending(own, name, part), caller=tx.caller
                )
            except level_rules.HoldExpired as error:
                # Not within the transaction above: it reads its levels again, but not the hold.
                raise _hold_expired(tx, error.change) from None

        if not all(map_concurrently(prepare, list(parts_of(by_place)))):
            raise StaleRead  # others have taken it since `limit`, or are about to
        store.keep_claim()
        tx.insert(new_mark(name, tx.now, by_place))
        # The totals of products whose stock changes, too, are written below.
        totals = [TOTALS.key(one) for one in products_of(changes)]
        tx.store.get_many((key for key in totals if tx.store.is_cached(key)), uncached=True)

    def _add_pending(self, tx: Transaction, name: str, part: Sequence[LevelChange]) -> bool:
        """Add changes to their levels and totals as pending ones; no figure changes.

        Return False, and add nothing, if a level would fall below its limit.
        """
        tx.store.keep_claim()
        levels = StoredLevels(tx, map(ids_of, part))
        levels.reserve_ids()
        for change in part:
            if ids_of(change) in self._limited:
                record = levels.levels[ids_of(change)]
                level = record.entity if record else None
                least = sellable(level, levels.states, self._is_ended, tx.now_ms)[1]
                if level_rules.taken(change, tx.now_ms) > max(ZERO, least):
                    return False
                if change.new_holds and is_full(level, levels.states, self._is_ended, tx.now_ms):
                    return False
        dropped = levels.drop(self._is_ended)

        def with_pending(change: LevelChange, level: StoredLevel) -> StoredLevel:
            level_rules.ensure_held(levels.as_committed(level), change)
            pending = PendingShares(
                name=name,
                at_ms=tx.now_ms,
                new_holds=change.new_holds,
                ended_holds=change.ended_holds,
                **change.amounts,
            )
            return level.model_copy(update={"pending": [*dropped(level).pending, pending]})

        for change in part:
            levels.put_level(change, with_pending(change, levels.level_of(change)))
        for change in level_rules.total_changes(part):
            levels.put_total(change, with_pending(change, levels.total_of(change)))
        return True

    def _is_ended(self, pending: PendingShares) -> bool:
        """Return whether changes without a mark are of a request that commits them no more.

        Those of earlier attempts of the use case are: they were refused, or have lost their claim.
        """
        is_own = pending.name.startswith(self._use_case) and pending.name != self._name
        return is_own or is_abandoned(pending)


def _names(lines: Sequence[TakenMore]) -> str:
    place = lines[0][0]
    return f"{place.item_code} in {place.whs_code}"


def _hold_expired(tx: Transaction, change: LevelChange) -> StaleState:
    """Return the refusal of a change of a hold that its level has dropped; read both again once."""
    tx.read_twice(f"holds of {ids_of(change)}")
    return StaleState(f"The hold of {change.place.item_code} has expired.")
