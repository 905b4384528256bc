"""What tags are compared with: the goods of packing orders, handling units and other work.

Work that has handled goods is compared with these; before the first of them, with those that it is
to handle.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from shared.kernel.db.records import Record
from shared.kernel.db.store import Store
from shared.kernel.errors import Gone, NotFound
from shared.warehouse.documents import service as documents
from shared.warehouse.packing import reading as packing
from shared.warehouse.packing.models import StoredPackingOrder, StoredUnit
from shared.warehouse.picking import service as picking_service
from shared.warehouse.receiving import service as receiving
from shared.warehouse.returns import service as returns
from shared.warehouse.rfid.models import RfidSubjectKind
from shared.warehouse.rfid.rules import ExpectedGoods


@dataclass(frozen=True, slots=True)
class Subject:
    """What tags are compared with.

    `own_units` are the SSCCs of the subject and of the units in it. `packing_order` is the order if
    the subject is one.
    """

    kind: RfidSubjectKind
    id: int
    goods: Sequence[ExpectedGoods]
    own_units: AbstractSet[str] = frozenset()
    packing_order: Record[StoredPackingOrder] | None = None


def read_subject(store: Store, kind: RfidSubjectKind, number: int) -> Subject | None:
    """Read a subject; None when it does not exist or was deleted."""
    try:
        return _READERS[kind](store, number)
    except (NotFound, Gone):
        return None


def _packing_order(store: Store, number: int) -> Subject:
    found = packing.get_packing_order(store, number)
    lines = found.record.entity.lines
    goods = [_goods(line, line.packed_qty, line.packed_serials) for line in lines]
    if not any(line.packed_qty for line in lines):
        goods = [_goods(line, line.qty, line.serials) for line in lines]
    units = _ssccs(unit.entity for unit in found.units)
    return Subject("packing_order", number, goods, units, found.record)


def _handling_unit(store: Store, number: int) -> Subject:
    inside = packing.get_unit_with_content(store, number)
    goods = [_goods(one, one.qty, one.serials) for unit in inside for one in unit.contents]
    return Subject("handling_unit", number, goods, _ssccs(inside))


def _ssccs(units: Iterable[StoredUnit]) -> frozenset[str]:
    return frozenset(unit.sscc for unit in units if unit.sscc)


def _picking(store: Store, number: int) -> Subject:
    picking = picking_service.get_picking(store, number).entity
    goods = [
        _goods(line, pick.qty, [pick.serial] if pick.serial else [])
        for line in picking.lines
        for pick in line.picks
    ]
    if not goods and picking.status in {"pending", "started"}:
        goods = [_to_handle(line, line.qty) for line in picking.lines]
    return Subject("picking", number, goods)


def _receipt(store: Store, number: int) -> Subject:
    receipt = receiving.get_receipt(store, number).entity
    lines = [line for line in receipt.lines if not line.undone]
    goods = [_goods(line, line.qty, line.serials) for line in lines]
    if not goods and receipt.status in {"pending", "started"} and receipt.document:
        document = documents.get_document(store, "entry", receipt.document.id).entity
        goods = [_to_handle(line, line.open_qty) for line in document.lines]
    return Subject("receipt", number, goods)


def _return(store: Store, number: int) -> Subject:
    one = returns.get_return(store, number).entity
    goods = [_goods(line, stock.qty, stock.serials) for line in one.lines for stock in line.goods]
    if not goods and one.status in {"expected", "receiving"}:
        goods = [_to_handle(line, line.qty) for line in one.lines]
    return Subject("return", number, goods)


class _Named(Protocol):
    """What names goods."""

    product_id: int
    item_code: str


class _Line(_Named, Protocol):
    """A line of goods, with the serials that it names."""

    serials: list[str]


def _goods(of: _Named, qty: Decimal, serials: Sequence[str]) -> ExpectedGoods:
    return ExpectedGoods(of.product_id, of.item_code, qty, serials)


def _to_handle(line: _Line, qty: Decimal) -> ExpectedGoods:
    """Return goods that are to be handled; with serials only if they are those of all units."""
    return _goods(line, qty, line.serials if len(line.serials) == qty else ())


_READERS: Mapping[RfidSubjectKind, Callable[[Store, int], Subject]] = {
    "packing_order": _packing_order,
    "handling_unit": _handling_unit,
    "picking": _picking,
    "receipt": _receipt,
    "return": _return,
}
