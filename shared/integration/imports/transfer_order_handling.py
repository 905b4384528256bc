"""How transfer orders are imported."""

from collections.abc import Sequence

from shared.integration.imports.handling import Choice, Handling, against, is_new
from shared.kernel.db.items import Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.transfer_orders import service as transfer_orders
from shared.warehouse.transfer_orders.models import TransferOrderDraft


class TransferOrders(Handling):
    """Transfer orders: created as drafts, never changed."""

    model = TransferOrderDraft
    sequence = "transfer_order"
    actions = 5

    def bind(self, tx: Transaction) -> None:
        """See Handling."""
        tx.fence(self.sequence)

    def keys(
        self, draft: Checked[TransferOrderDraft], choice: Choice, *, applying: bool
    ) -> list[Key]:
        """See Handling."""
        del choice, applying
        return transfer_orders.transfer_order_keys(draft)

    def examine(
        self, tx: Transaction, draft: Checked[TransferOrderDraft], choice: Choice
    ) -> Sequence[Problem]:
        """See Handling."""
        existing, found = transfer_orders.examine_transfer_order(tx, draft)
        return against(existing, choice, found)

    def apply(self, tx: Transaction, draft: TransferOrderDraft, choice: Choice) -> bool:
        """See Handling."""
        created = transfer_orders.create_transfer_order(tx, draft, by_client=False, source="import")
        return is_new(created.record.id, choice, new=created.new)
