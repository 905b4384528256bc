"""How imports are answered."""

from shared.integration.imports.models import Import, StoredImport


def import_view(one: StoredImport, base_url: str) -> Import:
    """Show an import; `base_url` is the tenant's own address, without a trailing slash."""
    report = f"{base_url}/imports/{one.id}/error-report" if one.report else None
    return Import(
        id=one.id,
        kind=one.kind,
        status=one.status,
        file=one.file,
        rows=one.rows,
        documents=one.documents,
        structure_errors=one.structure_errors,
        error_report_url=report,
        committed_at=one.committed_at,
    )
