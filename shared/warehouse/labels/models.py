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
class SlipUnit:
    """A handling unit on a packing slip, with the goods in it."""

    code: str
    type: str
    goods: Sequence[ShippedGoods]
    sscc: str | None = None
    weight_kg: Decimal | None = None
    tracking_number: str | None = None


@dataclass(frozen=True, slots=True)
class SlipContent:
    """What the packing slip of a packing order shows."""

    code: str
    document: str
    external_ref: str | None
    recipient: str
    ship_to: str
    day: date
    units: Sequence[SlipUnit]
    sender: str | None = None
