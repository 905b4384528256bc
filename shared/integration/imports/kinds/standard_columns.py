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

ADDRESS_COLUMNS = (
    Column(
        WORDS,
        "ship_to_address.name",
        aliases=("shipping name", "recipient", "destinatario"),
    ),
    Column(WORDS, "ship_to_address.company", aliases=("shipping company",)),
    Column(
        WORDS,
        "ship_to_address.line1",
        synonyms=("ship to address 1", "dirección de entrega 1"),
        aliases=("shipping address1", "shipping street", "street", "calle", "address line 1"),
    ),
    Column(
        WORDS,
        "ship_to_address.line2",
        synonyms=("ship to address 2", "dirección de entrega 2"),
        aliases=("shipping address2", "address line 2"),
    ),
    Column(WORDS, "ship_to_address.city", aliases=("shipping city", "city", "ciudad")),
    Column(
        WORDS,
        "ship_to_address.state",
        aliases=("shipping province", "province", "provincia"),
    ),
    Column(
        WORDS,
        "ship_to_address.zip_code",
        synonyms=("ship to zip code", "ship to zip"),
        aliases=("shipping zip", "zip", "zip code", "postal code", "código postal"),
    ),
    Column(WORDS, "ship_to_address.country", aliases=("shipping country", "country", "país")),
    Column(WORDS, "ship_to_address.phone", aliases=("shipping phone", "phone", "teléfono")),
    Column(WORDS, "ship_to_address.email", aliases=("email", "correo electrónico")),
    Column(WORDS, "carrier_code", aliases=("carrier", "transportista")),
    Column(WORDS, "service_code", aliases=("service", "servicio")),
)
"""The address to which the goods of an order go, and the carrier that takes them there."""

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
