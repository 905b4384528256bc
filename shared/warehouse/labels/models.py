"""What labels and packing slips show, on plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class ShippedGoods:
    """A product in a handling unit or on a packing slip, of one batch."""

    item_code: str
    name: str
    qty: Decimal
    batch: str | None = None
    serials: Sequence[str] = ()

    @property
    def size(self) -> int:
        """Number of characters that a slip shows of it."""
        texts = (self.item_code, self.name, self.batch or "", *self.serials)
        return sum(map(len, texts)) + 2 * len(texts)


@dataclass(frozen=True, slots=True)
class LabelContent:
    """What the label of a handling unit shows.

    `sscc` has 18 digits. `recipient` and the lines of `ship_to` say where the unit goes,
    `document` names the order. `sender` is the company or the warehouse that ships.
    """

    sscc: str
    code: str
    recipient: str
    ship_to: str
    document: str
    day: date
    goods: Sequence[ShippedGoods]
    sender: str | None = None
    weight_kg: Decimal | None = None
    carrier: str | None = None
    tracking_number: str | None = None


@dataclass(frozen=True, slots=True)
class CodeLabelContent:
    """What the label of a position or of a product shows.

    The barcode is that of `gtin`, of 14 digits, if there is one, else that of `code`.
    """

    code: str
    details: Sequence[str]
    gtin: str | None = None


@dataclass(frozen=True, slots=True)
class SlipUnit:
    """A handling unit on a packing slip, with the goods in it."""

    code: str
    type: str
    goods: Sequence[ShippedGoods]
    sscc: str | None = None
    weight_kg: Decimal | None = None
    tracking_number: str | None = None

    @property
    def size(self) -> int:
        """Number of characters that a slip shows of its goods."""
        return sum(goods.size for goods in self.goods)


@dataclass(frozen=True, slots=True)
class SlipContent:
    """What the packing slip of a packing order shows, or one of its `parts`."""

    code: str
    document: str
    external_ref: str | None
    recipient: str
    ship_to: str
    day: date
    units: Sequence[SlipUnit]
    sender: str | None = None
    part: int = 1
    parts: int = 1

    @property
    def size(self) -> int:
        """Number of characters that it shows of its goods, on which its time depends."""
        return sum(unit.size for unit in self.units)

    @property
    def name(self) -> str:
        """Its code, with the number of the part if there are several."""
        return f"{self.code}-{self.part}" if self.parts > 1 else self.code
