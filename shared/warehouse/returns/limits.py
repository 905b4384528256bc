"""What left with an exit document, what returns have taken of it, and what may still come back.

Pure functions. Returns may take as many goods as left, of each batch as many as left of it, and
each serial once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from shared.kernel.db.records import Record
from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO, plain
from shared.warehouse.documents.models import Document
from shared.warehouse.documents.vocabulary import doc_num
from shared.warehouse.picking.models import Pick, StoredPicking
from shared.warehouse.returns.models import (
    ReturnedGoods,
    ReturnReason,
    StoredReturn,
    StoredReturnLine,
)
from shared.warehouse.stock.models import LastDeparture, MovementCause, StockRow


@dataclass(slots=True)
class SentLots:
    """Batches and serials with which goods of a product left, as their pickings recorded them.

    `batches` has quantities, `serials` the batch of each. Goods that left while the product was not
    managed by batch or serial are counted in `without_batch` and `without_serial`.
    """

    batches: dict[str, Decimal] = field(default_factory=dict)
    serials: dict[str, str | None] = field(default_factory=dict)
    without_batch: Decimal = ZERO
    without_serial: Decimal = ZERO

    def add(self, pick: Pick) -> None:
        """Add goods that left."""
        if pick.batch_num is None:
            self.without_batch += pick.qty
        else:
            self.batches[pick.batch_num] = self.batches.get(pick.batch_num, ZERO) + pick.qty
        if pick.serial is None:
            self.without_serial += pick.qty
        else:
            self.serials[pick.serial] = pick.batch_num


@dataclass(frozen=True, slots=True)
class Origin:
    """The exit document of a return: what left with it, and what returns have taken of that.

    `sent` is the dispatched quantity by product, `lots` are the dispatched batches and serials,
    None if they were not read. `stored` is what returns have taken, None before the first of them.
    """

    number: int
    document: Document
    sent: Mapping[int, Decimal]
    lots: Mapping[int, SentLots] | None
    stored: Record[ReturnedGoods] | None

    @property
    def returned(self) -> ReturnedGoods:
        """What returns have taken."""
        return self.stored.entity if self.stored else ReturnedGoods()

    def lots_of(self, product: int) -> SentLots:
        """Return the batches and serials of a product, which were read."""
        return (self.lots or {}).get(product, SentLots())

    def is_wrong_item(self, product: int, reason: ReturnReason | None) -> bool:
        """Return whether a line is for a product that is not on the document by mistake."""
        return reason == "wrong_item" and product not in self.sent


def origin_of(
    number: int,
    document: Document,
    pickings: Iterable[StoredPicking] | None,
    stored: Record[ReturnedGoods] | None,
) -> Origin:
    """Return what left with an exit document; None for `pickings` that were not read.

    The last step of a dispatch records what left with it; before it, nothing of that has left.
    """
    sent: dict[int, Decimal] = {}
    for line in document.lines:
        gone = line.done_qty if document.status == "closed" else line.dispatched_qty
        sent[line.product_id] = sent.get(line.product_id, ZERO) + gone
    if pickings is None:
        return Origin(number, document, sent, None, stored)
    lots: dict[int, SentLots] = {}
    for picking in pickings:
        for picked in picking.lines:
            for pick in picked.picks if picked.document_id == number else ():
                if pick.dispatched:
                    lots.setdefault(picked.product_id, SentLots()).add(pick)
    return Origin(number, document, sent, lots, stored)


def taken_by(one: StoredReturn) -> ReturnedGoods:
    """Return what a return takes of the goods of its exit document.

    Until its receiving ends, it takes what was announced, and what was received above that.
    """
    taken = ReturnedGoods()
    if one.status == "cancelled":
        return taken
    is_open = one.status in {"expected", "receiving"}
    limited = [line for line in one.lines if not line.wrong_item]
    for product in dict.fromkeys(line.product_id for line in limited):
        lines = [line for line in limited if line.product_id == product]
        received = _received_batches(lines)
        announced = _announced_batches(lines) if is_open else {}
        total = max(sum(received.values(), ZERO), sum(announced.values(), ZERO))
        if total:
            taken.qty[product] = total
        batches = {
            batch: max(received.get(batch, ZERO), announced.get(batch, ZERO))
            for batch in sorted(filter(None, received.keys() | announced.keys()))
        }
        if batches:
            taken.batches[product] = batches
        named = [serial for line in lines for goods in line.goods for serial in goods.serials]
        named += [serial for line in lines for serial in line.serials] if is_open else []
        if named:
            taken.serials[product] = sorted(set(named))
    return taken


type _Batches = dict[str | None, Decimal]
"""Quantities by batch; those of goods without a batch under None."""


def _received_batches(lines: Iterable[StoredReturnLine]) -> _Batches:
    found: _Batches = {}
    for line in lines:
        for goods in line.goods:
            found[goods.batch_num] = found.get(goods.batch_num, ZERO) + goods.qty
    return found


def _announced_batches(lines: Iterable[StoredReturnLine]) -> _Batches:
    found: _Batches = {}
    for line in lines:
        found[line.batch_num] = found.get(line.batch_num, ZERO) + line.qty
    return found


def with_change(
    returned: ReturnedGoods, before: ReturnedGoods, after: ReturnedGoods
) -> ReturnedGoods:
    """Return what all returns of an exit document take when one takes `after`, not `before`."""
    qty = _with_change(returned.qty, before.qty, after.qty)
    batches = {}
    for product in sorted(before.batches.keys() | after.batches.keys() | returned.batches.keys()):
        some = [one.batches.get(product, {}) for one in (returned, before, after)]
        if changed := _with_change(*some):
            batches[product] = changed
    serials = {product: set(named) for product, named in returned.serials.items()}
    for product in before.serials.keys() | after.serials.keys():
        others = serials.get(product, set()) - set(before.serials.get(product, ()))
        serials[product] = others | set(after.serials.get(product, ()))
    return ReturnedGoods(
        qty=qty,
        batches=batches,
        serials={product: sorted(serials[product]) for product in sorted(serials)
                 if serials[product]},
    )  # fmt: skip


def _with_change[K: (int, str)](
    stored: Mapping[K, Decimal], before: Mapping[K, Decimal], after: Mapping[K, Decimal]
) -> dict[K, Decimal]:
    """Return quantities of which one return takes `after`, not `before`, without those of 0.

    Batches that were taken before they were recorded are not in `stored`.
    """
    changed = {
        key: stored.get(key, ZERO) - before.get(key, ZERO) + after.get(key, ZERO)
        for key in sorted(stored.keys() | before.keys() | after.keys())
    }
    return {key: qty for key, qty in changed.items() if qty > 0}


@dataclass(frozen=True, slots=True)
class NamedGoods:
    """Goods that are announced or received in a line of a body."""

    path: str
    item_code: str
    product_id: int
    qty: Decimal
    batch: str | None
    serials: Sequence[str]


def limit_problems(
    origin: Origin, named: Iterable[NamedGoods], own: StoredReturn | None = None
) -> Iterator[Problem]:
    """Yield a problem for what did not leave with the exit document, or was returned already.

    `own` is the return that receives the goods; None when it is being created.
    """
    taken = taken_by(own) if own else ReturnedGoods()
    others = with_change(origin.returned, taken, ReturnedGoods())
    by_product: dict[int, list[NamedGoods]] = {}
    for goods in named:
        by_product.setdefault(goods.product_id, []).append(goods)
    for product, some in by_product.items():
        lines = [line for line in own.lines if line.product_id == product] if own else []
        received = _received_batches(lines)
        yield from _quantity_problems(origin, some, others, sum(received.values(), ZERO))
        if origin.lots is not None:
            lots = origin.lots.get(product, SentLots())
            yield from _batch_problems(origin, lots, some, others, received)
            serials = {serial for line in lines for goods in line.goods for serial in goods.serials}
            yield from _serial_problems(origin, lots, some, others, serials)


def _quantity_problems(
    origin: Origin, some: Sequence[NamedGoods], others: ReturnedGoods, received: Decimal
) -> Iterator[Problem]:
    product = some[0].product_id
    sent, returned = origin.sent.get(product, ZERO), others.qty.get(product, ZERO)
    for goods in some:
        received += goods.qty
        if received > sent - returned:
            yield _excess(origin, goods, goods.item_code, (received, sent, returned))
            return


def _batch_problems(
    origin: Origin,
    lots: SentLots,
    some: Sequence[NamedGoods],
    others: ReturnedGoods,
    received: _Batches,
) -> Iterator[Problem]:
    """Yield a problem for each batch of which more comes back than left.

    Goods that left without a batch come back with any.
    """
    returned = others.batches.get(some[0].product_id, {})
    reported = set[str]()

    def above(batch: str) -> Decimal:
        """Return how much comes back of a batch above what left of it."""
        total = returned.get(batch, ZERO) + received.get(batch, ZERO)
        return max(ZERO, total - lots.batches.get(batch, ZERO))

    for goods in some:
        batch = goods.batch
        if batch is None:
            continue
        received[batch] = received.get(batch, ZERO) + goods.qty
        rest = {one for one in (*returned, *received) if one not in {None, batch}}
        left = lots.without_batch - sum((above(one) for one in rest if one is not None), ZERO)
        if above(batch) <= max(ZERO, left) or batch in reported:
            continue
        reported.add(batch)
        sent = lots.batches.get(batch, ZERO) + lots.without_batch
        if sent:
            left = sent - lots.without_batch + max(ZERO, left) - returned.get(batch, ZERO)
            what = f"batch {batch} of {goods.item_code}"
            yield _excess(origin, goods, what, (received[batch], sent, sent - left))
        else:
            code = doc_num("exit", origin.number)
            message = f"batch {batch} of {goods.item_code} did not leave with {code}"
            yield Problem(f"{goods.path}.batch", message)


def _excess(
    origin: Origin, goods: NamedGoods, what: str, quantities: tuple[Decimal, Decimal, Decimal]
) -> Problem:
    wanted, sent, returned = quantities
    message = (
        f"{plain(wanted)} of {what} to return; {plain(sent)} dispatched with"
        f" {doc_num('exit', origin.number)}, {plain(returned)} returned,"
        f" {plain(sent - returned)} left"
    )
    return Problem(f"{goods.path}.qty", message)


def _serial_problems(
    origin: Origin,
    lots: SentLots,
    some: Sequence[NamedGoods],
    others: ReturnedGoods,
    received: set[str],
) -> Iterator[Problem]:
    """Yield a problem for each serial that did not leave, or that another return has taken.

    Goods that left without serials come back with any; `received` are those that came already.
    """
    code = doc_num("exit", origin.number)
    returned = set(others.serials.get(some[0].product_id, ()))
    unknown = (returned | received) - lots.serials.keys()
    for goods in some:
        for at, serial in enumerate(goods.serials):
            path, name = f"{goods.path}.serials.{at}", f"serial {serial} of {goods.item_code}"
            if serial in returned:
                yield Problem(path, f"{name} was returned already")
            elif serial not in lots.serials:
                unknown.add(serial)
                if len(unknown) > lots.without_serial:
                    yield Problem(path, f"{name} did not leave with {code}")
            elif goods.batch not in {None, batch := lots.serials[serial]} and batch is not None:
                yield Problem(path, f"{name} left with {code} in batch {batch}, not {goods.batch}")


def departure_problems(
    origin: Origin,
    named: Iterable[NamedGoods],
    row_of: Callable[[int, str], StockRow | None],
    found: Iterable[Problem],
) -> Iterator[Problem]:
    """Yield a problem for each serial that its stock row does not let come back.

    `row_of` returns the row of a product's serial. Serials with a problem in `found` are left out.

    One that left with the exit document must not have come in and left again since. Another one,
    for goods that left without serials, must not be in stock.
    """
    code = doc_num("exit", origin.number)
    own = MovementCause(type="exit_document", id=origin.number)
    reported = {problem.field for problem in found}
    for goods in named:
        for at, serial in enumerate(goods.serials):
            path, name = f"{goods.path}.serials.{at}", f"serial {serial} of {goods.item_code}"
            row = row_of(goods.product_id, serial)
            if row is None or path in reported:
                continue
            if serial not in origin.lots_of(goods.product_id).serials:
                if row.qty:
                    place = f"{row.whs_code} {row.bin_code or 'in transit'}"
                    yield Problem(path, f"{name} is in stock at {place}")
            elif row.departure and row.departure.document != own:
                last = _departure_text(row.departure)
                yield Problem(path, f"{name} has left again since {code}, {last}")


def _departure_text(left: LastDeparture) -> str:
    """Return how a serial left, for a message."""
    if left.document is None:
        return f"by {left.type}"
    if left.document.type == "exit_document":
        return f"with {doc_num('exit', left.document.id)}"
    return f"by {left.type} of {left.document.type} {left.document.id}"
