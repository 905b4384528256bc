"""How products are imported."""

from collections.abc import Mapping, Sequence

from shared.integration.imports.handling import Choice, Handling
from shared.kernel.db.items import Item, Key
from shared.kernel.db.transaction import Transaction
from shared.kernel.errors import Problem
from shared.kernel.validation import Checked
from shared.warehouse.catalog import service as catalog
from shared.warehouse.catalog.models import ProductCreate


class Products(Handling):
    """Products: created, or changed where the code is known."""

    model = ProductCreate
    sequence = "product"
    actions = 3
    prepares = 1000

    def keys(self, draft: Checked[ProductCreate], choice: Choice, *, applying: bool) -> list[Key]:
        """See Handling."""
        code = draft.item_code
        wanted = code is not None and (applying or choice.on_duplicate == "fail")
        return [catalog.product_key(code)] if wanted and code is not None else []

    def further_keys(self, draft: Checked[ProductCreate], found: Mapping[Key, Item]) -> list[Key]:
        """See Handling."""
        return catalog.product_heads(found, [draft.item_code or ""])

    def examine(
        self, tx: Transaction, draft: Checked[ProductCreate], choice: Choice
    ) -> Sequence[Problem]:
        """See Handling."""
        return catalog.examine_product(tx.store, draft, new=choice.on_duplicate == "fail")

    def apply(self, tx: Transaction, draft: ProductCreate, choice: Choice) -> bool:
        """See Handling."""
        # What was read ahead may be gone by now; then it is skipped all the same.
        known = tx.store.get(catalog.product_key(draft.item_code or "")) is not None
        if known and choice.on_duplicate == "skip":
            return False
        if choice.on_duplicate == "fail":
            catalog.create_product(tx, draft)
        else:
            catalog.put_product(tx, draft)
        return True
