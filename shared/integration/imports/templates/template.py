"""The template of an import kind."""

from functools import cache

from shared.integration.imports.languages import Language
from shared.integration.imports.models import ImportKind


@cache
def template(kind: ImportKind, language: Language) -> bytes:
    """Return the template of a kind as .xlsx; repeated calls return the same bytes.

    The first sheet is the one to fill in: the header, in which required columns are marked, and a
    sample row that is ignored on upload. The second sheet has instructions.
    """
    # Imported here because openpyxl takes 100 ms.
    from shared.integration.imports.templates.workbook import template_workbook  # noqa: PLC0415

    return template_workbook(kind, language)
