"""The list of imports."""

from shared.integration.imports.models import StoredImport
from shared.integration.imports.repository import IMPORTS
from tests.lists.spec import Listed, Times, among, by, fields, unless

_STATUSES = (
    "uploaded", "validating", "validated", "invalid", "committing", "committed", "failed",
    "cancelled",
)  # fmt: skip
_KINDS = (
    "entry_documents",
    "exit_documents",
    "transfer_orders",
    "returns",
    "pick_faces",
    "products",
)


def _import(number: int, times: Times) -> StoredImport:
    status = _STATUSES[number % 8]
    has_counts = status not in {"uploaded", "failed"}
    counts = {"total": 20, "valid": 18} if has_counts else {}
    return StoredImport.model_validate(
        {
            "id": number,
            "kind": _KINDS[number % 5],
            "status": status,
            "file": unless(number, 6, f"file-{number}.csv"),
            "way": "request",
            "rows": {**counts, **({"error": 2} if has_counts else {})},
            "documents": {**counts, **({"committed": 9} if has_counts else {})},
            "structure_errors": ["The file is empty."] if status == "invalid" else [],
            "report": "report.xlsx" if has_counts else None,
            "committed_at": times.updated(number) if status == "committed" else None,
            "created_at": times.created(number),
            "updated_at": times.updated(number),
            "source": {"bucket": "work", "name": "sources/1"},
        }
    )


IMPORT_LIST = Listed(
    path="/imports",
    collection=IMPORTS,
    make=_import,
    period=True,
    fields=fields("""
        id integer
        kind string
        status string
        file string?
        rows object
        rows.total integer?
        rows.valid integer?
        rows.error integer?
        documents object
        documents.total integer?
        documents.valid integer?
        documents.committed integer?
        structure_errors array
        error_report_url uri?
        committed_at date-time?
    """),
    filters={
        "status": among("status", _STATUSES, wrong=("", "Uploaded", "done"), narrow=True),
        "kind": among("kind", _KINDS, wrong=("", "product", "Products"), narrow=True),
    },
    sorts={"created_at": by("created_at"), "updated_at": by("updated_at")},
    default_sort="-created_at",
)
