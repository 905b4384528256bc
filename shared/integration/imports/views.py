"""How imports are shown in responses."""

from shared.identity.tenancy.tenant import Tenant
from shared.integration.imports.actions import ACTIONS
from shared.integration.imports.kind_access import is_kind_enabled, may_read_kind
from shared.integration.imports.models import Import, ImportDetail, StoredImport
from shared.integration.imports.report.rejected_rows import SKIPPED_SHEET
from shared.kernel.caller import Caller


def import_view(stored: StoredImport, base_url: str) -> Import:
    """Return an import as the interface shows it.

    `base_url` is the address of the tenant's API, without a trailing slash.
    """
    report = f"{base_url}/imports/{stored.id}/error-report" if stored.report else None
    return Import.from_stored(stored, error_report_url=report)


def import_in_detail(stored: StoredImport, tenant: Tenant) -> ImportDetail:
    """Return one import, with the actions that its status and the company's modules admit."""
    view = import_view(stored, tenant.base_url)
    names = ACTIONS.admitted(stored)
    if not is_kind_enabled(tenant, stored.kind):
        names = [name for name in names if name != "commit"]
    return ImportDetail.from_stored(view, actions=names)


def import_warning(stored: StoredImport) -> str | None:
    """Return what the caller should know of an import although it is valid, or None."""
    warnings = [stored.warning] if stored.warning else []
    if skipped := stored.documents.skipped:
        sheet = SKIPPED_SHEET.in_(stored.language)
        warnings.append(
            f"{skipped} of {stored.documents.total} documents in the file exist and differ; the"
            f" commit leaves them as they are. Their rows are in the sheet {sheet} of the error"
            " report."
        )
    return " ".join(warnings) or None


def import_in_list(stored: StoredImport, tenant: Tenant, caller: Caller) -> Import:
    """Return an import in a list, without contents of the file if the caller may not read it."""
    view = import_view(stored, tenant.base_url)
    if may_read_kind(tenant, caller, stored.kind):
        return view
    return view.model_copy(update={"file": None, "structure_errors": [], "error_report_url": None})
