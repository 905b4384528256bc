"""Counts of the stock of YARD, through their use cases."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shared.identity.tenancy.access import operator_store
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.validation import check
from shared.warehouse.counts import service
from shared.warehouse.counts.models import (
    CountDraft,
    GoodsCount,
    RecountedLines,
    StoredCount,
)
from tests.stack import Stack


@dataclass(frozen=True, slots=True)
class CountScenario:
    """Runs use cases of counts, each as a request of its own."""

    stack: Stack

    def run[R](self, use_case: Callable[[Transaction], R]) -> R:
        """Run a use case in a transaction of its own."""
        return run_transaction(operator_store("acme"), use_case)

    def create(self, **scope: Any) -> StoredCount:
        """Create a count of YARD."""
        draft = check(CountDraft, {"warehouse_code": "YARD", **scope})
        return self.run(lambda tx: service.create_count(tx, draft)).record.entity

    def count(self, number: int, **goods: Any) -> list[Any]:
        """Count goods at A-01, or at another position."""
        body = check(GoodsCount, {"bin_code": "A-01", **goods})
        return self.run(lambda tx: service.count_goods(tx, number, body)).lines

    def fill(self, number: int, *rows: dict[str, object]) -> list[list[str]]:
        """Count the goods of rows of a file, as `count` does; return the messages of each."""
        bodies = [check(GoodsCount, {"bin_code": "A-01", **row}) for row in rows]
        found = self.run(lambda tx: service.count_rows(tx, number, bodies))
        return [[one.message for one in problems] for problems in found]

    def finish(self, number: int) -> StoredCount:
        return self.run(lambda tx: service.finish_count(tx, number)).record.entity

    def recount(self, number: int, *lines: int) -> StoredCount:
        body = check(RecountedLines, {"lines": list(lines)})
        return self.run(lambda tx: service.recount(tx, number, body)).record.entity

    def post(self, number: int) -> StoredCount:
        return self.run(lambda tx: service.post_count(tx, number)).record.entity

    def cancel(self, number: int) -> StoredCount:
        return self.run(lambda tx: service.cancel_count(tx, number)).record.entity

    def get(self, number: int) -> Any:
        return service.get_count(self.stack.store(), number)

    def lines(self, number: int) -> list[tuple[object, ...]]:
        """Return number, position, product, status, expected and counted quantity of each line."""
        return [
            (
                line.line_num, line.bin_code, line.item_code, line.status, line.expected_qty,
                line.counted_qty,
            )
            for line in self.get(number).lines
        ]  # fmt: skip
