"""Columns that the files of several import kinds have."""

from functools import partial

from shared.integration.imports.files.columns import Column
from shared.integration.imports.languages import BilingualText

DATE_DESCRIPTION = BilingualText("YYYY-MM-DD or dd/mm/yyyy.", "AAAA-MM-DD o dd/mm/aaaa.")


def same_text(text: str) -> BilingualText:
    """Return a text that is the same in both languages."""
    return BilingualText(text, text)


boolean_column = partial(
    Column,
    cell_type="boolean",
    choices=(BilingualText("yes", "sí"), BilingualText("no", "no")),
)
"""Returns a column of yes or no."""

reference_column = partial(
    Column,
    "external_ref",
    BilingualText("Reference", "Referencia"),
    example=BilingualText("EXAMPLE-100", "EJEMPLO-100"),
    required=True,
)
"""Returns the column with the number that documents of a kind have in the system of the company."""

WAREHOUSE = Column(
    "warehouse_code",
    BilingualText("Warehouse", "Almacén"),
    BilingualText("Code of the warehouse.", "Código del almacén."),
    same_text("WH1"),
    required=True,
    aliases=("whs_code",),
)

LINE_ITEM_CODE = Column(
    "item_code",
    BilingualText("Item code", "Código de artículo"),
    BilingualText("Product of the line.", "Artículo de la línea."),
    BilingualText("EXAMPLE-1", "EJEMPLO-1"),
    required=True,
    is_line_field=True,
    synonyms=("sku",),
    aliases=("product", "artículo"),
)
LINE_QUANTITY = Column(
    "qty",
    BilingualText("Quantity", "Cantidad"),
    BilingualText("Greater than 0, with up to 6 decimals.", "Mayor que 0, con hasta 6 decimales."),
    same_text("2"),
    "decimal",
    required=True,
    is_line_field=True,
)


def line_batch(field: str) -> Column:
    """Return the column of a line's batch, which fills `field`."""
    return Column(
        field,
        BilingualText("Batch", "Lote"),
        BilingualText(
            "Only for products managed by batch.", "Solo para artículos gestionados por lote."
        ),
        same_text("L-2026-01"),
        is_line_field=True,
    )


def line_serials(field: str) -> Column:
    """Return the column of a line's serials, which fills `field`."""
    return Column(
        field,
        BilingualText("Serials", "Números de serie"),
        BilingualText(
            "Only for products managed by serial: one serial per unit, separated by commas.",
            "Solo para artículos gestionados por serie: un número por unidad, separados por comas.",
        ),
        same_text("S-001, S-002"),
        "list",
        is_line_field=True,
    )
