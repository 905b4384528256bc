"""Stock allocated to the exit documents that an import has created."""

from contextlib import suppress
from functools import partial

from shared.integration.imports.models import StoredImport
from shared.integration.imports.parts import read_units
from shared.integration.imports.repository import IMPORTS
from shared.integration.imports.validating import LEASE_MS
from shared.integration.imports.workspace import Workspace, caller_of
from shared.kernel.clock import now_ms
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict
from shared.kernel.validation import Checked, InvalidBody, check
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, ExitDraft
from shared.warehouse.picking.models import PickingDraft
from shared.warehouse.picking.service import create_picking

_MARGIN_SECONDS = 5.0


def allocate_documents(space: Workspace, number: int) -> bool:
    """Go on with allocating; whether all is done, rather than the time being up.

    A picking is made for each document that the import created and that nobody works on.
    What is not in stock stays unallocated, as with any picking.
    """
    one = IMPORTS.get(space.store, number).entity
    before = 0
    for part in one.parts:
        end = before + part.units
        if one.allocated < end:
            for at, unit in enumerate(read_units(space.work, number, part.name), before):
                if at < one.allocated:
                    continue
                if space.deadline.remaining < _MARGIN_SECONDS:
                    return False
                draft = check(ExitDraft, unit.body)
                use_case = partial(_allocate, number=number, at=at, draft=draft)
                # The name lets a repeat recognise what an earlier attempt has begun.
                caller = caller_of(one, space.tenant.slug)
                name = f"import#{number}#{at}"
                if not run_transaction(
                    space.store, use_case, caller=caller, idempotency_record=name
                ):
                    return False
        before = end
    return True


def _allocate(tx: Transaction, *, number: int, at: int, draft: Checked[ExitDraft]) -> bool:
    """Allocate one document and count it; whether the import is still at this point."""
    record = IMPORTS.get(tx.store, number)
    one = record.entity
    if one.status != "committing" or one.allocated > at:
        return one.status == "committing"
    found = None
    if not isinstance(draft, InvalidBody):
        found = documents.document_of(tx.store, "exit", draft.type, draft.external_ref)
    if found and _is_ours(found.entity, one):
        with suppress(Conflict):  # closed, or somebody has begun to pick it
            create_picking(tx, PickingDraft(document_id=found.id))
    update = {"allocated": at + 1, "stalled": 0, "busy_until": now_ms() + LEASE_MS}
    IMPORTS.replace(tx, record, one.model_copy(update=update))
    return True


def _is_ours(document: Document, one: StoredImport) -> bool:
    return document.import_id == one.id and document.status in {"open", "assigned"}
