"""Representations of documents in responses and events.

Lines are dictionaries, because models of all lines would take as long as reading the documents.
"""

from typing import Any

from shared.kernel.db.records import Record
from shared.kernel.events.outbox import EventResource
from shared.warehouse.documents.models import (
    Difference,
    Document,
    EntryDocument,
    EntryDocumentDetail,
    ExitDocument,
)
from shared.warehouse.documents.vocabulary import DocumentKind, doc_num


def entry_document(record: Record[Document]) -> EntryDocument:
    """Return the representation of an entry document in a list."""
    return EntryDocument.from_stored(record.entity, **_others("entry", record.entity))


def entry_document_in_detail(
    record: Record[Document], differences: list[Difference]
) -> EntryDocumentDetail:
    """Return the representation of one entry document."""
    others = _others("entry", record.entity)
    return EntryDocumentDetail.from_stored(record.entity, **others, differences=differences)


def exit_document(record: Record[Document]) -> ExitDocument:
    """Return the representation of an exit document."""
    return ExitDocument.from_stored(record.entity, **_others("exit", record.entity))


EXIT_DOCUMENT_EVENTS = EventResource("exit_document", "/exit-documents/{record.id}", exit_document)


def _others(kind: DocumentKind, document: Document) -> dict[str, Any]:
    """Return what a response shows besides the stored fields."""
    done = "received_qty" if kind == "entry" else "picked_qty"
    return {"doc_num": doc_num(kind, document.id), "lines": _lines(document, done)}


def _lines(document: Document, done: str) -> list[Any]:
    """Return the lines; `done` is the name of their received or picked quantity."""
    return [
        {
            "line_num": line.line_num,
            "item_code": line.item_code,
            "qty": line.qty,
            "open_qty": line.open_qty,
            done: line.done_qty,
            "whs_code": document.whs_code,
            "status": line.status,
        }
        for line in document.lines
    ]
