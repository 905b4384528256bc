"""Representations of documents in responses and events.

They use `model_construct`: stored documents are already valid, and validating them again would
take most of the time of a list request. Lines are dictionaries, because `model_construct` of
each line would take as long as reading the documents.
"""

from typing import Any

from shared.kernel.db.collection import Record
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
    return EntryDocument.model_construct(**_entry(record.entity))


def entry_document_in_detail(
    record: Record[Document], differences: list[Difference]
) -> EntryDocumentDetail:
    """Return the representation of one entry document."""
    return EntryDocumentDetail.model_construct(**_entry(record.entity), differences=differences)


def _entry(document: Document) -> dict[str, Any]:
    return {**_head("entry", document), "lines": _lines(document, "received_qty")}


def exit_document(record: Record[Document]) -> ExitDocument:
    """Return the representation of an exit document."""
    document = record.entity
    return ExitDocument.model_construct(
        **_head("exit", document),
        priority=document.priority,
        ship_to=document.ship_to,
        lines=_lines(document, "picked_qty"),
    )


EXIT_DOCUMENT_EVENTS = EventResource("exit_document", "/exit-documents/{record.id}", exit_document)


def _head(kind: DocumentKind, document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "doc_num": doc_num(kind, document.id),
        "type": document.type,
        "external_ref": document.external_ref,
        "source": document.source,
        "status": document.status,
        "card_code": document.card_code,
        "card_name": document.card_name,
        "doc_date": document.doc_date,
        "due_date": document.due_date,
        "comments": document.comments,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


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
