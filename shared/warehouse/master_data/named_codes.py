"""The products, warehouses and positions that a request names by their codes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.models import KnownProduct
from shared.warehouse.warehouses import service as warehouses
from shared.warehouse.warehouses.models import KnownPosition, KnownWarehouse


@dataclass(frozen=True, slots=True)
class MasterData:
    """The master data that exists, by code; a position by those of its warehouse and its own."""

    products: Mapping[str, KnownProduct]
    warehouses: Mapping[str, KnownWarehouse]
    positions: Mapping[tuple[str, str], KnownPosition]

    def warehouse_problems(self, field: str, code: str | None) -> Iterator[Problem]:
        """Yield a problem of `field` if it names a warehouse that does not exist."""
        if code is not None and code not in self.warehouses:
            yield Problem(field, f"no warehouse has the code {code}")

    def placing_problems(
        self, field: str, whs_code: str, bin_code: str | None
    ) -> Iterator[Problem]:
        """Yield a problem of `field` if goods may not be put at the position that it names."""
        refusal = None if bin_code is None else self.placing_refusal(whs_code, bin_code)
        if refusal:
            yield Problem(field, refusal)

    def placing_refusal(self, whs_code: str, bin_code: str) -> str | None:
        """Return why goods may not be put at a position; None if they may."""
        return placing_refusal(whs_code, bin_code, self.positions.get((whs_code, bin_code)))


def placing_refusal(whs_code: str, bin_code: str, position: KnownPosition | None) -> str | None:
    """Return why goods may not be put at a position, which is None if there is none of the code."""
    if position is None:
        return f"warehouse {whs_code} has no position {bin_code}"
    if position.disabled:
        return f"position {bin_code} is disabled"
    return f"position {bin_code} is blocked" if position.blocked else None


def picking_refusal(whs_code: str, bin_code: str, position: KnownPosition | None) -> str | None:
    """Return why goods that are not allocated may not be picked at a position; None if they may."""
    if position and not (position.disabled or position.blocked or position.pickable):
        return f"position {bin_code} is not pickable"
    return placing_refusal(whs_code, bin_code, position)


class NamedCodes:
    """The codes that a request names; an invalid or missing one is None or empty, and left out."""

    def __init__(
        self,
        *,
        products: Iterable[str | None] = (),
        warehouses: Iterable[str | None] = (),
        positions: Iterable[tuple[str | None, str | None]] = (),
    ) -> None:
        self._products = {code for code in products if code}
        self._warehouses = {code for code in warehouses if code}
        self._positions = {
            (whs_code, bin_code) for whs_code, bin_code in positions if whs_code and bin_code
        }

    @classmethod
    def of_lines(cls, whs_code: str | None, lines: Sequence[Any] | None) -> Self:
        """Return what lines with `item_code` and `bin_code` name, which are of one warehouse."""
        return cls(
            products=(line.item_code for line in lines or ()),
            warehouses=[whs_code],
            positions=((whs_code, line.bin_code) for line in lines or ()),
        )

    @property
    def keys(self) -> list[Key]:
        """The keys of the aliases, which `known` needs."""
        return [
            *map(warehouses.warehouse_key, self._warehouses),
            *map(catalog.product_key, self._products),
            *(warehouses.position_key(*pair) for pair in self._positions),
        ]

    def known(self, tx: Transaction, found: Mapping[Key, Item]) -> MasterData:
        """Return what exists, from items that were read by `keys`; call `tx.fence` before reading.

        Raises:
            StaleRead: Something is being deleted or renamed; the use case is retried.
        """
        return MasterData(
            catalog.known_products(tx, self._products, found),
            warehouses.known_warehouses(tx, self._warehouses, found),
            warehouses.known_positions(tx, self._positions, found),
        )

    def read(self, tx: Transaction) -> MasterData:
        """Read what exists; see `known`."""
        return self.known(tx, tx.store.get_many(self.keys))
