"""Reconciliations of acme with an ERP that has quantities of its own."""

from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from shared.integration.reconciliations import service
from shared.integration.reconciliations.context import (
    ReconciliationContext,
    reconciliation_context,
)
from shared.integration.reconciliations.models import ReconciliationDraft, StoredReconciliation
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.validation import check
from tests.feed_scenario import FeedScenario
from tests.warehouse_scenario import WarehouseScenario

type Stock = tuple[str, str, str | None]
"""Codes of a product and a warehouse, and a batch."""


@dataclass(slots=True)
class ReconciliationScenario:
    """The feed of acme, its warehouses, and the reconciliations."""

    feed: FeedScenario
    yard: WarehouseScenario
    _relayed: set[str] = field(default_factory=set)

    @property
    def context(self) -> ReconciliationContext:
        """The resources of acme."""
        return reconciliation_context(self.feed.stack.tenant(), self.feed.store)

    def relay(self, *, late: int = 0) -> int:
        """Relay what was not relayed, all but the `late` oldest; return the position."""
        waiting = [one for one in self.feed.items() if one["SK"]["S"] not in self._relayed][late:]
        if waiting:
            assert self.feed.relay(waiting) == []
        self._relayed |= {one["SK"]["S"] for one in waiting}
        return self.feed.head.position

    def reconcile(self, *lines: dict[str, Any], **more: Any) -> StoredReconciliation:
        """Compare lines with the stock, of YARD unless they name another warehouse."""
        body = check(
            ReconciliationDraft, {"lines": [*lines], **({"warehouse_code": "YARD"} | more)}
        )
        return run_transaction(
            self.feed.store, lambda tx: service.reconcile(tx, self.context, body)
        ).entity

    def movements(self, after: int, until: int) -> dict[Stock, dict[int, Decimal]]:
        """Return what the feed has between two positions: movement → its quantity, by stock."""
        found = defaultdict[Stock, dict[int, Decimal]](dict)
        for entry in self.feed.entries(after):
            numbers = [int(one.id) for one in entry.changes if one.object == "stock_movement"]
            for number in numbers if entry.position <= until else ():
                shown = self.feed.webhooks.erp.get(f"/stock-movements/{number}").data
                for place, sign in ((shown["from"], -1), (shown["to"], 1)):
                    if place:
                        stock = (shown["item_code"], place["whs_code"], shown["batch_num"])
                        qty = found[stock].get(number, Decimal(0))
                        found[stock][number] = qty + sign * Decimal(str(shown["qty"]))
        return found


def line(item_code: str, qty: float, batch: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a line of a request."""
    return {"item_code": item_code, "qty": qty, "batch": batch, **more}
