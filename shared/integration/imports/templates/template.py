"""Templates: workbooks to fill in and upload."""

from functools import cache

from shared.integration.imports.files.columns import ImportKind, Language


@cache
def template(kind: ImportKind, language: Language) -> bytes:
    """Return the template of a kind as .xlsx; always the same bytes.

    Its first sheet is to be filled in: the header, in which required columns are marked, and a
    sample row that is ignored on upload. The second says how.
    """
    from shared.integration.imports.templates.workbook import made  # noqa: PLC0415  openpyxl takes 100 ms

    return made(kind, language)
