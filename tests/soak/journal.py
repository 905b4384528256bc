"""What the clients of a run know: what must exist once, and the stock that must be there."""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.soak.request_log import RequestLog

type Key = str | int

KEYS: Mapping[str, Callable[[Any], Key]] = {
    "/products": lambda row: row["item_code"],
    "/entry-documents": lambda row: row["external_ref"],
    "/exit-documents": lambda row: row["external_ref"],
    "/receipts": lambda row: row["document"]["id"],
    "/pickings": lambda row: row["document"]["id"],
    "/returns": lambda row: row["external_ref"],
    "/packing-orders": lambda row: row["exit_document_id"],
    "/handling-units": lambda row: row["packing_order_id"],
    "/rfid-validations": lambda row: row["reader"],
    "/approvals": lambda row: f"{row['request']['path']} {row['status']}",
}
"""List → the value that the client chose for a row, so that it can find a lost or doubled one."""


@dataclass(slots=True)
class Creation:
    """A row that a client has created, or has tried to."""

    key: Key
    id: int | None
    """None if there was no response: the row exists once or not at all."""


@dataclass(slots=True)
class Stock:
    """Stock of a product at a position: the sum of the acknowledged changes, and the others."""

    certain: Decimal = Decimal(0)
    uncertain: list[Decimal] = field(default_factory=list)

    def possible(self) -> set[Decimal]:
        """Return the quantities that may be there."""
        sums = {self.certain}
        for qty in self.uncertain:
            sums |= {one + qty for one in sums}
        return sums


@dataclass(slots=True)
class StartedImport:
    """An import of products that must end as committed."""

    id: int
    codes: list[str]


@dataclass(slots=True)
class Journal:
    """The journal of the clients of one tenant; threads share it."""

    slug: str
    log: RequestLog
    created: dict[str, list[Creation]] = field(default_factory=lambda: defaultdict(list))
    stock: dict[tuple[str, str], Stock] = field(default_factory=lambda: defaultdict(Stock))
    """(Product, position) → stock."""
    names: dict[int, str] = field(default_factory=dict)
    """Product → the name of the last acknowledged change."""
    imports: list[StartedImport] = field(default_factory=list)
    events: set[tuple[str, int]] = field(default_factory=set)
    """(Kind, resource) of the events that must be delivered."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def found(self, finding: str) -> None:
        """Record something that must not happen to this tenant."""
        self.log.found(f"{self.slug}: {finding}")

    def add(self, path: str, key: Key, data: Any) -> None:
        """Record a creation; `data` is None if there was no response."""
        with self._lock:
            self.created[path].append(Creation(key, data["id"] if data else None))

    def change_stock(self, item: str, position: str, qty: int, *, certain: bool = True) -> None:
        """Record a change of stock."""
        with self._lock:
            stock = self.stock[item, position]
            if certain:
                stock.certain += qty
            else:
                stock.uncertain.append(Decimal(qty))

    def expect(self, kind: str, number: int) -> None:
        """Record an event that must be delivered."""
        with self._lock:
            self.events.add((kind, number))

    def check_rows(self, path: str, rows: list[dict[str, Any]]) -> None:
        """Compare the rows of a list with the creations."""
        ids: dict[Key, list[int]] = defaultdict(list)
        for row in rows:
            ids[KEYS[path](row)].append(row["id"])
        for made in self.created[path]:
            found = ids.get(made.key, [])
            if len(found) > 1:
                self.found(f"DOUBLED: {made.key} is {len(found)} times in {path}")
            elif made.id is not None and found != [made.id]:
                text = f"LOST: {made.key}, acknowledged as {made.id}, is not in {path}: {found}"
                self.found(text)
