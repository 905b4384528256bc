"""How much fits at a position: its capacities against what lies there.

A capacity in kg or m³ is compared with the weight and the measures of the packaging. A product
without them takes no part of it: what is unknown counts as fitting.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from shared.kernel.fields import LEAST_QUANTITY, MAX_QUANTITY, ZERO
from shared.warehouse.catalog.models import Packaging
from shared.warehouse.warehouses.models import StoredPosition

_CUBIC_MM = Decimal(10**9)
"""Cubic millimetres of a cubic metre."""

type Contents = Mapping[int, Decimal]
"""Product → its quantity at a position, whatever its status."""
type Packagings = Mapping[int, Packaging | None]
"""Product → its packaging."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """A capacity of a position, and what a unit of each product takes of it."""

    capacity: Decimal
    per_unit: Mapping[int, Decimal]

    def left(self, contents: Contents) -> Decimal:
        return self.capacity - sum(
            (qty * self.per_unit.get(product, ZERO) for product, qty in contents.items()), ZERO
        )


def room_for(
    product_id: int, position: StoredPosition, contents: Contents, packagings: Packagings
) -> Decimal | None:
    """Return how many units of a product fit in addition; below 0 if the position is overfull.

    None if nothing limits it. `packagings` has that of the product and those of the contents.
    """
    rooms = (
        _quantity(limit.left(contents) / each)
        for limit in _limits(position, {product_id, *contents}, packagings)
        if (each := limit.per_unit.get(product_id))
    )
    return min(rooms, default=None)


def _quantity(units: Decimal) -> Decimal:
    """Return a number of units as a quantity: none is larger than the largest that can be sent."""
    within = max(-MAX_QUANTITY, min(units, MAX_QUANTITY))
    return within.quantize(LEAST_QUANTITY, ROUND_DOWN)


def _limits(position: StoredPosition, products: set[int], packagings: Packagings) -> list[_Limit]:
    units = dict.fromkeys(products, Decimal(1))
    known = {product: one for product in products if (one := packagings.get(product))}
    weights = {product: one.weight_kg for product, one in known.items() if one.weight_kg}
    volumes = {product: volume for product, one in known.items() if (volume := _volume(one))}
    found = (
        (position.capacity_units, units),
        (position.capacity_weight_kg, weights),
        (position.capacity_volume_m3, volumes),
    )
    return [_Limit(capacity, each) for capacity, each in found if capacity is not None]


def _volume(packaging: Packaging) -> Decimal | None:
    """Return the volume of a unit in cubic metres; None if a measure is unknown."""
    sides = (packaging.length_mm, packaging.width_mm, packaging.height_mm)
    length, width, height = sides
    if length is None or width is None or height is None:
        return None
    return length * width * height / _CUBIC_MM


def is_limited(position: StoredPosition) -> bool:
    """Return whether a position has a capacity."""
    return any(
        one is not None
        for one in (
            position.capacity_units, position.capacity_weight_kg, position.capacity_volume_m3
        )
    )  # fmt: skip
