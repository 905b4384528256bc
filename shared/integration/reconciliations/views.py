"""How reconciliations are shown in responses."""

from shared.integration.reconciliations.context import ReconciliationContext
from shared.integration.reconciliations.models import (
    Reconciliation,
    StoredReconciliation,
    reconciliation_code,
)


def reconciliation(context: ReconciliationContext, stored: StoredReconciliation) -> Reconciliation:
    """Return a reconciliation, with a link to its workbook."""
    code = reconciliation_code(stored.id)
    url = context.workbook_url(stored.workbook, f"{code}.xlsx")
    return Reconciliation.from_stored(stored, code=code, workbook_url=url)
