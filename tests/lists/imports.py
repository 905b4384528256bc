"""The list of imports."""

from shared.integration.imports.models import StoredImport
from shared.integration.imports.repository import IMPORTS
from tests.lists import spec

_STATUSES = (
    "uploaded", "validating", "validated", "invalid", "committing", "committed", "failed",
    "cancelled",
)  # fmt: skip
_KINDS = (
    "entry_documents", "exit_documents", "transfer_orders", "returns", "stock_counts",
    "pick_faces", "products",
)  # fmt: skip


def _import(number: int, times: spec.Times) -> StoredImport:
    status = _STATUSES[number % 8]
    has_counts = status not in {"uploaded", "failed"}
    counts = {"total": 20, "valid": 18} if has_counts else {}
    return StoredImport.model_validate(
        {
            **times.of(number),
            "kind": _KINDS[number % 5],
            "status": status,
            "file": spec.unless(number, 6, f"file-{number}.csv"),
            "way": "request",
            "rows": {**counts, **({"error": 2} if has_counts else {})},
            "documents": {**counts, **({"committed": 9, "skipped": 1} if has_counts else {})},
            "structure_errors": ["The file is empty."] if status == "invalid" else [],
            "report": "report.xlsx" if has_counts else None,
            "committed_at": times.updated(number) if status == "committed" else None,
            "source": {"bucket": "work", "name": "sources/1"},
        }
    )


IMPORT_LIST = spec.Listed(
    path="/imports",
    collection=IMPORTS,
    make=_import,
    period=True,
    fields=spec.fields("""
        integer: id rows.total? rows.valid? rows.error?
        integer: documents.total? documents.valid? documents.committed? documents.skipped?
        string: kind status file?
        uri: error_report_url?
        object: rows documents
        array: structure_errors
        date-time: committed_at?
    """),
    filters={
        "status": spec.one_of("status", _STATUSES, wrong=("", "Uploaded", "done")),
        "kind": spec.among("kind", _KINDS, wrong=("", "product", "Products"), narrow=True),
    },
)
