"""Rules of approvals: limits, decisions, and refused requests that are sent again."""

from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from tests.stateful.machine import INDEX, recent_one
from tests.stateful.receiving import ReceivingRules
from tests.warehouse_model import Place, Receipt

_AFTER = {"grant": "granted", "deny": "denied"}


class ApprovalRules(ReceivingRules):
    """Approvals of what other rules were refused."""

    @rule(shortage=st.sampled_from((None, 0, 40)), adjustment=st.sampled_from((None, 0, 2)))
    def change_limits(self, shortage: int | None, adjustment: int | None) -> None:
        """Change the limits above which shortages and adjustments require approvals."""
        self.model.shortage_percent = None if shortage is None else Decimal(shortage)
        self.model.adjustment_qty = None if adjustment is None else Decimal(adjustment)
        self.change_settings(
            approval_shortage_percent=self.model.shortage_percent,
            approval_adjustment_qty=self.model.adjustment_qty,
        )

    @precondition(lambda self: self.model.approvals)
    @rule(index=INDEX, decision=st.sampled_from(("grant", "grant", "deny")))
    def decide_approval(self, index: int, decision: str) -> None:
        """Grant or deny an approval, decided or not."""
        approval = recent_one(self.model.approvals, index)
        possible = approval.status == "pending"
        path = f"/approvals/{approval.id}/{decision}"
        self.post(path, {"comment": "Seen"}, 200 if possible else 409, sender=self.supervisor)
        if possible:
            approval.status = _AFTER[decision]

    def _receipts_of_bricks(self) -> list[Receipt]:
        found = (one for one in self.model.receipts if one.status == "started")
        return [one for one in found if one.order.wanted.get("BRICK") and not one.order.closed]

    @precondition(lambda self: self._receipts_of_bricks())
    @rule(
        index=INDEX,
        decision=st.sampled_from((None, "grant", "grant", "deny")),
        times=st.integers(1, 2),
    )
    def receive_more_than_ordered(self, index: int, decision: str | None, times: int) -> None:
        """Receive one brick too many, perhaps decide about it, and receive it again."""
        receipt = recent_one(self._receipts_of_bricks(), index)
        place = Place("BRICK", receipt.order.whs, "A-01", None, None)
        qty = receipt.order.open_qty("BRICK") + 1
        self._receive(receipt, place, qty, by_gtin=False)
        if decision and self.model.approvals[-1].status == "pending":
            self.decide_approval(0, decision)
        for _ in range(times):
            self._receive(receipt, place, qty, by_gtin=False)

    @precondition(lambda self: self.refused)
    @rule(index=INDEX, grant=st.booleans(), times=st.integers(1, 2))
    def repeat_refused_request(self, *, index: int, grant: bool, times: int) -> None:
        """Send a request that required an approval again: a grant lets it pass once."""
        approval = recent_one(self.model.approvals, index)
        if grant and approval.status == "pending":
            self.decide_approval(index, "grant")
        for _ in range(times):
            self.refused[approval.id]()
