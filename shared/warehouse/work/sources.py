"""Where documents, returns and transfer orders come from."""

from typing import Literal

from shared.kernel.db.transaction import Transaction


def source_of(tx: Transaction, import_id: int | None = None) -> Literal["api", "import", "web"]:
    """Return the source of what a transaction creates: an import, a user, or another system."""
    if import_id is not None:
        return "import"
    return "web" if tx.caller and tx.caller.actor_type == "user" else "api"
