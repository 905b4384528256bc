"""Tables of docs/guides/imports.md."""

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kind_access import ACCESS_OF_KIND
from shared.integration.imports.kinds.registry import importer_of
from shared.integration.imports.models import ImportKind
from tools.pages.markers import table


def rights() -> str:
    """Return what each kind of import needs."""
    rows = [
        [f"`{cell}`" for cell in (kind, one.read_scope, one.write_scope, one.permission)]
        for kind, one in ACCESS_OF_KIND.items()
    ]
    return table(
        ("Kind", "Scope to read", "Scope to upload, commit and cancel", "Permission of a user"),
        rows,
    )


def columns(kind: ImportKind) -> str:
    """Return the columns of a kind, with the headers under which each is recognized."""
    layout = importer_of(kind).layout
    rows = [
        (
            column.header.en + (r" \*" if column.required else ""),
            column.header.es,
            f"`{column.field}`",
            ", ".join(_further_headers(layout, column)),
            column.description.en,
        )
        for column in layout.columns
    ]
    return table(("Column", "Spanish header", "Field", "Also", "Content"), rows)


def _further_headers(layout: FileLayout, column: Column) -> list[str]:
    ambiguous = [f"{one.header} (†)" for one in layout.ambiguous if one.field == column.field]
    return [*(f"{one} (=)" for one in column.synonyms), *column.aliases, *ambiguous]
