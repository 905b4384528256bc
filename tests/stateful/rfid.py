"""Rules of RFID validations of work with goods: complete and incomplete lists of tags."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from math import ceil
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.epc_encoding import grai_96, sscc_tag_of, tag_of
from tests.stateful.machine import GTINS, INDEX, PIECE, one_of, recent_one
from tests.stateful.packing import PackingRules
from tests.stateful.receiving import ReceivingRules
from tests.stateful.returns import ReturnRules
from tests.warehouse_model import ZERO, PackedLot, Picking, Place, Unit

_FOREIGN_SSCC = "399999990000000013"


class Tag(NamedTuple):
    """A tag: what it names, and the units of an item that it counts; none for another thing."""

    epc: str
    thing: str
    item: str | None = None
    units: int = 0
    serial: str = ""


class Goods(NamedTuple):
    """Expected units of an item; their serial, if it is known."""

    item: str
    qty: Decimal
    serial: str | None = None


_STRANGE = (
    Tag(sscc_tag_of(_FOREIGN_SSCC), _FOREIGN_SSCC),
    Tag(grai_96("4012345", "56789", 5), "GRAI"),
)
_UNREADABLE = (Tag("E28011", "E28011"), Tag("urn:epc:id:sgtin:1", "URN:EPC:ID:SGTIN:1"))
_READING = one_of("complete complete doubled fewer more another_serial strange")
"""Which tags a reader reads of expected goods."""


class RfidRules(PackingRules, ReceivingRules, ReturnRules):
    """RFID validations of packing orders, handling units, pickings, receipts and returns."""

    @rule(required=st.booleans())
    def require_validations(self, *, required: bool) -> None:
        """Require a passed validation of a packing order before it is completed, or not."""
        self.model.rfid_required = required
        self.change_settings(rfid_required=required)

    @precondition(lambda self: self.model.packing_orders)
    @rule(index=INDEX, reading=_READING, end=st.sampled_from((None, "complete", "short")))
    def validate_packing_order(self, index: int, reading: str, end: str | None) -> None:
        """Validate a packing order, and perhaps complete it with this result."""
        packing = recent_one(self.model.packing_orders, index)
        goods = _packed(packing.units) or _of_lots(packing.staged)
        result = self._validate("packing_order", packing.id, goods, packing.units, reading)
        packing.has_passed |= result == "passed"
        if end:
            self.end_packing(index, end)

    @precondition(lambda self: self._units())
    @rule(index=INDEX, reading=_READING)
    def validate_unit(self, index: int, reading: str) -> None:
        packing, unit = recent_one(self._units(), index)
        units = [one for one in packing.units if unit in _with_parents(one)]
        self._validate("handling_unit", unit.id, _packed(units), units, reading)

    @precondition(lambda self: self.model.pickings)
    @rule(index=INDEX, reading=_READING)
    def validate_picking(self, index: int, reading: str) -> None:
        picking = recent_one(self.model.pickings, index)
        self._validate("picking", picking.id, _of_picking(picking), (), reading)

    @precondition(lambda self: self.model.receipts)
    @rule(index=INDEX, reading=_READING)
    def validate_receipt(self, index: int, reading: str) -> None:
        receipt = recent_one(self.model.receipts, index)
        goods = _of_places(receipt.received)
        if not goods and receipt.status in {"pending", "started"} and not receipt.order.closed:
            order = receipt.order
            goods = _of_items({item: order.open_qty(item) for item in order.wanted})
        self._validate("receipt", receipt.id, goods, (), reading)

    @precondition(lambda self: self.model.returns)
    @rule(index=INDEX, reading=_READING)
    def validate_return(self, index: int, reading: str) -> None:
        one = recent_one(self.model.returns, index)
        goods = [Goods("DRILL", Decimal(1), serial) for serial in one.serials]
        goods += _of_items({item: qty for item, qty in one.received.items() if item != "DRILL"})
        if not goods and one.status in {"expected", "receiving"}:
            goods = _of_items(one.announced)
        self._validate("return", one.id, goods, (), reading)

    @rule(kind=one_of("packing_order handling_unit picking receipt return"))
    def validate_nothing(self, kind: str) -> None:
        """Name something that does not exist."""
        self.post("/rfid-validations", {f"{kind}_id": 10**6, "epcs": ["E28011"]}, 422)

    def _validate(
        self, kind: str, number: int, goods: Sequence[Goods], units: Iterable[Unit], reading: str
    ) -> str:
        """Validate tags and compare the response with what follows from them; return the result."""
        own = [Tag(sscc_tag_of(unit.sscc), unit.sscc) for unit in units]
        tags = _read([*own, *_tags_of(goods)], reading)
        expected = _compare(goods, {tag.thing for tag in own}, tags)
        body = {f"{kind}_id": number, "reader": "Gate 1", "epcs": [tag.epc for tag in tags]}
        shown = self.post("/rfid-validations", body, 201).data
        for name in ("missing", "unexpected"):
            shown[name] = {
                one["item_code"]: (Decimal(str(one["qty"])), sorted(one["serials"]))
                for one in shown[name]
            }
        found = {name: shown[name] for name in expected}
        assert found == expected, f"{kind} {number}: {body['epcs']}"
        assert shown["subject"] == {"object": kind, "id": number}
        result: str = shown["result"]
        self.model.validations[shown["id"]] = result
        return result


def _with_parents(unit: Unit) -> Iterator[Unit]:
    yield unit
    if unit.parent:
        yield from _with_parents(unit.parent)


# Expected goods


def _of_items(wanted: Mapping[str, Decimal]) -> list[Goods]:
    return [Goods(item, qty) for item, qty in wanted.items() if qty]


def _of_places(places: Mapping[Place, Decimal]) -> list[Goods]:
    return [Goods(place.item, qty, place.serial) for place, qty in places.items()]


def _of_lots(lots: Mapping[PackedLot, Decimal]) -> list[Goods]:
    return [Goods(item, qty, serial or None) for (item, _, serial), qty in lots.items()]


def _packed(units: Iterable[Unit]) -> list[Goods]:
    return [goods for unit in units for goods in _of_lots(unit.contents)]


def _of_picking(picking: Picking) -> list[Goods]:
    if picking.picked or picking.status not in {"pending", "started"}:
        return _of_places(picking.picked)
    return _of_items(picking.wanted)


# Tags


def _tag(item: str, gtin: str, units: int, serial: int | str) -> Tag:
    return Tag(tag_of(gtin, serial), f"{gtin} {serial}", item, units, str(serial))


def _tags_of(goods: Iterable[Goods]) -> list[Tag]:
    """Return tags for goods, rounded up: as many as possible for two bricks each."""
    tags: list[Tag] = []
    sums: dict[str, Decimal] = {}
    for one in goods:
        if one.serial:
            tags.append(_tag("DRILL", *GTINS["DRILL"], one.serial))
        else:
            sums[one.item] = sums.get(one.item, ZERO) + one.qty
    for item, total in sums.items():
        qty = ceil(total)
        gtin, units = GTINS[item]
        # Any serial counts for drills that are to be handled.
        serials = [f"S{at}" if item == "DRILL" else at for at in range(1, 1 + qty // units)]
        tags += [_tag(item, gtin, units, serial) for serial in serials]
        tags += [_tag(item, PIECE, 1, at) for at in range(qty % units)]
    return tags


def _read(tags: list[Tag], reading: str) -> list[Tag]:
    """Return what a reader reads of goods with these tags; never nothing."""
    brick = _tag("BRICK", *GTINS["BRICK"], 900)
    match reading:
        case "doubled":
            again = [tag._replace(epc=tag.epc.lower()) for tag in tags]
            tags = [*tags, *again, *tags[:1]]
        case "fewer":
            tags = tags[:-1]
        case "more":
            tags = [*tags, brick]
        case "another_serial":
            tags = [*tags[:-1], _tag("DRILL", *GTINS["DRILL"], "S9")]
        case "strange":
            tags = [*_STRANGE, *tags, *_UNREADABLE, *_UNREADABLE]
    return tags or [brick]


# The result


def _compare(goods: Iterable[Goods], own: set[str], tags: Iterable[Tag]) -> dict[str, object]:
    """Return what a validation of these tags must show."""
    tags = list(tags)
    first = {tag.thing: tag for tag in reversed(tags)}
    named = [first[thing] for thing in dict.fromkeys(tag.thing for tag in tags)]
    unreadable = [tag.epc for tag in named if tag in _UNREADABLE]
    unknown = [
        tag.epc for tag in named if not tag.item and tag.thing not in own and tag not in _UNREADABLE
    ]
    missing, unexpected = dict[str, tuple[Decimal, list[str]]](), dict[str, object]()
    total = matched = ZERO
    for item in GTINS:
        expected = [one for one in goods if one.item == item]
        wanted = sum((one.qty for one in expected), ZERO)
        found = [tag for tag in named if tag.item == item]
        units = Decimal(sum(tag.units for tag in found))
        serials = {one.serial for one in expected if one.serial}
        wrong: list[str] = []
        if item == "DRILL" and serials:  # then all of them are known
            wrong = [tag.serial for tag in found if tag.serial not in serials]
            right = units - len(wrong)
        else:
            right = min(wanted, units)
            if item == "DRILL":
                wrong = [tag.serial for tag in found][int(wanted) :]
        absent = serials - {tag.serial for tag in found}
        if right < wanted:
            missing[item] = (wanted - right, sorted(absent))
        most = right + ceil(wanted) - wanted  # a part of a unit has a whole tag
        if most < units:
            unexpected[item] = (units - most, sorted(wrong))
        total, matched = total + wanted, matched + right
    is_passed = not (missing or unexpected or unknown or unreadable)
    return {
        "result": "passed" if is_passed else "failed",
        "read": len(tags),
        "unique": len(named),
        "expected": total,
        "matched": matched,
        "missing": missing,
        "unexpected": unexpected,
        "unknown": unknown,
        "unreadable": unreadable,
    }
