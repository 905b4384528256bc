"""Documents as the interface shows them."""

from typing import Any

from shared.db.collection import Record
from shared.documents.models import (
    Document,
    DocumentLine,
    EntryDocument,
    EntryDocumentLine,
    ExitDocument,
    ExitDocumentLine,
)
from shared.documents.vocabulary import doc_num


def entry_document(record: Record[Document]) -> EntryDocument:
    """Show an entry document."""
    document = record.entity
    lines = [
        EntryDocumentLine(received_qty=line.done_qty, **_line(document, line))
        for line in document.lines
    ]
    return EntryDocument(
        **document.model_dump(exclude={"lines"}), doc_num=doc_num("entry", document.id), lines=lines
    )


def exit_document(record: Record[Document]) -> ExitDocument:
    """Show an exit document."""
    document = record.entity
    lines = [
        ExitDocumentLine(picked_qty=line.done_qty, **_line(document, line))
        for line in document.lines
    ]
    return ExitDocument(
        **document.model_dump(exclude={"lines"}), doc_num=doc_num("exit", document.id), lines=lines
    )


def _line(document: Document, line: DocumentLine) -> dict[str, Any]:
    return {
        "line_num": line.line_num,
        "item_code": line.item_code,
        "qty": line.qty,
        "open_qty": line.open_qty,
        "whs_code": document.whs_code,
        "status": line.status,
    }
