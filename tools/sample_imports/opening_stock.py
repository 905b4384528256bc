"""The opening stock of both warehouses, as counted on the first day."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random

from tools.sample_imports.master_data import storage_positions
from tools.sample_imports.orders import quantity
from tools.sample_imports.sheets import RowValues

FIELDS = (
    "warehouse", "bin_code", "item_code", "batch", "serial", "inventory_status", "counted_qty",
    "expected_qty", "expiry_date", "reason",
)  # fmt: skip
_PRODUCTS = 150
_DAY = date(2027, 1, 4)
_DAMAGED_ONE_OF = 40
"""One of so many products has a damaged unit beside the others."""


def opening_stock(products: Sequence[RowValues]) -> list[RowValues]:
    """Return counts of some of the products as rows of an import file."""
    random = Random(1013)  # noqa: S311  the same counts every time
    stocked = [product for product in products if product["inventory_item"] == "yes"]
    positions = storage_positions()
    counted = random.sample(stocked, _PRODUCTS)
    return [row for product in counted for row in _counts(product, positions, random)]


def _counts(
    product: RowValues, positions: Mapping[str, Sequence[str]], random: Random
) -> Iterator[RowValues]:
    for warehouse in random.choice((("CEN",), ("CEN",), ("DUB",), ("CEN", "DUB"))):
        row: RowValues = {
            "warehouse": warehouse,
            "bin_code": random.choice(positions[warehouse]),
            "item_code": product["item_code"],
            "counted_qty": quantity(product, random),
            "expected_qty": 0,
            "reason": "Opening stock",
        }
        if product["man_btch_num"] == "yes":
            # A batch of each warehouse: all stock of a batch has one expiry date.
            row["batch"] = f"{warehouse}{random.randint(100, 999)}"
            row["expiry_date"] = _DAY + timedelta(days=random.randint(200, 900))
        if product["man_ser_num"] == "yes":
            for number in range(1, random.randint(1, 3) + 1):
                serial = f"{warehouse}-{product['item_code']}-{number:03}"
                yield row | {"serial": serial, "counted_qty": 1}
            continue
        yield row
        if not random.randrange(_DAMAGED_ONE_OF):
            yield row | {"inventory_status": "Damaged", "counted_qty": 1}
