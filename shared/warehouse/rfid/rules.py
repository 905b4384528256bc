"""Rules of RFID validations, as pure functions: what tags are missing, and which are too many."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil

from shared.kernel.errors import Problem
from shared.kernel.fields import ZERO
from shared.kernel.validation import Checked, given_fields
from shared.warehouse.catalog.gtins import CountedProduct
from shared.warehouse.gs1.epc import Epc, UnreadableEpcError, decode
from shared.warehouse.rfid.models import (
    SUBJECT_KINDS,
    RfidValidationDraft,
    TagDifferences,
    TagGoods,
)

_FIELDS = tuple(f"{kind}_id" for kind in SUBJECT_KINDS)


@dataclass(frozen=True, slots=True)
class ExpectedGoods:
    """A quantity of a product that must have tags; `serials` are those that are known of it."""

    product_id: int
    item_code: str
    qty: Decimal
    serials: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Tags:
    """What a reader has read: each thing that is named, with the first EPC that names it."""

    named: Mapping[Epc, str]
    unreadable: Sequence[str]

    @property
    def unique(self) -> int:
        """How many different tags were read."""
        return len(self.named) + len(self.unreadable)

    @property
    def gtins(self) -> list[str]:
        """The GTINs of the tags, each once."""
        return list(dict.fromkeys(epc.key for epc in self.named if epc.scheme == "sgtin"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing tags with expected goods: quantities, and the differences."""

    expected: Decimal
    matched: Decimal
    differences: TagDifferences


def subject_problems(draft: Checked[RfidValidationDraft]) -> Iterator[Problem]:
    """Yield a problem of each subject that a draft names, unless it is exactly one."""
    given = given_fields(draft, _FIELDS)
    if len(given) != 1:
        message = f"give exactly one of {', '.join(_FIELDS[:-1])} and {_FIELDS[-1]}"
        yield from (Problem(name, message) for name in given or _FIELDS[:1])


def read_tags(epcs: Iterable[str]) -> Tags:
    """Return what EPCs name. A tag counts once, in whatever form it is read several times."""
    named: dict[Epc, str] = {}
    unreadable: dict[str, str] = {}
    for text in dict.fromkeys(epcs):
        try:
            named.setdefault(decode(text), text)
        except UnreadableEpcError:
            unreadable.setdefault(text.upper(), text)
    return Tags(named, list(unreadable.values()))


@dataclass(slots=True)
class _Count:
    """What is expected of a product, and what its tags count.

    `read_serials` are read only if the product is managed by serial. Of expected units whose
    serials are not known, any serial is accepted, and so is the tag of a case, which names none.
    """

    item_code: str
    expected: Decimal = ZERO
    serials: dict[str, None] = field(default_factory=dict)
    units: int = 0
    read_serials: dict[str, None] = field(default_factory=dict)

    def compare(self) -> tuple[Decimal, TagGoods, TagGoods]:
        """Return the matched quantity, what is missing, and what is unexpected."""
        right = [one for one in self.read_serials if one in self.serials]
        others = [one for one in self.read_serials if one not in self.serials]
        without_serial = max(ZERO, self.expected - len(self.serials))
        counted = Decimal(len(others) + self.units)
        matched = len(right) + min(without_serial, counted)
        most = max(0, ceil(self.expected) - len(self.serials))  # a part of a unit has a whole tag
        missing = [one for one in self.serials if one not in self.read_serials]
        return (
            matched,
            self._goods(self.expected - matched, missing),
            self._goods(max(ZERO, counted - most), others[most:]),
        )

    def _goods(self, qty: Decimal, serials: Sequence[str] = ()) -> TagGoods:
        return TagGoods.model_construct(item_code=self.item_code, qty=qty, serials=list(serials))


def compare(
    expected: Iterable[ExpectedGoods],
    own_units: AbstractSet[str],
    tags: Tags,
    products: Mapping[str, CountedProduct],
) -> Comparison:
    """Compare the tags with the expected goods.

    `own_units` are the SSCCs of the subject and of the units in it, whose tags count nothing.
    `products` has the products by GTIN of 14 digits.
    """
    counts: dict[int, _Count] = {}
    for goods in expected:
        count = counts.setdefault(goods.product_id, _Count(goods.item_code))
        count.expected += goods.qty
        count.serials.update(dict.fromkeys(goods.serials))
    unknown = list[str]()
    for epc, text in tags.named.items():
        if epc.key in own_units:
            continue
        product = products.get(epc.key)
        if product is None:
            unknown.append(text)
            continue
        count = counts.setdefault(product.id, _Count(product.item_code))
        if product.by_serial and product.units == 1:
            count.read_serials[epc.serial] = None
        else:
            count.units += product.units
    compared = [count.compare() for count in counts.values()]
    return Comparison(
        expected=sum((count.expected for count in counts.values()), ZERO),
        matched=sum((matched for matched, _, _ in compared), ZERO),
        differences=TagDifferences.model_construct(
            missing=[missing for _, missing, _ in compared if missing.qty],
            unexpected=[unexpected for _, _, unexpected in compared if unexpected.qty],
            unknown=unknown,
            unreadable=list(tags.unreadable),
        ),
    )
