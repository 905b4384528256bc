"""Columns that the files of several import kinds have."""

from collections.abc import Mapping
from functools import partial

from shared.integration.imports.files.columns import Column
from shared.integration.imports.kinds.column_words import WORDS
from shared.integration.imports.languages import BilingualText, ColumnWords
from shared.integration.imports.models import ImportKind


def words_of(kind: ImportKind) -> Mapping[str, ColumnWords]:
    """Return the words of the columns of a kind, by field."""
    own = {
        name.removeprefix(f"{kind}."): words
        for name, words in WORDS.items()
        if name.startswith(f"{kind}.")
    }
    return {**WORDS, **own}


BOOLEAN_CHOICES = (BilingualText("yes", "sí"), BilingualText("no", "no"))

reference_column = partial(Column, field="external_ref", required=True)
"""Returns the column with the number that documents of a kind have in the system of the company."""

WAREHOUSE = Column(WORDS, "warehouse_code", required=True, aliases=("whs_code",))

LINE_ITEM_CODE = Column(
    WORDS,
    "item_code",
    required=True,
    is_line_field=True,
    synonyms=("sku",),
    aliases=("product", "artículo"),
)
LINE_QUANTITY = Column(WORDS, "qty", "decimal", required=True, is_line_field=True)
LINE_REFERENCE = Column(
    WORDS, "line_external_ref", is_line_field=True, aliases=("order line", "línea de pedido")
)

LINE_UNIT = Column(
    WORDS,
    "unit",
    is_line_field=True,
    synonyms=("uom",),
    aliases=("unit of measure", "unidad de medida"),
)

line_batch = partial(Column, WORDS, is_line_field=True)
"""Returns the column of a line's batch, which fills a field."""

line_serials = partial(Column, WORDS, cell_type="list", is_line_field=True)
"""Returns the column of a line's serials, which fills a field."""
