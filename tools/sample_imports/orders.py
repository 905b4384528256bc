"""The orders of a month: sales orders, delivery notes, returns to providers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random

from tools.sample_imports.master_data import Partner, clients, providers
from tools.sample_imports.sheets import CellValue, RowValues

SHIPPING = (
    "ship_to_address.line1", "ship_to_address.city", "ship_to_address.zip_code",
    "ship_to_address.country", "carrier_code", "service_code", "metadata.route",
)  # fmt: skip
"""Fields of a document that only its first row has."""
FIELDS = (
    "external_ref", "type", "doc_date", "due_date", "partner_code", "partner_name",
    "warehouse_code", "priority", "ship_to", "comments", *SHIPPING, "item_code", "qty", "unit",
    "line_external_ref", "batch", "serials",
)  # fmt: skip
HALF = Decimal("0.5")

_LINE_COUNTS = (1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8)
_WAREHOUSES = ("CEN", "CEN", "DUB")
_PRIORITIES = ("normal", "normal", "normal", "high", "low", None)
_COMMENTS = (
    None, None, None, None, "Call the site before arrival", "No part deliveries",
    "Delivery before 10:30", "Please label each box with the floor", "Goods inwards, gate 3",
)  # fmt: skip
_ADDRESS = re.compile(r"(?P<line1>.+), (?P<city>[^,]+?) (?P<zip_code>\S*\d\S* \S+)")
_CARRIERS = (("DHL", "EXPRESS"), ("DPD", "NEXT_DAY"), ("OWN", None))
_ROUTES = 7
_RETURN = "Supplier has agreed to the return"
_ORDERS_PER_DAY = 15
_ONE_OF = 5
"""One of so many lines has a batch or serials; one of so many orders has no due date."""


@dataclass(frozen=True, slots=True)
class OrderSeries:
    """A series of orders: their number, the number of the first, the random seed, the first day."""

    count: int
    first_number: int
    seed: int
    first_day: date


def orders(series: OrderSeries, products: Sequence[RowValues]) -> list[list[RowValues]]:
    """Return orders; each is a list of rows."""
    random = Random(series.seed)  # noqa: S311  the same orders every time
    stocked = [product for product in products if product["inventory_item"] == "yes"]
    return [list(_order(index, series, stocked, random)) for index in range(series.count)]


def working_day(first: date, number: int) -> date:
    """Return the day `number` working days after the Monday `first`."""
    weeks, days = divmod(number, 5)
    return first + timedelta(weeks=weeks, days=days)


def _order(
    index: int, series: OrderSeries, stocked: Sequence[RowValues], random: Random
) -> Iterator[RowValues]:
    head = _head(index, series, random)
    shipping = _shipping(index, head["ship_to"])
    for at, product in enumerate(random.sample(stocked, random.choice(_LINE_COUNTS)), 1):
        line = _line(product, series.first_number + index, random)
        yield head | ({} if at > 1 else shipping) | line | {"line_external_ref": str(10 * at)}


def _head(index: int, series: OrderSeries, random: Random) -> RowValues:
    name, prefix, partners = random.choices(
        [
            ("Sales order", "SO", clients()),
            ("Delivery note", "DN", clients()),
            ("Return to provider", "RT", providers()),
        ],
        [88, 8, 4],
    )[0]
    partner: Partner = random.choice(partners)
    day = working_day(series.first_day, index // _ORDERS_PER_DAY)
    due = day + timedelta(days=random.randint(1, 9)) if random.randrange(_ONE_OF) else None
    return {
        "external_ref": f"{prefix}-{day.year}-{series.first_number + index:05}",
        "type": name,
        "doc_date": day,
        "due_date": due,
        "partner_code": partner.code,
        "partner_name": partner.name,
        "warehouse_code": random.choice(_WAREHOUSES),
        "priority": random.choice(_PRIORITIES),
        "ship_to": partner.address,
        "comments": _RETURN if prefix == "RT" else random.choice(_COMMENTS),
    }


def _shipping(index: int, ship_to: CellValue) -> RowValues:
    """Return address, carrier and route of an order that goes to a client."""
    parts = _ADDRESS.fullmatch(str(ship_to))
    if parts is None:
        return {}
    carrier, service = _CARRIERS[index % len(_CARRIERS)]
    country = "IE" if parts["city"] == "Dublin" else "GB"
    address = {"country": country, **parts.groupdict()}
    return {
        **{f"ship_to_address.{name}": text for name, text in address.items()},
        "carrier_code": carrier,
        "service_code": service,
        "metadata.route": f"{country}-{index % _ROUTES + 1:02}",
    }


def _line(product: RowValues, order: int, random: Random) -> RowValues:
    qty = quantity(product, random)
    line: RowValues = {"item_code": product["item_code"], "qty": qty}
    if random.randrange(_ONE_OF):
        return line
    if product["man_btch_num"] == "yes":
        line["batch"] = f"L26{random.randint(100, 999)}"
    if product["man_ser_num"] == "yes":
        line["serials"] = ", ".join(f"SN{order}{index:03}" for index in range(int(qty)))
    return line


def quantity(product: RowValues, random: Random) -> int | Decimal:
    """Return a plausible quantity of a product."""
    if product["man_ser_num"] == "yes":
        return random.randint(1, 3)
    match product["sales_unit"]:
        case "m":
            return random.randint(10, 200) * HALF
        case "drum":
            return random.randint(1, 4)
        case "pcs":
            return random.choice((1, 2, 4, 5, 6, 10, 12, 20, 24, 25, 50, 100))
        case _:
            return random.randint(1, 12)
