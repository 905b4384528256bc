"""How reconciliations are shown in responses."""

from shared.integration.reconciliations.models import (
    Reconciliation,
    StoredReconciliation,
    reconciliation_code,
)


def reconciliation(stored: StoredReconciliation, workbook_url: str | None) -> Reconciliation:
    """Return a reconciliation as the interface shows it; the link leads to its workbook."""
    return Reconciliation.from_stored(
        stored, code=reconciliation_code(stored.id), workbook_url=workbook_url
    )
