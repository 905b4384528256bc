"""How imports are shown in responses."""

from shared.integration.imports.models import Import, StoredImport


def import_view(stored: StoredImport, base_url: str) -> Import:
    """Return an import as the interface shows it.

    Args:
        stored: The import.
        base_url: The address of the tenant's API, without a trailing slash.
    """
    report = f"{base_url}/imports/{stored.id}/error-report" if stored.report else None
    return Import(
        id=stored.id,
        kind=stored.kind,
        status=stored.status,
        file=stored.file,
        rows=stored.rows,
        documents=stored.documents,
        structure_errors=stored.structure_errors,
        error_report_url=report,
        committed_at=stored.committed_at,
    )
