"""Representations of documents in responses and events."""

from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.kernel.fields import dict_of
from shared.warehouse.documents.actions import ACTIONS
from shared.warehouse.documents.models import (
    Difference,
    Document,
    EntryDocument,
    EntryDocumentDetail,
    EntryDocumentLine,
    ExitDocument,
    ExitDocumentDetail,
    ExitDocumentLine,
)
from shared.warehouse.documents.vocabulary import DocumentKind, doc_num
from shared.warehouse.work.address import ShipToAddress


def entry_document(record: Record[Document]) -> EntryDocument:
    """Return the representation of an entry document in a list."""
    return EntryDocument.from_stored(record.entity, **_others("entry", record.entity))


def entry_document_in_detail(
    record: Record[Document], differences: list[Difference]
) -> EntryDocumentDetail:
    """Return the representation of one entry document."""
    document = record.entity
    return EntryDocumentDetail.from_stored(
        document,
        **_others("entry", document),
        differences=differences,
        actions=ACTIONS["entry"].admitted(document),
    )


def exit_document(record: Record[Document]) -> ExitDocument:
    """Return the representation of an exit document in a list."""
    return ExitDocument.from_stored(record.entity, **_others("exit", record.entity))


def exit_document_in_detail(
    record: Record[Document], *, may_leave: bool = True
) -> ExitDocumentDetail:
    """Return the representation of one exit document.

    `may_leave` is whether the packing of its staged goods admits their dispatch.
    """
    document = record.entity
    names = ACTIONS["exit"].admitted(document)
    admitted = [one for one in names if one != "dispatch" or may_leave]
    return ExitDocumentDetail.from_stored(document, **_others("exit", document), actions=admitted)


EXIT_DOCUMENT_EVENTS = EventResource("exit_document", "/exit-documents/{record.id}", exit_document)


def _others(kind: DocumentKind, document: Document) -> dict[str, Any]:
    """Return the fields of a response that are computed, not stored."""
    whs_code, address = document.whs_code, document.ship_to_address
    return {
        "doc_num": doc_num(kind, document.id),
        "ship_to_address": dict_of(ShipToAddress, address) if address else None,
        "lines": [
            dict_of(EntryDocumentLine, line, received_qty=line.done_qty, whs_code=whs_code)
            if kind == "entry"
            else dict_of(ExitDocumentLine, line, picked_qty=line.done_qty, whs_code=whs_code)
            for line in document.lines
        ],
    }
