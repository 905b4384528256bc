"""Allocates stock to the exit documents that an import has created."""

from contextlib import suppress
from functools import partial

from shared.integration.imports.context import ImportContext, caller_of
from shared.integration.imports.models import StoredImport
from shared.integration.imports.part_files import read_groups
from shared.integration.imports.repository import IMPORTS
from shared.kernel.db.transaction import Transaction
from shared.kernel.db.unit_of_work import run_transaction
from shared.kernel.errors import Conflict, StaleState
from shared.kernel.queued_work import progress
from shared.kernel.validation import Checked, InvalidBody, check
from shared.warehouse.documents import service as documents
from shared.warehouse.documents.models import Document, ExitDraft
from shared.warehouse.picking.models import PickingDraft
from shared.warehouse.picking.service import create_picking

_TIME_FOR_DOCUMENT = 5.0
"""Seconds that must remain for another document."""


def allocate_documents(context: ImportContext, import_id: int) -> bool:
    """Create a picking for each document that the import created and that has no picking.

    As with any picking, lines without available stock remain unallocated.

    Returns:
        Whether all documents are done; False if the deadline came first.
    """
    stored = IMPORTS.get(context.store, import_id).entity
    preceding = 0
    for part in stored.parts:
        end = preceding + part.units
        if stored.allocated < end:
            groups = read_groups(context.work_files, import_id, part.name)
            for index, group in enumerate(groups, preceding):
                if index < stored.allocated:
                    continue
                if context.deadline.remaining < _TIME_FOR_DOCUMENT:
                    return False
                context = context.renewed()
                draft = check(ExitDraft, group.body)
                use_case = partial(_allocate, import_id=import_id, index=index, draft=draft)
                # The record lets a repeated call recognize what an earlier attempt has started.
                caller = caller_of(stored, context.tenant.slug)
                name = f"import#{import_id}#{index}"
                if not run_transaction(context.store, use_case, caller=caller, request_name=name):
                    return False
        preceding = end
    return True


def _allocate(tx: Transaction, *, import_id: int, index: int, draft: Checked[ExitDraft]) -> bool:
    """Allocate one document and count it; return whether the import is still being committed."""
    record = IMPORTS.get(tx.store, import_id)
    stored = record.entity
    if stored.status != "committing" or stored.allocated > index:
        return stored.status == "committing"
    found = None
    if not isinstance(draft, InvalidBody):
        found = documents.document_of(tx.store, "exit", draft.type, draft.external_ref)
    if found and _needs_picking(found.entity, stored):
        with suppress(Conflict, StaleState):  # the document was closed, or its picking was started
            create_picking(tx, PickingDraft(document_id=found.id))
    update = {"allocated": index + 1, **progress()}
    IMPORTS.replace(tx, record, stored.model_copy(update=update))
    return True


def _needs_picking(document: Document, stored: StoredImport) -> bool:
    return document.import_id == stored.id and document.status in {"open", "assigned"}
