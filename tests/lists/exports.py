"""The list of exports."""

from shared.integration.exports.models import StoredExport
from shared.integration.exports.repository import EXPORTS
from tests.lists import spec

_STATUSES = ("pending", "running", "completed", "failed", "cancelled")
_AUTHOR = {"subject": "erp", "kind": "client", "client_id": "erp", "scopes": [], "permissions": []}
_FILE = {"object": "product", "name": "exports/1/a", "rows": 7, "bytes": 90, "sha256": "0" * 64}


def _export(number: int, times: spec.Times) -> StoredExport:
    status = _STATUSES[number % len(_STATUSES)]
    return StoredExport.model_validate(
        {
            **times.of(number),
            "status": status,
            "objects": ["product", "stock"][: number % 2 + 1],
            "format": ("jsonl", "csv")[number % 2],
            "language": "en",
            "position": 12 * number,
            "epoch": 1_790_000_000_000,
            "last_ids": {"product": 7, "stock": 9},
            "files": [_FILE] * (number % 3),
            "failure": "Processing failed." if status == "failed" else None,
            "author": _AUTHOR,
            "expires_at": "2027-01-01T00:00:00.000Z",
        }
    )


EXPORT_LIST = spec.Listed(
    path="/exports",
    collection=EXPORTS,
    make=_export,
    period=True,
    fields=spec.fields("""
        integer: id rows position epoch
        string: object code status format language failure?
        array: objects
        date-time: expires_at created_at updated_at
    """),
    filters={"status": spec.one_of("status", _STATUSES, wrong=("", "Running", "done"))},
    sorts=spec.sorted_by("created_at updated_at"),
)
