"""The columns of a file of quantities on hand, which is no import."""

from shared.integration.imports.files.columns import Column, FileLayout
from shared.integration.imports.kinds.column_words import WORDS
from shared.integration.imports.kinds.standard_columns import (
    LINE_ITEM_CODE,
    LINE_QUANTITY,
    LINE_UNIT,
    WAREHOUSE,
)
from shared.integration.imports.languages import BilingualText

QUANTITIES = FileLayout(
    BilingualText("Quantities", "Cantidades"),
    (
        Column(WORDS, "warehouse_code", synonyms=("warehouse code",), aliases=WAREHOUSE.aliases),
        Column(
            WORDS,
            "item_code",
            required=True,
            synonyms=LINE_ITEM_CODE.synonyms,
            aliases=LINE_ITEM_CODE.aliases,
        ),
        Column(WORDS, "batch", synonyms=("batch num",), aliases=("lot",)),
        Column(WORDS, "qty", LINE_QUANTITY.cell_type, required=True, aliases=("on hand",)),
        Column(WORDS, "unit", synonyms=LINE_UNIT.synonyms, aliases=LINE_UNIT.aliases),
    ),
    has_metadata=False,
)
