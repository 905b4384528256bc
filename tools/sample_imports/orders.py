"""Orders of a month: what clients order, what goes out with a note, what goes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from tools.sample_imports.master_data import Partner, clients, providers
from tools.sample_imports.sheets import Record

FIELDS = (
    "external_ref", "type", "doc_date", "due_date", "partner_code", "partner_name",
    "warehouse_code", "priority", "ship_to", "comments", "item_code", "qty", "batch", "serials",
)  # fmt: skip
HALF = Decimal("0.5")

_LINES = (1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8)
_WAREHOUSES = ("CEN", "CEN", "DUB")
_PRIORITIES = ("normal", "normal", "normal", "high", "low", None)
_COMMENTS = (
    None, None, None, None, "Call the site before arrival", "No part deliveries",
    "Delivery before 10:30", "Please label each box with the floor", "Goods inwards, gate 3",
)  # fmt: skip
_RETURN = "Supplier has agreed to the return"
_PER_DAY = 15
_ONE_IN = 5


@dataclass(frozen=True, slots=True)
class Series:
    """A run of orders: how many, the number of the first, the seed of what is in them."""

    count: int
    first_number: int
    seed: int
    first_day: date


def orders(series: Series, products: Sequence[Record]) -> list[list[Record]]:
    """Return orders, each as its rows."""
    chance = Random(series.seed)  # noqa: S311  the same orders each time
    stocked = [product for product in products if product["inventory_item"] == "yes"]
    return [list(_order(at, series, stocked, chance)) for at in range(series.count)]


def working_day(first: date, number: int) -> date:
    """Return the day so many working days after a Monday."""
    weeks, days = divmod(number, 5)
    return first + timedelta(weeks=weeks, days=days)


def _order(at: int, series: Series, stocked: Sequence[Record], chance: Random) -> Iterator[Record]:
    head = _head(at, series, chance)
    for product in chance.sample(stocked, chance.choice(_LINES)):
        yield head | _line(product, series.first_number + at, chance)


def _head(at: int, series: Series, chance: Random) -> Record:
    name, prefix, partners = chance.choices(
        [
            ("Sales order", "SO", clients()),
            ("Delivery note", "DN", clients()),
            ("Return to provider", "RT", providers()),
        ],
        [88, 8, 4],
    )[0]
    partner: Partner = chance.choice(partners)
    day = working_day(series.first_day, at // _PER_DAY)
    due = day + timedelta(days=chance.randint(1, 9)) if chance.randrange(_ONE_IN) else None
    return {
        "external_ref": f"{prefix}-{day.year}-{series.first_number + at:05}",
        "type": name,
        "doc_date": day,
        "due_date": due,
        "partner_code": partner.code,
        "partner_name": partner.name,
        "warehouse_code": chance.choice(_WAREHOUSES),
        "priority": chance.choice(_PRIORITIES),
        "ship_to": partner.address,
        "comments": _RETURN if prefix == "RT" else chance.choice(_COMMENTS),
    }


def _line(product: Record, order: int, chance: Random) -> Record:
    qty = quantity(product, chance)
    line: Record = {"item_code": product["item_code"], "qty": qty}
    if chance.randrange(_ONE_IN):
        return line
    if product["man_btch_num"] == "yes":
        line["batch"] = f"L26{chance.randint(100, 999)}"
    if product["man_ser_num"] == "yes":
        line["serials"] = ", ".join(f"SN{order}{at:03}" for at in range(int(qty)))
    return line


def quantity(product: Record, chance: Random) -> int | Decimal:
    """Return as much of a product as somebody may order of it."""
    if product["man_ser_num"] == "yes":
        return chance.randint(1, 3)
    match product["sales_unit"]:
        case "m":
            return chance.randint(10, 200) * HALF
        case "drum":
            return chance.randint(1, 4)
        case "pcs":
            return chance.choice((1, 2, 4, 5, 6, 10, 12, 20, 24, 25, 50, 100))
        case _:
            return chance.randint(1, 12)
