"""The actions of imports."""

from shared.integration.imports.models import ImportStatus, StoredImport
from shared.kernel.action_table import ActionTable, StateAction


def _nothing_to_commit(stored: StoredImport) -> str | None:
    if stored.status == "validated" or stored.readable:
        return None
    return f"The validation of import {stored.id} has failed; upload the file again."


ACTIONS = ActionTable[StoredImport, ImportStatus](
    ImportStatus,
    lambda stored: f"Import {stored.id}",
    StateAction("commit", ["validated", "failed"], ["committing"], _nothing_to_commit),
    StateAction("cancel", ["uploaded", "validating", "validated"], ["cancelled"]),
)
